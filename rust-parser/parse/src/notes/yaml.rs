//! Reads YAML as a tree, within limits. Anchors, aliases and tags are refused: a value then takes no more memory than its
//! text, and nothing in it names a type.

use std::panic::catch_unwind;

use saphyr_parser::{Event, Parser, ScalarStyle};

use atlas_languages::deadline::Deadline;

/// Deepest nesting of lists and maps.
const MAX_DEPTH: usize = 16;
/// The same of a description of an interface, whose schemas hold schemas.
pub const DEEP: usize = 64;
/// Largest number of scalars, lists and maps. 1,000 relations and 1,000 anchors have 30,000.
const MAX_NODES: usize = 100_000;
/// Number of events between two checks of the deadline.
const CLOCK_INTERVAL: usize = 256;

/// A value and the byte at which it starts.
#[derive(Debug)]
pub struct Node {
    pub at: usize,
    pub value: Value,
}

#[derive(Debug)]
pub enum Value {
    Scalar { text: String, is_plain: bool },
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// Why a text was not read: the byte at which reading stopped, and a message.
#[derive(Debug)]
pub struct Refusal {
    pub at: usize,
    pub message: String,
}

/// A list or map that is not closed.
enum Open {
    List(usize, Vec<Node>),
    Map(usize, Vec<(Node, Node)>, Option<Node>),
}

/// Reads a text with at most one document. Returns `None` for a text without a value.
///
/// # Errors
/// Text that is not YAML, has anchors, aliases or tags, exceeds a limit or takes too long.
pub fn parse(text: &str, deadline: Deadline) -> Result<Option<Node>, Refusal> {
    parse_within(text, deadline, MAX_DEPTH)
}

/// Reads a text as `parse` does, with another limit of nesting.
///
/// # Errors
/// As `parse`.
pub fn parse_within(text: &str, deadline: Deadline, depth: usize) -> Result<Option<Node>, Refusal> {
    let offsets = Offsets::new(text);
    let attempt = catch_unwind(|| Reader::new(&offsets, depth).read(text, deadline));
    attempt.unwrap_or_else(|_| Err(Refusal { at: 0, message: "the YAML parser failed".to_owned() }))
}

struct Reader<'o> {
    offsets: &'o Offsets,
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
    depth: usize,
}

impl<'o> Reader<'o> {
    fn new(offsets: &'o Offsets, depth: usize) -> Self {
        Reader { offsets, open: Vec::new(), root: None, nodes: 0, depth }
    }

    fn read(mut self, text: &str, deadline: Deadline) -> Result<Option<Node>, Refusal> {
        let mut parser = Parser::new_from_str(text);
        let mut number = 0;
        while let Some(next) = parser.next_event() {
            let (event, span) = next.map_err(|error| Refusal {
                at: self.offsets.byte(error.marker().index()),
                message: error.info().to_owned(),
            })?;
            let at = self.offsets.byte(span.start.index());
            self.take(event, at).map_err(|message| Refusal { at, message: message.to_owned() })?;
            number += 1;
            if number % CLOCK_INTERVAL == 0 && deadline.has_passed() {
                return Err(Refusal { at, message: "the text was not read in time".to_owned() });
            }
        }
        Ok(self.root)
    }

