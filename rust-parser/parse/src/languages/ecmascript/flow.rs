//! Flow: JavaScript with types, which is read by the grammar of TypeScript after small edits.

use super::newer::{is_part, remove, skip, word, word_at, words};
use crate::rewriting::Edit;

/// Bytes at the start of a file that are searched for the mark.
const HEADER: usize = 4096;
const ENDINGS: &[&str] = &[".js", ".jsx", ".mjs", ".cjs"];
/// Bytes of a declaration's head that are looked at.
const MAX_HEAD: usize = 1000;

/// Types that are keywords.
const KEYWORDS: &[&[u8]] =
    &[b"any", b"boolean", b"null", b"number", b"object", b"string", b"symbol", b"undefined", b"unknown", b"void"];

/// Words that a value follows.
const VALUE_WORDS: &[&[u8]] = &[
    b"return", b"await", b"yield", b"typeof", b"of", b"in", b"default", b"case", b"throw", b"else", b"void", b"delete",
];

/// Returns whether a file of JavaScript has types of Flow: by `@flow` in its first comment, or by an import of types.
pub fn is_flow(path: &str, source: &[u8]) -> bool {
    if !ENDINGS.iter().any(|ending| path.ends_with(ending)) {
        return false;
    }
    let header = &source[..source.len().min(HEADER)];
    let marked = memchr::memmem::find_iter(header, b"@flow").any(|at| {
        let line = &header[memchr::memrchr(b'\n', &header[..at]).map_or(0, |end| end + 1)..at];
        let is_comment = [&b"//"[..], b"/*", b"*"].iter().any(|mark| line.trim_ascii_start().starts_with(mark));
        is_comment && !header.get(at + 5).is_some_and(is_part)
    });
    marked
        || memchr::memmem::find_iter(header, b"import type ").any(|at| {
            let starts = at == 0 || header[at - 1] == b'\n';
            let next = word(header, word_at(header, skip(header, at + 12)));
            starts && next != b"from"
        })
}

/// Returns the edits of a file, in no order.
pub fn edits(source: &[u8]) -> Vec<Edit> {
    let mut edits: Vec<Edit> = memchr::memchr2_iter(b'+', b'-', source)
        .filter(|&at| is_variance(source, at))
        .map(|at| remove(at, at + 1))
        .collect();
    edits.extend(
        memchr::memmem::find_iter(source, b"<>")
            .filter(|&at| at > 0 && is_part(&source[at - 1]))
            .map(|at| remove(at, at + 2)),
    );
    memchr::memmem::find_iter(source, b"=>").for_each(|at| edits.extend(parameter(source, at)));
    edits.extend(
        memchr::memchr_iter(b'?', source)
            .filter(|&at| {
                let before = source[..at].trim_ascii_end().last();
                source.get(at + 1) == Some(&b'(') && matches!(before, Some(b':' | b'=' | b'<' | b'|' | b'(' | b','))
            })
            .map(|at| remove(at, at + 1)),
    );
    edits.extend(
        words(source, b"interface")
            .filter(|&at| {
                let before = source[..at].trim_ascii_end();
                let is_value = matches!(before.last(), Some(b'=' | b':' | b'<')) || before.ends_with(b" as");
                is_value && source.get(skip(source, at + 9)) == Some(&b'{')
            })
            .map(|at| remove(at, at + 9)),
    );
    for at in words(source, b"declare") {
        let next = word_at(source, skip(source, at + 7));
        let what = word(source, word_at(source, skip(source, next.1)));
        if word(source, next) == b"export" && !matches!(what, b"class" | b"function" | b"async") {
            edits.push(remove(at, next.0));
        }
    }
    spreads(source, &mut edits);
    casts(source, &mut edits);
    edits.extend(memchr::memmem::find_iter(source, b"%checks").map(|at| remove(at, at + 7)));
    edits.extend(words(source, b"implies").filter(|&at| is_guard(source, at)).map(|at| remove(at, at + 7)));
    words(source, b"opaque").for_each(|at| edits.extend(opaque(source, at)));
    for at in words(source, b"module") {
        let before = source[..at].trim_ascii_end();
        if source[at..].starts_with(b"module.exports") && before.ends_with(b"declare") {
            edits.push(Edit { start: before.len() - b"declare".len(), end: at + b"module.".len(), with: "var " });
        }
    }
    for at in words(source, b"enum") {
        let name = word_at(source, skip(source, at + 4));
        let of = word_at(source, skip(source, name.1));
        let kind = word_at(source, skip(source, of.1));
        if word(source, of) == b"of" && source.get(skip(source, kind.1)) == Some(&b'{') {
            edits.push(remove(of.0, kind.1));
        }
    }
    for keyword in [&b"component"[..], b"hook"] {
        for at in words(source, keyword).filter(|&at| starts_statement(source, at)) {
            let name = word_at(source, skip(source, at + keyword.len()));
            let is_head = name.1 > name.0 && matches!(source.get(name.1), Some(b'(' | b'<'));
            if is_head && name.0 > at + keyword.len() {
                edits.push(Edit { start: at, end: at + keyword.len(), with: "function" });
            }
        }
    }
    edits
}

