//! Finds secrets that are written as several literals: `"ghp_ab" + "cd"`, `"ghp_ab" "cd"`, `'ab' . 'cd'`.
//!
//! Literals count as one if no more than an operator, a blank or a line break is between them and no blank is at the seam:
//! texts for people are divided between words.

use super::found::Span;

/// Length limits in bytes: of one literal, of what is between two, and of what is before the first.
const LITERAL: usize = 1000;
const BETWEEN: usize = 100;
const BEFORE: usize = 120;
/// Most literals of one value.
const MOST: usize = 32;
/// Least length of a value.
const SHORTEST: usize = 12;

/// Adds the secrets of this kind; `within` finds those in a joined text.
pub fn find(data: &[u8], within: &mut dyn FnMut(&[u8]) -> Vec<Span>, found: &mut Vec<Span>) {
    let mut at = 0;
    while let Some(quote) = memchr::memchr2(b'"', b'\'', &data[at..]).map(|offset| at + offset) {
        at = quote + 1;
        let Some(next) = seam(data, quote) else { continue };
        let pieces = pieces(data, quote, next);
        at = pieces.last().map_or(at, |piece| at.max(piece.1 + 1));
        if pieces.len() > 1 && pieces.iter().map(|(start, end)| end - start).sum::<usize>() >= SHORTEST {
            examine(data, &pieces, within, found);
        }
    }
}

/// Returns the start of the literal that continues the one that a quote ends.
fn seam(data: &[u8], quote: usize) -> Option<usize> {
    // A line break at the seam ends a line of a text.
    if quote < 2 || !is_inner(data[quote - 1]) || data[quote - 2..].starts_with(b"\\n") {
        return None;
    }
    let rest = &data[quote + 1..data.len().min(quote + 1 + BETWEEN)];
    let gap = rest
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'+' | b'.' | b'&' | b'~' | b'\\'))?;
    let operators = rest[..gap].iter().filter(|byte| matches!(byte, b'+' | b'.' | b'&' | b'~')).count();
    let opens = matches!(rest[gap], b'"' | b'\'') && gap > 0 && operators <= 2;
    let start = quote + 1 + gap + 1;
    (opens && data.get(start).is_some_and(|byte| is_inner(*byte))).then_some(start)
}

/// Returns whether a character may be next to a seam.
fn is_inner(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`')
}

/// Returns the ranges of the literals around a seam, from that which a quote ends.
fn pieces(data: &[u8], quote: usize, next: usize) -> Vec<(usize, usize)> {
    let before = &data[quote.saturating_sub(LITERAL)..quote];
    let Some(length) = before.iter().rev().position(|byte| *byte == data[quote] || *byte == b'\n') else {
        return Vec::new();
    };
    let mut pieces = vec![(quote - length, quote)];
    let mut start = next;
    while pieces.len() < MOST {
        let rest = &data[start..data.len().min(start + LITERAL)];
        let end = rest.iter().position(|byte| *byte == data[start - 1] || *byte == b'\n');
        let Some(end) = end.map(|length| start + length).filter(|end| data[*end] != b'\n') else { break };
        pieces.push((start, end));
        let Some(further) = seam(data, end) else { break };
        start = further;
    }
    pieces
}

/// Examines the joined literals with what is before them, and adds what is found in them.
fn examine(data: &[u8], pieces: &[(usize, usize)], within: &mut dyn FnMut(&[u8]) -> Vec<Span>, found: &mut Vec<Span>) {
    let first = pieces[0].0;
    let mut text = data[first.saturating_sub(BEFORE)..first].to_vec();
    let mut places = Vec::with_capacity(pieces.len());
    for &(start, end) in pieces {
        places.push((text.len(), start, end - start));
        text.extend_from_slice(&data[start..end]);
    }
    text.push(data[pieces[pieces.len() - 1].1]);
    for (from, to, rule) in within(&text) {
        for &(at, start, length) in &places {
            let (low, high) = (from.max(at), to.min(at + length));
            if low < high {
                found.push((start + low - at, start + high - at, rule));
            }
        }
    }
}
