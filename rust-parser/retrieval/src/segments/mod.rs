//! The index of words as immutable segments. Each write of the store adds a segment with the words of the texts it wrote
//! and the ids of the texts that it replaced; a merge writes several segments as one, without the replaced texts.
//!
//! A segment has `nodes` (id, number of words, file, label and flags of each text), postings in blocks of about 4 KB
//! (`blocks` holds the first term of each), the positions of the words in further blocks, and `gone` (the ids of older
//! texts that it replaces). This module knows bytes only: the store keeps them as rows, so that they commit with
//! everything else ([ADR 0069](../../../../adr/0069-segments-of-words.md)).
//!
//! `build` makes a segment, `merge` makes one of several, `index` holds the nodes of all segments and answers searches
//! from the blocks that a query needs. Bytes may come from anywhere: whatever they hold, reading them ends with a result
//! or with `Damaged`.

mod blocks;
mod build;
mod bytes;
mod fold;
mod index;
mod matches;
mod merge;
mod nodes;
mod postings;

pub use blocks::Block;
pub use build::{Row, Segment, build};
pub use bytes::Damaged;
pub use index::{Among, Blocks, Counted, Source, WordIndex};
pub use merge::Merger;
pub use postings::COLUMNS;
