//! Rewrites Kotlin that the grammar misreads, for the parser only: names are read from the original text.

use std::borrow::Cow;
use std::ops::Range;

/// Bytes before a class that are searched for its annotations.
const MAX_ANNOTATIONS: usize = 4096;
/// Bytes around the name of an accessor or before a constructor that are searched for what belongs to it.
const MAX_HEAD: usize = 300;
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
    b"where",
    b"get",
    b"set",
];

/// Returns the text as the grammar reads it, of the same length.
pub fn readable(source: &[u8]) -> Cow<'_, [u8]> {
    let mut text = blank_surplus_annotations(source, rename_soft_keywords(source));
    rename_calls(source, &mut text);
    blank_before_accessors(source, &mut text);
    blank_before_constructors(source, &mut text);
    text
}

/// Replaces soft keywords that are names (`open = isOpen`, `get(x)`): the grammar takes them for modifiers of what
/// follows or for accessors of the property before, and loses the class around.
fn rename_soft_keywords(source: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(source);
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
    if rest.starts_with(b"/*") || rest.starts_with(b"//") {
        return false;
    }
    match rest.first() {
        Some(b'=' | b'.' | b'+' | b'-' | b'*' | b'/' | b'%' | b'?' | b'[' | b'!') => true,
        Some(b'{') if is_accessor => true,
        Some(b'(') if is_accessor => !is_accessor_head(rest),
        Some(b'(') => true,
        _ => false,
    }
}

/// Renames `suspend` where it is a name (`suspend { }`, `suspend = x`), and `dynamic` in `dynamic.member`: the grammar
/// takes them for a modifier and a type.
fn rename_calls(source: &[u8], text: &mut Cow<[u8]>) {
    for at in words(source, b"suspend") {
        let rest = start_of_text(&source[at + b"suspend".len()..]);
        let is_name = match rest {
            [b'{' | b':', ..] => true,
            [b'=', next, ..] => *next != b'=',
            [b'(', ..] => {
                let after = close_of(rest).map_or(&b""[..], |close| rest[close + 1..].trim_ascii_start());
                !after.is_empty() && !after.starts_with(b"->") && !after.starts_with(b".(")
            }
            _ => false,
        };
        if is_name {
            text.to_mut()[at..at + b"suspend".len()].fill(b'x');
        }
    }
    for at in words(source, b"dynamic") {
        if source[at + b"dynamic".len()..].starts_with(b".") {
            text.to_mut()[at..at + b"dynamic".len()].fill(b'x');
        }
    }
}

/// Blanks the annotations of accessors (`@Synchronized set(value) {`), which the grammar does not expect.
fn blank_before_accessors(source: &[u8], text: &mut Cow<[u8]>) {
    for keyword in [b"set", b"get"] {
        for at in words(source, keyword) {
            let rest = &source[at + keyword.len()..];
            let rest = &rest[..rest.len().min(MAX_HEAD)];
            let before = source[..at].trim_ascii_end();
            let is_function = before.ends_with(b"fun") || before.ends_with(b".") || before.ends_with(b">");
            if rest.starts_with(b"(") && !is_function && is_accessor_head(rest) {
                blank_annotations(source, at, MAX_HEAD, text);
            }
        }
    }
}

/// Blanks the annotations of a primary constructor on a line below the name of its class, and the modifiers other than
/// its visibility: the grammar ends the class before them.
fn blank_before_constructors(source: &[u8], text: &mut Cow<[u8]>) {
    for at in words(source, b"constructor") {
        let from = at.saturating_sub(MAX_ANNOTATIONS);
        let (annotations, start) = head_before(&source[from..at]);
        if !start_of_text(&source[at + b"constructor".len()..]).starts_with(b"(")
            || !ends_with_class(&source[..from + start])
        {
            continue;
        }
        for modifier in [&b"actual"[..], b"expect"] {
            for word in words(&source[from + start..at], modifier) {
                text.to_mut()[from + start + word..][..modifier.len()].fill(b' ');
            }
        }
        if !annotations.is_empty() {
            blank_annotations(source, at, MAX_ANNOTATIONS, text);
        }
    }
}

/// Returns whether a text ends with the head of a class: `class Name<T>`.
fn ends_with_class(text: &[u8]) -> bool {
    let line = text[text.len().saturating_sub(MAX_HEAD)..].trim_ascii_end();
    let line = &line[line.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)..];
    let Some(class) = memchr::memmem::rfind(line, b"class ") else {
        return false;
    };
    let name = line[class + b"class ".len()..].trim_ascii();
    let length = name.iter().take_while(|byte| is_part(byte)).count();
    let rest = name[length..].trim_ascii();
    length > 0 && (rest.is_empty() || rest.starts_with(b"<") && rest.ends_with(b">"))
}

