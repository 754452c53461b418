//! Hooks of Kotlin: imports, receivers of extensions, parameters with defaults, bodies of enum entries and of
//! `object : T`, loops, infix calls, dotted types, tests.

mod newer;
mod readable;
mod tokens;

use std::borrow::Cow;

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::java::is_test;
use crate::rewriting::Edit;
use crate::walk::dotted;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{Arg, BindingKind, Expr, ExprId, Kind, ParamKind, flags};
use atlas_languages::Settings;

pub struct Kotlin;

/// The annotation by which other languages know a function, up to its argument.
const NAMING: &[u8] = b"@JvmName(\"";
/// Bytes from the argument of an annotation to its function that are looked at.
const MAX_HEAD: usize = 600;

const TYPES: &[&str] = &["user_type", "nullable_type", "function_type", "parenthesized_type", "non_nullable_type"];

impl LanguageHooks for Kotlin {
    fn readable<'a>(&self, source: &'a [u8]) -> Cow<'a, [u8]> {
        readable::readable(source)
    }

    fn edits(&self, _settings: &Settings, source: &[u8]) -> Vec<Edit> {
        newer::edits(source)
    }

    fn alternatives(&self, _source: &[u8], readable: &[u8]) -> Vec<Vec<u8>> {
        vec![readable::without_rare_forms(readable)]
    }

    fn needs_locals(&self) -> bool {
        true
    }

    /// Reads `import a.b.C`, `import a.b.C as D` and `import a.b.*`. Members of a companion are members of its class.
    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        let parts: Vec<NodeId> = walk.contents(node).collect();
        let is_star = walk.tree.children(node).any(|part| walk.bytes_of(part) == b"*");
        if let Some(&path) = parts.first() {
            let path = dotted::compact(walk, path).replace(".Companion.", ".");
            let alias = parts.get(1).map(|&alias| walk.text_of(alias).into_owned());
            dotted::import(walk, node, &path, is_star, alias);
        }
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            // An annotation is not a call at its position.
            "annotation" | "file_annotation" => {
                if walk.kind_name(node) == "file_annotation" {
                    name_of_file(walk, node);
                }
                walk.claim_call(node);
                walk.contents(node).for_each(|part| walk.claim_call(part));
            }
            "class_declaration" => properties_of_head(walk, node),
            "for_statement" => loop_variable(walk, node),
            "is_expression" | "type_test" => smart_cast(walk, node),
            _ => complete_parameters(walk, node),
        }
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        if walk.kind_name(walk.tree.node(node).parent) == "assignment" {
            walk.bind_variable_or_member(node, binding);
        } else {
            let target = walk.expression(node);
            walk.push_binding(target, binding);
        }
    }

    fn end(&self, walk: &mut Walk) {
        name_functions(walk);
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        match draft.kind {
            Kind::Class if draft.name.is_empty() => return anonymous(walk, draft),
            Kind::Constructor => {
                let class = walk.builder.facts.definitions[draft.parent as usize].name;
                draft.name = walk.builder.text(class).to_owned();
            }
            Kind::Function | Kind::Method | Kind::Property => {
                let in_interface = walk.kind_of(draft.parent) == Kind::Interface;
                read_head(walk, draft);
                if draft.body.is_none() {
                    draft.flags |= flags::DECLARATION;
                    draft.flags |= if in_interface { flags::ABSTRACT } else { 0 };
                }
                if is_test(walk, draft) {
                    draft.flags |= flags::TEST;
                }
            }
            _ => {}
        }
        if is_in_companion(walk, draft.node) {
            draft.flags |= flags::STATIC;
        }
        true
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        match walk.kind_name(node) {
            "this_expression" => outer_this(walk, node),
            "function_type" => function_type(walk, node),
            _ => dotted_type(walk, node),
        }
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        if walk.kind_name(node) != "infix_expression" {
            // `f(x) { ... }` is a single call.
            let inner = walk.contents(node).next()?;
            let has_lambda = walk.contents(node).any(|part| walk.kind_name(part) == "annotated_lambda");
            if has_lambda && walk.kind_name(inner) == "call_expression" {
                walk.claim_call(inner);
            }
            return if has_lambda { None } else { generic_call(walk, node) };
        }
        let [left, operator, right] = walk.contents(node).collect::<Vec<_>>().try_into().ok()?;
        let base = walk.expression(left);
        let name = walk.name_of(operator);
        walk.claim_read(left);
        walk.claim_read(operator);
        let callee = walk.builder.attribute(base, name);
        let args = vec![Arg { keyword: None, value: walk.expression(right) }];
        Some(walk.builder.expr(Expr::Call { callee, args, new: false }))
    }
}

