//! Chooses the text that a grammar reads. Where the first reading of a file leaves errors, hooks may offer others; the
//! tree with the fewest bytes in errors is used, so that a reading never makes a file worse. What still does not fit is
//! left out (`recovery`), so that it takes nothing else with it.

use std::borrow::Cow;
use std::ops::Range;

use tree_sitter::{Language as Grammar, Tree};

use crate::language::Language;
use crate::query::vocabulary::Role;
use crate::recovery::without_faults;
use crate::rewriting::{Edit, Places, Reading, rewritten};
use atlas_facts::Kind;
use atlas_languages::deadline::Deadline;
use atlas_languages::syntax::syntax_tree;

/// Returns the syntax tree of a file, or `None` when the deadline passes before the first one is complete.
pub fn best_reading(language: &Language, grammar: &Grammar, data: &[u8], deadline: Deadline) -> Option<Reading> {
    let (reading, text, errors) = choose(language, grammar, data, deadline)?;
    Some(recovered(language, grammar, reading, &text, errors, deadline))
}

/// Leaves out what does not fit, unless that loses more.
fn recovered(
    language: &Language,
    grammar: &Grammar,
    mut reading: Reading,
    text: &[u8],
    errors: usize,
    deadline: Deadline,
) -> Reading {
    if errors > 0
        && let Some((tree, left_out)) = without_faults(grammar, text, &reading.tree, deadline)
    {
        let bytes = left_out.iter().map(Range::len).sum::<usize>() + bytes_in_errors(&tree);
        let (before, after) = (definitions(language, &reading.tree), definitions(language, &tree));
        if after > before || after == before && bytes < errors {
            (reading.tree, reading.left_out) = (tree, left_out);
        }
    }
    reading
}

/// Returns the syntax tree of what edits leave of a file.
pub fn reading_of(
    language: &Language,
    grammar: &Grammar,
    data: &[u8],
    edits: &[Edit],
    deadline: Deadline,
) -> Option<Reading> {
    let (text, parts) = rewritten(data, edits);
    let tree = syntax_tree(grammar, &text, deadline)?;
    let errors = bytes_in_errors(&tree);
    let reading = Reading { tree, places: Places::new(parts, data), left_out: Vec::new() };
    Some(recovered(language, grammar, reading, &text, errors, deadline))
}

/// Returns the syntax tree of a text that may be a part of a file, with everything that is in it.
pub fn first_reading(language: &Language, grammar: &Grammar, data: &[u8], deadline: Deadline) -> Option<Reading> {
    choose(language, grammar, data, deadline).map(|(reading, _, _)| reading)
}

/// Returns the tree with the fewest bytes in errors, the text that it is of, and the number of these bytes.
fn choose<'d>(
    language: &Language,
    grammar: &Grammar,
    data: &'d [u8],
    deadline: Deadline,
) -> Option<(Reading, Cow<'d, [u8]>, usize)> {
    let text = language.hooks.readable(data);
    let edits = language.hooks.edits(&language.settings, data);
    let (first, parts) = match edits.is_empty() {
        true => (text.clone(), Vec::new()),
        false => {
            let (made, parts) = rewritten(&text, &edits);
            (Cow::Owned(made), parts)
        }
    };
    let tree = syntax_tree(grammar, &first, deadline)?;
    let mut reading = Reading { tree, places: Places::new(parts, data), left_out: Vec::new() };
    if !reading.tree.root_node().has_error() {
        return Some((reading, first, 0));
    }
    let mut best = first;
    let mut errors = bytes_in_errors(&reading.tree);
    for other in language.hooks.alternatives(data, &text) {
        let other = if edits.is_empty() { other } else { rewritten(&other, &edits).0 };
        let Some(tree) = syntax_tree(grammar, &other, deadline) else {
            break;
        };
        let count = bytes_in_errors(&tree);
        if count < errors {
            (reading.tree, best, errors) = (tree, Cow::Owned(other), count);
        }
    }
    Some((reading, best, errors))
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

/// Returns the numbers of types and functions and of all definitions outside of errors, by the kinds of nodes that their
/// patterns have.
fn definitions(language: &Language, tree: &Tree) -> (usize, usize) {
    let (mut scopes, mut total) = (0, 0);
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if !node.is_error() {
            let roles = language.rules(node.kind_id()).walk.iter().map(|&one| language.patterns[one as usize].role);
            let found = roles.filter_map(|role| match role {
                Role::Definition(Kind::Lambda | Kind::Field | Kind::Constant) | Role::Variable => Some(false),
                Role::Definition(_) => Some(true),
                _ => None,
            });
            if let Some(is_scope) = found.max() {
                total += 1;
                scopes += usize::from(is_scope);
            }
            if cursor.goto_first_child() {
                continue;
            }
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return (scopes, total);
            }
        }
    }
}
