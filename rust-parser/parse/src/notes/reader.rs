//! Interprets the keys and the body of a note. What does not fit is a problem, and the rest is still read.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::fields::{is_digest, is_id, is_time, share_of, title_of};
use super::front_matter::{fences, keys};
use super::note::{Note, NoteKind};
use super::observations;
use super::yaml::{self, Node, Value};
use crate::doc_text::fold;
use crate::markdown::lines::Lines;
use atlas_facts::Problem;
use atlas_languages::deadline::Deadline;

/// Largest note in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Largest number of anchors, relations and aliases each.
const MAX_ITEMS: usize = 1000;
/// Largest number of problems that are reported; the last one counts the others.
const MAX_PROBLEMS: usize = 100;
/// A confidence that cannot be read says neither yes nor no.
const UNREADABLE_CONFIDENCE: f64 = 0.5;
/// Longest name, type, source, target and path, in characters.
const MAX_TEXT: usize = 1000;

const STATES: [&str; 5] = ["proposed", "accepted", "disputed", "retracted", "superseded"];

/// Reads a file. Never fails; positions refer to these bytes.
pub fn read(source: &[u8], deadline: Deadline) -> Note {
    // Blanks keep all positions, as for other languages.
    let source: Cow<'_, [u8]> = if source.contains(&0) {
        Cow::Owned(source.iter().map(|&byte| if byte == 0 { b' ' } else { byte }).collect())
    } else {
        Cow::Borrowed(source)
    };
    let mut reader = Reader { note: Note::default(), lines: Lines::new(&source), base: 0, untold: 0 };
    reader.read(&source, deadline);
    reader.finish()
}

/// The state of reading one note.
pub(super) struct Reader {
    note: Note,
    pub(super) lines: Lines,
    /// Byte at which the YAML text starts.
    pub(super) base: usize,
    /// Number of problems over the limit.
    untold: usize,
}

impl Reader {
    fn read(&mut self, source: &[u8], deadline: Deadline) {
        if source.len() > MAX_BYTES {
            self.problem(0, "note-limit", "a note has at most 1 MiB");
            return;
        }
        let found = match fences(source) {
            Ok(found) => found,
            Err(message) => return self.problem(0, "note-front-matter", message),
        };
        (self.note.front_end, self.note.body, self.base) = (found.end, found.body, found.start);
        let text = match std::str::from_utf8(&source[found.start..found.end]) {
            Ok(text) => text,
            Err(error) => {
                return self.problem(found.start + error.valid_up_to(), "note-yaml", "the front matter is not UTF-8");
            }
        };
        let root = match yaml::parse(text, deadline) {
            Ok(Some(root)) if matches!(root.value, Value::Map(_)) => root,
            Ok(_) => return self.problem(found.start, "note-yaml", "the front matter has no keys"),
            Err(refusal) => return self.problem(found.start + refusal.at, "note-yaml", &refusal.message),
        };
        match keys(source, &found, &root) {
            Ok(keys) => self.note.keys = keys,
            Err(at) => return self.problem(at, "note-yaml", "a key must be at the start of a line"),
        }
        if let Value::Map(pairs) = &root.value {
            let mut seen = FxHashSet::default();
            for (key, value) in pairs {
                let name = key.text().unwrap_or_default();
                if seen.insert(name) {
                    self.key(name, value);
                } else {
                    self.wrong(key, "note-yaml", &format!("the key {} is there twice", quoted(name)));
                }
            }
        }
        self.identify(&root);
        self.body(source);
    }

    fn key(&mut self, name: &str, value: &Node) {
        if value.is_null() {
            return;
        }
        match name {
            "kind" => {
                self.note.kind = match value.text() {
                    Some("claim") => Some(NoteKind::Claim),
                    Some("decision") => Some(NoteKind::Decision),
                    Some("entity") => Some(NoteKind::Entity),
                    _ => None,
                };
                if self.note.kind.is_none() {
                    self.wrong(value, "note-kind", "the kind must be claim, decision or entity");
                }
            }
            "id" => self.note.id = value.text().unwrap_or_default().to_owned(),
            "status" => {
                let status = STATES.into_iter().find(|&state| value.text() == Some(state));
                // An unknown state must not pass for an accepted one.
                self.note.status = status.unwrap_or("proposed");
                if status.is_none() {
                    let all = STATES.join(", ");
                    self.wrong(value, "note-value", &format!("the status is none of {all}; read as proposed"));
                }
            }
            "confidence" => self.note.confidence = self.confidence(value),
            "source" => {
                self.note.source = self.line_of_text(value, name);
                self.note.source_at = self.lines.line(self.base + value.at);
            }
            "created" => self.note.created = self.time(value, name),
            "updated" => self.note.updated = self.time(value, name),
            "name" => self.note.name = self.line_of_text(value, name),
            "type" => self.note.entity_type = self.line_of_text(value, name),
            "aliases" => self.note.aliases = self.aliases(value),
            "author" => {
                for (key, value) in self.pairs(value, name) {
                    match key {
                        "client" => self.note.client = self.line_of_text(value, key),
                        "agent" => self.note.agent = self.line_of_text(value, key),
                        _ => {}
                    }
                }
            }
            "about" => self.note.about = self.items(value, name).iter().filter_map(|item| self.anchor(item)).collect(),
            "relations" => {
                self.note.relations = self.items(value, name).iter().filter_map(|item| self.relation(item)).collect();
            }
            _ => {}
        }
    }

