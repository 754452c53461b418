//! Reads the arguments of Rust macros, which the grammar leaves as token trees: calls, methods, paths and fields in
//! their most likely meaning.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Arg, Expr, ExprId, ReferenceKind};

/// Largest nesting depth of token trees.
const MAX_DEPTH: u32 = 64;

/// Records the calls and reads in a macro's arguments.
pub fn macro_calls(walk: &mut Walk, node: NodeId) {
    for tree in walk.contents(node).collect::<Vec<_>>() {
        if walk.kind_name(tree) == "token_tree" {
            read_tree(walk, tree, 0);
        }
    }
}

/// The state after the previous tokens.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    /// No expression that can be continued.
    Other,
    /// A complete expression.
    Value(ExprId),
    /// `value.` or `path::`
    Joined(ExprId),
    /// `name!`
    Macro(ExprId),
}

/// Reads the tokens of a tree. Returns the values of its arguments.
fn read_tree(walk: &mut Walk, tree: NodeId, depth: u32) -> Vec<ExprId> {
    if depth > MAX_DEPTH {
        walk.too_deep = true;
        return Vec::new();
    }
    let mut values = Vec::new();
    let mut before = Before::Nothing;
    let mut is_empty = true;
    let mut tokens: Vec<NodeId> = walk.tree.children(tree).skip(1).collect();
    tokens.pop();
    for token in tokens {
        if walk.bytes_of(token) == b"," {
            values.push(argument(walk, token, before));
            (before, is_empty) = (Before::Nothing, true);
            continue;
        }
        is_empty = false;
        before = match (walk.kind_name(token), before) {
            ("token_tree", before) => tree_after(walk, token, before, depth),
            ("identifier" | "self" | "crate" | "super", Before::Joined(base)) => {
                let name = walk.name_of(token);
                Before::Value(walk.builder.attribute(base, name))
            }
            ("identifier" | "self" | "crate" | "super", _) => Before::Value(walk.expression(token)),
            ("string_literal" | "integer_literal" | "boolean_literal", Before::Nothing) => {
                Before::Value(walk.expression(token))
            }
            (_, Before::Value(value)) => match walk.bytes_of(token) {
                b"." | b"::" => Before::Joined(value),
                b"?" => Before::Value(value),
                b"!" => Before::Macro(value),
                _ => {
                    argument(walk, token, before);
                    Before::Other
                }
            },
            (_, Before::Nothing) if walk.bytes_of(token) == b"&" => Before::Nothing,
            _ => Before::Other,
        };
    }
    if !is_empty {
        values.push(argument(walk, tree, before));
    }
    values
}

/// Returns the value of a complete argument and records a read of the field or path at its end.
fn argument(walk: &mut Walk, token: NodeId, before: Before) -> ExprId {
    let Before::Value(value) = before else {
        return UNKNOWN;
    };
    if matches!(walk.builder.get(value), Expr::Attribute { .. }) {
        walk.refer(ReferenceKind::Read, value, walk.tree.line(token));
    }
    value
}

/// Handles a token tree after an expression: the arguments of a call or macro, an index, or a group of its own.
fn tree_after(walk: &mut Walk, tree: NodeId, before: Before, depth: u32) -> Before {
    let values = read_tree(walk, tree, depth + 1);
    let opening = walk.bytes_of(tree).first().copied();
    match (before, opening) {
        (Before::Value(callee), Some(b'(')) | (Before::Macro(callee), _) => {
            let is_named = matches!(walk.builder.get(callee), Expr::Name(_) | Expr::Attribute { .. });
            let args = values.into_iter().map(|value| Arg { keyword: None, value }).collect();
            let call = walk.builder.expr(Expr::Call { callee, args, new: false });
            if is_named {
                walk.refer(ReferenceKind::Call, call, walk.tree.line(tree));
            }
            Before::Value(call)
        }
        (Before::Value(base), Some(b'[')) => {
            let index = values.first().copied().unwrap_or(UNKNOWN);
            Before::Value(walk.builder.expr(Expr::Index { base, index }))
        }
        (Before::Nothing, Some(b'(')) => values.last().map_or(Before::Other, |&value| Before::Value(value)),
        _ => Before::Other,
    }
}
