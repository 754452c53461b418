//! Types with a form of their own: `(a: A) => B` and `T["member"]`.

use crate::facts::{Arg, Expr, ExprId};
use crate::parse::facts_builder::UNKNOWN;
use crate::parse::flat_tree::NodeId;
use crate::parse::languages::ecmascript::imports::unquoted;
use crate::parse::walk::state::Walk;

/// Returns the expression of a function type: its result, called with the types of its parameters.
pub fn function_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let callee = walk.child(node, "return_type").map_or(UNKNOWN, |result| walk.type_expression(result));
    let list = walk.child(node, "parameters");
    let parameters: Vec<NodeId> = list.into_iter().flat_map(|list| walk.contents(list)).collect();
    let mut args = Vec::new();
    for parameter in parameters {
        let pattern = walk.child(parameter, "pattern").map(|pattern| walk.kind_name(pattern));
        if pattern != Some("this") {
            let declared = walk.child(parameter, "type");
            let value = declared.map_or(UNKNOWN, |declared| walk.type_expression(declared));
            args.push(Arg { keyword: None, value });
        }
    }
    walk.builder.expr(Expr::Call { callee, args, new: false })
}

/// Returns the expression of `T["member"]`: an attribute of the type.
pub fn member_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let &[base, key] = parts.as_slice() else { return UNKNOWN };
    let text = walk.text_of(key).into_owned();
    if !text.starts_with(['"', '\'']) {
        return UNKNOWN;
    }
    let base = walk.type_expression(base);
    let name = walk.builder.owned_name(unquoted(&text));
    walk.builder.attribute(base, name)
}
