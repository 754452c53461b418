//! The code of a notebook: the edits that leave the code of its cells from the JSON, and its language.

use crate::rewriting::Edit;
use atlas_scan::{Notebook, read_notebook};

/// Names that kernels have for languages, where they differ.
const NAMES: &[(&str, &str)] = &[
    ("", "python"),
    ("ipython", "python"),
    ("sage", "python"),
    ("c#", "csharp"),
    (".net-csharp", "csharp"),
    ("c++", "cpp"),
    ("c++11", "cpp"),
    ("c++14", "cpp"),
    ("c++17", "cpp"),
    ("c++20", "cpp"),
    ("js", "javascript"),
    ("node", "javascript"),
    ("deno", "typescript"),
    ("ts", "typescript"),
    ("sh", "bash"),
];
/// Magics of cells whose rest is code of the kernel's language.
const TRANSPARENT: &[&str] =
    &["time", "timeit", "capture", "prun", "mypy", "memit", "pypy", "python", "python3", "skip"];

/// Returns the language of a notebook's code, and the edits that leave it.
pub fn code_of(data: &[u8]) -> Option<(String, Vec<Edit>)> {
    let notebook = read_notebook(data)?;
    let number = notebook.language.trim_end_matches(|digit: char| digit.is_ascii_digit() || digit == '.');
    let known = NAMES.iter().find(|(name, _)| *name == notebook.language || *name == number);
    let bare = if notebook.language.starts_with("c++") { "cpp" } else { number };
    let language = known.map_or(bare, |(_, name)| *name).to_owned();
    let edits = edits(data, &notebook);
    (!edits.is_empty()).then_some((language, edits))
}

fn edits(data: &[u8], notebook: &Notebook) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut from = 0;
    for cell in notebook.cells.iter().filter(|cell| cell.is_code) {
        let mut is_first = true;
        let mut is_foreign = false;
        for string in &cell.strings {
            // Lines of a cell are joined as they are; cells begin on a line of their own.
            let with = if is_first { "\n" } else { "" };
            edits.push(Edit { start: from, end: string.start, with });
            from = string.end;
            let mut line = string.start;
            while line < string.end && !is_foreign {
                let end = end_of_line(data, line, string.end);
                let text = data[line..end].trim_ascii_start();
                is_foreign = is_first && text.starts_with(b"%%") && !is_transparent(&text[2..]);
                is_first = false;
                let is_magic =
                    matches!(text.first(), Some(b'%' | b'!' | b'?')) || text.trim_ascii_end().ends_with(b"?");
                if is_magic {
                    edits.push(Edit { start: line, end, with: "" });
                } else {
                    unescape(data, line..end, &mut edits);
                }
                line = match data[end..string.end].starts_with(b"\\n") {
                    true => {
                        edits.push(Edit { start: end, end: end + 2, with: "\n" });
                        end + 2
                    }
                    false => end,
                };
            }
            if is_foreign {
                edits.push(Edit { start: line, end: string.end, with: "" });
            }
        }
    }
    if !edits.is_empty() {
        edits.push(Edit { start: from, end: data.len(), with: "\n" });
    }
    edits
}

/// Returns where a line of code ends in a string: at an escaped line break, or with the string.
fn end_of_line(data: &[u8], start: usize, end: usize) -> usize {
    let mut at = start;
    while at < end {
        match &data[at..end] {
            [b'\\', b'n', ..] => return at,
            [b'\\', ..] => at = (at + 2).min(end),
            _ => at += 1,
        }
    }
    end
}

fn is_transparent(magic: &[u8]) -> bool {
    let name = magic.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    TRANSPARENT.iter().any(|known| known.as_bytes() == &magic[..name])
}

/// Replaces the escapes of JSON, and the command of the shell or magic that a variable is given (`x = !ls`).
fn unescape(data: &[u8], line: std::ops::Range<usize>, edits: &mut Vec<Edit>) {
    let mut at = line.start;
    while let Some(start) = memchr::memchr(b'\\', &data[at..line.end]).map(|found| at + found) {
        let (length, with) = match data.get(start + 1) {
            Some(b'"') => (2, "\""),
            Some(b'\\') => (2, "\\"),
            Some(b'/') => (2, "/"),
            Some(b't') => (2, "\t"),
            Some(b'r' | b'b' | b'f') => (2, ""),
            Some(b'u') => (6, "_"),
            _ => (1, ""),
        };
        let end = (start + length).min(line.end);
        edits.push(Edit { start, end, with });
        at = end;
    }
    let text = &data[line.clone()];
    let assigned = [&b"= !"[..], b"= %"].iter().find_map(|mark| memchr::memmem::find(text, mark));
    if let Some(at) = assigned.filter(|&at| text[..at].iter().all(|byte| !matches!(byte, b'"' | b'\'' | b'#' | b'('))) {
        edits.retain(|edit| edit.start < line.start + at);
        edits.push(Edit { start: line.start + at + 2, end: line.end, with: "0" });
    }
}

/// Returns code as it is in a cell, given its JSON: strings are joined, and escapes replaced.
pub fn as_code(json: &str) -> String {
    let mut code = String::with_capacity(json.len());
    let mut letters = json.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => code.push('\n'),
                Some('t') => code.push('\t'),
                Some('r') => {}
                Some(other) => code.push(other),
                None => {}
            },
            // Between the end of a string and the start of the next one.
            '"' => {
                letters.by_ref().find(|&next| next == '"');
            }
            _ => code.push(letter),
        }
    }
    code
}
