//! Prepares C and C++ source for the grammar: attribute macros, which would hide the declarations around them, become
//! blanks of the same length. Also detects which of the two languages a header uses.

use std::borrow::Cow;

use crate::languages::cfamily::bare_macros::edits;
use crate::languages::cfamily::tokens::{directive, find, literal};

const GUARD: &[u8] = b"__cplusplus";
/// Bytes of a header that are examined.
const HEADER_BYTES: usize = 200_000;
/// Thread-safety and similar annotations after a declarator, with their arguments.
const ANNOTATIONS: &[&str] = &[
    "GUARDED_BY",
    "PT_GUARDED_BY",
    "ACQUIRED_AFTER",
    "ACQUIRED_BEFORE",
    "EXCLUSIVE_LOCKS_REQUIRED",
    "SHARED_LOCKS_REQUIRED",
    "LOCKS_EXCLUDED",
    "LOCK_RETURNED",
    "EXCLUSIVE_LOCK_FUNCTION",
    "SHARED_LOCK_FUNCTION",
    "EXCLUSIVE_TRYLOCK_FUNCTION",
    "SHARED_TRYLOCK_FUNCTION",
    "UNLOCK_FUNCTION",
    "ASSERT_EXCLUSIVE_LOCK",
    "ASSERT_SHARED_LOCK",
    "ABSL_GUARDED_BY",
    "ABSL_EXCLUSIVE_LOCKS_REQUIRED",
    "ABSL_LOCKS_EXCLUDED",
    "REQUIRES",
    "EXCLUDES",
    "CAPABILITY",
    "__attribute__",
    "__declspec",
];
/// Compiler keywords and common macros that specify how a function is compiled or called.
const WORDS: &[&str] = &[
    "forceinline",
    "force_inline",
    "always_inline",
    "__forceinline",
    "__always_inline",
    "__inline",
    "__inline__",
    "__extension__",
    "__cdecl",
    "__stdcall",
    "WINAPI",
    "CALLBACK",
    "APIENTRY",
    "Q_EMIT",
];
/// Keywords after which an upper-case word is not the introduced name.
const HEADS: &[&str] = &["class", "struct", "union", "enum"];
/// Parts of upper-case words that mark an attribute of linkage, inlining or deprecation.
const MARKS: &[&str] = &[
    "EXPORT",
    "IMPORT",
    "API",
    "INLINE",
    "PUBLIC",
    "NORETURN",
    "NODISCARD",
    "DEPRECATED",
    "UNUSED",
    "NO_THREAD_SAFETY_ANALYSIS",
    "SCOPED_LOCKABLE",
    "LOCKABLE",
    "EXTERN",
    "DLL",
    "BEGIN_DECLS",
    "END_DECLS",
    "ATTRIBUTE",
    "NOEXCEPT",
    "CONSTEXPR",
    "ALWAYS",
];

/// Returns the text as the grammar reads it: attributes and macros between declarations are blanked.
pub fn readable(source: &[u8]) -> Cow<'_, [u8]> {
    let mut text = without_attributes(source);
    let edits = edits(&text);
    if edits.is_empty() {
        return text;
    }
    let bytes = text.to_mut();
    for edit in edits {
        let range = &mut bytes[edit.start..edit.end];
        range.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        let length = edit.with.len().min(range.len());
        range[..length].copy_from_slice(&edit.with[..length]);
    }
    text
}

/// Returns the text with attribute macros blanked, and without the braces of `extern "C"` that only C++ sees.
pub fn without_attributes(source: &[u8]) -> Cow<'_, [u8]> {
    let mut blank = linkage_guards(source);
    let mut before: &[u8] = b"";
    let mut scanner = Scanner { source, at: 0 };
    while let Some((start, end)) = scanner.word() {
        let word = &source[start..end];
        if let Some(range) = attribute(source, before, start, end) {
            scanner.at = range.1;
            blank.push(range);
        } else {
            before = word;
        }
    }
    if blank.is_empty() {
        return Cow::Borrowed(source);
    }
    let mut text = source.to_vec();
    for (start, end) in blank {
        text[start..end].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    Cow::Owned(text)
}

/// `#ifdef __cplusplus`, `extern "C" {` or `}`, `#endif`: each half alone has an unmatched brace.
fn linkage_guards(source: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = source[at..].windows(GUARD.len()).position(|window| window == GUARD) {
        let word = at + offset;
        at = word + GUARD.len();
        let start = source[..word].iter().rposition(|&byte| byte == b'\n').map_or(0, |line| line + 1);
        let head = source[start..word].trim_ascii();
        if !matches!(head, b"#ifdef" | b"#if defined(" | b"# ifdef" | b"#if") {
            continue;
        }
        let limit = source.len().min(at + 200);
        let Some(length) = source[at..limit].windows(6).position(|window| window == b"#endif") else {
            continue;
        };
        let inside: Vec<u8> =
            source[at..at + length].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        if matches!(
            inside.trim_ascii_start(),
            b"extern\"C\"{" | b"}" | b")extern\"C\"{" | b")}" | b"}//extern\"C\"" | b"}/*extern\"C\"*/"
        ) {
            found.push((start, at + length + 6));
        }
    }
    found
}

