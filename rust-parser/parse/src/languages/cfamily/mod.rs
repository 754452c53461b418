//! Hooks of C and C++: the language of a header, attribute macros, declarations of several variables, qualified names,
//! constructors, access sections, and declarations with a later definition.

mod arguments;
mod bare_macros;
mod declarations;
mod macro_bodies;
mod macros;
mod modules;
mod names;
mod pasting;
mod statements;
mod test_macros;
mod tokens;
mod words;

use std::borrow::Cow;

use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::cfamily::declarations::{declaration, initializer, is_function_pointer};
use crate::languages::cfamily::names::{claim_qualifiers, plain_name, qualified, tag};
use crate::languages::conditionals::flattened;
use crate::rewriting::Edit;
use crate::walk::definitions::holds_members;
use crate::walk::drafts::{BindingDraft, DefinitionDraft, Wrapper};
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr, ExprId, Import, ImportKind, Kind, LiteralType, flags};
use atlas_languages::Settings;

pub struct CFamily;

impl LanguageHooks for CFamily {
    fn language_of_content(&self, path: &str, data: &[u8]) -> Option<&'static str> {
        (path.ends_with(".h") && macros::is_cpp_header(data)).then_some("cpp")
    }

    fn readable<'a>(&self, source: &'a [u8]) -> Cow<'a, [u8]> {
        macros::readable(source)
    }

    fn edits(&self, _settings: &Settings, source: &[u8]) -> Vec<Edit> {
        modules::edits(source)
    }

    fn alternatives(&self, source: &[u8], readable: &[u8]) -> Vec<Vec<u8>> {
        let plain = macros::without_attributes(source);
        let plain = (plain != readable).then(|| plain.into_owned());
        flattened(readable).into_iter().chain(plain).collect()
    }

    fn needs_locals(&self) -> bool {
        true
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        if walk.kind_name(walk.tree.node(node).parent) == "assignment_expression" {
            walk.bind_variable_or_member(node, binding);
        } else {
            let target = walk.expression(node);
            walk.push_binding(target, binding);
        }
    }

    fn begin(&self, walk: &mut Walk) {
        note_definitions(walk);
        pasting::note(walk);
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        import(walk, node);
        for part in node..walk.tree.node(node).next {
            walk.claim_read(part);
        }
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "field_declaration_list" => {
                type_parameters(walk, node);
                sections(walk, node);
            }
            "field_initializer" => initializer(walk, node),
            "compound_statement" => test_macros::body(walk, node),
            "call_expression" => pasting::refer(walk, node),
            _ => declaration(walk, node),
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        draft.name = plain_name(&draft.name);
        claim_qualifiers(walk, draft.name_node);
        if draft.name.starts_with('[') || walk.kind_name(walk.tree.node(draft.node).parent) == "friend_declaration" {
            return false;
        }
        if walk.kind_name(draft.node).starts_with("preproc") {
            // Macros have no scope.
            draft.parent = 0;
            draft.kind = if draft.kind == Kind::Method { Kind::Function } else { draft.kind };
            return true;
        }
        match draft.kind {
            Kind::Function | Kind::Method => {
                test_macros::name(walk, draft);
                function(walk, draft)
            }
            Kind::Namespace => {
                draft.name = draft.name.replace("::", ".");
                true
            }
            // `typedef struct Node Node;` adds no information.
            Kind::TypeAlias => draft.declared.is_none_or(|declared| tag(walk, declared) != draft.name),
            Kind::Class | Kind::Struct | Kind::Enum => {
                // `typedef struct list { ... } list_t;` declares the struct beside the alias.
                if walk.kind_of(draft.parent) == Kind::TypeAlias {
                    draft.parent = walk.builder.facts.definitions[draft.parent as usize].parent;
                }
                nest(walk, draft);
                true
            }
            Kind::Constant => {
                draft.private |= draft.flags & flags::STATIC != 0;
                true
            }
            _ => true,
        }
    }

    fn end(&self, walk: &mut Walk) {
        macro_bodies::refer(walk);
        test_macros::mark_run(walk);
    }

    /// `int (*open)(void)`: a function that returns the declared type.
    fn value_type(&self, walk: &mut Walk, draft: &DefinitionDraft, annotation: ExprId) -> ExprId {
        let declarator = walk.child(draft.node, "declarator");
        let is_function = draft.kind == Kind::Field && declarator.is_some_and(|one| is_function_pointer(walk, one));
        match is_function {
            true => walk.builder.expr(Expr::Call { callee: annotation, args: Vec::new(), new: false }),
            false => annotation,
        }
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        let kind = match walk.bytes_of(node) {
            b"void" => LiteralType::None,
            b"bool" => LiteralType::Bool,
            b"float" | b"double" => LiteralType::Float,
            _ => LiteralType::Int,
        };
        walk.builder.literal(kind)
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        match walk.kind_name(node) {
            "qualified_identifier" => Some(qualified(walk, node)),
            "call_expression" => {
                let function = walk.child(node, "function")?;
                walk.claim_read(function);
                position(walk, node, function)
            }
            _ => None,
        }
    }
}

/// `std::get<1>(pair)`: an element of a tuple.
fn position(walk: &mut Walk, node: NodeId, function: NodeId) -> Option<ExprId> {
    let named = match walk.kind_name(function) {
        "qualified_identifier" => walk.child(function, "name")?,
        _ => function,
    };
    let name = walk.child(named, "name").filter(|_| walk.kind_name(named) == "template_function")?;
    let types: Vec<NodeId> = walk.contents(walk.child(named, "arguments")?).collect();
    let given: Vec<NodeId> = walk.contents(walk.child(node, "arguments")?).collect();
    let (&[at], &[tuple]) = (&types[..], &given[..]) else { return None };
    if walk.bytes_of(name) != b"get" || walk.kind_name(at) != "number_literal" {
        return None;
    }
    let base = walk.expression(tuple);
    let key = walk.name_of(at);
    let index = walk.builder.expr(Expr::Key(key));
    Some(walk.builder.expr(Expr::Index { base, index }))
}

