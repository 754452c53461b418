//! Splits a Markdown document into the blocks that matter here: headings, paragraphs, other text, HTML, link labels and
//! front matter. Code blocks are left out. One pass over the lines; nothing fails.

use std::ops::Range;

use crate::parse::markdown::html::{contains_ignoring_case, headings, opens_block, raw_opening};
use crate::parse::markdown::lines::{
    atx_heading, indentation, is_closing_fence, is_rule, line_end, line_start, list_marker, opening_fence,
    starts_block, trimmed, without_quotes,
};

/// Containers inside each other that are followed.
const MAX_LISTS: usize = 64;

/// A run of lines that belong together.
#[derive(Debug)]
pub struct Block {
    pub kind: BlockKind,
    /// 1-based line of the first piece.
    pub line: u32,
    /// Bytes of all its lines, with underlines of headings, without the last line break.
    pub start: usize,
    pub end: usize,
    /// By line: the bytes of its text without marks of headings, quotes and lists.
    pub pieces: Vec<Range<usize>>,
}

#[derive(Debug, PartialEq)]
pub enum BlockKind {
    Heading {
        level: u8,
    },
    /// Text directly in the document.
    Paragraph,
    /// Text in lists, quotes and tables.
    Text,
    Html,
    /// `[label]: target`
    Label {
        label: Range<usize>,
        target: Range<usize>,
    },
    FrontMatter {
        title: Option<Range<usize>>,
    },
}

impl Block {
    /// The block's text, one line for each of its lines.
    pub fn text(&self, source: &[u8]) -> String {
        let mut text = String::new();
        for (number, piece) in self.pieces.iter().enumerate() {
            if number > 0 {
                text.push('\n');
            }
            text.push_str(&String::from_utf8_lossy(&source[piece.clone()]));
        }
        text
    }
}

/// All blocks in source order. `mdx`: import and export statements are code.
pub fn read_blocks(source: &[u8], mdx: bool) -> Vec<Block> {
    let mut reader =
        Reader { source, mdx, blocks: Vec::new(), open: None, lists: Vec::new(), state: State::Text, line: 0 };
    let mut at = reader.front_matter();
    while at < source.len() {
        let end = line_end(source, at);
        reader.line += 1;
        reader.read_line(at, end);
        at = end + 1;
    }
    reader.close();
    reader.blocks
}

/// What the lines before say about the next.
enum State {
    Text,
    /// In a fence of this mark and length, opened in a list item of this indent, or in a quote.
    Fence {
        mark: u8,
        length: usize,
        indent: usize,
        quoted: bool,
    },
    /// In HTML that ends with a line that contains this, or with a blank line.
    Html {
        end: Option<&'static str>,
    },
    /// In a statement of MDX, until a blank line.
    Statement,
}

struct Reader<'a> {
    source: &'a [u8],
    mdx: bool,
    blocks: Vec<Block>,
    /// The block that the next line may continue.
    open: Option<Block>,
    /// Columns at which the content of the open list items begins.
    lists: Vec<usize>,
    state: State,
    line: u32,
}

