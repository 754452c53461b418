//! The searchable text of a unit's nodes: split identifiers, and each node's own text without nested nodes and
//! docstring. Notes are prose: their own text is there a second time, as stems, with its date in words.

use serde_json::Value;

use crate::project::names::FILE_NODE;
use crate::unit::{Field, NodePlace, UnitSource};
use atlas_facts::{Kind, RelationKind, ScopeRule};
use atlas_retrieval::tokens::{push_name, push_stems, push_words};

/// The months as people write them in a question.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Before the digest of a body; stems and names have other marks.
const BODY_MARK: char = '2';
/// Length of the id of an observation with its brackets.
const ID_BYTES: usize = "[o-]".len() + 26;

impl UnitSource {
    /// Returns the words of every node: `[uid, name, qualified name, docstring, source, path]`. The qualified name of a
    /// section is followed by the headings around it, which its anchor does not contain.
    pub fn texts(&self, content: &[u8]) -> Vec<[String; 6]> {
        let words = |text: &str| {
            let mut out = String::new();
            push_words(text, &mut out);
            out
        };
        let path = words(&self.path);
        let mut nested: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.nodes.len()];
        for (position, parent) in self.parents.iter().enumerate() {
            if let Some(parent) = parent {
                nested[*parent].push(self.span(position));
            }
        }
        let mut rows = Vec::with_capacity(self.nodes.len());
        for (position, holes) in nested.iter_mut().enumerate() {
            let fields = self.node_fields(position);
            let text = |at: usize| match &fields[at] {
                Field::Text(text) => text.as_ref(),
                _ => "",
            };
            let docstring = text(13);
            let is_note = self.facts.is_some() && self.is_note(position);
            let own = match self.facts {
                Some(_) if is_note => {
                    // The names of an observation's text are those of its entity.
                    let mut stems = String::new();
                    push_stems(text(23), &mut stems);
                    let own = without_id(own_text(content, self.span(position), holes, ""));
                    push_stems(&with_date(own, text(24)), &mut stems);
                    if text(1) == "Entity" {
                        push_name(text(23), &mut stems);
                    }
                    if text(1) != "Observation" {
                        self.push_bodies(&mut stems);
                    }
                    stems
                }
                // What a notebook says besides its cells is outputs and images.
                Some(ref facts) if facts.scope_rule == ScopeRule::Document && is_notebook(&facts.path, text(1)) => {
                    String::new()
                }
                Some(_) => words(&own_text(content, self.span(position), holes, docstring)),
                None => String::new(),
            };
            let mut qualified = words(text(4));
            for heading in self.headings_around(position) {
                push_words(heading, &mut qualified);
            }
            let name = if is_note && text(1) == "Entity" { text(23) } else { text(3) };
            let uid = [self.project.as_str(), ":", &self.nodes[position].uid].concat();
            rows.push([uid, words(name), qualified, words(docstring), own, path.clone()]);
        }
        rows
    }

    /// Appends the digests of the bodies that the note of this file is about, each with its mark: a note is found by the
    /// body of code that has moved, to which no edge leads.
    fn push_bodies(&self, out: &mut String) {
        let Some(facts) = &self.facts else { return };
        for relation in facts.relations.iter().filter(|relation| relation.kind == RelationKind::About) {
            let properties = serde_json::from_str::<Value>(&facts.strings[relation.properties as usize]);
            if let Some(body) = properties.unwrap_or_default().get("body").and_then(Value::as_str) {
                out.push(BODY_MARK);
                out.push_str(body);
                out.push(' ');
            }
        }
    }

    fn is_note(&self, position: usize) -> bool {
        let (NodePlace::File(def), Some(facts)) = (&self.nodes[position].place, &self.facts) else { return false };
        *def != FILE_NODE && facts.definitions.get(*def as usize).is_some_and(|definition| definition.kind.is_note())
    }

    /// Returns the titles of the sections that contain a section, innermost first.
    pub(super) fn headings_around(&self, position: usize) -> impl Iterator<Item = &str> {
        let own = self.section_title(position).and(Some(position));
        let sections = std::iter::successors(own, |&position| {
            self.parents[position].filter(|&parent| self.section_title(parent).is_some())
        });
        sections.skip(1).filter_map(|position| self.section_title(position))
    }

    fn section_title(&self, position: usize) -> Option<&str> {
        let (NodePlace::File(def), Some(facts)) = (&self.nodes[position].place, &self.facts) else { return None };
        let definition = facts.definitions.get(*def as usize)?;
        (definition.kind == Kind::DocSection).then(|| &facts.strings[definition.name as usize])
    }

    fn span(&self, position: usize) -> (usize, usize) {
        if matches!(self.nodes[position].place, NodePlace::Route(_)) {
            return (0, 0);
        }
        match (&self.nodes[position].place, &self.facts) {
            (NodePlace::File(def), Some(facts)) if *def != FILE_NODE => {
                let definition = &facts.definitions[*def as usize];
                match *def == 0 && !definition.kind.is_note() {
                    true => (0, facts.size as usize),
                    false => (definition.start_byte as usize, definition.end_byte as usize),
                }
            }
            (_, Some(facts)) => (0, facts.size as usize),
            _ => (0, 0),
        }
    }
}