/// Returns the range to blank if the word is an attribute.
fn attribute(source: &[u8], before: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(&source[start..end]).ok()?;
    if WORDS.contains(&text) {
        return Some((start, end));
    }
    if ANNOTATIONS.contains(&text) {
        return Some((start, close_of_arguments(source, end)?));
    }
    let is_upper = text.len() > 2 && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    if !is_upper || !text.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let next = source[end..].iter().copied().find(|byte| !matches!(byte, b' ' | b'\t'))?;
    let starts_name = next.is_ascii_alphabetic() || next == b'_';
    // `class API Name`: an upper-case word in between is not the name.
    let heads = std::str::from_utf8(before).is_ok_and(|word| HEADS.contains(&word));
    let is_marked = MARKS.iter().any(|mark| text.contains(mark));
    let is_attribute = (heads && starts_name && is_definition(source, before, end))
        || (is_marked && (starts_name || matches!(next, b';' | b'{' | b'*')));
    is_attribute.then_some((start, end))
}

/// Returns whether the name after a word is that of a class with a body: `struct TAG name;` declares a variable.
fn is_definition(source: &[u8], before: &[u8], end: usize) -> bool {
    let rest = source[end..].trim_ascii_start();
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':')).count();
    let after = rest[length..].trim_ascii_start();
    before == b"class" || matches!(after.first(), Some(b'{' | b':' | b'<')) || after.starts_with(b"final")
}

/// Returns the end of `( ... )` after a word.
fn close_of_arguments(source: &[u8], end: usize) -> Option<usize> {
    let open = end + source[end..].iter().position(|byte| !byte.is_ascii_whitespace())?;
    if source[open] != b'(' {
        return None;
    }
    let mut depth = 0;
    for (offset, byte) in source[open..].iter().take(2000).enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + offset + 1);
        }
    }
    None
}

/// Iterates over words outside of comments, strings and preprocessor lines.
struct Scanner<'s> {
    source: &'s [u8],
    at: usize,
}

impl Scanner<'_> {
    fn word(&mut self) -> Option<(usize, usize)> {
        while self.at < self.source.len() {
            let rest = &self.source[self.at..];
            let byte = rest[0];
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                let start = self.at;
                self.at += length;
                return Some((start, self.at));
            }
            self.at += match byte {
                b'"' | b'\'' => literal(rest),
                b'#' if self.is_line_start() => directive(rest),
                b'/' if rest.starts_with(b"//") => find(rest, b"\n"),
                b'/' if rest.starts_with(b"/*") => find(rest, b"*/"),
                _ => 1,
            };
        }
        None
    }

    fn is_line_start(&self) -> bool {
        let line = self.source[..self.at].iter().rev().take_while(|&&byte| byte != b'\n');
        line.into_iter().all(|byte| byte.is_ascii_whitespace())
    }
}

/// Returns whether a header uses C++ syntax outside of `#ifdef __cplusplus`.
pub fn is_cpp_header(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&data[..data.len().min(HEADER_BYTES)]);
    let mut guarded = 0;
    let mut in_comment = false;
    for line in text.lines().map(str::trim) {
        if in_comment {
            in_comment = !line.contains("*/");
            continue;
        }
        if line.starts_with("/*") {
            in_comment = !line.contains("*/");
            continue;
        }
        if line.starts_with("#if") && (guarded > 0 || (line.contains("__cplusplus") && !line.starts_with("#ifndef"))) {
            guarded += 1;
        } else if guarded > 0 && (line.starts_with("#endif") || (guarded == 1 && line.starts_with("#el"))) {
            guarded -= 1;
        } else if guarded == 0 && is_cpp_line(line) {
            return true;
        }
    }
    false
}

fn is_cpp_line(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("#include <") {
        return rest.split('>').next().is_some_and(|name| !name.contains('.') && !name.contains('/'));
    }
    let starts = [
        "namespace ",
        "using ",
        "template <",
        "template<",
        "public:",
        "private:",
        "protected:",
        "constexpr ",
        "virtual ",
    ];
    if starts.iter().any(|start| line.starts_with(start)) {
        return true;
    }
    let code = line.split("//").next().unwrap_or("");
    if code.contains("std::") {
        return true;
    }
    let is_class =
        line.strip_prefix("class ").is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    is_class && code.trim_end().ends_with(['{', ';', ':'])
}
