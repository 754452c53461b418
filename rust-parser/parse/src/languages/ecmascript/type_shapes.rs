//! Types with a form of their own: `(a: A) => B`, `{ a: A }`, `T["member"]`, `typeof x` and the container that
//! `new Map<string, User>()` makes.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::languages::ecmascript::imports::unquoted;
use crate::languages::ecmascript::objects::extension;
use crate::walk::drafts::DefinitionDraft;
use crate::walk::state::Walk;
use atlas_facts::{Arg, Binding, BindingKind, DefId, Expr, ExprId, Kind};

/// Keywords of the arguments that stand for parameters in a function type.
const OPTIONAL: &str = "?";
const REST: &str = "...";

/// Returns the expression of a type that is more than names.
pub fn shaped_type(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    match walk.kind_name(node) {
        "function_type" | "constructor_type" | "call_signature" | "construct_signature" => {
            Some(function_type(walk, node))
        }
        "object_type" => Some(object_type(walk, node)),
        "lookup_type" => Some(member_type(walk, node)),
        "index_signature" => Some(index_type(walk, node)),
        "type_query" => {
            let inner = walk.contents(node).next()?;
            let inner = walk.expression(inner);
            Some(marked(walk, "typeof", vec![inner]))
        }
        "as_expression" | "type_assertion" => Some(cast(walk, node)),
        "type_predicate_annotation" | "asserts_annotation" => {
            let inner = walk.contents(node).next()?;
            shaped_type(walk, inner)
        }
        "type_predicate" => {
            let declared = walk.child(node, "type")?;
            let declared = walk.type_expression(declared);
            Some(marked(walk, "is", vec![UNKNOWN, declared]))
        }
        "asserts" => {
            let predicate = walk.contents(node).next()?;
            let declared = walk.child(predicate, "type");
            let declared = declared.map_or(UNKNOWN, |declared| walk.type_expression(declared));
            Some(marked(walk, "asserts", vec![UNKNOWN, declared]))
        }
        _ => None,
    }
}

/// Returns a type that only the linker's rules give a meaning.
pub fn marked(walk: &mut Walk, mark: &'static str, args: Vec<ExprId>) -> ExprId {
    let name = walk.builder.name(mark);
    let base = walk.builder.name_expr(name);
    walk.builder.expr(Expr::Generic { base, args })
}

/// `x as T` and `<T>x`, unless the type says nothing: `x as const`, `x as any`, `x as string`.
fn cast(walk: &mut Walk, node: NodeId) -> ExprId {
    let mut parts: Vec<NodeId> = walk.contents(node).collect();
    if walk.kind_name(node) == "type_assertion" {
        parts.reverse();
    }
    let Some(&inner) = parts.first() else { return UNKNOWN };
    walk.note_same(node, inner);
    let value = walk.expression(inner);
    let declared = parts.get(1).copied();
    let declared = declared.and_then(|part| match walk.kind_name(part) {
        "type_arguments" => walk.contents(part).next(),
        _ => Some(part),
    });
    let declared = declared.map_or(UNKNOWN, |declared| walk.annotation(declared));
    match walk.builder.get(declared) {
        Expr::Unknown | Expr::Literal(_) => value,
        _ => marked(walk, "as", vec![declared, value]),
    }
}

/// Returns the expression of a function type or a call signature: its result, called with the types of its parameters.
fn function_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let result = walk.child(node, "return_type").or_else(|| walk.child(node, "type"));
    let callee = result.map_or(UNKNOWN, |result| walk.type_expression(result));
    let list = walk.child(node, "parameters");
    let parameters: Vec<NodeId> = list.into_iter().flat_map(|list| walk.contents(list)).collect();
    let mut args = Vec::new();
    for parameter in parameters {
        let pattern = walk.child(parameter, "pattern").map(|pattern| walk.kind_name(pattern).to_owned());
        if pattern.as_deref() == Some("this") {
            continue;
        }
        let declared = walk.child(parameter, "type");
        let value = declared.map_or(UNKNOWN, |declared| walk.type_expression(declared));
        let keyword = match (walk.kind_name(parameter), pattern.as_deref()) {
            (_, Some("rest_pattern")) => Some(walk.builder.name(REST)),
            ("optional_parameter", _) => Some(walk.builder.name(OPTIONAL)),
            _ => None,
        };
        args.push(Arg { keyword, value });
    }
    walk.builder.expr(Expr::Call { callee, args, new: false })
}

/// Returns the expression of `T["member"]`, an attribute of the type, and of `T[number]`, an element of it.
fn member_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let &[base, key] = parts.as_slice() else { return UNKNOWN };
    let text = walk.text_of(key).into_owned();
    let base = walk.type_expression(base);
    if text == "number" {
        let index = walk.builder.literal(atlas_facts::LiteralType::Int);
        return walk.builder.expr(Expr::Index { base, index });
    }
    if !text.starts_with(['"', '\'']) && !text.starts_with(|c: char| c.is_ascii_digit()) {
        return UNKNOWN;
    }
    let name = walk.builder.owned_name(unquoted(&text));
    walk.builder.attribute(base, name)
}

/// `[name: string]: T` as a base: `Record<string, T>`.
fn index_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let Some(declared) = walk.child(node, "type").filter(|_| walk.child(node, "name").is_some()) else {
        return UNKNOWN;
    };
    let value = walk.type_expression(declared);
    marked(walk, "Record", vec![value])
}

