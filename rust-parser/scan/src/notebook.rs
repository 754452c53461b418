//! The cells of a notebook (nbformat 3 and 4), with the places of their strings in the JSON.

use std::borrow::Cow;
use std::ops::Range;

/// Deepest nesting that is read.
const MAX_DEPTH: u32 = 64;

/// A cell: whether it is code, and its strings, without quotes.
pub struct Cell {
    pub is_code: bool,
    pub strings: Vec<Range<usize>>,
}

#[derive(Default)]
pub struct Notebook {
    /// The language of the kernel, in lower case.
    pub language: String,
    pub cells: Vec<Cell>,
    /// What the cells have put out.
    pub outputs: Vec<Range<usize>>,
}

enum Value {
    String(Range<usize>),
    List(Vec<(Value, Range<usize>)>),
    Object(Vec<(Range<usize>, Value, Range<usize>)>),
    Other,
}

/// Returns the cells of a notebook; None for what is none.
pub fn read_notebook(data: &[u8]) -> Option<Notebook> {
    let mut reader = Reader { data, at: 0 };
    let Value::Object(members) = reader.value(MAX_DEPTH)? else { return None };
    let mut notebook = Notebook::default();
    for (key, value, _) in &members {
        match (&data[key.clone()], value) {
            (b"cells", Value::List(cells)) => cells.iter().for_each(|(cell, _)| notebook.add(data, cell)),
            (b"worksheets", Value::List(sheets)) => {
                for (sheet, _) in sheets {
                    if let Some(Value::List(cells)) = member(data, sheet, b"cells") {
                        cells.iter().for_each(|(cell, _)| notebook.add(data, cell));
                    }
                }
            }
            (b"metadata", metadata) => {
                let named = |table: &[u8], name: &[u8]| match member(data, member(data, metadata, table)?, name)? {
                    Value::String(range) => Some(String::from_utf8_lossy(&data[range.clone()]).to_lowercase()),
                    _ => None,
                };
                let language = named(b"language_info", b"name").or_else(|| named(b"kernelspec", b"language"));
                notebook.language = language.or_else(|| named(b"kernelspec", b"name")).unwrap_or_default();
            }
            _ => {}
        }
    }
    Some(notebook)
}

/// Returns the text of a notebook with blanks for its outputs, which keeps all positions.
pub fn without_outputs(data: &[u8]) -> Cow<'_, [u8]> {
    let Some(notebook) = read_notebook(data).filter(|notebook| !notebook.outputs.is_empty()) else {
        return Cow::Borrowed(data);
    };
    let mut text = data.to_vec();
    for output in notebook.outputs {
        text[output].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    Cow::Owned(text)
}

impl Notebook {
    fn add(&mut self, data: &[u8], cell: &Value) {
        let Value::Object(members) = cell else { return };
        let is_code =
            matches!(member(data, cell, b"cell_type"), Some(Value::String(kind)) if &data[kind.clone()] == b"code");
        let mut strings = Vec::new();
        for (key, value, place) in members {
            match (&data[key.clone()], value) {
                (b"source" | b"input", Value::String(range)) => strings.push(range.clone()),
                (b"source" | b"input", Value::List(lines)) => {
                    strings.extend(lines.iter().filter_map(|(line, _)| match line {
                        Value::String(range) => Some(range.clone()),
                        _ => None,
                    }));
                }
                (b"outputs", Value::List(found)) if !found.is_empty() => {
                    self.outputs.push(place.start + 1..place.end - 1);
                }
                _ => {}
            }
        }
        self.cells.push(Cell { is_code, strings });
    }
}

fn member<'v>(data: &[u8], value: &'v Value, name: &[u8]) -> Option<&'v Value> {
    let Value::Object(members) = value else { return None };
    members.iter().find(|(key, _, _)| &data[key.clone()] == name).map(|(_, value, _)| value)
}

struct Reader<'d> {
    data: &'d [u8],
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: u32) -> Option<Value> {
        self.skip();
        match self.data.get(self.at)? {
            b'"' => self.string().map(Value::String),
            b'[' if depth > 0 => {
                let mut items = Vec::new();
                self.at += 1;
                while !self.ends(b']')? {
                    let start = self.at;
                    let value = self.value(depth - 1)?;
                    items.push((value, start..self.at));
                }
                Some(Value::List(items))
            }
            b'{' if depth > 0 => {
                let mut members = Vec::new();
                self.at += 1;
                while !self.ends(b'}')? {
                    let key = self.string()?;
                    self.skip();
                    self.at += usize::from(self.data.get(self.at) == Some(&b':'));
                    self.skip();
                    let start = self.at;
                    let value = self.value(depth - 1)?;
                    members.push((key, value, start..self.at));
                }
                Some(Value::Object(members))
            }
            b'[' | b'{' => None,
            _ => {
                let rest = &self.data[self.at..];
                let length =
                    rest.iter().take_while(|byte| !matches!(byte, b',' | b']' | b'}') && !byte.is_ascii_whitespace());
                let length = length.count();
                self.at += length;
                (length > 0).then_some(Value::Other)
            }
        }
    }

    /// Returns whether a list or object ends; skips the comma before its next item.
    fn ends(&mut self, close: u8) -> Option<bool> {
        self.skip();
        if self.data.get(self.at) == Some(&b',') {
            self.at += 1;
            self.skip();
        }
        let is_end = *self.data.get(self.at)? == close;
        self.at += usize::from(is_end);
        Some(is_end)
    }

    /// Returns the place of a string without its quotes.
    fn string(&mut self) -> Option<Range<usize>> {
        if self.data.get(self.at) != Some(&b'"') {
            return None;
        }
        let start = self.at + 1;
        let mut at = start;
        loop {
            at += memchr::memchr2(b'"', b'\\', &self.data[at..])?;
            if self.data[at] == b'"' {
                self.at = at + 1;
                return Some(start..at);
            }
            at = (at + 2).min(self.data.len());
        }
    }

    fn skip(&mut self) {
        self.at += self.data[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_both_formats() {
        let four = br#"{"cells": [{"source": ["a = \"1\"\n", "b"], "cell_type": "code", "outputs": [{"text": "no"}]},
            {"cell_type": "markdown", "source": "text"}], "metadata": {"kernelspec": {"language": "Julia"}}}"#;
        let found = read_notebook(four).unwrap();
        assert_eq!((found.language.as_str(), found.cells.len(), found.outputs.len()), ("julia", 2, 1));
        assert!(found.cells[0].is_code && !found.cells[1].is_code);
        assert_eq!(&four[found.cells[0].strings[0].clone()], br#"a = \"1\"\n"#);
        assert!(!String::from_utf8_lossy(&without_outputs(four)).contains("no\""));
        assert_eq!(without_outputs(four).len(), four.len());
        let three = br#"{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "x"}]}]}"#;
        assert_eq!(read_notebook(three).unwrap().cells.len(), 1);
        for broken in [&b"{"[..], b"[", b"{\"cells\"", b"{\"cells\": [{\"source\": \"a", b"", b"1", b"{\"a\\"] {
            assert!(read_notebook(broken).is_none());
        }
    }
}
