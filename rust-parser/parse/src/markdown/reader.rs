//! Reads a document with `pulldown-cmark` and passes headings, paragraphs, names and paths to the document, in source
//! order.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::document::Document;
use super::html;
use super::lines::{Lines, line_end, line_start};
use super::mentions::{Mention, code_mention, link_path, tag_links};
use super::nesting;
use crate::documents::code::{MAX_NAMES, called_names};
use atlas_languages::deadline::Deadline;

/// Number of events between two checks of the deadline.
const CLOCK_INTERVAL: usize = 256;

/// The kind of the current leaf block.
enum Leaf {
    Heading(u8, Range<usize>),
    Paragraph(Range<usize>),
    Other,
}

/// The state of reading a document.
pub struct Reader<'s, 'd, 'c, 'a> {
    source: &'s [u8],
    document: &'d mut Document<'c, 'a>,
    lines: Lines,
    /// Number of open lists, quotes, tables and footnotes.
    depth: usize,
    leaf: Leaf,
    /// Text of the leaf block without markup and images.
    plain: String,
    images: usize,
    /// Mentions in a heading whose section is not open yet.
    held: Vec<(usize, Mention)>,
    /// Open links: the start of each, and the path of its target.
    links: Vec<(usize, Option<String>)>,
    /// Number of names in the current code block, if one is open.
    example: Option<usize>,
    /// End of the current MDX statement.
    hidden: usize,
    mdx: bool,
}

impl<'s, 'd, 'c, 'a> Reader<'s, 'd, 'c, 'a> {
    pub fn new(source: &'s [u8], mdx: bool, document: &'d mut Document<'c, 'a>) -> Self {
        Reader {
            source,
            document,
            lines: Lines::new(source),
            depth: 0,
            leaf: Leaf::Other,
            plain: String::new(),
            images: 0,
            held: Vec::new(),
            links: Vec::new(),
            example: None,
            hidden: 0,
            mdx,
        }
    }

