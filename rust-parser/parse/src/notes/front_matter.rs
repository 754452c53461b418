//! Finds the front matter of a note and the lines of its keys, by which single keys can be replaced.

use super::yaml::{Node, Value};
use crate::markdown::lines::{line_end, line_start};

/// Bytes of the front matter: after the opening fence, at the closing one, and after that.
#[derive(Debug, PartialEq)]
pub struct Fences {
    pub start: usize,
    pub end: usize,
    pub body: usize,
}

/// A top-level key, and the bytes of the lines that hold it and its value.
#[derive(Debug, PartialEq)]
pub struct Key {
    pub name: String,
    pub start: usize,
    pub end: usize,
}

/// Returns the front matter between lines that consist of `---`. A line `...` closes it as well.
///
/// # Errors
/// A message when there is none.
pub fn fences(source: &[u8]) -> Result<Fences, &'static str> {
    let first = if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut end = line_end(source, first);
    if source[first..end].trim_ascii_end() != b"---" {
        return Err("the note does not start with a line `---`");
    }
    let start = source.len().min(end + 1);
    while end < source.len() {
        let at = end + 1;
        end = line_end(source, at);
        if matches!(source[at.min(end)..end].trim_ascii_end(), b"---" | b"...") {
            return Ok(Fences { start, end: at, body: source.len().min(end + 1) });
        }
    }
    Err("no line `---` ends the front matter")
}

/// Returns the lines of each top-level key. Comments and blank lines before the next key belong to none.
///
/// # Errors
/// The byte of a key that does not start a line.
pub fn keys(source: &[u8], fences: &Fences, root: &Node) -> Result<Vec<Key>, usize> {
    let Value::Map(pairs) = &root.value else { return Ok(Vec::new()) };
    let mut keys = Vec::with_capacity(pairs.len());
    for (number, (key, _)) in pairs.iter().enumerate() {
        let start = fences.start + key.at;
        if line_start(source, start) != start {
            return Err(start);
        }
        let next = pairs.get(number + 1).map_or(fences.end, |(next, _)| fences.start + next.at);
        let end = start + without_trailing_comments(&source[start..next]);
        keys.push(Key { name: key.text().unwrap_or_default().to_owned(), start, end });
    }
    Ok(keys)
}

/// Returns the length of a text without the blank lines and comments at its end.
fn without_trailing_comments(text: &[u8]) -> usize {
    let mut end = text.len();
    loop {
        let last = text[..end].strip_suffix(b"\n").unwrap_or(&text[..end]);
        let start = line_start(text, last.len());
        let line = &text[start..last.len()];
        if start == 0 || !(line.trim_ascii().is_empty() || line.starts_with(b"#")) {
            return end;
        }
        end = start;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::notes::yaml;
    use atlas_languages::deadline::Deadline;

    #[test]
    fn fences_of_all_line_ends() {
        let bytes = |source: &str| fences(source.as_bytes()).map(|one| (one.start, one.end, one.body));
        assert_eq!(bytes("---\na: 1\n---\nText"), Ok((4, 9, 13)));
        assert_eq!(bytes("\u{feff}---\r\na: 1\r\n---\r\nText"), Ok((8, 14, 19)));
        assert_eq!(bytes("---\n---"), Ok((4, 4, 7)));
        for source in ["", "---", "---\na: 1\n --- \n", "# Text\n---\n---\n", "----\n---\n"] {
            assert!(bytes(source).is_err(), "{source:?}");
        }
    }

    #[test]
    fn lines_of_keys() {
        let source = "---\n# about a\na: 1 # end\n\n# about b\nb:\n  - x\n  # inside\n  - y\n\nc: |\n  # text\n\n---\n";
        let fences = fences(source.as_bytes()).unwrap();
        let root = yaml::parse(&source[fences.start..fences.end], Deadline::after(Duration::from_secs(2))).unwrap();
        let found = keys(source.as_bytes(), &fences, &root.unwrap()).unwrap();
        let parts: Vec<(&str, &str)> = found.iter().map(|key| (&*key.name, &source[key.start..key.end])).collect();
        let b = "b:\n  - x\n  # inside\n  - y\n";
        assert_eq!(parts, [("a", "a: 1 # end\n"), ("b", b), ("c", "c: |\n  # text\n")]);
    }

    #[test]
    fn keys_that_start_no_line() {
        for (text, at) in [("---\n{a: 1}\n---\n", 5), ("---\n  a: 1\n---\n", 6), ("---\na: 1\n? b\n: 2\n---\n", 11)] {
            let fences = fences(text.as_bytes()).unwrap();
            let root = yaml::parse(&text[fences.start..fences.end], Deadline::after(Duration::from_secs(2))).unwrap();
            assert_eq!(keys(text.as_bytes(), &fences, &root.unwrap()), Err(at), "{text:?}");
        }
    }
}
