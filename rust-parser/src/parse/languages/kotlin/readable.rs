//! Rewrites Kotlin that the grammar misreads, for the parser only: names are read from the original text.

use std::borrow::Cow;
use std::ops::Range;

/// Bytes before a class that are searched for its annotations.
const MAX_ANNOTATIONS: usize = 4096;
/// Keywords that start the declaration of a class, and modifiers that may precede them.
const DECLARATIONS: &[&[u8]] = &[b"class ", b"interface ", b"object "];
const MODIFIERS: &[&[u8]] = &[
    b"public",
    b"private",
    b"protected",
    b"internal",
    b"open",
    b"abstract",
    b"final",
    b"sealed",
    b"data",
    b"inner",
    b"enum",
    b"annotation",
    b"value",
    b"inline",
    b"expect",
    b"actual",
    b"external",
    b"fun",
    b"companion",
];
/// Modifiers and accessors that are ordinary names elsewhere (soft keywords) and begin statements as such.
const SOFT_KEYWORDS: &[&[u8]] = &[
    b"open",
    b"data",
    b"inner",
    b"value",
    b"inline",
    b"enum",
    b"annotation",
    b"sealed",
    b"abstract",
    b"final",
    b"external",
    b"internal",
    b"public",
    b"private",
    b"protected",
    b"expect",
    b"actual",
    b"get",
    b"set",
];

/// Returns the text as the grammar reads it, of the same length.
pub fn readable(source: &[u8]) -> Cow<'_, [u8]> {
    blank_surplus_annotations(source, rename_soft_keywords(source))
}

/// Replaces soft keywords that are names (`open = isOpen`, `get(x)`): the grammar takes them for modifiers of what
/// follows or for accessors of the property before, and loses the class around.
fn rename_soft_keywords(source: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(source);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    for keyword in SOFT_KEYWORDS {
        for at in memchr::memmem::find_iter(source, keyword) {
            let end = at + keyword.len();
            let before = source[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
            let starts = before.is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'{' | b';' | b'>'));
            if starts && !source.get(end).is_some_and(is_part) && is_name(keyword, &source[end..]) {
                text.to_mut()[at..end].fill(b'x');
            }
        }
    }
    text
}

/// Returns whether a soft keyword at the start of a statement is a name, by the text after it.
fn is_name(keyword: &[u8], rest: &[u8]) -> bool {
    let is_accessor = matches!(keyword, b"get" | b"set");
    let rest = start_of_text(rest);
    match rest.first() {
        Some(b'=' | b'.' | b'+' | b'-' | b'*' | b'/' | b'%' | b'?' | b'[' | b'!') => true,
        Some(b'(') if is_accessor => !is_accessor_head(rest),
        Some(b'(') => true,
        _ => false,
    }
}

/// Skips blanks of the same line.
fn start_of_text(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[blanks..]
}

/// Returns whether a text in parentheses is followed by the body or the type of an accessor, or `()` by nothing.
fn is_accessor_head(rest: &[u8]) -> bool {
    let mut depth = 0;
    let Some(close) = rest.iter().take(MAX_ANNOTATIONS).position(|byte| {
        depth += i32::from(*byte == b'(') - i32::from(*byte == b')');
        depth == 0
    }) else {
        return true;
    };
    let after = rest[close + 1..].trim_ascii_start();
    match after {
        [b'=', b'=', ..] => false,
        [b'=' | b'{' | b':', ..] => true,
        _ => false,
    }
}

/// Blanks all annotations of a class but the first: the grammar may misread a class after two annotations as a call
/// with a lambda.
fn blank_surplus_annotations<'a>(source: &'a [u8], mut text: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    for keyword in DECLARATIONS {
        for at in memchr::memmem::find_iter(source, keyword) {
            let from = at.saturating_sub(MAX_ANNOTATIONS);
            let mut annotations = annotations_before(&source[from..at]);
            annotations.pop();
            for annotation in annotations {
                for byte in text.to_mut()[from + annotation.start..from + annotation.end]
                    .iter_mut()
                    .filter(|byte| !matches!(byte, b'\n' | b'\r'))
                {
                    *byte = b' ';
                }
            }
        }
    }
    text
}

/// Returns the annotations at the end of a text, before modifiers, last first.
fn annotations_before(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_end();
        let end = rest.len();
        let mut depth = 0;
        let head = rest.iter().rposition(|byte| {
            depth += i32::from(*byte == b')') - i32::from(*byte == b'(');
            depth == 0
        });
        let name_end = match head {
            Some(open) if rest[open] == b'(' => open,
            _ => end,
        };
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let start = rest[..name_end].iter().rposition(|byte| !is_name(byte)).map_or(0, |position| position + 1);
        if start > 0 && start < name_end && rest[start - 1] == b'@' {
            found.push(start - 1..end);
            rest = &rest[..start - 1];
        } else if MODIFIERS.contains(&&rest[start..]) {
            rest = &rest[..start];
        } else {
            return found;
        }
    }
}
