//! What Ruby methods return: the values of `return`, and the value of a body's last statement.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::walk::drafts::BindingDraft;
use crate::walk::state::{Scope, Walk};
use atlas_facts::{Binding, BindingKind, DefId, Expr, ExprId, LiteralType};

/// Handles `return x`, `return a, b`.
pub fn explicit_return(walk: &mut Walk, node: NodeId) {
    let list = walk.contents(node).next();
    let values: Vec<NodeId> = list.into_iter().flat_map(|list| walk.contents(list)).collect();
    let items: Vec<ExprId> = values.into_iter().map(|value| walk.expression(value)).collect();
    let value = match items[..] {
        [] => None,
        [only] => Some(only),
        _ => Some(walk.builder.expr(Expr::Elements { kind: LiteralType::Tuple, items, keys: Vec::new() })),
    };
    let draft = BindingDraft { kind: BindingKind::Return, value, annotation: None, line: walk.tree.line(node) };
    walk.push_binding(UNKNOWN, draft);
}

/// Records the value of each method's last statement as its result. Runs last, when all variables are known.
pub fn implicit_returns(walk: &mut Walk) {
    let mut functions: Vec<(NodeId, DefId)> = walk.definition_of.iter().map(|(&node, &(def, _))| (node, def)).collect();
    functions.sort_unstable();
    for (node, definition) in functions {
        let last = match walk.kind_name(node) {
            "method" | "singleton_method" => walk.child(node, "body").and_then(|body| last_statement(walk, body)),
            "alias" => walk.child(node, "alias"),
            _ => None,
        };
        let Some(last) = last else {
            continue;
        };
        walk.scopes.push(Scope { definition, end: NodeId::MAX, receiver: None, parameters: Vec::new() });
        let value = walk.expression(last);
        walk.scopes.pop();
        if value != UNKNOWN {
            let line = walk.tree.line(last);
            push_return(walk, definition, Some(value), line);
        }
    }
}

fn last_statement(walk: &Walk, body: NodeId) -> Option<NodeId> {
    if walk.kind_name(body) != "body_statement" {
        return Some(body);
    }
    let statements = walk.contents(body);
    let last = statements.filter(|&part| !matches!(walk.kind_name(part), "rescue" | "ensure" | "else")).last()?;
    (walk.kind_name(last) != "return").then_some(last)
}

/// Records the result of a member.
pub fn push_return(walk: &mut Walk, scope: DefId, value: Option<ExprId>, line: u32) {
    let binding =
        Binding { scope, kind: BindingKind::Return, target: UNKNOWN, annotation: None, value, line, replaces: (0, 0) };
    walk.builder.facts.bindings.push(binding);
}
