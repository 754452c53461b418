//! Rewrites what the grammars of JavaScript and TypeScript do not know: `using` in loops, forms of imports and exports,
//! `accessor` fields.

use crate::rewriting::Edit;

/// Words after `accessor` with which it is an ordinary name.
const OPERATORS: &[&[u8]] = &[b"in", b"of", b"instanceof", b"as", b"satisfies", b"extends", b"from", b"is"];

/// Returns the edits of a file, in no order.
pub fn edits(source: &[u8]) -> Vec<Edit> {
    let mut edits = Vec::new();
    words(source, b"using").for_each(|at| edits.extend(using(source, at)));
    words(source, b"import").for_each(|at| edits.extend(import(source, at)));
    words(source, b"export").for_each(|at| edits.extend(export(source, at)));
    for at in memchr::memmem::find_iter(source, b"accessor") {
        let end = at + b"accessor".len();
        if !(at > 0 && is_part(&source[at - 1]) || source.get(end).is_some_and(is_part)) {
            edits.push(if is_accessor(source, at) {
                remove(at, end)
            } else {
                Edit { start: at, end, with: "accesses" }
            });
        }
    }
    for word in [&b"with"[..], b"assert"] {
        words(source, word).for_each(|at| edits.extend(attributes(source, at, word.len())));
    }
    edits
}

/// `for (using x of xs)`: as a constant.
fn using(source: &[u8], at: usize) -> Vec<Edit> {
    let end = at + b"using".len();
    let name = word_at(source, skip(source, end));
    let next = skip(source, name.1);
    let is_name = match word(source, name) {
        // `for (using of xs)` has a variable with this name.
        b"of" => word(source, word_at(source, next)) == b"of" || source.get(next) == Some(&b'='),
        other => !other.is_empty(),
    };
    let before = source[..at].trim_ascii_end();
    let awaited = before.strip_suffix(b"await").map(<[u8]>::trim_ascii_end);
    let head = awaited.unwrap_or(before).strip_suffix(b"(").map(<[u8]>::trim_ascii_end);
    let is_loop = head.is_some_and(|head| {
        let head = head.strip_suffix(b"await").map_or(head, <[u8]>::trim_ascii_end);
        head.ends_with(b"for") && !head.iter().rev().nth(3).is_some_and(is_part)
    });
    if !is_name || !is_loop {
        return Vec::new();
    }
    let from = awaited.map_or(at, |_| before.len() - b"await".len());
    vec![Edit { start: from, end, with: "const" }]
}

/// `import defer * as x`, `import source x from`, `import type x = require()`, `import.defer()`.
fn import(source: &[u8], at: usize) -> Option<Edit> {
    let end = at + b"import".len();
    if source.get(end) == Some(&b'.') {
        let phase = word_at(source, end + 1);
        let is_call = source.get(skip(source, phase.1)) == Some(&b'(');
        return (is_call && matches!(word(source, phase), b"defer" | b"source")).then_some(remove(end, phase.1));
    }
    let phase = word_at(source, skip(source, end));
    let next = skip(source, phase.1);
    let after = word_at(source, next);
    let is_phase = match word(source, phase) {
        b"defer" => source.get(next) == Some(&b'*'),
        b"source" => match word(source, after) {
            b"from" => word(source, word_at(source, skip(source, after.1))) == b"from",
            name => !name.is_empty(),
        },
        b"type" => !word(source, after).is_empty() && source.get(skip(source, after.1)) == Some(&b'='),
        _ => false,
    };
    is_phase.then_some(remove(phase.0, phase.1))
}

/// `export type * from`.
fn export(source: &[u8], at: usize) -> Option<Edit> {
    let kind = word_at(source, skip(source, at + b"export".len()));
    let is_star = source.get(skip(source, kind.1)) == Some(&b'*');
    (is_star && word(source, kind) == b"type").then_some(remove(kind.0, kind.1))
}

/// `accessor x = 1` in a class. Elsewhere it is a name, which the grammar of TypeScript takes for the keyword.
fn is_accessor(source: &[u8], at: usize) -> bool {
    let end = at + b"accessor".len();
    let blanks = source[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let next = end + blanks;
    let name = word(source, word_at(source, next));
    let is_member = match source.get(next) {
        Some(b'#' | b'[' | b'"' | b'\'') => true,
        _ => !name.is_empty() && !OPERATORS.contains(&name),
    };
    let before = source[..at].trim_ascii_end().last();
    let is_plain =
        !before.is_some_and(|byte| matches!(byte, b'.' | b',' | b'=' | b'(' | b'[' | b'?' | b':' | b'&' | b'|'));
    blanks > 0 && is_member && is_plain
}

/// `from "m" with { type: "json" }`.
fn attributes(source: &[u8], at: usize, length: usize) -> Option<Edit> {
    let open = skip(source, at + length);
    let before = source[..at].trim_ascii_end();
    let quote = *before.last().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let start = memchr::memrchr(quote, &before[..before.len() - 1])?;
    let introduced = before[..start].trim_ascii_end();
    let is_module = introduced.ends_with(b"from") || introduced.ends_with(b"import");
    if source.get(open) != Some(&b'{') || !is_module {
        return None;
    }
    let close = memchr::memchr3(b'}', b'{', b';', &source[open + 1..])?;
    (source[open + 1 + close] == b'}').then_some(remove(at, open + close + 2))
}

pub fn remove(start: usize, end: usize) -> Edit {
    Edit { start, end, with: "" }
}

/// Returns the places of a whole word that no dot precedes.
pub fn words<'s>(source: &'s [u8], word: &'s [u8]) -> impl Iterator<Item = usize> + 's {
    memchr::memmem::find_iter(source, word).filter(move |&at| {
        let before = at.checked_sub(1).and_then(|before| source.get(before));
        !before.is_some_and(|byte| is_part(byte) || *byte == b'.') && !source.get(at + word.len()).is_some_and(is_part)
    })
}

pub fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80
}

/// Returns the next place that is not white space.
pub fn skip(source: &[u8], at: usize) -> usize {
    at + source[at.min(source.len())..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns the place of the word at a position.
pub fn word_at(source: &[u8], at: usize) -> (usize, usize) {
    (at, at + source[at.min(source.len())..].iter().take_while(|byte| is_part(byte)).count())
}

pub fn word(source: &[u8], (start, end): (usize, usize)) -> &[u8] {
    source.get(start..end).unwrap_or_default()
}