impl Reader<'_> {
    /// Read `---`/`+++` front matter; the byte after it.
    fn front_matter(&mut self) -> usize {
        let source = self.source;
        let start = if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut end = line_end(source, start);
        let fence = source[start..end].trim_ascii_end();
        if fence != b"---" && fence != b"+++" {
            return start;
        }
        let mut title = None;
        let mut lines = 1;
        while end < source.len() {
            let at = end + 1;
            end = line_end(source, at);
            lines += 1;
            let text = &source[at.min(end)..end];
            let bare = text.trim_ascii_end();
            if bare == fence || (fence == b"---" && bare == b"...") {
                self.line = lines;
                let kind = BlockKind::FrontMatter { title };
                self.blocks.push(Block { kind, line: 1, start, end, pieces: Vec::new() });
                return end + 1;
            }
            let separator: &[u8] = if fence == b"---" { b":" } else { b"=" };
            if let Some(rest) = text.strip_prefix(b"title".as_slice())
                && let Some(value) = rest.trim_ascii_start().strip_prefix(separator)
            {
                title = Some(end - value.len()..end);
            }
        }
        start
    }

    fn read_line(&mut self, start: usize, end: usize) {
        let text = &self.source[start..end];
        match self.state {
            State::Fence { mark, length, indent, quoted } => {
                let (column, at) = indentation(text, 0, 0);
                let left = at < text.len() && (column < indent || (quoted && text[at] != b'>'));
                if !left {
                    let bare = if quoted { without_quotes(&text[at..]) } else { &text[at..] };
                    if is_closing_fence(bare, mark, length) {
                        self.state = State::Text;
                    }
                    return;
                }
                self.state = State::Text;
            }
            State::Html { end: None } | State::Statement if text.trim_ascii().is_empty() => {
                self.close();
                self.state = State::Text;
                return;
            }
            State::Html { end: Some(mark) } => {
                // Comments and scripts say nothing.
                if contains_ignoring_case(text, mark) {
                    self.state = State::Text;
                }
                return;
            }
            State::Html { end: None } => {
                self.add(BlockKind::Html, start..end, end);
                return;
            }
            State::Statement => return,
            State::Text => {}
        }
        self.read_text(start, end);
    }

    /// A line outside fences and HTML.
    fn read_text(&mut self, start: usize, end: usize) {
        let text = &self.source[start..end];
        let (mut column, mut at) = indentation(text, 0, 0);
        if at == text.len() {
            self.close();
            return;
        }
        let continues = matches!(&self.open, Some(block) if block.kind != BlockKind::Html);
        while let Some(&inner) = self.lists.last()
            && column < inner
        {
            if continues && !starts_block(&text[at..]) {
                break;
            }
            self.lists.pop();
        }
        loop {
            let inner = self.lists.last().copied().unwrap_or(0);
            let fresh = self.open.is_none();
            if column >= inner + 4 && fresh {
                return;
            }
            let Some(marker) = list_marker(&text[at..], fresh || !self.lists.is_empty()) else {
                break;
            };
            if column >= inner + 4 || self.lists.len() >= MAX_LISTS || is_rule(&text[at..]) {
                break;
            }
            if self.underline(&text[at..], end) {
                return;
            }
            self.close();
            let (after, next) = indentation(text, at + marker, column + marker);
            let content = if next == text.len() || after > column + marker + 4 { column + marker + 1 } else { after };
            self.lists.push(content);
            if next == text.len() {
                return;
            }
            (column, at) = (after, next);
        }
        self.leaf(start, at, end, column);
    }

    /// What stands on a line after the marks of its lists.
    fn leaf(&mut self, start: usize, at: usize, end: usize, column: usize) {
        let inner = self.lists.last().copied().unwrap_or(0);
        let rest = &self.source[start + at..end];
        let shallow = column < inner + 4;
        if shallow && let Some((mark, length)) = opening_fence(rest) {
            self.close();
            self.state = State::Fence { mark, length, indent: inner, quoted: false };
            return;
        }
        if shallow && rest[0] == b'>' {
            self.quote(start + at, end);
            return;
        }
        let here = start + at;
        if shallow && let Some((level, content)) = atx_heading(rest) {
            self.close();
            let piece = here + content.start..here + content.end;
            if self.lists.is_empty() {
                self.add(BlockKind::Heading { level }, piece, end);
            } else {
                self.add(BlockKind::Text, piece, end);
            }
            self.close();
            return;
        }
        if shallow && self.underline(rest, end) {
            return;
        }
        if shallow && is_rule(rest) {
            self.close();
            return;
        }
        if shallow && self.html_start(here, end) {
            return;
        }
        if self.open.is_none() && self.label(here, end) {
            return;
        }
        if self.mdx && self.open.is_none() && (rest.starts_with(b"import ") || rest.starts_with(b"export ")) {
            self.state = State::Statement;
            return;
        }
        self.add_text(here, end, self.lists.is_empty());
    }

    fn add_text(&mut self, start: usize, end: usize, plain: bool) {
        if self.source[start] == b'|' {
            // Rows of a table end code spans.
            self.close();
            self.add(BlockKind::Text, start..end, end);
            self.close();
            return;
        }
        let kind = match &self.open {
            Some(block) if block.kind == BlockKind::Paragraph => BlockKind::Paragraph,
            Some(_) => BlockKind::Text,
            None if plain => BlockKind::Paragraph,
            None => BlockKind::Text,
        };
        self.add(kind, start..end, end);
    }

    /// `===` or `---` below a paragraph makes it a heading.
    fn underline(&mut self, rest: &[u8], end: usize) -> bool {
        let mark = rest[0];
        let bare = rest.trim_ascii_end();
        let level = match mark {
            b'=' => 1,
            b'-' => 2,
            _ => return false,
        };
        if !bare.iter().all(|&byte| byte == mark) || !self.lists.is_empty() {
            return false;
        }
        match &mut self.open {
            Some(block) if block.kind == BlockKind::Paragraph => {
                block.kind = BlockKind::Heading { level };
                block.end = end;
            }
            _ => return false,
        }
        self.close();
        true
    }

    fn quote(&mut self, start: usize, end: usize) {
        let rest = without_quotes(&self.source[start..end]);
        let at = end - rest.len();
        if matches!(&self.open, Some(block) if block.kind == BlockKind::Paragraph) {
            self.close();
        }
        if rest.trim_ascii().is_empty() {
            self.close();
        } else if let Some((mark, length)) = opening_fence(rest) {
            self.close();
            let indent = self.lists.last().copied().unwrap_or(0);
            self.state = State::Fence { mark, length, indent, quoted: true };
        } else {
            self.add_text(at, end, false);
        }
    }

    /// `[label]: target`
    fn label(&mut self, start: usize, end: usize) -> bool {
        let text = &self.source[start..end];
        let Some(close) = text.windows(2).position(|pair| pair == b"]:") else {
            return false;
        };
        if text[0] != b'[' || close < 2 || text[1] == b'^' {
            return false;
        }
        let rest = text[close + 2..].trim_ascii_start();
        let at = end - rest.len();
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let kind = BlockKind::Label { label: start + 1..start + close, target: at..at + length };
        self.add(kind, start..end, end);
        self.close();
        true
    }

    fn html_start(&mut self, start: usize, end: usize) -> bool {
        let text = &self.source[start..end];
        if text[0] != b'<' {
            return false;
        }
        if let Some((opening, closing)) = raw_opening(text) {
            self.close();
            let rest = &text[opening.len()..];
            if !contains_ignoring_case(rest, closing) {
                self.state = State::Html { end: Some(closing) };
            } else if opening == "<!--" {
                return self.after_comment(start, end);
            }
            return true;
        }
        if !opens_block(text, self.open.is_none()) {
            return false;
        }
        self.close();
        self.add(BlockKind::Html, start..end, end);
        self.state = State::Html { end: None };
        true
    }

    /// `<!-- --> text`: what follows a comment on its line is read if it is text.
    fn after_comment(&mut self, start: usize, end: usize) -> bool {
        let text = &self.source[start..end];
        let close = text.windows(3).rposition(|part| part == b"-->").unwrap_or(0) + 3;
        if text[close..].trim_ascii().is_empty() {
            return true;
        }
        self.add_text(start, end, self.lists.is_empty());
        true
    }

    /// Add a line to the open block, or begin one.
    fn add(&mut self, kind: BlockKind, piece: Range<usize>, end: usize) {
        let piece = trimmed(self.source, piece);
        match &mut self.open {
            Some(block) if block.kind == kind => {
                block.pieces.push(piece);
                block.end = end;
            }
            _ => {
                self.close();
                let start = line_start(self.source, piece.start);
                let (line, pieces) = (self.line, vec![piece]);
                self.open = Some(Block { kind, line, start, end, pieces });
            }
        }
    }

    fn close(&mut self) {
        if let Some(block) = self.open.take() {
            if block.kind == BlockKind::Html {
                self.blocks.extend(headings(self.source, &block));
            }
            self.blocks.push(block);
        }
    }
}
