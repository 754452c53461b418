//! Lines on which a type test holds, or fails, in languages with braces: the branches that it guards, the operand after
//! `&&` and `||`, and the rest of a block after a branch that leaves it.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Expr, ExprId, LiteralType, Narrowing};

/// Largest number of enclosing nodes that are examined.
const MAX_AROUND: u32 = 16;

/// Lines, first and last, and whether a test holds on them.
type Guarded = ((u32, u32), bool);

impl Walk<'_> {
    /// Records what a type test at a node says about the target where its outcome is known.
    pub fn narrow_branch(&mut self, test: NodeId, target: NodeId, annotation: ExprId) {
        let target = self.expression(target);
        for (lines, holds) in self.guarded_lines(test) {
            self.narrow_lines(test, target, annotation, lines, holds);
        }
    }

    /// Records what a comparison of a member with a literal says about its object: `shape.kind === "circle"`.
    pub fn narrow_by_member(&mut self, test: NodeId, object: NodeId, (member, literal): (NodeId, NodeId), equal: bool) {
        let Some(annotation) = self.member_type(member, literal) else { return };
        let target = self.expression(object);
        for (lines, holds) in self.guarded_lines(test) {
            self.narrow_lines(test, target, annotation, lines, holds == equal);
        }
    }

    /// Returns the type of objects that have a literal as a member.
    pub fn member_type(&mut self, member: NodeId, literal: NodeId) -> Option<ExprId> {
        let text = self.text_of(literal).trim_matches(['"', '\'']).to_owned();
        let is_plain = !text.is_empty() && !text.contains(['"', '\'', '\\', '`']);
        let (key, value) = (self.name_of(member), self.builder.owned_name(text));
        let items = vec![self.builder.expr(Expr::Key(value))];
        let expr = Expr::Elements { kind: LiteralType::Dict, items, keys: vec![key] };
        is_plain.then(|| self.builder.expr(expr))
    }

    /// Records that a type test holds in a branch.
    pub fn narrow_in(&mut self, test: NodeId, target: ExprId, annotation: ExprId, branch: NodeId) {
        let lines = (self.tree.line(branch), self.line_of_end(branch));
        self.narrow_lines(test, target, annotation, lines, true);
    }

    /// Records that a type test holds on lines, or that it fails.
    pub fn narrow_lines(
        &mut self,
        test: NodeId,
        target: ExprId,
        annotation: ExprId,
        (first_line, last_line): (u32, u32),
        holds: bool,
    ) {
        if first_line > last_line || !matches!(self.builder.get(target), Expr::Name(_) | Expr::Attribute { .. }) {
            return;
        }
        let (scope, test_line) = (self.scope(), self.tree.line(test));
        self.builder.facts.narrowings.push(Narrowing {
            scope,
            target,
            annotation,
            is_class: false,
            is_excluded: !holds,
            test_line,
            first_line,
            last_line,
        });
    }

    /// Returns the nodes that run only if the test holds.
    pub fn guarded_branches(&self, test: NodeId) -> Vec<NodeId> {
        let branches = self.branches(test).0.into_iter();
        branches.filter(|&(_, holds)| holds).map(|(branch, _)| branch).collect()
    }

    /// Returns the lines on which the outcome of a test is known.
    fn guarded_lines(&self, test: NodeId) -> Vec<Guarded> {
        let (branches, rest) = self.branches(test);
        let lines = |node: NodeId| (self.tree.line(node), self.line_of_end(node));
        let mut found: Vec<Guarded> = branches.into_iter().map(|(branch, holds)| (lines(branch), holds)).collect();
        found.extend(rest);
        found
    }

    /// Returns the nodes that run only with one outcome of the test, and the lines after the statement if they do.
    fn branches(&self, test: NodeId) -> (Vec<(NodeId, bool)>, Option<Guarded>) {
        let mut found = Vec::new();
        // What the outcomes of the expression around say about the test.
        let (mut if_true, mut if_false) = (Some(true), Some(false));
        let mut here = test;
        for _ in 0..MAX_AROUND {
            let parent = self.tree.node(here).parent;
            let parts: Vec<NodeId> = self.contents(parent).take(3).collect();
            let is_first = parts.first() == Some(&here);
            let mut add = |part: usize, outcome: Option<bool>| {
                let branch = parts.get(part).filter(|_| is_first).zip(outcome);
                found.extend(branch.map(|(&branch, holds)| (branch, holds)));
            };
            let has = |word: &[u8]| self.tree.children(parent).any(|child| self.bytes_of(child) == word);
            match self.kind_name(parent) {
                "parenthesized_expression" => {}
                "unary_expression" | "unary_op_expression" | "prefix_unary_expression" if has(b"!") => {
                    std::mem::swap(&mut if_true, &mut if_false);
                }
                "binary_expression" if has(b"&&") || has(b"and") => {
                    add(1, if_true);
                    if_false = None;
                }
                "binary_expression" if has(b"||") || has(b"or") => {
                    add(1, if_false);
                    if_true = None;
                }
                "while_statement" => {
                    add(1, if_true);
                    return (found, None);
                }
                "if_statement"
                | "if_expression"
                | "when_entry"
                | "else_if_clause"
                | "ternary_expression"
                | "conditional_expression" => {
                    add(1, if_true);
                    add(2, if_false);
                    let rest = if_false.filter(|_| is_first && parts.len() == 2);
                    let lines = rest.and_then(|holds| Some((self.lines_after(parent, parts[1])?, holds)));
                    return (found, lines);
                }
                _ => return (found, None),
            }
            here = parent;
        }
        (found, None)
    }

    /// Returns the lines of a block after a statement.
    pub fn lines_left(&self, statement: NodeId) -> Option<(u32, u32)> {
        let block = self.tree.node(statement).parent;
        let is_block = matches!(self.kind_name(block), "statement_block" | "compound_statement" | "block" | "program");
        is_block.then(|| (self.line_of_end(statement) + 1, self.line_of_end(block)))
    }

    /// Returns the lines of a block after an `if` whose only branch leaves it.
    fn lines_after(&self, statement: NodeId, branch: NodeId) -> Option<(u32, u32)> {
        let mut last = branch;
        if matches!(self.kind_name(branch), "statement_block" | "compound_statement" | "block") {
            last = self.contents(branch).last()?;
        }
        let leaves = matches!(
            self.kind_name(last),
            "return_statement" | "throw_statement" | "continue_statement" | "break_statement" | "throw_expression"
        );
        let leaves = leaves || self.contents(last).next().is_some_and(|one| self.kind_name(one) == "throw_expression");
        if leaves { self.lines_left(statement) } else { None }
    }
}
