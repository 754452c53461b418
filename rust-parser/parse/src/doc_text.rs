//! Normalizes documentation and signatures: removes markers and indentation, folds white space and limits lengths.

use crate::facts_builder::shorten;
use atlas_facts::Digest;

/// Longest docstring in characters.
const MAX_DOCSTRING: usize = 4000;

/// Returns the first 64 bits of the BLAKE3 hash.
pub fn digest(bytes: &[u8]) -> Digest {
    let hash = blake3::hash(bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    Digest::from_le_bytes(first)
}

/// Returns a digest of documentation that ignores white space; 0 for none.
pub fn text_digest(text: &str) -> Digest {
    if text.is_empty() {
        return 0;
    }
    digest(fold(text, usize::MAX).as_bytes())
}

/// Returns the text, cut at 4,000 characters.
pub fn limited(text: &str) -> String {
    match text.char_indices().nth(MAX_DOCSTRING) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}

/// Folds white space to single blanks and cuts the text at `limit` characters.
pub fn fold(text: &str, limit: usize) -> String {
    let mut folded = String::with_capacity(text.len().min(limit));
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
        if folded.len() > limit.saturating_mul(4) {
            break;
        }
    }
    match folded.char_indices().nth(limit) {
        Some((end, _)) => folded[..end].to_owned(),
        None => folded,
    }
}

/// Returns the content of a string literal without prefix, quotes and common indentation.
pub fn clean_string(literal: &str) -> String {
    let text = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '~');
    let inner = ["\"\"\"", "'''", "\"", "'"]
        .iter()
        .find_map(|quote| {
            let rest = text.strip_prefix(quote)?;
            Some(rest.strip_suffix(quote).unwrap_or(rest))
        })
        .unwrap_or(text);
    dedent(inner)
}

/// Returns comments without their markers: `/** */`, `///`, `//`, `#`, `--`, `---`, `--[[ ]]`, leading `*`.
pub fn clean_comment(comment: &str) -> String {
    let mut lines = Vec::new();
    let comment = match comment.strip_prefix("--[") {
        Some(block) => block.trim_start_matches(['=', '[']).trim_end_matches([']', '=']),
        None => comment,
    };
    for line in comment.lines() {
        let mut text = line.trim();
        if text.starts_with("=begin") || text.starts_with("=end") {
            continue;
        }
        text = text.strip_suffix("*/").unwrap_or(text);
        for marker in ["/**", "/*!", "/*", "///", "//!", "//", "--", "*"] {
            if let Some(rest) = text.strip_prefix(marker) {
                text = rest;
                break;
            }
        }
        // Covers `--- text` and lines that consist of markers only.
        let mark = if comment.starts_with("--") { '-' } else { '#' };
        text = text.trim_start_matches(mark);
        lines.push(text.strip_prefix(' ').unwrap_or(text).trim_end());
    }
    let text = trim_blank_lines(&lines);
    if text.contains("<summary>") { trim_blank_lines(&without_tags(&text).lines().collect::<Vec<_>>()) } else { text }
}

/// Returns the text of an XML documentation comment, with the names in `cref` and `name`.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tagged)) = rest.split_once('<') {
        plain.push_str(before);
        let Some((tag, after)) = tagged.split_once('>') else {
            plain.push('<');
            rest = tagged;
            continue;
        };
        let mut quoted = tag.split('"');
        if let (Some(attribute), Some(value)) = (quoted.next(), quoted.next()) {
            plain.push_str(value);
            plain.push_str(if attribute.starts_with("see") || tag.ends_with('/') { "" } else { ": " });
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// Removes the common indentation of all lines but the first, and blank lines at both ends.
fn dedent(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let indent = lines
        .iter()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let mut result = Vec::with_capacity(lines.len());
    for (number, line) in lines.iter().enumerate() {
        let bare = if number == 0 { line.trim_start() } else { line.get(indent..).unwrap_or("") };
        result.push(bare.trim_end());
    }
    trim_blank_lines(&result)
}

fn trim_blank_lines(lines: &[&str]) -> String {
    let start = lines.iter().position(|line| !line.trim().is_empty());
    let end = lines.iter().rposition(|line| !line.trim().is_empty());
    match (start, end) {
        (Some(start), Some(end)) => {
            let text = lines[start..=end].join("\n");
            shorten(&text, 1 << 20).to_owned()
        }
        _ => String::new(),
    }
}
