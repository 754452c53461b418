//! Reads AsciiDoc: `==` titles, paragraphs, listings, literals in backticks and links.

use super::code::{MAX_NAMES, called_names};
use super::text_lines::TextLines;
use crate::markdown::document::Document;
use crate::markdown::mentions::{Mention, code_mention, link_path};
use atlas_languages::deadline::Deadline;

const CLOCK_INTERVAL: usize = 512;
/// Macros whose target is a file.
const LINKS: &[&str] = &["link:", "xref:", "include::"];
/// Longest title, in bytes.
const MAX_TITLE: usize = 400;

/// Reads a document.
pub fn read(source: &[u8], document: &mut Document, deadline: Deadline) {
    let lines = TextLines::new(source);
    let mut line = 0;
    while line < lines.len() {
        if line % CLOCK_INTERVAL == 0 && deadline.has_passed() {
            document.cut(line as u32 + 1);
            return;
        }
        let text = lines.text(line);
        if let Some(fence) = delimiter(&text) {
            let end = (line + 1..lines.len()).find(|&end| lines.text(end) == fence).unwrap_or(lines.len());
            if matches!(fence.as_bytes()[0], b'-' | b'`') {
                listing(&lines, line + 1, end, document);
            }
            line = end + 1;
            continue;
        }
        if let Some((level, title)) = heading(&text) {
            document.heading(level, &title.replace('`', ""), lines.bytes(line, line), line as u32 + 1);
        } else if is_paragraph(&lines, line) {
            let end = (line..lines.len()).find(|&end| lines.is_blank(end)).unwrap_or(lines.len());
            let paragraph: Vec<String> = (line..end).map(|line| lines.text(line).into_owned()).collect();
            document.paragraph(&paragraph.join("\n"));
        }
        for mention in mentions(&text) {
            document.mention(mention, line as u32 + 1);
        }
        line += 1;
    }
}

/// Returns the line that opens and closes a block whose text is not read as prose.
fn delimiter(text: &str) -> Option<String> {
    let first = text.chars().next()?;
    let is_fence = matches!(first, '-' | '.' | '/' | '+' | '`') && text.chars().all(|c| c == first);
    (is_fence && text.len() >= if first == '`' { 3 } else { 4 }).then(|| text.to_owned())
}

fn heading(text: &str) -> Option<(u8, &str)> {
    let level = text.bytes().take_while(|&byte| byte == b'=').count();
    let title = text[level..].strip_prefix(' ')?.trim();
    ((1..=6).contains(&level) && !title.is_empty() && title.len() <= MAX_TITLE).then_some((level as u8, title))
}

/// Returns whether a paragraph of prose begins at a line.
fn is_paragraph(lines: &TextLines, line: usize) -> bool {
    let text = lines.text(line);
    let starts = line == 0 || lines.is_blank(line - 1);
    starts && text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | '_' | '"'))
}

fn listing(lines: &TextLines, first: usize, end: usize, document: &mut Document) {
    let names = (first..end).flat_map(|line| called_names(&lines.text(line)).into_iter().map(move |name| (line, name)));
    for (line, mention) in names.take(MAX_NAMES) {
        document.mention(mention, line as u32 + 1);
    }
}

fn mentions(text: &str) -> Vec<Mention> {
    let literals = text.split('`').skip(1).step_by(2).filter_map(|literal| code_mention(literal.trim_matches('+')));
    let mut found: Vec<Mention> = literals.collect();
    for link in LINKS {
        for (at, _) in text.match_indices(link) {
            let target = text[at + link.len()..].split('[').next().unwrap_or_default();
            found.extend(link_path(target).map(Mention::Path));
        }
    }
    found
}