/// `{ +x: T }`, `class { -y: T; static +z: T }`, `<+T, -U>`, `{ +[key: K]: V }`.
fn is_variance(source: &[u8], at: usize) -> bool {
    let before = source[..at].trim_ascii_end();
    let breaks = source[before.len()..at].contains(&b'\n');
    let is_private = source.get(at + 1) == Some(&b'#');
    let name = word_at(source, at + 1 + usize::from(is_private));
    let next = source.get(skip(source, name.1));
    if source.get(at + 1) == Some(&b'[') {
        let key = word_at(source, at + 2);
        return matches!(before.last(), Some(b'{' | b',' | b';' | b'|'))
            && key.1 > key.0
            && source.get(key.1) == Some(&b':');
    }
    if name.1 == name.0 || source[name.0].is_ascii_digit() {
        return false;
    }
    let is_member = match next {
        Some(b':') => true,
        Some(b'=' | b';') => is_private,
        Some(b'?') => source.get(skip(source, name.1) + 1) == Some(&b':'),
        _ => false,
    };
    let begins =
        matches!(before.last(), Some(b'{' | b',' | b';' | b'|' | b'}')) || breaks || before.ends_with(b"static");
    let line = &before[memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)..];
    let is_head =
        [&b"class "[..], b"type ", b"interface "].iter().any(|word| memchr::memmem::find(line, word).is_some());
    let is_parameter = is_head
        && matches!(before.last(), Some(b'<' | b','))
        && memchr::memchr(b'<', line).is_some()
        && matches!(next, Some(b',' | b'>' | b':' | b'='));
    is_member && begins || is_parameter
}

/// `T => U` as the type of a function.
fn parameter(source: &[u8], arrow: usize) -> Vec<Edit> {
    let end = source[..arrow].trim_ascii_end().len();
    let mut start = end;
    if end > 0 && source[end - 1] == b'>' {
        let mut depth = 0;
        let open = source[end.saturating_sub(MAX_HEAD)..end].iter().rev().position(|byte| {
            depth += i32::from(*byte == b'>') - i32::from(*byte == b'<');
            depth == 0
        });
        start = open.map_or(end, |back| end - back - 1);
    }
    let name = source[..start].iter().rev().take_while(|byte| is_part(byte) || **byte == b'.').count();
    start -= name;
    let before = source[..start].trim_ascii_end();
    let is_type = matches!(before.last(), Some(b':' | b'<' | b'|' | b'&' | b'?' | b'=' | b'(' | b','));
    // `(x): T => y` is a function with a result type.
    let head = before.strip_suffix(b"?").unwrap_or(before).trim_ascii_end();
    let is_result = head.strip_suffix(b":").is_some_and(|head| head.trim_ascii_end().ends_with(b")"));
    let is_type = is_type && !is_result;
    if name == 0 || !is_type || source[start].is_ascii_digit() {
        return Vec::new();
    }
    // The grammar takes the name of a type for that of a parameter, but not a keyword.
    let open = if KEYWORDS.contains(&&source[start..end]) { "(x: " } else { "(" };
    vec![Edit::insert(start, open), Edit::insert(end, ")")]
}