/// Returns the expression of `f<T>(x)`.
fn generic_call(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let types = parts.iter().copied().find(|&part| walk.kind_name(part) == "type_arguments")?;
    let list = parts.iter().copied().find(|&part| walk.kind_name(part) == "value_arguments")?;
    let mut args = Vec::new();
    for projection in walk.contents(types).collect::<Vec<_>>() {
        let argument = walk.contents(projection).last();
        args.push(argument.map_or(UNKNOWN, |argument| walk.type_expression(argument)));
    }
    let base = walk.expression(parts[0]);
    let callee = walk.builder.expr(Expr::Generic { base, args });
    let args = walk.arguments(Some(list));
    Some(walk.builder.expr(Expr::Call { callee, args, new: false }))
}

/// `T.(A) -> R`: a call that returns `R`, of its parameters or, if there is one, of its receiver (`new`).
fn function_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let is_list = |&part: &NodeId| walk.kind_name(part) == "function_type_parameters";
    let (Some(at), Some(&result)) = (parts.iter().position(is_list), parts.last()) else {
        return UNKNOWN;
    };
    let receiver = parts[..at].iter().copied().rfind(|&part| TYPES.contains(&walk.kind_name(part)));
    let taken: Vec<NodeId> = match receiver {
        Some(receiver) => vec![receiver],
        None => walk.contents(parts[at]).collect(),
    };
    let mut args = Vec::new();
    for part in taken {
        let declared = if walk.kind_name(part) == "parameter" { walk.contents(part).last() } else { Some(part) };
        let value = declared.map_or(UNKNOWN, |declared| walk.type_expression(declared));
        args.push(Arg { keyword: None, value });
    }
    let callee = walk.type_expression(result);
    walk.builder.expr(Expr::Call { callee, args, new: receiver.is_some() })
}

/// `@file:JvmName("Helpers")`: the class that has the functions of the file is a decorator of the file.
fn name_of_file(walk: &mut Walk, node: NodeId) {
    let text = walk.text_of(node).into_owned();
    let given = text.split_once("JvmName(").and_then(|(_, rest)| rest.split('"').nth(1));
    if let Some(given) = given {
        name_elsewhere(walk, 0, given);
    }
}

/// `@JvmName("of") fun make()`: the name by which other languages know a function is a decorator. The grammar takes the
/// argument of an annotation of a top-level function for an expression of its own, so this is read in the text.
fn name_functions(walk: &mut Walk) {
    let source = walk.source;
    let named: Vec<(usize, String)> =
        memchr::memmem::find_iter(source, NAMING).filter_map(|at| renamed(source, at + NAMING.len())).collect();
    for (keyword, given) in named {
        let holds = |node: NodeId| {
            let place = walk.tree.node(node);
            walk.kind_name(node) == "function_declaration"
                && (place.start as usize) <= keyword
                && keyword < place.end as usize
        };
        let function = (0..walk.tree.len()).filter(|&node| holds(node)).max_by_key(|&node| walk.tree.node(node).start);
        if let Some(&(definition, _)) = function.and_then(|node| walk.definition_of.get(&node)) {
            name_elsewhere(walk, definition, &given);
        }
    }
}

/// Returns the place of `fun` behind an annotation whose argument begins at a place, and the argument.
fn renamed(source: &[u8], at: usize) -> Option<(usize, String)> {
    let rest = &source[at..source.len().min(at + MAX_HEAD)];
    let end = memchr::memchr(b'"', rest)?;
    let given = std::str::from_utf8(&rest[..end]).ok()?;
    let after = rest.get(end + 1..)?.strip_prefix(b")")?;
    let keyword = memchr::memmem::find(after, b"fun ")?;
    let is_head = !after[..keyword].iter().any(|byte| matches!(byte, b'{' | b'}' | b';' | b'='));
    is_head.then(|| (at + end + 2 + keyword, given.to_owned()))
}

fn name_elsewhere(walk: &mut Walk, definition: u32, given: &str) {
    if given.is_empty() {
        return;
    }
    let callee = walk.builder.name("JvmName");
    let callee = walk.builder.name_expr(callee);
    let key = walk.builder.owned_name(given.to_owned());
    let value = walk.builder.expr(Expr::Key(key));
    let expr = walk.builder.expr(Expr::Call { callee, args: vec![Arg { keyword: None, value }], new: false });
    walk.builder.facts.definitions[definition as usize].decorators.push(expr);
}

