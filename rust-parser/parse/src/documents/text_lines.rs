//! The lines of a document as text, with their positions.

use std::borrow::Cow;
use std::ops::Range;

/// Bytes of a line that are looked at; the rest of a longer line is left out.
const MAX_LINE: usize = 4000;

/// The lines of a document. Indices are 0-based.
pub struct TextLines<'s> {
    source: &'s [u8],
    spans: Vec<(usize, usize)>,
}

impl<'s> TextLines<'s> {
    pub fn new(source: &'s [u8]) -> Self {
        let mut start = if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut spans = Vec::new();
        for end in memchr::memchr_iter(b'\n', source).chain([source.len()]) {
            spans.push((start.min(end), end));
            start = end + 1;
        }
        TextLines { source, spans }
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns a line without trailing blanks; "" behind the last one.
    pub fn text(&self, line: usize) -> Cow<'s, str> {
        let Some(&(start, end)) = self.spans.get(line) else { return Cow::Borrowed("") };
        String::from_utf8_lossy(self.source[start..end.min(start + MAX_LINE)].trim_ascii_end())
    }

    pub fn is_blank(&self, line: usize) -> bool {
        self.spans.get(line).is_none_or(|&(start, end)| self.source[start..end].trim_ascii().is_empty())
    }

    /// Returns the columns before the text of a line; a tab has eight.
    pub fn indent(&self, line: usize) -> usize {
        let text = self.text(line);
        let blanks = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        blanks.map(|byte| if byte == b'\t' { 8 } else { 1 }).sum()
    }

    /// Returns the bytes from the start of one line to the end of another.
    pub fn bytes(&self, first: usize, last: usize) -> Range<usize> {
        self.spans[first].0..self.spans[last.min(self.spans.len() - 1)].1
    }

    /// Returns the first line after `from` that is neither blank nor indented beyond a column.
    pub fn end_of_block(&self, from: usize, column: usize) -> usize {
        (from..self.len()).find(|&line| !self.is_blank(line) && self.indent(line) <= column).unwrap_or(self.len())
    }
}
