//! References of Elixir: calls, pipes, captures, attributes of modules, and delegations.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::languages::elixir::modules::{is_module, module_name};
use crate::languages::elixir::syntax::{arguments, attribute_name, operator, option};
use crate::walk::state::Walk;
use atlas_facts::{Arg, Expr, ExprId, ReferenceKind};

/// Modules of the standard library whose functions call the functions that they receive.
const RUNNING: &[&[u8]] = &[b"Enum", b"Stream", b"Task", b"Map", b"Keyword", b"Agent"];
/// Largest number of parameters of a function.
const MAX_ARITY: usize = 255;

/// Attributes whose value consists of types.
const TYPE_ATTRIBUTES: [&[u8]; 6] = [b"spec", b"type", b"typep", b"opaque", b"callback", b"macrocallback"];

/// Returns the expression of `name(...)` or `Module.name(...)`; calls of a variable's value are unknown.
pub fn call(walk: &mut Walk, node: NodeId) -> ExprId {
    let Some(called) = walk.child(node, "target") else {
        return UNKNOWN;
    };
    let callee = match walk.kind_name(called) {
        "identifier" => {
            let name = walk.name_of(called);
            walk.builder.name_expr(name)
        }
        "dot" => match module_member(walk, called) {
            Some(callee) => callee,
            None => return UNKNOWN,
        },
        _ => return UNKNOWN,
    };
    let mut args = Vec::new();
    let parent = walk.tree.node(node).parent;
    if operator(walk, parent) == b"|>" && walk.child(parent, "right") == Some(node) {
        args.push(Arg { keyword: None, value: UNKNOWN });
    }
    for argument in arguments(walk, node).collect::<Vec<_>>() {
        args.push(Arg { keyword: None, value: walk.expression(argument) });
    }
    if walk.contents(node).any(|part| walk.kind_name(part) == "do_block") {
        args.push(Arg { keyword: None, value: UNKNOWN });
    }
    walk.builder.expr(Expr::Call { callee, args, new: false })
}

/// Returns the expression of `Module.name`.
fn module_member(walk: &mut Walk, dot: NodeId) -> Option<ExprId> {
    let (left, right) = (walk.child(dot, "left")?, walk.child(dot, "right")?);
    let base = module_name(walk, left)?;
    walk.claim_read(left);
    let base = walk.builder.owned_name(base);
    let base = walk.builder.name_expr(base);
    let name = walk.name_of(right);
    Some(walk.builder.attribute(base, name))
}

/// Records the call in `value |> name`, without parentheses.
pub fn pipe(walk: &mut Walk, node: NodeId) {
    let right = walk.child(node, "right").filter(|&right| walk.kind_name(right) == "identifier");
    if let Some(right) = right.filter(|_| operator(walk, node) == b"|>") {
        let name = walk.name_of(right);
        let callee = walk.builder.name_expr(name);
        let args = vec![Arg { keyword: None, value: UNKNOWN }];
        let expr = walk.builder.expr(Expr::Call { callee, args, new: false });
        walk.refer(ReferenceKind::Call, expr, walk.tree.line(right));
    }
}

/// Records the reads in `&name/1` and `&Module.name/1`.
pub fn capture(walk: &mut Walk, node: NodeId) {
    let Some(operand) = walk.child(node, "operand").filter(|&operand| operator(walk, operand) == b"/") else {
        return;
    };
    let Some(left) = walk.child(operand, "left") else {
        return;
    };
    let expr = match walk.kind_name(left) {
        "identifier" => {
            let name = walk.name_of(left);
            Some(walk.builder.name_expr(name))
        }
        "call" => {
            walk.claim_call(left);
            let dot = walk.child(left, "target").filter(|&dot| walk.kind_name(dot) == "dot");
            dot.and_then(|dot| module_member(walk, dot))
        }
        _ => None,
    };
    let Some(expr) = expr else { return };
    walk.refer(ReferenceKind::Read, expr, walk.tree.line(left));
    if is_run(walk, node) {
        let arity = walk.child(operand, "right").and_then(|right| walk.text_of(right).parse().ok()).unwrap_or(0);
        let args = (0..arity.min(MAX_ARITY)).map(|_| Arg { keyword: None, value: UNKNOWN }).collect();
        let call = walk.builder.expr(Expr::Call { callee: expr, args, new: false });
        walk.refer(ReferenceKind::Call, call, walk.tree.line(left));
    }
}

/// Returns whether a captured function is an argument of a function that calls it: `Enum.map(xs, &f/1)`.
fn is_run(walk: &Walk, capture: NodeId) -> bool {
    let list = walk.tree.node(capture).parent;
    let call = walk.tree.node(list).parent;
    let module = walk.child(call, "target").and_then(|target| walk.child(target, "left"));
    walk.kind_name(list) == "arguments" && module.is_some_and(|module| RUNNING.contains(&walk.bytes_of(module)))
}

/// Records the references of attributes: `@spec` and similar ones refer to types, `@behaviour` names a base, and
/// `@name` reads an attribute of the module.
pub fn attribute(walk: &mut Walk, node: NodeId) {
    let name = attribute_name(walk, node);
    let scope = walk.scope();
    if name == b"behaviour" && is_module(walk.kind_of(scope)) {
        let operand = walk.child(node, "operand");
        if let Some(base) = operand.and_then(|operand| arguments(walk, operand).next()) {
            let base = walk.type_expression(base);
            walk.builder.facts.definitions[scope as usize].bases.push(base);
        }
        return;
    }
    if TYPE_ATTRIBUTES.contains(&name) {
        for part in node + 1..walk.tree.node(node).next {
            match walk.kind_name(part) {
                "call" => walk.claim_call(part),
                "alias" => {
                    walk.annotation(part);
                }
                _ => {}
            }
        }
        return;
    }
    let operand = walk.child(node, "operand").filter(|&operand| walk.kind_name(operand) == "identifier");
    if let Some(operand) = operand.filter(|_| !name.is_empty()) {
        let name = walk.name_of(operand);
        let expr = walk.builder.name_expr(name);
        walk.refer(ReferenceKind::Read, expr, walk.tree.line(operand));
    }
}

/// Records the call in `defdelegate f(x), to: Module, as: :g`.
pub fn delegate(walk: &mut Walk, node: NodeId) {
    let Some(module) = option(walk, node, "to:").and_then(|module| module_name(walk, module)) else {
        return;
    };
    let scope = walk.scope() as usize;
    let definition = &walk.builder.facts.definitions[scope];
    let (mut name, count) = (walk.builder.text(definition.name).to_owned(), definition.params.len());
    if let Some(other) = option(walk, node, "as:") {
        name = walk.text_of(other).trim_start_matches(':').to_owned();
    }
    let base = walk.builder.owned_name(module);
    let base = walk.builder.name_expr(base);
    let name = walk.builder.owned_name(name);
    let callee = walk.builder.attribute(base, name);
    let args = vec![Arg { keyword: None, value: UNKNOWN }; count];
    let expr = walk.builder.expr(Expr::Call { callee, args, new: false });
    walk.refer(ReferenceKind::Call, expr, walk.tree.line(node));
}