/// `x is T` in a condition, `is T ->` in `when (x)`.
fn smart_cast(walk: &mut Walk, node: NodeId) {
    let is_negated = walk.tree.children(node).any(|part| walk.bytes_of(part) == b"!is");
    let Some(tested) = walk.contents(node).last() else { return };
    let annotation = walk.annotation(tested);
    if walk.kind_name(node) == "is_expression" {
        let branches = if is_negated { rest_of_block(walk, node) } else { walk.guarded_branches(node) };
        if let Some(target) = walk.contents(node).next() {
            cast_in(walk, node, target, annotation, &branches);
        }
        return;
    }
    let entry = walk.tree.node(node).parent;
    let whole = walk.tree.node(entry).parent;
    let subject = walk.contents(whole).next().filter(|&part| walk.kind_name(part) == "when_subject");
    let conditions = walk.contents(entry).filter(|&part| walk.kind_name(part) == "type_test").count();
    if let (Some(subject), Some(branch), 1, false) = (subject, walk.contents(entry).last(), conditions, is_negated) {
        let declared = walk.contents(subject).find(|&part| walk.kind_name(part) == "variable_declaration");
        let target = declared.and_then(|variable| walk.contents(variable).next());
        if let Some(target) = target.or_else(|| walk.contents(subject).last()) {
            cast_in(walk, node, target, annotation, &[branch]);
        }
    }
}

/// Records the type of a variable in branches; a variable of its own has it (`@local`), others have it on these lines.
fn cast_in(walk: &mut Walk, test: NodeId, target: NodeId, annotation: ExprId, branches: &[NodeId]) {
    let plain = walk.name_of(target);
    let own = branches.first().map_or(plain, |&branch| walk.local_name(plain, branch));
    let target = match walk.kind_name(target) {
        "identifier" if own != plain => return walk.bind_name(own, Some(annotation), walk.tree.line(test)),
        "identifier" => walk.builder.name_expr(plain),
        _ => walk.expression(target),
    };
    for &branch in branches {
        walk.narrow_in(test, target, annotation, branch);
    }
}

/// Returns the statements after `if (x !is T) return`.
fn rest_of_block(walk: &Walk, test: NodeId) -> Vec<NodeId> {
    let whole = walk.tree.node(test).parent;
    let parts: Vec<NodeId> = walk.contents(whole).collect();
    let block = walk.tree.node(whole).parent;
    let &[condition, body] = &parts[..] else { return Vec::new() };
    let last = if walk.kind_name(body) == "block" { walk.contents(body).last() } else { Some(body) };
    let leaves = last.is_some_and(|last| {
        matches!(walk.kind_name(last), "return_expression" | "throw_expression")
            || matches!(walk.bytes_of(last), b"continue" | b"break")
    });
    match walk.kind_name(whole) {
        "if_expression" if condition == test && leaves => walk.contents_after(block, whole).collect(),
        _ => Vec::new(),
    }
}

/// Defines the body of an enum entry, or an anonymous object.
fn anonymous(walk: &Walk, draft: &mut DefinitionDraft) -> bool {
    let parent = walk.tree.node(draft.node).parent;
    match (walk.kind_name(draft.node), walk.kind_name(parent)) {
        ("class_body", "enum_entry") => {
            let body = walk.tree.node(parent).parent;
            draft.bases.extend(walk.child(walk.tree.node(body).parent, "name"));
        }
        ("class_body", _) => return false,
        _ => {}
    }
    draft.private = true;
    true
}

fn is_in_companion(walk: &Walk, node: NodeId) -> bool {
    let body = walk.tree.node(node).parent;
    walk.kind_name(walk.tree.node(body).parent) == "companion_object"
}

/// `fun T.name(): R`: opens the extension of `T` and sets the result type.
fn read_head(walk: &mut Walk, draft: &mut DefinitionDraft) {
    let is_type = |walk: &Walk, part: NodeId| TYPES.contains(&walk.kind_name(part));
    let parts: Vec<NodeId> = walk.tree.children(draft.node).collect();
    let dot = parts.iter().position(|&part| walk.bytes_of(part) == b".");
    let receiver = dot.and_then(|dot| parts[..dot].iter().copied().rfind(|&part| is_type(walk, part)));
    if let Some(parameters) = draft.parameters {
        draft.declared = parts.iter().copied().find(|&part| part > parameters && is_type(walk, part));
    }
    if let Some(receiver) = receiver {
        let name = walk.extended_name(receiver);
        draft.parent = walk.open_enclosing(Kind::Extension, draft.node, receiver, name, draft.body);
        if draft.kind == Kind::Function {
            draft.kind = Kind::Method;
        }
    }
}

