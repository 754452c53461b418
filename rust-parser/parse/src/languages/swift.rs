//! Hooks of Swift: parameters without a list, argument labels, several variables in one declaration, bindings of
//! conditions and patterns, visibility, dotted types, tests.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::java::is_test;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{Arg, BindingKind, Expr, ExprId, Kind, ParamKind, flags};

pub struct Swift;

impl LanguageHooks for Swift {
    fn needs_locals(&self) -> bool {
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "property_declaration" if walk.child(node, "computed_value").is_some() => {}
            "property_declaration" => {
                for (name, annotation, value) in variables(walk, node) {
                    let annotation = annotation.map(|node| walk.annotation(node));
                    bind(walk, name, value, annotation);
                }
            }
            "if_statement" | "while_statement" | "guard_statement" => conditions(walk, node),
            "pattern" => match walk.tree.node(node).parent {
                parent if walk.kind_name(parent) == "protocol_property_declaration" => {}
                // `let e as T`
                parent if walk.kind_name(parent) == "pattern" => pattern(walk, parent, None),
                _ => pattern(walk, node, None),
            },
            _ => complete_parameters(walk, node),
        }
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        if walk.kind_name(walk.tree.node(node).parent) == "directly_assignable_expression" {
            walk.bind_variable_or_member(node, binding);
        } else {
            let target = walk.expression(node);
            walk.push_binding(target, binding);
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        draft.private |= is_private(walk, draft.node);
        match draft.kind {
            Kind::Function | Kind::Method | Kind::Constructor => {
                draft.parameters = Some(draft.node);
                draft.declared = result_type(walk, draft.node);
                if is_test(walk, draft) {
                    draft.flags |= flags::TEST;
                }
            }
            Kind::Field | Kind::Constant if walk.kind_name(draft.node) == "property_declaration" => {
                draft.declared = draft.name_node.and_then(|name| declared_type(walk, draft.node, name));
            }
            _ => {}
        }
        true
    }

    /// Returns the expression of `A.B<C>`, `A.Type`.
    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        if walk.kind_name(node) == "function_type" {
            return function_type(walk, node);
        }
        let mut base = UNKNOWN;
        let mut args = Vec::new();
        for part in walk.contents(node).collect::<Vec<_>>() {
            match walk.kind_name(part) {
                "type_identifier" if base != UNKNOWN && matches!(walk.bytes_of(part), b"Type" | b"Protocol") => {
                    args = vec![base];
                    let name = walk.name_of(part);
                    base = walk.builder.name_expr(name);
                }
                "type_identifier" if base == UNKNOWN => base = walk.type_expression(part),
                "type_identifier" => {
                    let name = walk.name_of(part);
                    base = walk.builder.attribute(base, name);
                }
                "type_arguments" => {
                    args = walk.contents(part).map(|part| walk.type_expression(part)).collect();
                }
                _ => {}
            }
        }
        if args.is_empty() { base } else { walk.builder.expr(Expr::Generic { base, args }) }
    }
}

/// `(A, B) -> R`: a call that returns `R`.
fn function_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let (Some(&taken), Some(&result)) = (parts.first(), parts.last()) else { return UNKNOWN };
    let mut args = Vec::new();
    for item in walk.contents(taken).collect::<Vec<_>>() {
        let declared = if walk.kind_name(item) == "tuple_type_item" { walk.contents(item).last() } else { Some(item) };
        let value = declared.map_or(UNKNOWN, |declared| walk.type_expression(declared));
        args.push(Arg { keyword: None, value });
    }
    let callee = walk.type_expression(result);
    walk.builder.expr(Expr::Call { callee, args, new: false })
}

/// Returns whether a declaration is `private` or `fileprivate`, but not only `private(set)`.
fn is_private(walk: &Walk, node: NodeId) -> bool {
    let modifiers = walk.tree.children(node).find(|&part| walk.kind_name(part) == "modifiers");
    let words = modifiers.into_iter().flat_map(|modifiers| walk.tree.children(modifiers));
    words.into_iter().any(|word| matches!(walk.bytes_of(word), b"private" | b"fileprivate"))
}

/// Returns the type after the arrow.
fn result_type(walk: &Walk, node: NodeId) -> Option<NodeId> {
    let arrow = walk.tree.children(node).find(|&part| walk.bytes_of(part) == b"->")?;
    walk.in_field(node, "name").find(|&part| part > arrow)
}