/// Adds to an interface or to the alias of an object type what is no member: call signatures, index signatures, and the
/// other parts of an intersection.
pub fn add_type_bases(walk: &mut Walk, draft: &mut DefinitionDraft) {
    let body = match draft.kind {
        Kind::Interface => draft.body,
        Kind::TypeAlias => draft.declared,
        _ => None,
    };
    let Some(body) = body else { return };
    let mut parts = vec![body];
    let mut objects = Vec::new();
    let mut bases = Vec::new();
    while let Some(part) = parts.pop() {
        match walk.kind_name(part) {
            "intersection_type" | "union_type" | "parenthesized_type" => parts.extend(walk.contents(part)),
            "object_type" | "interface_body" => objects.push(part),
            "literal_type" | "predefined_type" => {}
            _ => bases.push(part),
        }
    }
    if objects.is_empty() {
        return;
    }
    for object in objects {
        let is_signature = |&member: &NodeId| {
            matches!(walk.kind_name(member), "call_signature" | "construct_signature" | "index_signature")
        };
        let own: Vec<NodeId> = walk.contents(object).filter(is_signature).collect();
        bases.extend(own);
    }
    bases.sort_unstable();
    draft.bases.extend(bases);
    if matches!(walk.kind_name(body), "intersection_type" | "union_type") {
        draft.declared = None;
    }
}

/// Returns an object type that no alias names: a scope of its own, whose variables are the members.
fn object_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let around = walk.tree.node(node).parent;
    if walk.kind_name(around) == "type_alias_declaration" {
        return UNKNOWN;
    }
    if let Some(&(known, _)) = walk.definition_of.get(&node) {
        return walk.builder.expr(Expr::Lambda(known));
    }
    let members: Vec<NodeId> = walk.contents(node).collect();
    let is_kept = |&member: &NodeId| {
        matches!(walk.kind_name(member), "property_signature" | "method_signature" | "call_signature")
            || walk.kind_name(member) == "index_signature" && walk.child(member, "name").is_some()
    };
    if !members.iter().any(is_kept) {
        return UNKNOWN;
    }
    let own = anonymous(walk, node);
    walk.definition_of.insert(node, (own, true));
    let before = std::mem::take(&mut walk.is_peeking);
    for member in members {
        match walk.kind_name(member) {
            "property_signature" => {
                let Some(declared) = walk.child(member, "type").and_then(|declared| walk.contents(declared).next())
                else {
                    continue;
                };
                let annotation = match walk.kind_name(declared) {
                    "function_type" => callable(walk, declared),
                    _ => walk.annotation(declared),
                };
                add_member(walk, own, member, annotation);
            }
            "method_signature" => {
                let annotation = callable(walk, member);
                add_member(walk, own, member, annotation);
            }
            "call_signature" | "index_signature" => {
                let part = shaped_type(walk, member).unwrap_or(UNKNOWN);
                walk.refer_types(part, walk.tree.line(member));
                let known = walk.builder.facts.definitions[own as usize].declared_type;
                let whole = walk.union(known.into_iter().chain([part]).collect());
                walk.builder.facts.definitions[own as usize].declared_type = Some(whole);
            }
            _ => {}
        }
    }
    walk.is_peeking = before;
    walk.builder.expr(Expr::Lambda(own))
}

/// Returns a function type that no alias names.
fn callable(walk: &mut Walk, node: NodeId) -> ExprId {
    let own = anonymous(walk, node);
    let declared = function_type(walk, node);
    walk.refer_types(declared, walk.tree.line(node));
    walk.builder.facts.definitions[own as usize].declared_type = Some(declared);
    walk.builder.expr(Expr::Lambda(own))
}

fn anonymous(walk: &mut Walk, node: NodeId) -> DefId {
    let path = format!("<type {}>", walk.tree.node(node).start);
    let own = extension(walk, node, UNKNOWN, &path, true);
    walk.builder.facts.definitions[own as usize].bases.clear();
    own
}

fn add_member(walk: &mut Walk, scope: DefId, member: NodeId, annotation: ExprId) {
    let Some(name) = walk.child(member, "name") else { return };
    let name = walk.builder.owned_name(unquoted(&walk.text_of(name)));
    let target = walk.builder.name_expr(name);
    let line = walk.tree.line(member);
    let (kind, annotation) = (BindingKind::Assign, Some(annotation).filter(|&annotation| annotation != UNKNOWN));
    walk.builder.facts.bindings.push(Binding { scope, kind, target, annotation, value: None, line, replaces: (0, 0) });
}

/// Returns the expression of `new Repo<User>()`, whose type arguments are those of the object.
pub fn made_object(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let constructor = walk.child(node, "constructor")?;
    called_with_types(walk, node, constructor, true)
}

/// Returns the expression of `load<User>(url)`.
pub fn typed_call(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let function = walk.child(node, "function")?;
    called_with_types(walk, node, function, false)
}

fn called_with_types(walk: &mut Walk, node: NodeId, called: NodeId, new: bool) -> Option<ExprId> {
    let list = walk.child(node, "type_arguments")?;
    walk.claim_read(called);
    let types: Vec<NodeId> = walk.contents(list).collect();
    let types: Vec<ExprId> = types.into_iter().map(|part| walk.annotation(part)).collect();
    let base = walk.expression(called);
    let callee = walk.builder.expr(Expr::Generic { base, args: types });
    let list = walk.child(node, "arguments");
    let args = walk.arguments(list);
    Some(walk.builder.expr(Expr::Call { callee, args, new }))
}