    /// Checks kind and id, without which the file is no note.
    fn identify(&mut self, root: &Node) {
        let Value::Map(pairs) = &root.value else { return };
        let at = |name: &str| pairs.iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value.at);
        let kind_at = at("kind");
        if kind_at.is_none() {
            self.problem(self.base, "note-kind", "the key `kind` is missing");
        }
        let prefix = self.note.kind.map(NoteKind::prefix);
        match at("id") {
            None => self.problem(self.base, "note-id", "the key `id` is missing"),
            Some(at) if !prefix.is_none_or(|prefix| is_id(&self.note.id, prefix)) => {
                let prefix = prefix.unwrap_or_default();
                self.problem(self.base + at, "note-id", &format!("the id must be {prefix} and a ULID in upper case"));
                self.note.id.clear();
            }
            Some(_) => {}
        }
    }

    fn body(&mut self, source: &[u8]) {
        let start = self.note.body;
        let text = String::from_utf8_lossy(&source[start..]);
        if self.note.kind != Some(NoteKind::Entity) {
            self.note.text = text.trim().to_owned();
            self.note.name = title_of(&self.note.text);
            if self.note.kind.is_some() && self.note.text.is_empty() {
                self.problem(start, "note-empty", "the note has no text");
            }
            return;
        }
        if self.note.name.is_empty() {
            self.problem(self.base, "note-value", "an entity needs a name");
        }
        let body = observations::read(source, start);
        if let Some(at) = body.cut_at {
            self.problem(
                at,
                "note-limit",
                "an entity has at most 10,000 observations; this one and later ones are left out",
            );
        }
        let mut unnumbered = 0;
        for mut observation in body.observations {
            if observation.id.is_empty() {
                unnumbered += 1;
                observation.id = format!("{}.{unnumbered}", self.note.id);
            }
            self.note.observations.push((self.lines.line(observation.start), observation));
        }
        self.note.text = body.prose;
    }

    pub(super) fn confidence(&mut self, value: &Node) -> f64 {
        match value.text().and_then(share_of) {
            Some(number) if (0.0..=1.0).contains(&number) => number,
            Some(number) => {
                let limited = number.clamp(0.0, 1.0);
                self.wrong(value, "note-value", &format!("the confidence must be 0 to 1; read as {limited}"));
                limited
            }
            None => {
                let message = format!("the confidence must be a number from 0 to 1; read as {UNREADABLE_CONFIDENCE}");
                self.wrong(value, "note-value", &message);
                UNREADABLE_CONFIDENCE
            }
        }
    }

    pub(super) fn time(&mut self, value: &Node, name: &str) -> String {
        match value.text() {
            Some(text) if is_time(text) => text.to_owned(),
            _ => {
                self.wrong(value, "note-value", &format!("`{name}` must be a time like 2026-11-23T10:04:11Z"));
                String::new()
            }
        }
    }

    pub(super) fn digest(&mut self, value: &Node) -> String {
        match value.text() {
            Some(text) if is_digest(text) => text.to_owned(),
            None if value.is_null() => String::new(),
            _ => {
                self.wrong(value, "note-value", "a digest has 16 hex digits");
                String::new()
            }
        }
    }

    /// Returns a text on one line, cut at 1,000 characters.
    pub(super) fn line_of_text(&mut self, value: &Node, name: &str) -> String {
        if !value.is_null() && value.text().is_none() {
            self.wrong(value, "note-value", &format!("`{name}` must be text"));
        }
        fold(value.text().unwrap_or_default(), MAX_TEXT)
    }

    fn aliases(&mut self, value: &Node) -> Vec<String> {
        if value.text().is_some() {
            return vec![self.line_of_text(value, "aliases")];
        }
        let mut aliases: Vec<String> =
            self.items(value, "aliases").iter().map(|item| self.line_of_text(item, "aliases")).collect();
        aliases.retain(|alias| !alias.is_empty());
        aliases
    }

    fn items<'n>(&mut self, value: &'n Node, name: &str) -> &'n [Node] {
        let Value::List(items) = &value.value else {
            self.wrong(value, "note-value", &format!("`{name}` must be a list"));
            return &[];
        };
        if let Some(first) = items.get(MAX_ITEMS) {
            self.wrong(first, "note-limit", &format!("`{name}` has at most 1,000 items; further ones are left out"));
        }
        &items[..items.len().min(MAX_ITEMS)]
    }

    /// Returns the values of a map that are not null, by key.
    pub(super) fn pairs<'n>(&mut self, value: &'n Node, name: &str) -> Vec<(&'n str, &'n Node)> {
        let Value::Map(pairs) = &value.value else {
            self.wrong(value, "note-value", &format!("`{name}` must hold keys and values"));
            return Vec::new();
        };
        let pairs = pairs.iter().filter_map(|(key, value)| Some((key.text()?, value)));
        pairs.filter(|(_, value)| !value.is_null()).collect()
    }

    pub(super) fn wrong(&mut self, value: &Node, code: &str, message: &str) {
        self.problem(self.base + value.at, code, message);
    }

    fn problem(&mut self, at: usize, code: &str, message: &str) {
        if self.note.problems.len() == MAX_PROBLEMS {
            self.untold += 1;
            return;
        }
        let (line, code, message) = (self.lines.line(at), code.to_owned(), message.to_owned());
        self.note.problems.push(Problem { line, code, message });
    }

    fn finish(mut self) -> Note {
        if self.untold > 0 {
            let message = format!("and {} more problems", self.untold);
            let line = self.note.problems.last().map_or(1, |last| last.line);
            self.note.problems.push(Problem { line, code: "note-limit".to_owned(), message });
        }
        self.note
    }
}

fn quoted(name: &str) -> String {
    format!("{:?}", fold(name, 60))
}
