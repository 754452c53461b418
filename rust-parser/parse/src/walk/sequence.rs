//! How far an assignment holds: the lines after it that only run if it has run.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Expr, ExprId};

/// Largest number of enclosing nodes that are examined.
const MAX_AROUND: u32 = 16;

impl Walk<'_> {
    /// Returns the lines after an assignment to a target that only run if it has run: from the first to before the second.
    /// The last line of the assignment is one of them unless it mentions the target again: `x = x.next()`.
    pub fn lines_after_assignment(&self, assignment: NodeId, target: ExprId) -> (u32, u32) {
        let is_sequence = |node: NodeId| self.language.is_sequence(self.tree.node(node).kind);
        let mut here = assignment;
        for _ in 0..MAX_AROUND {
            let parent = self.tree.node(here).parent;
            let until = match (is_sequence(here), here) {
                (false, _) => break,
                (true, 0) => u32::MAX,
                _ if !is_sequence(parent) => self.line_after(here),
                _ => {
                    here = parent;
                    continue;
                }
            };
            let end = self.line_of_end(assignment);
            let from = if self.is_mentioned_again(assignment, target) { end + 1 } else { end };
            return if end + 1 < until { (from, until) } else { (0, 0) };
        }
        (0, 0)
    }

    /// Returns whether the variable of a target occurs more than once in an assignment.
    fn is_mentioned_again(&self, assignment: NodeId, mut target: ExprId) -> bool {
        let name = loop {
            target = match *self.builder.get(target) {
                Expr::Name(name) => break self.builder.text(name),
                Expr::Attribute { base, .. } | Expr::Index { base, .. } => base,
                _ => return true,
            };
        };
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let text = self.bytes_of(assignment);
        let words = text.split(|byte| !is_part(byte));
        words.filter(|&word| word == name.as_bytes()).count() > 1
    }

    /// Returns the line on which the text after a node begins.
    fn line_after(&self, node: NodeId) -> u32 {
        let next = self.tree.node(node).next;
        if next < self.tree.len() { self.tree.line(next) } else { u32::MAX - 1 }
    }
}
