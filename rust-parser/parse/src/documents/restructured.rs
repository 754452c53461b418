//! Reads reStructuredText: underlined and overlined titles, paragraphs, directives and literal blocks. Text that follows
//! no such rule is read as paragraphs.

use super::code::{MAX_NAMES, called_names};
use super::directives::{Content, Scope};
use super::inline::{mentions, plain};
use super::text_lines::TextLines;
use crate::markdown::document::Document;
use atlas_languages::deadline::Deadline;

/// Number of lines between two checks of the deadline.
const CLOCK_INTERVAL: usize = 512;
/// Deepest level of a section.
const MAX_LEVEL: usize = 12;
/// Longest title, in bytes.
const MAX_TITLE: usize = 400;

struct Reader<'s, 'd, 'c, 'a> {
    lines: TextLines<'s>,
    document: &'d mut Document<'c, 'a>,
    /// The adornments of titles in the order of their levels, with whether they stand above the title, too.
    levels: Vec<(char, bool)>,
    scope: Scope,
    /// Whether the line before is a title, whose underline is not part of the text.
    has_headings: bool,
}

/// Reads a document. Returns whether it has headings.
pub fn read(source: &[u8], document: &mut Document, deadline: Deadline) -> bool {
    let lines = TextLines::new(source);
    let mut reader = Reader { lines, document, levels: Vec::new(), scope: Scope::default(), has_headings: false };
    let (mut line, mut steps) = (0, 0);
    while line < reader.lines.len() {
        steps += 1;
        if steps % CLOCK_INTERVAL == 0 && deadline.has_passed() {
            reader.document.cut(line as u32 + 1);
            break;
        }
        line = reader.step(line).max(line + 1);
    }
    reader.has_headings
}

impl Reader<'_, '_, '_, '_> {
    /// Reads what begins at a line and returns the line after it.
    fn step(&mut self, line: usize) -> usize {
        if self.lines.is_blank(line) {
            return line + 1;
        }
        if let Some(end) = self.title(line) {
            return end;
        }
        let text = self.lines.text(line);
        let column = self.lines.indent(line);
        match text.trim_start().strip_prefix("..") {
            Some(rest) if rest.is_empty() || rest.starts_with(' ') => self.explicit(line, rest, column),
            _ => self.paragraph(line, column),
        }
    }

    /// Opens the section of a title at a line, if there is one.
    fn title(&mut self, line: usize) -> Option<usize> {
        let text = self.lines.text(line);
        if let Some(sign) = adornment(&text) {
            let title = self.lines.text(line + 1);
            let under = self.lines.text(line + 2);
            let is_title = adornment(&under) == Some(sign) && !title.trim().is_empty() && adornment(&title).is_none();
            return is_title.then(|| self.open(title.trim(), line, line + 2, (sign, true), line + 1))?;
        }
        let is_first = line == 0 || self.lines.is_blank(line - 1) || !self.is_text(line - 1);
        let under = self.lines.text(line + 1);
        let sign = adornment(&under).filter(|_| is_first && self.lines.indent(line) == 0)?;
        let is_long_enough = under.chars().count() + 3 >= text.chars().count();
        is_long_enough.then(|| self.open(&text, line, line + 1, (sign, false), line))?
    }

    fn is_text(&self, line: usize) -> bool {
        let text = self.lines.text(line);
        adornment(&text).is_none() && !text.starts_with("..")
    }

    fn open(&mut self, title: &str, first: usize, last: usize, sign: (char, bool), at: usize) -> Option<usize> {
        if title.len() > MAX_TITLE {
            return None;
        }
        let known = self.levels.iter().position(|level| *level == sign);
        let level = known.unwrap_or_else(|| {
            self.levels.push(sign);
            self.levels.len() - 1
        });
        self.has_headings = true;
        let bytes = self.lines.bytes(first, last);
        self.document.heading(level.min(MAX_LEVEL) as u8 + 1, &plain(title), bytes, first as u32 + 1);
        self.mention_in(title, at);
        Some(last + 1)
    }

    /// Reads what begins with `..`: a directive, a comment or a target.
    fn explicit(&mut self, line: usize, rest: &str, column: usize) -> usize {
        let Some(directive) = self.scope.directive(rest, column) else {
            // The content of a comment belongs to it.
            let is_target = rest.trim_start().starts_with(['_', '[', '|']);
            return if is_target { line + 1 } else { self.lines.end_of_block(line + 1, column) };
        };
        if let Some(mention) = directive.mention {
            self.document.mention(mention, line as u32 + 1);
        }
        let end = self.lines.end_of_block(line + 1, column);
        match directive.content {
            Content::Text => line + 1,
            Content::None => end,
            Content::Code => {
                self.code(line + 1, end);
                end
            }
        }
    }

    /// Reads lines up to a blank one, and the literal block that they announce.
    fn paragraph(&mut self, first: usize, column: usize) -> usize {
        let mut end = first + 1;
        while end < self.lines.len() && !self.lines.is_blank(end) && self.lines.indent(end) >= column {
            if adornment(&self.lines.text(end + 1)).is_some() && !self.lines.text(end).is_empty() && end > first + 1 {
                break;
            }
            end += 1;
        }
        let text: Vec<String> = (first..end).map(|line| self.lines.text(line).trim().to_owned()).collect();
        if column == 0 && is_prose(&text[0]) {
            self.document.paragraph(&text.join("\n"));
        }
        for line in first..end {
            let text = self.lines.text(line);
            self.mention_in(&text, line);
        }
        let is_literal = text.last().is_some_and(|last| last.ends_with("::"));
        if !is_literal {
            return end;
        }
        let after = self.lines.end_of_block(end, column);
        self.code(end, after);
        after
    }

    fn mention_in(&mut self, text: &str, line: usize) {
        for mention in mentions(text) {
            self.document.mention(mention, line as u32 + 1);
        }
    }

    fn code(&mut self, first: usize, end: usize) {
        let mut found = 0;
        for line in first..end {
            for mention in called_names(&self.lines.text(line)) {
                found += 1;
                if found > MAX_NAMES {
                    return;
                }
                self.document.mention(mention, line as u32 + 1);
            }
        }
    }
}

/// Returns the character of a line that consists of one punctuation character, at least three times.
fn adornment(text: &str) -> Option<char> {
    let first = text.chars().next().filter(char::is_ascii_punctuation)?;
    (text.len() >= 3 && text.bytes().all(|byte| byte == first as u8)).then_some(first)
}

/// Returns whether a paragraph is neither a list item, a field nor a table.
fn is_prose(text: &str) -> bool {
    let is_item = text.starts_with(['-', '*', '+', '|', ':', '=', '#', '>']) && !text.starts_with("**");
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = digits > 0 && text[digits..].starts_with(['.', ')']);
    !(is_item || is_numbered)
}
