//! Types with a form of their own: `(a: A) => B`, `T["member"]` and the container that `new Map<string, User>()` makes.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::languages::ecmascript::imports::unquoted;
use crate::walk::state::Walk;
use atlas_facts::{Arg, Expr, ExprId};

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

/// Returns the expression of `new Map<string, User>()`, whose type arguments are those of the container.
pub fn made_container(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let constructor = walk.child(node, "constructor")?;
    let list = walk.child(node, "type_arguments")?;
    let name = walk.text_of(constructor).into_owned();
    let link = &walk.language.settings.link;
    if !link.sequences.contains(&name) && !link.mappings.contains(&name) {
        return None;
    }
    walk.claim_read(constructor);
    let types: Vec<NodeId> = walk.contents(list).collect();
    let types: Vec<ExprId> = types.into_iter().map(|part| walk.type_expression(part)).collect();
    let base = walk.expression(constructor);
    let callee = walk.builder.expr(Expr::Generic { base, args: types });
    let list = walk.child(node, "arguments");
    let args = walk.arguments(list);
    Some(walk.builder.expr(Expr::Call { callee, args, new: true }))
}
