//! Hooks of Scala: forms of imports, companion objects, fields declared in class heads, further parameter lists, `this`
//! and `super` (plain identifiers in the grammar), and names bound by patterns and loops.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::java::is_test;
use crate::walk::dotted;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr, ExprId, Kind, flags};

pub struct Scala;

impl LanguageHooks for Scala {
    fn needs_locals(&self) -> bool {
        true
    }

    /// An object extends the class or trait of the same name, and vice versa.
    fn reopens(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Class | Kind::Trait | Kind::Enum)
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        imports(walk, node);
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "annotation" => walk.claim_call(node),
            "enumerator" => enumerator(walk, node),
            "case_class_pattern" => case_class(walk, node),
            "function_definition" => further_parameters(walk, node, 1),
            "extension_definition" => further_parameters(walk, node, 0),
            _ => fields_of_head(walk, node),
        }
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        let parent = walk.tree.node(node).parent;
        let around = walk.tree.node(parent).parent;
        match walk.kind_name(parent) {
            // A named argument.
            "assignment_expression" if walk.kind_name(around) == "arguments" => {}
            "assignment_expression" => walk.bind_variable_or_member(node, binding),
            // Its value has been unpacked.
            "tuple_pattern" if binding.value.is_none() && walk.kind_name(around).ends_with("_definition") => {}
            // A capitalized name in a pattern is compared with, not bound.
            kind if kind.ends_with("pattern") || kind == "case_clause" => {
                if !walk.text_of(node).starts_with(char::is_uppercase) {
                    let target = walk.expression(node);
                    walk.push_binding(target, binding);
                }
            }
            _ => {
                let target = walk.expression(node);
                walk.push_binding(target, binding);
            }
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        match draft.kind {
            Kind::Class if walk.kind_name(draft.node) == "object_definition" => {
                draft.flags |= flags::STATIC;
                draft.kind = companion_kind(walk, draft);
            }
            Kind::Class if is_implicit(walk, draft.node) => draft.flags |= flags::EXTENSION,
            Kind::Method if draft.name == "this" => {
                draft.kind = Kind::Constructor;
                let class = walk.builder.facts.definitions[draft.parent as usize].name;
                draft.name = walk.builder.text(class).to_owned();
            }
            Kind::Function | Kind::Method | Kind::Property if is_test(walk, draft) => draft.flags |= flags::TEST,
            _ => {}
        }
        true
    }

    /// Returns the expression of `this`, `super` or a name.
    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        match walk.bytes_of(node) {
            // `this(...)` calls another constructor.
            b"this" => {
                let parent = walk.tree.node(node).parent;
                walk.builder.this(walk.child(parent, "function") == Some(node))
            }
            b"super" => walk.builder.super_expr(),
            b"_" => placeholder(walk, node),
            _ => {
                let name = walk.name_of(node);
                walk.builder.name_expr(name)
            }
        }
    }

    /// Handles `Outer.this`, members used as receivers, and `f(x)(y)`, which is a single call.
    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        if walk.child(node, "function").is_some_and(|callee| walk.kind_name(callee) == "call_expression") {
            walk.claim_call(node);
        }
        let field = walk.child(node, "field")?;
        let outer = walk.child(node, "value")?;
        if walk.bytes_of(field) != b"this" {
            read_member(walk, outer);
            return None;
        }
        let callee = walk.annotation(outer);
        Some(walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: true }))
    }
}

/// Returns whether a class adds members to the type of its parameter: `implicit class Rich(name: Name)`.
fn is_implicit(walk: &Walk, class: NodeId) -> bool {
    walk.tree
        .children(class)
        .take_while(|&part| walk.bytes_of(part) != b"class")
        .any(|part| walk.text_of(part).split_whitespace().any(|word| word == "implicit"))
}

/// Records the call of `name` in `name.size` if `name` is not a variable: it may be a member without parentheses.
fn read_member(walk: &mut Walk, node: NodeId) {
    if walk.kind_name(node) == "identifier" && walk.text_of(node).starts_with(char::is_lowercase) {
        let name = walk.name_of(node);
        if !walk.is_local(name) {
            walk.read(node);
        }
    }
}