/// Reads parameters. The grammar places defaults next to them. Callers use the argument label; the parameter name is a
/// variable.
fn complete_parameters(walk: &mut Walk, node: NodeId) {
    let Some(&(definition, _)) = walk.definition_of.get(&node) else {
        return;
    };
    let mut count = 0;
    for part in walk.tree.children(node).collect::<Vec<_>>() {
        if walk.kind_name(part) == "parameter" {
            count += 1;
            label(walk, definition, count - 1, part);
        } else if walk.child(node, "default_value").is_some() && is_default(walk, node, part) {
            walk.read(part);
            let value = walk.expression(part);
            let params = &mut walk.builder.facts.definitions[definition as usize].params;
            if let Some(param) = params.get_mut(count.wrapping_sub(1)) {
                param.default = Some(value);
            }
        }
    }
}

fn is_default(walk: &Walk, node: NodeId, part: NodeId) -> bool {
    walk.in_field(node, "default_value").any(|default| default == part)
}

fn label(walk: &mut Walk, definition: u32, position: usize, parameter: NodeId) {
    let Some(label) = walk.child(parameter, "external_name").filter(|&label| walk.bytes_of(label) != b"_") else {
        return;
    };
    let label = walk.name_of(label);
    let params = &mut walk.builder.facts.definitions[definition as usize].params;
    if let Some(param) = params.get_mut(position) {
        let annotation = param.annotation.filter(|_| param.kind == ParamKind::Normal);
        let name = std::mem::replace(&mut param.name, label);
        let line = walk.tree.line(parameter);
        walk.bind_name(name, annotation, line);
    }
}

/// `let a = x, b: T`: returns the names with their types and values. A type also applies to preceding names without
/// one.
fn variables(walk: &Walk, node: NodeId) -> Vec<(NodeId, Option<NodeId>, Option<NodeId>)> {
    let mut found: Vec<(NodeId, Option<NodeId>, Option<NodeId>)> = Vec::new();
    let names: Vec<NodeId> = walk.in_field(node, "name").collect();
    let values: Vec<NodeId> = walk.in_field(node, "value").collect();
    for part in walk.tree.children(node) {
        if names.contains(&part) {
            found.push((part, None, None));
        } else if walk.kind_name(part) == "type_annotation" {
            let annotation = walk.child(part, "name");
            for (_, known, _) in found.iter_mut().rev().take_while(|known| known.1.is_none() && known.2.is_none()) {
                *known = annotation;
            }
        } else if values.contains(&part)
            && let Some(last) = found.last_mut()
        {
            last.2 = Some(part);
        }
    }
    found
}

/// Returns the declared type of one name of a declaration.
fn declared_type(walk: &Walk, node: NodeId, name: NodeId) -> Option<NodeId> {
    let holds = |pattern: NodeId| pattern <= name && name < walk.tree.node(pattern).next;
    variables(walk, node).into_iter().find(|&(pattern, ..)| holds(pattern)).and_then(|(_, annotation, _)| annotation)
}

fn bind(walk: &mut Walk, name: NodeId, value: Option<NodeId>, annotation: Option<ExprId>) {
    let expr = value.map(|value| walk.expression(value));
    let line = walk.tree.line(name);
    walk.bind(name, BindingDraft { kind: BindingKind::Assign, value: expr, annotation, line });
    if let Some(value) = value {
        walk.read(value);
    }
}

/// Binds `if let a = x, let b: T = y`. A name bound to itself (`if let a`) keeps its meaning.
fn conditions(walk: &mut Walk, node: NodeId) {
    let names: Vec<NodeId> = walk.in_field(node, "bound_identifier").collect();
    let parts: Vec<NodeId> = walk.tree.children(node).collect();
    for name in names {
        let at = parts.iter().position(|&part| part == name).unwrap_or(0);
        let mut rest = parts[at + 1..].iter().copied().peekable();
        let annotation = rest.next_if(|&part| walk.kind_name(part) == "type_annotation");
        let annotation = annotation.and_then(|node| walk.child(node, "name")).map(|node| walk.annotation(node));
        let value = rest.next_if(|&part| walk.bytes_of(part) == b"=").and_then(|_| rest.next());
        match value {
            Some(value) if walk.bytes_of(value) != walk.bytes_of(name) => bind(walk, name, Some(value), annotation),
            _ => walk.claim_read(name),
        }
    }
}

/// Binds the names of a pattern: `let .some(a)`, `let e as T`.
fn pattern(walk: &mut Walk, node: NodeId, annotation: Option<ExprId>) {
    let declared = walk.in_field(node, "name").last().map(|node| walk.annotation(node));
    let annotation = declared.or(annotation);
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let is_case = walk.tree.children(node).any(|part| walk.bytes_of(part) == b".");
    for part in parts {
        match walk.kind_name(part) {
            "pattern" => pattern(walk, part, annotation),
            "simple_identifier" if !is_case => bind(walk, part, None, annotation),
            _ => {}
        }
    }
}