/// `{ ...T, a: U, ... }` in types: the spread type is that of an index signature, and an open end is left out.
fn spreads(source: &[u8], edits: &mut Vec<Edit>) {
    // Whether each open bracket is that of a type of objects.
    let mut open: Vec<bool> = Vec::new();
    for at in memchr::memchr3_iter(b'{', b'}', b'.', source).collect::<Vec<_>>() {
        match source[at] {
            b'{' => {
                let before = source[..at].trim_ascii_end();
                let line = &before[memchr::memrchr2(b'\n', b';', before).map_or(0, |end| end + 1)..];
                let is_alias = before.ends_with(b"=") && words(line, b"type").next().is_some();
                let is_inner = open.last() == Some(&true);
                open.push(
                    is_inner
                        || is_alias
                        || source.get(at + 1) == Some(&b'|')
                        || matches!(before.last(), Some(b'<' | b'&')),
                );
            }
            b'}' => {
                open.pop();
            }
            _ if source[at..].starts_with(b"...") => {
                let next = &source[skip(source, at + 3)..];
                if next.starts_with(b"}") || next.starts_with(b"|}") {
                    edits.push(remove(at, at + 3));
                } else if open.last() == Some(&true)
                    && matches!(source[..at].trim_ascii_end().last(), Some(b'{' | b'|' | b',' | b';'))
                {
                    edits.push(Edit { start: at, end: at + 3, with: "[s: any]: " });
                }
            }
            _ => {}
        }
    }
}

/// `(x: T)` as a value: as `(x as T)`.
fn casts(source: &[u8], edits: &mut Vec<Edit>) {
    // The open brackets, each with the place of its first colon and whether a question mark precedes that.
    let mut open: Vec<(usize, Option<usize>, bool)> = Vec::new();
    for (at, byte) in source.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => open.push((at, None, false)),
            b':' => {
                if let Some((_, colon, _)) = open.last_mut() {
                    colon.get_or_insert(at);
                }
            }
            b'?' => {
                if let Some((_, None, asked)) = open.last_mut() {
                    *asked = true;
                }
            }
            b')' | b']' | b'}' => {
                if let Some((start, Some(colon), false)) = open.pop()
                    && source[start] == b'('
                    && is_value(source, start, at)
                {
                    edits.push(Edit { start: colon, end: colon + 1, with: " as " });
                }
            }
            _ => {}
        }
    }
}

/// Returns whether parentheses hold a value instead of parameters.
fn is_value(source: &[u8], start: usize, end: usize) -> bool {
    let before = source[..start].trim_ascii_end();
    let word = &before[before.len() - before.iter().rev().take_while(|byte| is_part(byte)).count()..];
    let follows_value = match before.last() {
        Some(b')' | b']' | b'>') => !before.ends_with(b"=>"),
        Some(byte) if is_part(byte) => !VALUE_WORDS.contains(&word),
        _ => false,
    };
    let after = &source[skip(source, end + 1)..];
    let is_choice = before.ends_with(b"?");
    !follows_value && !after.starts_with(b"=>") && !after.starts_with(b"{") && (is_choice || !after.starts_with(b":"))
}

/// `implies x is T`.
fn is_guard(source: &[u8], at: usize) -> bool {
    let name = word_at(source, skip(source, at + 7));
    name.1 > name.0 && word(source, word_at(source, skip(source, name.1))) == b"is"
}

fn starts_statement(source: &[u8], at: usize) -> bool {
    let line = &source[memchr::memrchr(b'\n', &source[..at]).map_or(0, |end| end + 1)..at];
    line.trim_ascii().is_empty()
        || matches!(line.trim_ascii(), b"export" | b"export default" | b"declare" | b"declare export")
        || matches!(line.trim_ascii_end().last(), Some(b';' | b'}'))
}

/// `opaque type T: Bound = U`, `declare opaque type T`.
fn opaque(source: &[u8], at: usize) -> Vec<Edit> {
    let keyword = word_at(source, skip(source, at + 6));
    let name = word_at(source, skip(source, keyword.1));
    if word(source, keyword) != b"type" || name.0 == name.1 {
        return Vec::new();
    }
    let mut edits = vec![remove(at, keyword.0)];
    let head = &source[name.1..source.len().min(name.1 + MAX_HEAD)];
    let (mut depth, mut bound) = (0, None);
    let end = head.iter().enumerate().find_map(|(offset, byte)| {
        depth +=
            i32::from(matches!(byte, b'<' | b'{' | b'(' | b'[')) - i32::from(matches!(byte, b'>' | b'}' | b')' | b']'));
        match byte {
            b':' if depth == 0 && bound.is_none() => bound = Some(offset),
            b'=' if depth == 0 => return Some((offset, true)),
            b';' | b'\n' if depth == 0 => return Some((offset, false)),
            _ => {}
        }
        None
    });
    let (end, has_value) = end.unwrap_or((head.len(), false));
    let bound = bound.unwrap_or(end);
    edits.push(Edit { start: name.1 + bound, end: name.1 + end, with: if has_value { "" } else { " = any" } });
    edits
}
