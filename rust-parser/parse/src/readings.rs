//! Chooses the text that a grammar reads. Where the first reading of a file leaves errors, hooks may offer others; the
//! tree with the fewest bytes in errors is used, so that a reading never makes a file worse.

use tree_sitter::{Language as Grammar, Tree};

use crate::language::Language;
use atlas_languages::deadline::Deadline;
use atlas_languages::syntax::syntax_tree;

/// Returns the syntax tree of a file, or `None` when the deadline passes before the first one is complete.
pub(super) fn best_tree(language: &Language, grammar: &Grammar, data: &[u8], deadline: Deadline) -> Option<Tree> {
    let text = language.hooks.readable(data);
    let mut best = syntax_tree(grammar, &text, deadline)?;
    if !best.root_node().has_error() {
        return Some(best);
    }
    let mut errors = bytes_in_errors(&best);
    for other in language.hooks.alternatives(data, &text) {
        let Some(tree) = syntax_tree(grammar, &other, deadline) else {
            break;
        };
        let count = bytes_in_errors(&tree);
        if count < errors {
            (best, errors) = (tree, count);
        }
    }
    Some(best)
}

/// Returns the number of bytes in errors; a missing token counts as one.
fn bytes_in_errors(tree: &Tree) -> usize {
    let mut total = 0;
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        total += if node.is_error() { node.byte_range().len().max(1) } else { usize::from(node.is_missing()) };
        let is_open = !node.is_error() && node.has_error();
        if is_open && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return total;
            }
        }
    }
}