fn blank_annotations(source: &[u8], at: usize, window: usize, text: &mut Cow<[u8]>) {
    let from = at.saturating_sub(window);
    for annotation in head_before(&source[from..at]).0 {
        blank(&mut text.to_mut()[from + annotation.start..from + annotation.end]);
    }
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}

/// Returns the places of a whole word.
fn words<'s>(source: &'s [u8], word: &'s [u8]) -> impl Iterator<Item = usize> + 's {
    memchr::memmem::find_iter(source, word).filter(move |&at| {
        let before = at.checked_sub(1).and_then(|before| source.get(before));
        !before.is_some_and(is_part) && !source.get(at + word.len()).is_some_and(is_part)
    })
}

/// Returns the text without comments inside of lines and without empty collection literals (`= []`), which only
/// annotations have.
pub fn without_rare_forms(source: &[u8]) -> Vec<u8> {
    let mut text = source.to_vec();
    for open in memchr::memmem::find_iter(source, b"/*") {
        let line = memchr::memchr(b'\n', &source[open..]).map_or(source.len(), |end| open + end);
        if let Some(close) = memchr::memmem::find(&source[open..line], b"*/") {
            text[open..open + close + 2].fill(b' ');
        }
    }
    for at in memchr::memmem::find_iter(source, b"= []") {
        text[at + 2..at + 4].fill(b'"');
    }
    text
}

/// Skips blanks of the same line.
fn start_of_text(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[blanks..]
}

/// Returns whether a text in parentheses is followed by the body or the type of an accessor, or `()` by nothing.
fn is_accessor_head(rest: &[u8]) -> bool {
    let Some(close) = close_of(rest) else {
        return true;
    };
    let after = rest[close + 1..].trim_ascii_start();
    match after {
        [b'=', b'=', ..] => false,
        [b'=' | b'{' | b':', ..] => true,
        _ => false,
    }
}

/// Returns the place of the parenthesis that closes the first one.
fn close_of(rest: &[u8]) -> Option<usize> {
    let mut depth = 0;
    rest.iter().take(MAX_ANNOTATIONS).position(|byte| {
        depth += i32::from(*byte == b'(') - i32::from(*byte == b')');
        depth == 0
    })
}

/// Blanks annotations of a class where the grammar misreads several: with arguments behind another one, or before a class
/// without a constructor or base, which it takes for a call with a lambda. The first with arguments is kept.
fn blank_surplus_annotations<'a>(source: &'a [u8], mut text: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    for keyword in DECLARATIONS {
        for at in memchr::memmem::find_iter(source, keyword) {
            let from = at.saturating_sub(MAX_ANNOTATIONS);
            let mut annotations = head_before(&source[from..at]).0;
            annotations.reverse();
            let has_arguments = |one: &Range<usize>| source[from + one.start..from + one.end].ends_with(b")");
            let kept = annotations.iter().position(has_arguments).unwrap_or(0);
            let takes_several = has_constructor_or_base(&source[at + keyword.len()..]);
            for (number, annotation) in annotations.iter().enumerate() {
                if number < kept || number > kept && (!takes_several || has_arguments(annotation)) {
                    blank(&mut text.to_mut()[from + annotation.start..from + annotation.end]);
                }
            }
        }
    }
    text
}

/// Returns whether the name of a class is followed by its parameters or by a base.
fn has_constructor_or_base(after: &[u8]) -> bool {
    let after = &after[..after.len().min(MAX_HEAD)];
    let length = after.iter().take_while(|byte| is_part(byte)).count();
    let mut rest = after[length..].trim_ascii_start();
    if rest.starts_with(b"<") {
        let end = rest.iter().position(|byte| matches!(byte, b'{' | b'(' | b'\n')).unwrap_or(rest.len());
        let close = rest[..end].iter().rposition(|&byte| byte == b'>').map_or(end, |close| close + 1);
        rest = rest[close..].trim_ascii_start();
    }
    length > 0 && matches!(rest.first(), Some(b'(' | b':'))
}

/// Returns the annotations at the end of a text, before modifiers, last first, and where annotations and modifiers begin.
fn head_before(text: &[u8]) -> (Vec<Range<usize>>, usize) {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_end();
        let end = rest.len();
        let mut depth = 0;
        let head = rest.iter().rposition(|byte| {
            depth += i32::from(*byte == b')') - i32::from(*byte == b'(');
            depth <= 0
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
            return (found, rest.len());
        }
    }
}