/// Returns the expression of `_` at the begin of an argument: a call of the member `_` of the function that receives it.
fn placeholder(walk: &mut Walk, node: NodeId) -> ExprId {
    let mut here = node;
    let mut parent = walk.tree.node(here).parent;
    while matches!(
        walk.kind_name(parent),
        "field_expression" | "call_expression" | "generic_function" | "infix_expression" | "parenthesized_expression"
    ) && walk.contents(parent).next() == Some(here)
    {
        here = parent;
        parent = walk.tree.node(here).parent;
    }
    let is_first = walk.kind_name(parent) == "arguments" && walk.contents(parent).next() == Some(here);
    let call = walk.tree.node(parent).parent;
    let Some(callee) = walk.child(call, "function").filter(|_| is_first && here != node) else { return UNKNOWN };
    let base = walk.expression(callee);
    let name = walk.builder.name("_");
    let callee = walk.builder.attribute(base, name);
    walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: false })
}

/// Returns the kind of the class, trait or enum that an object extends.
fn companion_kind(walk: &mut Walk, draft: &DefinitionDraft) -> Kind {
    let name = walk.builder.owned_name(draft.name.clone());
    let kinds = [Kind::Class, Kind::Trait, Kind::Enum];
    let known = kinds.into_iter().find(|&kind| walk.reopenable.contains_key(&(draft.parent, name, kind)));
    known.unwrap_or(Kind::Class)
}

/// Handles `import a.b, c.{D, E => F, G as H, _}, i._`.
fn imports(walk: &mut Walk, node: NodeId) {
    let mut path: Vec<String> = Vec::new();
    let mut is_of_value = false;
    for part in walk.tree.children(node).collect::<Vec<_>>() {
        match walk.kind_name(part) {
            "identifier" | "operator_identifier" => {
                let text = walk.text_of(part).into_owned();
                if path.is_empty() {
                    let name = walk.name_of(part);
                    is_of_value = text == "this" || walk.is_local(name);
                }
                if text != "_root_" {
                    path.push(text);
                }
            }
            "," => bind(walk, part, &std::mem::take(&mut path), is_of_value),
            "namespace_wildcard" => star(walk, part, &std::mem::take(&mut path), is_of_value),
            "namespace_selectors" => {
                let path = std::mem::take(&mut path);
                for selector in walk.contents(part).collect::<Vec<_>>() {
                    select(walk, selector, &path, is_of_value);
                }
            }
            "as_renamed_identifier" | "arrow_renamed_identifier" => {
                select(walk, part, &std::mem::take(&mut path), is_of_value);
            }
            _ => {}
        }
    }
    bind(walk, node, &path, is_of_value);
}

fn bind(walk: &mut Walk, node: NodeId, path: &[String], is_of_value: bool) {
    if !path.is_empty() && !is_of_value {
        dotted::import(walk, node, &path.join("."), false, None);
    }
}

fn star(walk: &mut Walk, node: NodeId, path: &[String], is_of_value: bool) {
    if !path.is_empty() && !is_of_value {
        dotted::import(walk, node, &path.join("."), true, None);
    }
}

/// Reads one of the names in braces.
fn select(walk: &mut Walk, node: NodeId, path: &[String], is_of_value: bool) {
    if is_of_value || path.is_empty() {
        return;
    }
    let prefix = path.join(".");
    let (name, alias) = match walk.kind_name(node) {
        "as_renamed_identifier" | "arrow_renamed_identifier" => (walk.child(node, "name"), walk.child(node, "alias")),
        "identifier" | "operator_identifier" => (Some(node), None),
        _ => return dotted::import(walk, node, &prefix, true, None),
    };
    let is_hidden = alias.is_some_and(|alias| walk.bytes_of(alias) == b"_");
    if let Some(name) = name.filter(|_| !is_hidden) {
        let alias = alias.map(|alias| walk.text_of(alias).into_owned());
        let path = format!("{prefix}.{}", walk.text_of(name));
        dotted::import(walk, node, &path, false, alias);
    }
}