    /// Reads the document from a byte offset until its end or the deadline.
    pub fn read(mut self, from: usize, deadline: Deadline) {
        let text = nesting::limit(as_text(&self.source[from..]));
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
        for (number, (event, range)) in Parser::new_ext(&text, options).into_offset_iter().enumerate() {
            let range = range.start + from..range.end + from;
            if number % CLOCK_INTERVAL == 0 && deadline.has_passed() {
                self.document.cut(self.lines.line(range.start));
                break;
            }
            self.take(event, range);
        }
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.example.is_some() => self.calls(&text, range.start),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => {
                self.text(&code);
                if let Some(mention) = code_mention(&code) {
                    self.mention(range.start, mention);
                }
            }
            Event::SoftBreak | Event::HardBreak => self.text("\n"),
            Event::InlineHtml(tag) => self.tags(&tag, range.start),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::BlockQuote(_) | Tag::List(_) | Tag::Item | Tag::FootnoteDefinition(_) | Tag::Table(_) => {
                self.depth += 1;
            }
            Tag::Paragraph => self.open(Leaf::Paragraph(range)),
            Tag::Heading { level, .. } => self.open(Leaf::Heading(level as u8, range)),
            Tag::HtmlBlock => self.html(range),
            Tag::CodeBlock(_) => self.example = Some(0),
            Tag::Image { .. } => self.images += 1,
            Tag::Link { link_type, dest_url, .. } => {
                let is_path = !matches!(link_type, LinkType::Email | LinkType::Autolink);
                let path = if is_path { link_path(&dest_url) } else { None };
                self.links.push((range.start, path));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition | TagEnd::Table => {
                self.depth -= 1;
            }
            TagEnd::Paragraph | TagEnd::Heading(_) => self.close(),
            TagEnd::CodeBlock => self.example = None,
            TagEnd::Image => self.images -= 1,
            TagEnd::Link => {
                if let Some((at, Some(path))) = self.links.pop() {
                    self.mention(at, Mention::Path(path));
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, leaf: Leaf) {
        let (Leaf::Heading(_, range) | Leaf::Paragraph(range)) = &leaf else { return };
        if self.mdx && self.depth == 0 && self.is_statement(range.start) {
            self.hidden = self.end_of_statement(range.start);
        }
        self.plain.clear();
        self.leaf = if self.depth == 0 && range.start >= self.hidden { leaf } else { Leaf::Other };
    }

    fn close(&mut self) {
        match std::mem::replace(&mut self.leaf, Leaf::Other) {
            Leaf::Heading(level, range) => {
                let range = self.whole_lines(range);
                let line = self.lines.line(range.start);
                self.document.heading(level, without_placeholder_chars(&self.plain).trim(), range, line);
            }
            Leaf::Paragraph(range) if !self.plain.trim().is_empty() => {
                let text = String::from_utf8_lossy(&self.source[range]);
                let lines: Vec<&str> = text.trim_ascii().lines().map(str::trim_ascii).collect();
                self.document.paragraph(&lines.join("\n"));
            }
            _ => {}
        }
        for (at, mention) in std::mem::take(&mut self.held) {
            self.document.mention(mention, self.lines.line(at));
        }
    }

    fn html(&mut self, range: Range<usize>) {
        let source = self.source;
        if range.start < self.hidden || html::is_raw(&source[range.clone()]) {
            return;
        }
        if self.depth == 0 {
            for heading in html::headings(source, range.clone()) {
                let title = html::without_tags(&String::from_utf8_lossy(&source[heading.content]));
                let line = self.lines.line(heading.start);
                self.document.heading(heading.level, &title, heading.start..heading.end, line);
            }
        }
        self.tags(&as_text(&source[range.clone()]), range.start);
    }

    fn tags(&mut self, html: &str, at: usize) {
        for (offset, mention) in tag_links(html) {
            self.mention(at + offset, mention);
        }
    }

    /// Records the names that a code block calls.
    fn calls(&mut self, text: &str, at: usize) {
        let mut start = at;
        for line in text.split_inclusive('\n') {
            for mention in called_names(line) {
                let count = self.example.unwrap_or_default();
                if count < MAX_NAMES {
                    self.example = Some(count + 1);
                    self.mention(start, mention);
                }
            }
            start += line.len();
        }
    }

    fn text(&mut self, text: &str) {
        if self.images == 0 && !matches!(self.leaf, Leaf::Other) {
            self.plain.push_str(text);
        }
    }

    fn mention(&mut self, at: usize, mention: Mention) {
        match self.leaf {
            _ if at < self.hidden => {}
            Leaf::Other => self.document.mention(mention, self.lines.line(at)),
            _ => self.held.push((at, mention)),
        }
    }

    /// Extends a range to the start of its first line and the end of its last line with text.
    fn whole_lines(&self, range: Range<usize>) -> Range<usize> {
        let last = range.start + self.source[range.clone()].trim_ascii_end().len();
        line_start(self.source, range.start)..line_end(self.source, last)
    }

    fn is_statement(&self, at: usize) -> bool {
        let text = &self.source[at..];
        text.starts_with(b"import ") || text.starts_with(b"export ")
    }

    /// Returns the position of the next blank line.
    fn end_of_statement(&self, mut at: usize) -> usize {
        loop {
            let end = line_end(self.source, at);
            if self.source[at.min(end)..end].trim_ascii().is_empty() {
                return end;
            }
            at = end + 1;
        }
    }
}

/// Placeholder characters with the length of one, two and three bytes that are not UTF-8.
const PLACEHOLDER_CHARS: [&str; 4] = ["", "\u{1a}", "\u{9a}", "\u{fffd}"];

/// Returns the text, with placeholder characters of the same length for bytes that are not UTF-8.
fn as_text(source: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(source) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(
            source.utf8_chunks().flat_map(|chunk| [chunk.valid(), PLACEHOLDER_CHARS[chunk.invalid().len()]]).collect(),
        ),
    }
}

/// Returns the text with the replacement character for the placeholders of `as_text`.
fn without_placeholder_chars(text: &str) -> Cow<'_, str> {
    if text.contains(['\u{1a}', '\u{9a}']) {
        Cow::Owned(text.replace(['\u{1a}', '\u{9a}'], "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}
