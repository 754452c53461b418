//! Lines on which `isinstance(x, T)` or `issubclass(x, T)` holds: the branch that it guards, the operand after `and`,
//! the rest of a block after `assert` or after `if not isinstance(x, T): return`.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Expr, ExprId, Narrowing};

/// Largest number of enclosing nodes that are examined.
const MAX_AROUND: u32 = 16;

/// Records what a test at a node says about its first argument.
pub fn narrow(walk: &mut Walk, test: NodeId, target: NodeId, annotation: ExprId, is_class: bool) {
    let target = walk.expression(target);
    if !matches!(walk.builder.get(target), Expr::Name(_) | Expr::Attribute { .. }) {
        return;
    }
    let (scope, test_line) = (walk.scope(), walk.tree.line(test));
    for (first_line, last_line) in guarded(walk, test) {
        if first_line <= last_line {
            let narrowing = Narrowing { scope, target, annotation, is_class, test_line, first_line, last_line };
            walk.builder.facts.narrowings.push(narrowing);
        }
    }
}

/// Records the class of the subject in `case Class():`, and binds what the keywords of the pattern name.
pub fn narrow_case(walk: &mut Walk, case: NodeId) {
    let patterns: Vec<NodeId> = walk.contents(case).filter(|&part| walk.kind_name(part) == "case_pattern").collect();
    let [pattern] = patterns[..] else { return };
    let Some(class) = walk.contents(pattern).next().filter(|&part| walk.kind_name(part) == "class_pattern") else {
        return;
    };
    let Some(name) = walk.contents(class).next() else { return };
    let annotation = walk.type_expression(name);
    let mut around = walk.tree.node(case).parent;
    if walk.kind_name(around) == "block" {
        around = walk.tree.node(around).parent;
    }
    let lines = (walk.tree.line(case), walk.line_of_end(case));
    if let Some(subject) = walk.child(around, "subject") {
        let (target, scope) = (walk.expression(subject), walk.scope());
        if matches!(walk.builder.get(target), Expr::Name(_) | Expr::Attribute { .. }) {
            let (first_line, last_line) = lines;
            let test_line = first_line;
            let narrowing = Narrowing { scope, target, annotation, is_class: false, test_line, first_line, last_line };
            walk.builder.facts.narrowings.push(narrowing);
        }
    }
}

/// Returns the lines that run only if the test holds.
fn guarded(walk: &Walk, test: NodeId) -> Vec<(u32, u32)> {
    let lines = |node: NodeId| (walk.tree.line(node), walk.line_of_end(node));
    let mut found = Vec::new();
    let mut holds = true;
    let mut here = test;
    for _ in 0..MAX_AROUND {
        let parent = walk.tree.node(here).parent;
        let is_first = || walk.contents(parent).next() == Some(here);
        match walk.kind_name(parent) {
            "parenthesized_expression" => {}
            "not_operator" => holds = !holds,
            "boolean_operator" => {
                let is_and = walk.tree.children(parent).any(|child| walk.bytes_of(child) == b"and");
                // `a and b` holds only if both do; `not a or b` fails only if both do.
                if is_and != holds {
                    return found;
                }
                if is_first() {
                    found.extend(walk.child(parent, "right").map(lines));
                }
            }
            "conditional_expression" => {
                let parts: Vec<NodeId> = walk.contents(parent).collect();
                if parts.get(1) == Some(&here) {
                    found.extend(parts.get(if holds { 0 } else { 2 }).map(|&part| lines(part)));
                }
                return found;
            }
            "if_clause" => {
                let comprehension = walk.tree.node(parent).parent;
                found.extend(holds.then(|| lines(comprehension)));
                return found;
            }
            "while_statement" => {
                let body = walk.child(parent, "body").filter(|_| holds && is_first());
                found.extend(body.map(lines));
                return found;
            }
            "assert_statement" => {
                found.extend((holds && is_first()).then(|| rest_of_block(walk, parent)));
                return found;
            }
            "if_statement" | "elif_clause" => {
                let body = walk.child(parent, "consequence").filter(|_| is_first());
                match body {
                    Some(body) if holds => found.push(lines(body)),
                    Some(body) => found.extend(without(walk, parent, body)),
                    None => {}
                }
                return found;
            }
            _ => return found,
        }
        here = parent;
    }
    found
}

/// Returns the lines that run if a condition fails: an `else` directly after its branch, and what follows a branch that
/// leaves the block.
fn without(walk: &Walk, statement: NodeId, body: NodeId) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let mut others = walk.in_field(statement, "alternative");
    if walk.kind_name(statement) == "elif_clause" {
        return found;
    }
    match (others.next(), others.next()) {
        (Some(only), None) if walk.kind_name(only) == "else_clause" => {
            found.push((walk.tree.line(only), walk.line_of_end(only)));
        }
        (None, _) => {
            let last = walk.contents(body).last();
            let leaves = last.is_some_and(|last| {
                matches!(
                    walk.kind_name(last),
                    "return_statement" | "raise_statement" | "continue_statement" | "break_statement"
                )
            });
            found.extend(leaves.then(|| rest_of_block(walk, statement)));
        }
        _ => {}
    }
    found
}

/// Returns the lines after a statement up to the end of its block.
fn rest_of_block(walk: &Walk, statement: NodeId) -> (u32, u32) {
    let block = walk.tree.node(statement).parent;
    (walk.line_of_end(statement) + 1, walk.line_of_end(block))
}
