//! A segment from texts.

use rustc_hash::FxHashMap;

use super::blocks::{self, Block, MAX_TERM_BYTES};
use super::fold::each_token;
use super::nodes::{GENERATED, Nodes, TEST, ids_bytes};
use super::postings::{self, COLUMNS, place};
use crate::tokens::cut_bytes;

/// One text to be indexed.
pub struct Row<'a> {
    pub node: u32,
    pub file: u32,
    pub label: &'a str,
    pub is_test: bool,
    pub is_generated: bool,
    pub columns: [&'a str; COLUMNS],
}

/// The bytes of a segment.
pub struct Segment {
    pub nodes: Vec<u8>,
    pub gone: Vec<u8>,
    pub directory: Vec<u8>,
    pub blocks: Vec<Block>,
}

/// An occurrence of a term: term, text, place.
type Occurrence = (u32, u32, u32);

/// Returns the segment of texts, of distinct nodes, that replaces the older texts of the nodes `gone`.
pub fn build(mut rows: Vec<Row>, mut gone: Vec<u32>) -> Segment {
    rows.sort_unstable_by_key(|row| row.node);
    gone.sort_unstable();
    gone.dedup();
    let mut nodes = Nodes::default();
    let mut terms: FxHashMap<Box<str>, u32> = FxHashMap::default();
    let mut found: Vec<Occurrence> = Vec::new();
    for (text, row) in rows.iter().enumerate() {
        let mut length = 0;
        for (column, words) in row.columns.iter().enumerate() {
            let mut position = 0;
            each_token(words, |token| {
                let token = cut_bytes(token, MAX_TERM_BYTES);
                let term = terms.get(token).copied().unwrap_or_else(|| {
                    let new = terms.len() as u32;
                    terms.insert(token.into(), new);
                    new
                });
                found.push((term, text as u32, place(column, position)));
                position += 1;
            });
            length += position;
        }
        let flags = if row.is_test { TEST } else { 0 } | if row.is_generated { GENERATED } else { 0 };
        nodes.push(row.node, length, row.file, row.label, flags);
    }
    let (directory, blocks) = blocks_of(terms, &found);
    Segment { nodes: nodes.bytes(), gone: ids_bytes(&gone), directory, blocks }
}

fn blocks_of(terms: FxHashMap<Box<str>, u32>, found: &[Occurrence]) -> (Vec<u8>, Vec<Block>) {
    let mut starts = vec![0usize; terms.len() + 1];
    found.iter().for_each(|(term, _, _)| starts[*term as usize + 1] += 1);
    for term in 0..terms.len() {
        starts[term + 1] += starts[term];
    }
    // By term, in the order of texts and places.
    let mut next = starts.clone();
    let mut sorted = vec![(0u32, 0u32); found.len()];
    for &(term, text, place) in found {
        let at = &mut next[term as usize];
        sorted[*at] = (text, place);
        *at += 1;
    }
    let mut in_order: Vec<(Box<str>, u32)> = terms.into_iter().collect();
    in_order.sort_unstable();
    let (mut blocks, mut postings) = (blocks::Writer::default(), postings::Writer::default());
    let mut places = Vec::new();
    for (name, term) in in_order {
        postings.clear();
        let occurrences = &sorted[starts[term as usize]..starts[term as usize + 1]];
        for of_text in occurrences.chunk_by(|one, other| one.0 == other.0) {
            places.clear();
            places.extend(of_text.iter().map(|(_, place)| *place));
            postings.add(of_text[0].0, &places);
        }
        postings.end();
        blocks.add(&name, &postings.words, &postings.places);
    }
    (blocks.end(), blocks.done)
}