/// Collects the functions that this file defines, whose declarations in the same file are redundant.
fn note_definitions(walk: &mut Walk) {
    for node in 0..walk.tree.len() {
        if walk.kind_name(node) != "function_definition" {
            continue;
        }
        let Some(declarator) = walk.child(node, "declarator") else {
            continue;
        };
        let name = walk.text_of(walk.named(declarator));
        let head = name.split('(').next().unwrap_or("");
        let parts: Vec<String> = head.split("::").map(plain_name).collect();
        let own = &parts[parts.len().saturating_sub(2)..];
        walk.noted.insert(own.join("."));
    }
}

fn function(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let parent = &walk.builder.facts.definitions[draft.parent as usize];
    let class = walk.builder.text(parent.name).to_owned();
    let in_class = holds_members(parent.kind);
    let is_declaration = draft.flags & flags::DECLARATION != 0;
    if in_class && class.rsplit('.').next() == Some(&draft.name) {
        draft.kind = Kind::Constructor;
    }
    if is_declaration {
        let key = if in_class {
            format!("{}.{}", class.rsplit('.').next().unwrap_or(""), draft.name)
        } else {
            draft.name.clone()
        };
        let is_local = matches!(parent.kind, Kind::Function | Kind::Method | Kind::Constructor | Kind::Lambda);
        let in_source = !in_class && !is_header(&walk.builder.facts.path);
        if is_local || in_source || walk.noted.contains(&key) {
            return false;
        }
    }
    let is_static = draft.flags & flags::STATIC != 0;
    draft.private |= is_static && !in_class;
    true
}

fn is_header(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or("");
    !matches!(extension, "c" | "cc" | "cpp" | "cxx" | "c++")
}

/// `class A::B { ... }`: a member of another class.
fn nest(walk: &mut Walk, draft: &mut DefinitionDraft) {
    if let (Some((around, name)), Some(name_node)) = (draft.name.clone().rsplit_once("::"), draft.name_node) {
        let scope = walk.child(name_node, "scope").unwrap_or(name_node);
        let around = around.replace("::", ".");
        let extension = walk.open_enclosing(Kind::Extension, draft.node, scope, around.clone(), draft.body);
        walk.builder.facts.definitions[extension as usize].bases = vec![walk.builder.dotted(&around)];
        draft.parent = walk.scope();
        draft.name = name.to_owned();
    }
}

/// Handles `using namespace a;`, `using a::b;`, `namespace x = a::b;`.
fn import(walk: &mut Walk, node: NodeId) {
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let alias = walk.child(node, "name");
    let Some(&target) = parts.iter().rev().find(|&&part| Some(part) != alias) else {
        return;
    };
    let text: String = walk.text_of(target).split_whitespace().collect();
    let text = text.trim_start_matches("::").to_owned();
    let is_star = walk.tree.children(node).any(|part| walk.bytes_of(part) == b"namespace") && alias.is_none();
    let alias = alias.map(|alias| walk.text_of(alias).into_owned());
    let (kind, module, member, alias) = match (is_star, alias, text.rsplit_once("::")) {
        (true, ..) => (ImportKind::Star, text, None, None),
        (_, Some(alias), _) => (ImportKind::Module, text, None, Some(alias)),
        (_, None, Some((module, member))) => {
            let member = member.to_owned();
            (ImportKind::Member, module.to_owned(), Some(member.clone()), Some(member))
        }
        _ => return,
    };
    let module = walk.builder.owned_name(module);
    let member = member.map(|name| walk.builder.owned_name(name));
    let alias = alias.map(|name| walk.builder.owned_name(name));
    let line = walk.tree.line(node);
    walk.push_import(Import { scope: 0, module, level: 0, member, alias, kind, line, type_only: false });
}

/// Binds the type parameters of a template in the class that it makes: `template <class T> class Box { T value; }`.
fn type_parameters(walk: &mut Walk, body: NodeId) {
    let template = walk.tree.node(walk.tree.node(body).parent).parent;
    let Some(list) = walk.child(template, "parameters").filter(|_| walk.kind_name(template) == "template_declaration")
    else {
        return;
    };
    for parameter in walk.contents(list).collect::<Vec<_>>() {
        let name = match walk.kind_name(parameter) {
            "type_parameter_declaration" => {
                walk.contents(parameter).find(|&part| walk.kind_name(part) == "type_identifier")
            }
            "optional_type_parameter_declaration" => walk.child(parameter, "name"),
            _ => None,
        };
        let Some(name) = name else { continue };
        let line = walk.tree.line(name);
        let name = walk.name_of(name);
        let target = walk.builder.name_expr(name);
        walk.push_binding(target, BindingDraft { kind: BindingKind::Assign, value: None, annotation: None, line });
    }
}

/// Applies `public:`, `private:` and `protected:` to the members below them.
fn sections(walk: &mut Walk, body: NodeId) {
    let around = walk.tree.node(body).parent;
    let mut private = walk.kind_name(around) == "class_specifier";
    for part in walk.tree.children(body).collect::<Vec<_>>() {
        match walk.kind_name(part) {
            "access_specifier" => private = !walk.bytes_of(part).starts_with(b"public"),
            "function_definition"
            | "declaration"
            | "field_declaration"
            | "template_declaration"
            | "class_specifier"
                if private =>
            {
                walk.wrappers.insert(part, Wrapper { private, ..Wrapper::default() });
            }
            _ => {}
        }
    }
}
