//! Reads notebooks: headings and mentions of Markdown cells, calls of code cells. Outputs are not read.
//!
//! A notebook is JSON with one string per line of a cell, which is how every tool writes it. The reader follows those
//! lines, so that sections have positions in the file; a notebook on one line has no sections.

use std::borrow::Cow;

use super::code::{MAX_NAMES, called_names};
use super::text_lines::TextLines;
use crate::markdown::document::Document;
use crate::markdown::mentions::code_mention;
use atlas_languages::deadline::Deadline;

const CLOCK_INTERVAL: usize = 512;
/// Longest title, in bytes.
const MAX_TITLE: usize = 400;

#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Markdown,
    Code,
    Other,
}

/// Reads a notebook.
pub fn read(source: &[u8], document: &mut Document, deadline: Deadline) {
    let lines = TextLines::new(source);
    let mut cell = Cell::Other;
    let (mut in_source, mut in_fence, mut found) = (false, false, 0);
    for line in 0..lines.len() {
        if line % CLOCK_INTERVAL == 0 && deadline.has_passed() {
            document.cut(line as u32 + 1);
            return;
        }
        let text = lines.text(line);
        let text = text.trim();
        if let Some(kind) = text.strip_prefix("\"cell_type\":") {
            cell = match kind.trim().trim_matches([',', '"']) {
                "markdown" => Cell::Markdown,
                "code" => Cell::Code,
                _ => Cell::Other,
            };
            (in_source, in_fence, found) = (false, false, 0);
        } else if text.starts_with("\"source\": [") {
            in_source = !text.ends_with(']') && !text.ends_with("],");
        } else if in_source && text.starts_with(']') {
            in_source = false;
        } else if in_source && let Some(written) = string(text) {
            let is_mark = written.trim_start().starts_with("```");
            in_fence ^= is_mark && cell == Cell::Markdown;
            let is_code = cell == Cell::Code || in_fence;
            // Code that is parsed refers by itself.
            if is_code && cell == Cell::Code && document.is_code() {
                continue;
            }
            if is_code && found < MAX_NAMES {
                for mention in called_names(&written) {
                    document.mention(mention, line as u32 + 1);
                    found += 1;
                }
            } else if cell == Cell::Markdown && !is_mark {
                markdown(&written, line, &lines, document);
            }
        }
    }
}

fn markdown(written: &str, line: usize, lines: &TextLines, document: &mut Document) {
    let text = written.trim_end();
    let level = text.bytes().take_while(|&byte| byte == b'#').count();
    match text[level..].strip_prefix(' ') {
        Some(title) if (1..=6).contains(&level) && title.len() <= MAX_TITLE => {
            document.heading(level as u8, &title.trim().replace('`', ""), lines.bytes(line, line), line as u32 + 1);
        }
        _ if text.starts_with(char::is_alphabetic) => document.paragraph(text),
        _ => {}
    }
    for mention in text.split('`').skip(1).step_by(2).filter_map(code_mention) {
        document.mention(mention, line as u32 + 1);
    }
}

/// Returns the string of a line that holds one string of JSON.
fn string(text: &str) -> Option<Cow<'_, str>> {
    let text = text.strip_suffix(',').unwrap_or(text);
    if !text.starts_with('"') {
        return None;
    }
    serde_json::from_str::<String>(text).ok().map(Cow::Owned)
}
