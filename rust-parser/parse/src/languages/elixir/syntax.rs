//! Access to Elixir's syntax tree: macro calls, their arguments and keywords, operators, attributes.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;

/// Returns the name of a call's target if it is a plain word.
pub fn target<'a>(walk: &Walk<'a>, call: NodeId) -> &'a [u8] {
    match walk.child(call, "target") {
        Some(target) if walk.kind_name(target) == "identifier" => walk.bytes_of(target),
        _ => b"",
    }
}

/// Returns the arguments of a macro call.
pub fn arguments<'a>(walk: &Walk<'a>, call: NodeId) -> impl Iterator<Item = NodeId> + use<'a> {
    let list = walk.contents(call).find(|&part| walk.kind_name(part) == "arguments");
    let (tree, comment) = (walk.tree, walk.language);
    let parts = list.into_iter().flat_map(move |list| tree.children(list));
    parts.filter(move |&part| comment.is_content(tree.node(part).kind))
}

/// Returns the operator of a unary or binary expression; empty for other nodes.
pub fn operator<'a>(walk: &Walk<'a>, node: NodeId) -> &'a [u8] {
    walk.child(node, "operator").map_or(b"", |operator| walk.bytes_of(operator))
}

/// Returns `name` of `@name value` and `@name`.
pub fn attribute_name<'a>(walk: &Walk<'a>, node: NodeId) -> &'a [u8] {
    if walk.kind_name(node) != "unary_operator" || operator(walk, node) != b"@" {
        return b"";
    }
    match walk.child(node, "operand") {
        Some(operand) if walk.kind_name(operand) == "identifier" => walk.bytes_of(operand),
        Some(operand) => target(walk, operand),
        None => b"",
    }
}

/// Returns the value of a keyword in the last argument of a call.
pub fn option(walk: &Walk, call: NodeId, key: &str) -> Option<NodeId> {
    let keywords = arguments(walk, call).find(|&part| walk.kind_name(part) == "keywords")?;
    let is_meant =
        |&pair: &NodeId| walk.child(pair, "key").is_some_and(|found| walk.text_of(found).trim_ascii_end() == key);
    let pair = walk.contents(keywords).find(is_meant)?;
    walk.child(pair, "value")
}
