//! Digests of definitions, computed after the walk from one stream of the file's tokens.

use crate::doc_text::digest;
use crate::flat_tree::{FlatTree, NodeId};
use crate::walk::drafts::Layout;
use crate::walk::state::Walk;
use atlas_facts::Definition;

const TOKEN_END: u8 = 0;
/// Structure marks: a group of statements opens, closes, and each of its statements begins.
const OPEN: u8 = 1;
const CLOSE: u8 = 2;
const STATEMENT: u8 = 3;

/// Sets the signature, body and text digests of all definitions.
pub fn fill(walk: &mut Walk) {
    let docstrings: Vec<NodeId> = {
        // Includes the whole statement, so that adding or removing a docstring does not change the digest.
        let statement = |layout: &Layout| layout.docstring.map(|node| walk.tree.node(node).parent);
        let mut nodes: Vec<_> = walk.layouts.iter().filter_map(statement).collect();
        nodes.sort_unstable();
        nodes
    };
    let (tokens, offsets) = token_stream(walk, &docstrings);
    let source = walk.source;
    let tree = walk.tree;
    for (definition, layout) in walk.builder.facts.definitions.iter_mut().zip(&walk.layouts) {
        fill_one(definition, layout, source, tree, &tokens, &offsets);
    }
}

fn fill_one(
    definition: &mut Definition,
    layout: &Layout,
    source: &[u8],
    tree: &FlatTree,
    tokens: &[u8],
    offsets: &[u32],
) {
    let place = |byte: u32| offsets[tree.first_from(byte) as usize] as usize;
    let (head, body, end) = (place(layout.head), place(layout.body), place(layout.end.max(layout.body)));
    definition.signature_digest = digest(without_outer_marks(&tokens[head..body.max(head)]));
    definition.body_digest = digest(without_outer_marks(&tokens[body..end.max(body)]));
    definition.text_digest = digest(&source[definition.start_byte as usize..definition.end_byte as usize]);
}

/// Strips the marks at both ends, which belong to the enclosing structure: a method's digest must not depend on being
/// the last of its class.
fn without_outer_marks(mut tokens: &[u8]) -> &[u8] {
    while let [STATEMENT | CLOSE, rest @ ..] = tokens {
        tokens = rest;
    }
    while let [rest @ .., STATEMENT | CLOSE] = tokens {
        tokens = rest;
    }
    tokens
}

/// Returns the text of all tokens except comments and docstrings, each followed by a zero byte, with structure marks,
/// and for each node the length of the stream before it (with one more entry at the end).
fn token_stream(walk: &Walk, docstrings: &[NodeId]) -> (Vec<u8>, Vec<u32>) {
    let tree = walk.tree;
    let mut tokens: Vec<u8> = Vec::with_capacity(walk.source.len());
    let mut offsets: Vec<u32> = Vec::with_capacity(tree.len() as usize + 1);
    let mut docstrings = docstrings.iter().copied().peekable();
    let mut open_blocks: Vec<NodeId> = Vec::new();
    let mut block = NodeId::MAX;
    // Nodes before this one belong to a token already written, or to a docstring.
    let mut covered = 0;
    for id in 0..tree.len() {
        let node = tree.node(id);
        while let Some(&open) = open_blocks.last()
            && id >= tree.node(open).next
        {
            open_blocks.pop();
            tokens.push(CLOSE);
            block = open_blocks.last().copied().unwrap_or(NodeId::MAX);
        }
        offsets.push(tokens.len() as u32);
        if id < covered {
            continue;
        }
        if docstrings.peek() == Some(&id) {
            docstrings.next();
            covered = node.next;
            continue;
        }
        let rules = walk.language.rules(node.kind);
        if rules.is_comment {
            covered = node.next;
            continue;
        }
        if node.parent == block && id != 0 {
            tokens.push(STATEMENT);
        }
        if rules.is_token || node.next == id + 1 {
            covered = node.next;
            let text = &walk.source[node.start as usize..node.end as usize];
            if !text.is_empty() && !(text.trim_ascii().is_empty()) {
                tokens.extend_from_slice(text);
                tokens.push(TOKEN_END);
            }
        } else if rules.is_block {
            tokens.push(OPEN);
            open_blocks.push(id);
            block = id;
        }
    }
    offsets.push(tokens.len() as u32);
    (tokens, offsets)
}
