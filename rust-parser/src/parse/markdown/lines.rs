//! What a single line of Markdown is: heading, fence, list item, rule.

use std::ops::Range;

pub fn line_end(source: &[u8], at: usize) -> usize {
    source[at.min(source.len())..].iter().position(|&byte| byte == b'\n').map_or(source.len(), |length| at + length)
}

pub fn line_start(source: &[u8], at: usize) -> usize {
    source[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

pub fn breaks(text: &[u8]) -> u32 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u32
}

pub fn trimmed(source: &[u8], piece: Range<usize>) -> Range<usize> {
    let text = &source[piece.clone()];
    let start = piece.start + (text.len() - text.trim_ascii_start().len());
    start..start + text.trim_ascii().len()
}

/// Column and byte of the first character that is not a blank, from a byte at a column.
pub fn indentation(text: &[u8], mut at: usize, mut column: usize) -> (usize, usize) {
    while let Some(&byte) = text.get(at) {
        match byte {
            b' ' | b'\r' => column += 1,
            b'\t' => column += 4 - column % 4,
            _ => break,
        }
        at += 1;
    }
    (column, at)
}

/// Length of a list marker (`-`, `12.`). Only lists that begin with 1 may interrupt a paragraph.
pub fn list_marker(text: &[u8], fresh: bool) -> Option<usize> {
    let length = match text[0] {
        b'-' | b'+' | b'*' => 1,
        b'0'..=b'9' => {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let closed = matches!(text.get(digits), Some(b'.' | b')'));
            if !closed || digits > 9 || !(fresh || &text[..digits] == b"1") {
                return None;
            }
            digits + 1
        }
        _ => return None,
    };
    match text.get(length) {
        Some(b' ' | b'\t') => Some(length),
        None | Some(b'\r') if fresh => Some(length),
        _ => None,
    }
}

/// Does a line open a block of its own, so that it does not continue a paragraph?
pub fn starts_block(text: &[u8]) -> bool {
    text[0] == b'>'
        || list_marker(text, false).is_some()
        || atx_heading(text).is_some()
        || opening_fence(text).is_some()
        || is_rule(text)
}

/// `***`, `---`, `_ _ _`
pub fn is_rule(text: &[u8]) -> bool {
    let mark = text[0];
    let marks = text.iter().filter(|&&byte| byte == mark).count();
    matches!(mark, b'*' | b'-' | b'_')
        && marks >= 3
        && text.iter().all(|&byte| byte == mark || byte.is_ascii_whitespace())
}

/// Level and content of `## title ##`.
pub fn atx_heading(text: &[u8]) -> Option<(u8, Range<usize>)> {
    let level = text.iter().take_while(|&&byte| byte == b'#').count();
    if !(1..=6).contains(&level) || !matches!(text.get(level), None | Some(b' ' | b'\t' | b'\r')) {
        return None;
    }
    let mut content = trimmed(text, level..text.len());
    let inner = &text[content.clone()];
    let closing = inner.iter().rev().take_while(|&&byte| byte == b'#').count();
    if closing == inner.len() {
        content.end = content.start;
    } else if closing > 0 && matches!(inner[inner.len() - closing - 1], b' ' | b'\t') {
        content = trimmed(text, content.start..content.end - closing);
    }
    Some((level as u8, content))
}

/// Mark and length of a fence.
pub fn opening_fence(text: &[u8]) -> Option<(u8, usize)> {
    let mark = text[0];
    let length = text.iter().take_while(|&&byte| byte == mark).count();
    let fits = length >= 3 && (mark == b'~' || (mark == b'`' && !text[length..].contains(&b'`')));
    fits.then_some((mark, length))
}

pub fn is_closing_fence(text: &[u8], mark: u8, length: usize) -> bool {
    let bare = text.trim_ascii();
    bare.len() >= length && bare.iter().all(|&byte| byte == mark)
}

/// The line without its `>` marks.
pub fn without_quotes(mut text: &[u8]) -> &[u8] {
    while let [b'>', rest @ ..] = text.trim_ascii_start() {
        text = rest;
    }
    text.trim_ascii_start()
}
