//! Names of C and C++: template arguments, operators, and names qualified by namespaces and classes.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Expr, ExprId};

/// Returns a name without template arguments and white space.
pub fn plain_name(name: &str) -> String {
    if let Some(operator) = name.strip_prefix("operator") {
        let words: Vec<&str> = operator.split('(').next().unwrap_or("").split_whitespace().collect();
        let is_call = operator.trim_start().starts_with('(');
        return if is_call { "operator()".to_owned() } else { format!("operator{}", spaced(&words.join(" "))) };
    }
    let mut depth = 0;
    let kept = name.chars().filter(|&c| {
        depth += i32::from(c == '<');
        let is_kept = depth == 0 && !c.is_whitespace();
        depth -= i32::from(c == '>');
        is_kept
    });
    kept.collect()
}

/// Returns an operator's text. A conversion keeps its blank: `operator bool`, but `operator==`.
fn spaced(operator: &str) -> String {
    let is_word = operator.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if is_word { format!(" {operator}") } else { operator.replace(' ', "") }
}

/// Returns the name of the struct, union, enum or type that a typedef declares an alias of.
pub fn tag(walk: &Walk, declared: NodeId) -> String {
    let name = walk.child(declared, "name").unwrap_or(declared);
    plain_name(&walk.text_of(name))
}

/// Marks `A::B::f` as not a value where it is the name of a definition.
pub fn claim_qualifiers(walk: &mut Walk, name: Option<NodeId>) {
    let mut current = name.unwrap_or(0);
    for _ in 0..8 {
        current = walk.tree.node(current).parent;
        if walk.kind_name(current) != "qualified_identifier" {
            return;
        }
        walk.claim_read(current);
    }
}

/// Returns the expression of `a::b::c` or `std::vector<T>`, which the grammar nests to the right.
pub fn qualified(walk: &mut Walk, node: NodeId) -> ExprId {
    let mut base = None;
    let mut current = node;
    loop {
        walk.claim_read(current);
        if let Some(scope) = walk.child(current, "scope") {
            base = Some(match base {
                None => scope_of(walk, scope),
                Some(base) => attribute_of(walk, Some(base), scope),
            });
        }
        let Some(name) = walk.child(current, "name") else {
            return base.unwrap_or(UNKNOWN);
        };
        if walk.kind_name(name) != "qualified_identifier" {
            return attribute_of(walk, base, name);
        }
        current = name;
    }
}

/// Returns the expression of the first segment of a qualified name.
fn scope_of(walk: &mut Walk, part: NodeId) -> ExprId {
    let expr = attribute_of(walk, None, part);
    match *walk.builder.get(expr) {
        Expr::Name(name) => walk.builder.scope_expr(name),
        _ => expr,
    }
}

fn attribute_of(walk: &mut Walk, base: Option<ExprId>, part: NodeId) -> ExprId {
    walk.claim_read(part);
    let plain = walk.child(part, "name").filter(|_| walk.kind_name(part).starts_with("template")).unwrap_or(part);
    walk.claim_read(plain);
    let text = plain_name(&walk.text_of(plain));
    let name = walk.builder.owned_name(text);
    let expr = match base {
        Some(base) => walk.builder.attribute(base, name),
        None => walk.builder.name_expr(name),
    };
    if walk.kind_name(part) != "template_type" {
        return expr;
    }
    let list = walk.child(part, "arguments");
    let arguments: Vec<NodeId> = list.into_iter().flat_map(|list| walk.contents(list)).collect();
    let args = arguments.into_iter().map(|argument| walk.type_expression(argument)).collect();
    walk.builder.expr(Expr::Generic { base: expr, args })
}
