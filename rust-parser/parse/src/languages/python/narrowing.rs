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
    for ((first_line, last_line), holds) in guarded(walk, test) {
        if first_line <= last_line {
            walk.builder.facts.narrowings.push(Narrowing {
                scope,
                target,
                annotation,
                is_class,
                is_excluded: !holds,
                test_line,
                first_line,
                last_line,
            });
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
        let target = walk.expression(subject);
        if matches!(walk.builder.get(target), Expr::Name(_) | Expr::Attribute { .. }) {
            walk.narrow_lines(case, target, annotation, lines, true);
        }
    }
}

/// Returns the lines that run only with one outcome of the test, and the outcome.
fn guarded(walk: &Walk, test: NodeId) -> Vec<((u32, u32), bool)> {
    let lines = |node: NodeId| (walk.tree.line(node), walk.line_of_end(node));
    let mut found = Vec::new();
    // What the outcomes of the expression around say about the test.
    let (mut if_true, mut if_false) = (Some(true), Some(false));
    let mut here = test;
    for _ in 0..MAX_AROUND {
        let parent = walk.tree.node(here).parent;
        let is_first = || walk.contents(parent).next() == Some(here);
        match walk.kind_name(parent) {
            "parenthesized_expression" => {}
            "not_operator" => std::mem::swap(&mut if_true, &mut if_false),
            "boolean_operator" => {
                let is_and = walk.tree.children(parent).any(|child| walk.bytes_of(child) == b"and");
                // `a and b` holds only if both do, `a or b` fails only if both do.
                let before_right = if is_and { if_true } else { if_false };
                if is_first() {
                    found.extend(walk.child(parent, "right").map(lines).zip(before_right));
                }
                match is_and {
                    true => if_false = None,
                    false => if_true = None,
                }
            }
            "conditional_expression" => {
                let parts: Vec<NodeId> = walk.contents(parent).collect();
                if parts.get(1) == Some(&here) {
                    found.extend(parts.first().map(|&part| lines(part)).zip(if_true));
                    found.extend(parts.get(2).map(|&part| lines(part)).zip(if_false));
                }
                return found;
            }
            "if_clause" => {
                let comprehension = walk.tree.node(parent).parent;
                found.extend(if_true.map(|holds| (lines(comprehension), holds)));
                return found;
            }
            "while_statement" => {
                let body = walk.child(parent, "body").filter(|_| is_first());
                found.extend(body.map(lines).zip(if_true));
                return found;
            }
            "assert_statement" => {
                let rest = is_first().then(|| rest_of_block(walk, parent));
                found.extend(rest.zip(if_true));
                return found;
            }
            "if_statement" | "elif_clause" => {
                if let Some(body) = walk.child(parent, "consequence").filter(|_| is_first()) {
                    found.extend(if_true.map(|holds| (lines(body), holds)));
                    found.extend(without(walk, parent, body).zip(if_false));
                }
                return found;
            }
            _ => return found,
        }
        here = parent;
    }
    found
}

/// Returns the lines that run if a condition fails: the further branches, or what follows a branch that leaves the block.
fn without(walk: &Walk, statement: NodeId, body: NodeId) -> Option<(u32, u32)> {
    let whole = if walk.kind_name(statement) == "elif_clause" { walk.tree.node(statement).parent } else { statement };
    let mut others = walk.in_field(whole, "alternative").filter(|&other| whole == statement || other > statement);
    if let Some(first) = others.next() {
        return Some((walk.tree.line(first), walk.line_of_end(others.last().unwrap_or(first))));
    }
    let last = walk.contents(body).last();
    let leaves = last.is_some_and(|last| {
        matches!(
            walk.kind_name(last),
            "return_statement" | "raise_statement" | "continue_statement" | "break_statement"
        )
    });
    (leaves && whole == statement).then(|| rest_of_block(walk, statement))
}

/// Returns the lines after a statement up to the end of its block.
fn rest_of_block(walk: &Walk, statement: NodeId) -> (u32, u32) {
    let block = walk.tree.node(statement).parent;
    (walk.line_of_end(statement) + 1, walk.line_of_end(block))
}