/// Returns whether a node is that of a whole notebook.
fn is_notebook(path: &str, label: &str) -> bool {
    label == "DocFile" && path.ends_with(".ipynb")
}

/// Returns the text of a span without the spans of nested nodes and without the docstring.
fn own_text(content: &[u8], span: (usize, usize), holes: &mut [(usize, usize)], docstring: &str) -> String {
    holes.sort_unstable();
    let end = span.1.min(content.len());
    let mut at = span.0.min(end);
    let mut own = String::new();
    for &mut (start, stop) in holes.iter_mut() {
        if start > at {
            own.push_str(&String::from_utf8_lossy(&content[at..start.min(end)]));
            own.push('\n');
        }
        at = at.max(stop.min(end));
    }
    own.push_str(&String::from_utf8_lossy(&content[at..end]));
    without_docstring(own, docstring)
}

/// Removes the first id of an observation, `[o-...]`: nobody searches for its parts.
fn without_id(mut text: String) -> String {
    let id = text.match_indices("[o-").map(|(start, _)| start..start + ID_BYTES).find(|id| {
        text.as_bytes()
            .get(id.clone())
            .is_some_and(|id| id.ends_with(b"]") && id[3..ID_BYTES - 1].iter().all(u8::is_ascii_alphanumeric))
    });
    if let Some(id) = id {
        text.replace_range(id, "");
    }
    text
}

/// Names the month of a note's creation: "2026-05-08T13:56:00Z" becomes "2026-05-08 may". The date stands in the text of
/// an observation; to other texts it is appended.
fn with_date(text: String, properties: &str) -> String {
    let properties = serde_json::from_str::<Value>(properties).unwrap_or_default();
    let created = properties.get("created").and_then(Value::as_str).unwrap_or_default();
    let month = created.get(5..7).and_then(|month| MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?));
    let (Some(day), Some(month)) = (created.get(..10), month) else { return text };
    let date = format!("{day} {month}");
    if text.contains(created) { text.replacen(created, &date, 1) } else { format!("{text}\n{date}") }
}

/// Removes the docstring, from its first line to its last. The lines occur verbatim in the text; what surrounds them
/// may differ.
fn without_docstring(mut text: String, docstring: &str) -> String {
    let mut lines = docstring.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return text };
    let last = lines.next_back().unwrap_or(first);
    let Some(start) = text.find(first) else { return text };
    let after = start + first.len();
    let reach = (start + docstring.len() * 3 + 200).min(text.len());
    let reach = (reach..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    let end = match docstring.lines().nth(1) {
        None => Some(after),
        Some(_) => text[after..reach].find(last).map(|at| after + at + last.len()),
    };
    if let Some(end) = end {
        text.replace_range(start..end, " ");
    }
    text
}
