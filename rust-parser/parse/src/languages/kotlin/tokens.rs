//! The tokens of Kotlin, for rewriting.

use crate::rewriting::Edit;

/// Largest nesting depth of templates in strings.
const MAX_DEPTH: u32 = 16;

/// What a token is: a word, a literal, an arrow, a double colon, or a single character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Word,
    Literal,
    Arrow,
    Colons,
    Sign(u8),
}

#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub start: usize,
    pub end: usize,
    pub sort: Sort,
    /// Whether a line ends before it.
    pub breaks: bool,
}

/// Returns the tokens of a text without comments, and the edits of strings with several dollars (`$$"a $$b"`).
pub fn tokens_of(source: &[u8]) -> (Vec<Token>, Vec<Edit>) {
    let (mut tokens, mut edits) = (Vec::new(), Vec::new());
    let (mut at, mut breaks) = (0, true);
    while let Some(&byte) = source.get(at) {
        let rest = &source[at..];
        if byte.is_ascii_whitespace() {
            breaks |= byte == b'\n';
            at += 1;
            continue;
        }
        if rest.starts_with(b"//") || rest.starts_with(b"/*") {
            let end = end_of_comment(source, at);
            breaks |= source[at..end].contains(&b'\n');
            at = end;
            continue;
        }
        let dollars = rest.iter().take_while(|&&byte| byte == b'$').count();
        let (end, sort) = if rest.get(dollars) == Some(&b'"') {
            let end = end_of_string(source, at + dollars, dollars.max(1), MAX_DEPTH);
            // The grammar ends such a string at the third quote.
            let quotes = source[at + dollars..end].iter().rev().take_while(|&&byte| byte == b'"').count();
            if source[at + dollars..].starts_with(b"\"\"\"") && quotes > 4 && quotes + 3 < end - at {
                edits.push(Edit { start: end - quotes, end: end - 3, with: "x" });
            }
            if dollars > 0 {
                edits.push(Edit { start: at, end: at + dollars, with: "" });
                one_dollar(source, at + dollars..end, dollars, &mut edits);
            }
            (end, Sort::Literal)
        } else if byte == b'\'' {
            (end_of_character(source, at), Sort::Literal)
        } else if byte == b'`' {
            (memchr::memchr2(b'`', b'\n', &rest[1..]).map_or(source.len(), |end| at + end + 2), Sort::Word)
        } else if is_part(byte) {
            let length = rest.iter().take_while(|&&byte| is_part(byte)).count();
            (at + length, if byte.is_ascii_digit() { Sort::Literal } else { Sort::Word })
        } else {
            match rest {
                [b'-', b'>', ..] => (at + 2, Sort::Arrow),
                [b':', b':', ..] => (at + 2, Sort::Colons),
                _ => (at + 1, Sort::Sign(byte)),
            }
        };
        tokens.push(Token { start: at, end: end.min(source.len()), sort, breaks });
        (at, breaks) = (end, false);
    }
    (tokens, edits)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn end_of_comment(source: &[u8], at: usize) -> usize {
    if source[at + 1] == b'/' {
        return memchr::memchr(b'\n', &source[at..]).map_or(source.len(), |end| at + end);
    }
    let (mut at, mut depth) = (at, 0);
    while at < source.len() {
        match &source[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    source.len()
}

fn end_of_character(source: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = source.get(end).filter(|&&byte| byte != b'\n') {
        end += if byte == b'\\' { 2 } else { 1 };
        if byte == b'\'' {
            break;
        }
    }
    end
}

/// Returns the end of a string that begins with quotes, in which `dollars` dollars begin a template.
fn end_of_string(source: &[u8], at: usize, dollars: usize, depth: u32) -> usize {
    let is_raw = source[at..].starts_with(b"\"\"\"");
    let mut at = at + if is_raw { 3 } else { 1 };
    while let Some(&byte) = source.get(at) {
        let run = source[at..].iter().take_while(|&&byte| byte == b'$').count();
        match byte {
            b'$' if run >= dollars && source.get(at + run) == Some(&b'{') && depth > 0 => {
                at = end_of_template(source, at + run, depth - 1);
            }
            b'$' => at += run,
            b'"' if is_raw => {
                let quotes = source[at..].iter().take_while(|&&byte| byte == b'"').count();
                at += quotes;
                if quotes >= 3 {
                    return at;
                }
            }
            b'"' | b'\n' if !is_raw => return at + usize::from(byte == b'"'),
            b'\\' if !is_raw => at += 2,
            _ => at += 1,
        }
    }
    source.len()
}

/// Returns the end of a template that begins with a brace.
fn end_of_template(source: &[u8], at: usize, depth: u32) -> usize {
    let (mut at, mut open) = (at, 0);
    while let Some(&byte) = source.get(at) {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            b'"' => {
                at = end_of_string(source, at, 1, depth);
                continue;
            }
            _ => {}
        }
        at += 1;
        if open == 0 {
            break;
        }
    }
    at
}

/// Leaves one dollar where so many begin a template, and none where fewer are text.
fn one_dollar(source: &[u8], string: std::ops::Range<usize>, dollars: usize, edits: &mut Vec<Edit>) {
    let mut at = string.start;
    while let Some(found) = memchr::memchr(b'$', &source[at..string.end]) {
        let start = at + found;
        let run = source[start..string.end].iter().take_while(|&&byte| byte == b'$').count();
        let kept = usize::from(run >= dollars);
        edits.push(Edit { start, end: start + run - kept, with: "" });
        at = start + run;
    }
}