/// `class A(val b: B)`: defines the parameters that are properties.
fn properties_of_head(walk: &mut Walk, node: NodeId) {
    let constructor = walk.contents(node).find(|&part| walk.kind_name(part) == "primary_constructor");
    let list = constructor.and_then(|constructor| walk.contents(constructor).last());
    let (Some(&(class, _)), Some(list)) = (walk.definition_of.get(&node), list) else {
        return;
    };
    for parameter in walk.contents(list).collect::<Vec<_>>() {
        let parts: Vec<NodeId> = walk.tree.children(parameter).collect();
        if !parts.iter().any(|&part| matches!(walk.bytes_of(part), b"val" | b"var")) {
            continue;
        }
        let declared = parts.iter().copied().find(|&part| TYPES.contains(&walk.kind_name(part)));
        let declared = declared.map(|node| walk.type_expression(node));
        let Some(&name) = parts.iter().find(|&&part| walk.kind_name(part) == "identifier") else {
            continue;
        };
        let is_private = walk.kind_name(parts[0]) == "modifiers" && {
            let text = walk.text_of(parts[0]);
            text.split_whitespace().any(|word| word == "private")
        };
        if let Some(member) = walk.define_member(class, name, parameter, declared).filter(|_| is_private) {
            walk.builder.facts.definitions[member as usize].flags &= !flags::EXPORTED;
        }
    }
}

/// Reads defaults and `vararg`, which the grammar places next to their parameters.
fn complete_parameters(walk: &mut Walk, node: NodeId) {
    let list = walk.contents(node).find(|&part| walk.kind_name(part) == "function_value_parameters");
    let (Some(&(definition, _)), Some(list)) = (walk.definition_of.get(&node), list) else {
        return;
    };
    let (mut count, mut is_default, mut is_variadic) = (0, false, false);
    for part in walk.tree.children(list).collect::<Vec<_>>() {
        let kind = walk.kind_name(part);
        if kind == "parameter_modifiers" {
            is_variadic = walk.text_of(part).contains("vararg");
        } else if kind == "parameter" {
            count += 1;
            if std::mem::take(&mut is_variadic)
                && let Some(param) = walk.builder.facts.definitions[definition as usize].params.get_mut(count - 1)
            {
                param.kind = ParamKind::Variadic;
            }
        } else if std::mem::take(&mut is_default) {
            walk.read(part);
            let value = walk.expression(part);
            let params = &mut walk.builder.facts.definitions[definition as usize].params;
            if let Some(param) = params.get_mut(count.wrapping_sub(1)) {
                param.default = Some(value);
            }
        } else {
            is_default = kind == "=";
        }
    }
}

/// Handles `for (x: T in xs)`.
fn loop_variable(walk: &mut Walk, node: NodeId) {
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let is_variable = |&part: &NodeId| walk.kind_name(part).ends_with("variable_declaration");
    let Some(at) = parts.iter().position(is_variable) else {
        return;
    };
    let annotation = walk.contents(parts[at]).last().filter(|&part| TYPES.contains(&walk.kind_name(part)));
    let annotation = annotation.map(|node| walk.annotation(node));
    let value = parts.get(at + 1).copied();
    let expr = value.map(|value| walk.expression(value));
    let line = walk.tree.line(node);
    walk.bind(parts[at], BindingDraft { kind: BindingKind::Iterate, value: expr, annotation, line });
    if let Some(value) = value {
        walk.read(value);
    }
}

/// Returns the expression of `this@Outer`; a function's label is ignored.
fn outer_this(walk: &mut Walk, node: NodeId) -> ExprId {
    let label = walk.contents(node).last();
    match label.filter(|&label| walk.text_of(label).starts_with(char::is_uppercase)) {
        Some(label) => {
            let callee = walk.annotation(label);
            walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: true })
        }
        None => UNKNOWN,
    }
}

/// Returns the expression of `a.b.C<D>`.
fn dotted_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let mut base = None;
    let mut args = Vec::new();
    for part in walk.contents(node).collect::<Vec<_>>() {
        match walk.kind_name(part) {
            "identifier" => {
                walk.claim_read(part);
                let name = walk.name_of(part);
                base = Some(match base {
                    None => walk.builder.name_expr(name),
                    Some(base) => walk.builder.attribute(base, name),
                });
            }
            "type_arguments" => {
                for projection in walk.contents(part).collect::<Vec<_>>() {
                    let argument = walk.contents(projection).last();
                    args.push(argument.map_or(UNKNOWN, |argument| walk.type_expression(argument)));
                }
            }
            _ => {}
        }
    }
    let base = base.unwrap_or(UNKNOWN);
    if args.is_empty() { base } else { walk.builder.expr(Expr::Generic { base, args }) }
}
