//! Limits the nesting depth of lists and quotes.
//!
//! `pulldown-cmark` visits every open list and quote for each line, including blank ones: 16,000 of them in a file of 1
//! MB take a minute. List and quote markers beyond a column limit are therefore read as text.

use std::borrow::Cow;

/// Columns of a line in which list and quote markers count.
const MAX_COLUMN: usize = 64;

/// Returns the text with deeper markers overwritten by letters, so that byte offsets stay valid.
pub fn limit(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut marks = Vec::new();
    let mut start = 0;
    for line in text.as_bytes().split(|byte| matches!(byte, b'\n' | b'\r')) {
        // A tab takes up to four columns.
        if line.len() > MAX_COLUMN / 4 && !is_rule(line) {
            find_deep_marks(line, start, &mut marks);
        }
        start += line.len() + 1;
    }
    if marks.is_empty() {
        return text;
    }
    let mut bytes = text.into_owned().into_bytes();
    marks.into_iter().for_each(|at| bytes[at] = b'x');
    Cow::Owned(String::from_utf8(bytes).unwrap_or_default())
}

/// Adds the positions of markers beyond the limit; `start` is the position of the line.
fn find_deep_marks(line: &[u8], start: usize, marks: &mut Vec<usize>) {
    let is_blank = |at: usize| line.get(at).is_none_or(u8::is_ascii_whitespace);
    let (mut at, mut column) = (0, 0);
    while let Some(&byte) = line.get(at) {
        let mark = match byte {
            b' ' => at,
            b'\t' => {
                column += 3 - column % 4;
                at
            }
            b'>' => at,
            b'-' | b'+' | b'*' if is_blank(at + 1) => at,
            b'0'..=b'9' => {
                let end = at + line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                if !matches!(line.get(end), Some(b'.' | b')')) || !is_blank(end + 1) {
                    return;
                }
                end
            }
            b'[' if line[at..].starts_with(b"[^") => match line[at..].windows(2).position(|pair| pair == b"]:") {
                Some(length) => {
                    at += length + 2;
                    continue;
                }
                None => return,
            },
            _ => return,
        };
        if column >= MAX_COLUMN && !byte.is_ascii_whitespace() {
            marks.push(start + mark);
        }
        column += mark + 1 - at;
        at = mark + 1;
    }
}

/// Recognizes a thematic break (`* * *`) of any length.
fn is_rule(line: &[u8]) -> bool {
    let mut marks = line.iter().filter(|byte| !byte.is_ascii_whitespace());
    marks.next().is_some_and(|first| matches!(first, b'*' | b'-' | b'_') && marks.all(|mark| mark == first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(text: &str) -> String {
        limit(Cow::Borrowed(text)).into_owned()
    }

    #[test]
    fn marks_to_the_right_become_text() {
        let right = " ".repeat(62);
        assert_eq!(limited(&format!("a\n{right}> - > 1. * a > b\n- c")), format!("a\n{right}> x x 1x x a > b\n- c"));
        assert_eq!(limited(&format!("[^a]: {right}- - a")), format!("[^a]: {right}- x a"));
        assert_eq!(limited(&format!("a\r{right}  > b")), format!("a\r{right}  x b"));
        assert_eq!(limited(&">".repeat(66)), ">".repeat(64) + "xx");
        assert_eq!(limited(&format!("{}- a", "\t".repeat(16))), format!("{}x a", "\t".repeat(16)));
    }

    #[test]
    fn everything_else_stays() {
        for text in ["- ".repeat(32) + "a", "* ".repeat(50), "-".repeat(200), format!("{}-1 1.5", " ".repeat(90))] {
            assert_eq!(limited(&text), text);
        }
    }
}
