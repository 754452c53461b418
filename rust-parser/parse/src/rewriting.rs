//! The text that a grammar reads, made from the text of a file by edits, its tree, and the way back from its positions to
//! those of the file.

use std::ops::Range;

use tree_sitter::Tree;

/// A replacement of bytes of a file by other bytes, for the grammar only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    pub start: usize,
    pub end: usize,
    pub with: &'static str,
}

impl Edit {
    pub fn insert(at: usize, with: &'static str) -> Self {
        Edit { start: at, end: at, with }
    }
}

/// A syntax tree of a file.
pub struct Reading {
    pub tree: Tree,
    /// The way from the positions of the tree to those of the file.
    pub places: Places,
    /// Bytes of the read text that were left out because they do not fit the grammar.
    pub left_out: Vec<Range<usize>>,
}

/// Where the bytes of a rewritten text come from.
#[derive(Default)]
pub struct Places {
    /// Starts of parts: in the rewritten text, and in the file. Empty if both texts have the same positions.
    parts: Vec<(u32, u32)>,
    /// Positions of the line breaks of the file.
    breaks: Vec<u32>,
}

impl Places {
    /// Takes the starts of the parts of a rewritten text, each with its start in the file, in order.
    pub fn new(parts: Vec<(u32, u32)>, file: &[u8]) -> Self {
        let breaks =
            if parts.is_empty() { Vec::new() } else { memchr::memchr_iter(b'\n', file).map(|at| at as u32).collect() };
        Places { parts, breaks }
    }

    /// Returns whether positions in both texts are the same.
    pub fn are_same(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the place in the file of a node's start and end.
    pub fn span(&self, start: usize, end: usize) -> (u32, u32) {
        if self.are_same() {
            return (start as u32, end as u32);
        }
        let first = self.place(start, start);
        // A node ends in the part of its last byte.
        (first, self.place(end, end.saturating_sub(usize::from(end > start))).max(first))
    }

    fn place(&self, at: usize, within: usize) -> u32 {
        let next = self.parts.partition_point(|&(start, _)| start as usize <= within);
        let Some(&(start, place)) = next.checked_sub(1).and_then(|part| self.parts.get(part)) else {
            return at as u32;
        };
        // Other text may be longer or shorter than what it replaces.
        if at > within
            && let Some(&(_, end)) = self.parts.get(next).filter(|(start, _)| *start as usize == at)
        {
            return end;
        }
        let place = place + (at as u32).saturating_sub(start);
        self.parts.get(next).map_or(place, |&(_, limit)| place.min(limit))
    }

    /// Returns the 0-based line of a place in the file, in a text that has been rewritten.
    pub fn line(&self, place: u32) -> u32 {
        self.breaks.partition_point(|&end| end < place) as u32
    }
}

/// Returns a text with edits, which are in order and do not overlap, and the starts of its parts.
pub fn rewritten(text: &[u8], edits: &[Edit]) -> (Vec<u8>, Vec<(u32, u32)>) {
    let mut made = Vec::with_capacity(text.len() + edits.len());
    let mut parts = vec![(0, 0)];
    let mut from = 0;
    for edit in edits.iter().filter(|edit| edit.start <= edit.end && edit.end <= text.len()) {
        if edit.start < from {
            continue;
        }
        made.extend_from_slice(&text[from..edit.start]);
        parts.push((made.len() as u32, edit.start as u32));
        made.extend_from_slice(edit.with.as_bytes());
        parts.push((made.len() as u32, edit.end as u32));
        from = edit.end;
    }
    made.extend_from_slice(&text[from..]);
    (made, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_lead_back_to_the_file() {
        let file = b"ab\ncd\nef";
        let edits = [Edit::insert(1, ";;"), Edit { start: 2, end: 3, with: " " }, Edit { start: 4, end: 6, with: "" }];
        let (text, parts) = rewritten(file, &edits);
        assert_eq!(text, b"a;;b cef");
        let places = Places::new(parts, file);
        assert_eq!(places.span(0, 1), (0, 1)); // a
        assert_eq!(places.span(1, 3), (1, 1)); // ;;
        assert_eq!(places.span(3, 4), (1, 2)); // b
        assert_eq!(places.span(5, 6), (3, 4)); // c
        assert_eq!(places.span(6, 8), (6, 8)); // ef
        assert_eq!(places.span(0, 8), (0, 8));
        assert_eq!([0, 3, 6].map(|at| places.line(at)), [0, 1, 2]);
    }
}