    fn take(&mut self, event: Event<'_>, at: usize) -> Result<(), &'static str> {
        match event {
            Event::Scalar(_, _, anchor, ref tag)
            | Event::SequenceStart(anchor, ref tag)
            | Event::MappingStart(anchor, ref tag)
                if anchor != 0 || tag.is_some() =>
            {
                return Err("anchors and tags are not allowed");
            }
            Event::Alias(_) => return Err("aliases are not allowed"),
            Event::Scalar(text, style, ..) => {
                self.count()?;
                let is_plain = style == ScalarStyle::Plain;
                self.add(Node { at, value: Value::Scalar { text: text.into_owned(), is_plain } })?;
            }
            Event::SequenceStart(..) => self.start(Open::List(at, Vec::new()))?,
            Event::MappingStart(..) => self.start(Open::Map(at, Vec::new(), None))?,
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(at, items)) => self.add(Node { at, value: Value::List(items) })?,
                Some(Open::Map(at, pairs, _)) => self.add(Node { at, value: Value::Map(pairs) })?,
                None => {}
            },
            Event::DocumentStart(_) if self.root.is_some() => return Err("only one YAML document is allowed"),
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, collection: Open) -> Result<(), &'static str> {
        self.count()?;
        if self.open.len() == self.depth {
            return Err("lists and maps are nested deeper than allowed");
        }
        self.open.push(collection);
        Ok(())
    }

    fn count(&mut self) -> Result<(), &'static str> {
        self.nodes += 1;
        if self.nodes > MAX_NODES { Err("more than 100,000 values") } else { Ok(()) }
    }

    fn add(&mut self, node: Node) -> Result<(), &'static str> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map(_, pairs, key)) => match key.take() {
                Some(key) => pairs.push((key, node)),
                None if matches!(node.value, Value::Scalar { .. }) => *key = Some(node),
                None => return Err("a key must be text"),
            },
        }
        Ok(())
    }
}

/// Maps positions in characters to positions in bytes.
struct Offsets {
    length: usize,
    /// Empty for ASCII text.
    bytes: Vec<u32>,
}

impl Offsets {
    fn new(text: &str) -> Self {
        let bytes = if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at as u32).collect() };
        Offsets { length: text.len(), bytes }
    }

    fn byte(&self, character: usize) -> usize {
        match self.bytes.get(character) {
            Some(&at) => at as usize,
            None if self.bytes.is_empty() => character.min(self.length),
            None => self.length,
        }
    }
}

impl Node {
    /// Returns the text of a scalar. A plain `null`, `~` or nothing is no text, and neither is a list or map.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, is_plain } if !(*is_plain && is_null(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns whether the value is a plain `null`, `~` or nothing.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, is_plain: true } if is_null(text))
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn read(text: &str) -> Result<Option<Node>, Refusal> {
        parse(text, Deadline::after(Duration::from_secs(2)))
    }

    fn refused(text: &str) -> (usize, String) {
        let Err(refusal) = read(text) else { panic!("{text:?} was read") };
        (refusal.at, refusal.message)
    }

    #[test]
    fn positions_are_bytes() {
        let root = read("é: ö\n\"ü\": [ä, b]\n").unwrap().unwrap();
        let Value::Map(pairs) = root.value else { panic!("no map") };
        assert_eq!((pairs[0].0.at, pairs[0].1.at), (0, 4));
        assert_eq!((pairs[1].0.at, pairs[1].1.at), (7, 13));
        assert_eq!((pairs[0].0.text(), pairs[0].1.text()), (Some("é"), Some("ö")));
    }

    #[test]
    fn indirection_is_refused() {
        assert_eq!(refused("a: &x 1\nb: *x").1, "anchors and tags are not allowed");
        assert_eq!(refused("a: !!str 1"), (3, "anchors and tags are not allowed".to_owned()));
        assert_eq!(refused("a: [!x {b: 1}]").1, "anchors and tags are not allowed");
        assert!(refused("a: *x").1.contains("anchor"));
        assert_eq!(refused("{a: 1}: 2").1, "a key must be text");
        assert_eq!(refused("a: 1\n---\nb: 2").1, "only one YAML document is allowed");
    }

    #[test]
    fn size_is_limited() {
        let nested = |depth: usize| format!("a: {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(15)).is_ok());
        assert!(refused(&nested(16)).1.contains("deeper than allowed"));
        assert!(refused(&"- \n".repeat(100_001)).1.contains("100,000"));
    }

    #[test]
    fn hostile_texts_take_little_time() {
        for part in [
            "- ", "? ", "[", "{", "a: ", "\"", "'", "| ", "|\n", "#", "%", "a:\n ", "[a: ", "- - ", "!", ">\n\n", "\t",
            "é",
        ] {
            let started = Instant::now();
            let _ = read(&part.repeat((1 << 20) / part.len()));
            assert!(started.elapsed() < Duration::from_secs(5), "{part:?} takes {:?}", started.elapsed());
        }
    }
}
