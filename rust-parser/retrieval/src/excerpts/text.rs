//! Lines of source as they are shown. Lines end, and white space is, where Python's `str` says so.

use std::borrow::Cow;

use crate::encode::is_word_char;
use crate::tokens::cut;

/// Columns of a tab.
const TAB: usize = 4;
/// Characters of a shown line. A longer one is cut: minified code has one line a file.
const MAX_LINE: usize = 160;

/// Returns the lines of a text without their ends.
pub fn lines_of(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let end = match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
            b'\n'..=b'\r' | 0x1c..=0x1e => 1,
            0xc2 if bytes[at + 1] == 0x85 => 2,
            0xe2 if bytes[at + 1] == 0x80 && matches!(bytes[at + 2], 0xa8 | 0xa9) => 3,
            _ => {
                at += 1;
                continue;
            }
        };
        lines.push(&text[start..at]);
        at += end;
        start = at;
    }
    if start < bytes.len() {
        lines.push(&text[start..]);
    }
    lines
}

/// Returns whether a character is white space.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// Returns whether a character belongs to a name.
pub fn is_in_name(character: char) -> bool {
    character == '_' || is_word_char(character)
}

/// Returns whether a line has more than marks.
pub fn has_words(line: &str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_alphanumeric()) || !line.is_ascii() && line.chars().any(is_word_char)
}

/// Returns whether a line has nothing but white space.
pub fn is_empty(line: &str) -> bool {
    line.chars().all(is_space)
}

/// Returns the number of characters before the first that is not white space.
pub fn indent(line: &str) -> usize {
    line.chars().take_while(|each| is_space(*each)).count()
}

/// Returns the indentation that all lines of a body but the first have, where a tab is four spaces.
pub fn indentation(lines: &[&str]) -> usize {
    let mut least = usize::MAX;
    for line in lines.iter().skip(1) {
        let line = spread(line);
        if !line.is_empty() {
            least = least.min(indent(&line));
        }
        if least == 0 {
            return 0;
        }
    }
    if least == usize::MAX { 0 } else { least }
}

/// Appends a line as it is shown: tabs as spaces, without the `common` indentation, and cut.
pub fn push_shown(line: &str, common: usize, out: &mut String) {
    let line = spread(line);
    let mut rest = &line[..];
    for _ in 0..common {
        let Some(first) = rest.chars().next().filter(|each| is_space(*each)) else { break };
        rest = &rest[first.len_utf8()..];
    }
    let short = cut(rest, MAX_LINE);
    if short.len() == rest.len() {
        out.push_str(rest);
    } else {
        out.push_str(short.trim_end_matches(is_space));
        out.push_str("...");
    }
}

/// Returns a line with spaces for tabs and without white space at its end.
fn spread(line: &str) -> Cow<'_, str> {
    if !line.contains('\t') {
        return Cow::Borrowed(line.trim_end_matches(is_space));
    }
    let mut spread = String::with_capacity(line.len() + 4 * TAB);
    let mut column = 0;
    for character in line.chars() {
        if character == '\t' {
            let width = TAB - column % TAB;
            spread.extend(std::iter::repeat_n(' ', width));
            column += width;
        } else {
            spread.push(character);
            column += 1;
        }
    }
    spread.truncate(spread.trim_end_matches(is_space).len());
    Cow::Owned(spread)
}

/// Returns a text in lower case, each character by itself as in the index of words.
pub fn lowered(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().flat_map(char::to_lowercase).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_python_ends_them() {
        assert_eq!(
            lines_of("a\nb\r\nc\rd\x0be\x1cf\u{85}g\u{2028}h\u{e9}\u{2029}"),
            ["a", "b", "c", "d", "e", "f", "g", "hé"]
        );
        assert_eq!(lines_of("\n\na\n"), ["", "", "a"]);
        assert_eq!(lines_of(""), Vec::<&str>::new());
    }

    #[test]
    fn indentation_that_all_lines_have_is_left_out() {
        let lines = ["def f():", "\ta", "", "\t\tb", "    c  "];
        let common = indentation(&lines);
        let shown = lines.map(|line| {
            let mut out = String::new();
            push_shown(line, common, &mut out);
            out
        });
        assert_eq!(shown, ["def f():", "a", "", "    b", "c"]);
        assert_eq!((indentation(&["  a", "", "   "]), indentation(&[])), (0, 0));
    }

    #[test]
    fn a_long_line_is_cut() {
        let mut out = String::new();
        push_shown(&format!("{} {}", "é".repeat(MAX_LINE - 1), "x".repeat(9)), 0, &mut out);
        assert_eq!(out, format!("{}...", "é".repeat(MAX_LINE - 1)));
    }

    #[test]
    fn marks_are_no_words() {
        assert!(has_words("é") && has_words("a") && has_words("--7") && !has_words("__ })") && !has_words("—"));
    }
}