/// Parameters of a class are fields. Those without `val` are private unless it is a case class.
fn fields_of_head(walk: &mut Walk, node: NodeId) {
    let Some(&(class, _)) = walk.definition_of.get(&node) else {
        return;
    };
    let is_case =
        walk.kind_name(node) == "full_enum_case" || walk.tree.children(node).any(|part| walk.kind_name(part) == "case");
    for list in walk.in_field(node, "class_parameters").collect::<Vec<_>>() {
        for parameter in walk.contents(list).collect::<Vec<_>>() {
            let Some(name) = walk.child(parameter, "name") else { continue };
            let declared = walk.child(parameter, "type").map(|node| walk.type_expression(node));
            let words: Vec<&[u8]> = walk.tree.children(parameter).map(|part| walk.bytes_of(part)).collect();
            let is_value = is_case || words.iter().any(|word| matches!(*word, b"val" | b"var"));
            let is_private = !is_value || words.iter().any(|word| word.starts_with(b"private"));
            if let Some(member) = walk.define_member(class, name, parameter, declared).filter(|_| is_private) {
                walk.builder.facts.definitions[member as usize].flags &= !flags::EXPORTED;
            }
        }
    }
}

/// Parameters of further lists are variables of the function.
fn further_parameters(walk: &mut Walk, node: NodeId, first: usize) {
    let lists = walk.in_field(node, "parameters").filter(|&list| walk.kind_name(list) == "parameters");
    for list in lists.skip(first).collect::<Vec<_>>() {
        for parameter in walk.contents(list).collect::<Vec<_>>() {
            let Some(name) = walk.child(parameter, "name") else { continue };
            let annotation = walk.child(parameter, "type").map(|node| walk.annotation(node));
            let (name, line) = (walk.name_of(name), walk.tree.line(parameter));
            walk.bind_name(name, annotation, line);
        }
    }
}

/// `case Point(x, y)` binds what the class holds, `case Some(x)` what the value does.
fn case_class(walk: &mut Walk, node: NodeId) {
    let Some(class) = walk.child(node, "type") else { return };
    let clause = walk.tree.node(node).parent;
    let whole = walk.tree.node(walk.tree.node(clause).parent).parent;
    let is_wrapper = matches!(walk.bytes_of(class), b"Some" | b"Success" | b"Right");
    let value = if is_wrapper {
        let value = walk.child(whole, "value").filter(|_| walk.kind_name(whole) == "match_expression");
        value.map(|value| walk.expression(value))
    } else {
        let callee = walk.type_expression(class);
        Some(walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: true }))
    };
    let parts = walk.in_field(node, "pattern").filter(|&part| walk.bytes_of(part) != b",");
    for (position, part) in parts.enumerate().collect::<Vec<_>>() {
        if walk.kind_name(part) == "identifier" {
            let kind = if is_wrapper { BindingKind::Assign } else { BindingKind::Unpack(position as u16) };
            walk.bind(part, BindingDraft { kind, value, annotation: None, line: walk.tree.line(node) });
        }
    }
}

/// Binds `x <- xs` or `y = f(x)` in a loop.
fn enumerator(walk: &mut Walk, node: NodeId) {
    let &[target, value, ..] = &walk.contents(node).collect::<Vec<_>>()[..] else {
        return;
    };
    let is_generator = walk.tree.children(node).any(|part| walk.bytes_of(part) == b"<-");
    let kind = if is_generator { BindingKind::Iterate } else { BindingKind::Assign };
    let expr = walk.expression(value);
    let line = walk.tree.line(node);
    if walk.kind_name(target) == "identifier" {
        walk.bind(target, BindingDraft { kind, value: Some(expr), annotation: None, line });
    }
    walk.read(value);
}
