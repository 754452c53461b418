//! Lines on which a type test holds, in languages with braces: the branch that it guards, and the operand after `&&`.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Expr, ExprId, Narrowing};

/// Largest number of enclosing nodes that are examined.
const MAX_AROUND: u32 = 16;

impl Walk<'_> {
    /// Records what a type test at a node says about the target where it guards a branch.
    pub fn narrow_branch(&mut self, test: NodeId, target: NodeId, annotation: ExprId) {
        let target = self.expression(target);
        for branch in self.guarded_branches(test) {
            self.narrow_in(test, target, annotation, branch);
        }
    }

    /// Records that a type test holds in a branch.
    pub fn narrow_in(&mut self, test: NodeId, target: ExprId, annotation: ExprId, branch: NodeId) {
        let lines = (self.tree.line(branch), self.line_of_end(branch));
        self.narrow_lines(test, target, annotation, lines);
    }

    /// Records that a type test holds on lines.
    pub fn narrow_lines(
        &mut self,
        test: NodeId,
        target: ExprId,
        annotation: ExprId,
        (first_line, last_line): (u32, u32),
    ) {
        if !matches!(self.builder.get(target), Expr::Name(_) | Expr::Attribute { .. }) {
            return;
        }
        let (scope, test_line) = (self.scope(), self.tree.line(test));
        let narrowing = Narrowing { scope, target, annotation, is_class: false, test_line, first_line, last_line };
        self.builder.facts.narrowings.push(narrowing);
    }

    /// Returns the nodes that run only if the test holds.
    pub fn guarded_branches(&self, test: NodeId) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut here = test;
        for _ in 0..MAX_AROUND {
            let parent = self.tree.node(here).parent;
            let mut parts = self.contents(parent);
            let is_first = parts.next() == Some(here);
            let second = parts.next().filter(|_| is_first);
            match self.kind_name(parent) {
                "parenthesized_expression" => {}
                "binary_expression" => {
                    if !self.tree.children(parent).any(|child| matches!(self.bytes_of(child), b"&&" | b"and")) {
                        return found;
                    }
                    found.extend(second);
                }
                "if_statement"
                | "if_expression"
                | "while_statement"
                | "when_entry"
                | "else_if_clause"
                | "ternary_expression"
                | "conditional_expression" => {
                    found.extend(second);
                    return found;
                }
                _ => return found,
            }
            here = parent;
        }
        found
    }
}
