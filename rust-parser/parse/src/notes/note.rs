//! A note as a value: what its front matter and its body say, and the problems found in them.

use super::front_matter::Key;
use super::observations::Observation;
use atlas_facts::Problem;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    Claim,
    Decision,
    Entity,
}

/// What one file says. Without `kind` or `id` it is no note, and `problems` says why.
#[derive(Debug)]
pub struct Note {
    pub kind: Option<NoteKind>,
    pub id: String,
    pub status: &'static str,
    pub confidence: f64,
    pub source: String,
    /// Line of `source`.
    pub source_at: u32,
    pub created: String,
    pub updated: String,
    /// Name of an entity; first heading or sentence of a claim or decision.
    pub name: String,
    pub entity_type: String,
    pub aliases: Vec<String>,
    pub client: String,
    pub agent: String,
    pub about: Vec<Anchor>,
    pub relations: Vec<Relation>,
    /// Observations with their ids and lines.
    pub observations: Vec<(u32, Observation)>,
    pub keys: Vec<Key>,
    /// Start of the line that closes the front matter.
    pub front_end: usize,
    /// Start of the text after it.
    pub body: usize,
    /// The body of a claim or decision; the prose of an entity.
    pub text: String,
    pub problems: Vec<Problem>,
}

/// Something that a note is about, with the digests that it had when the note was written ("" for unknown ones).
#[derive(Debug, Default)]
pub struct Anchor {
    pub kind: &'static str,
    pub target: String,
    pub signature: String,
    pub body: String,
    pub docstring: String,
    pub path: String,
    pub line: u32,
    pub commit: String,
    pub at: u32,
}

#[derive(Debug)]
pub struct Relation {
    pub relation_type: String,
    pub to: String,
    pub reasoning: String,
    pub confidence: f64,
    pub created: String,
    pub at: u32,
}

impl Default for Note {
    fn default() -> Self {
        Note {
            kind: None,
            id: String::new(),
            status: "accepted",
            confidence: 1.0,
            source: String::new(),
            source_at: 0,
            created: String::new(),
            updated: String::new(),
            name: String::new(),
            entity_type: String::new(),
            aliases: Vec::new(),
            client: String::new(),
            agent: String::new(),
            about: Vec::new(),
            relations: Vec::new(),
            observations: Vec::new(),
            keys: Vec::new(),
            front_end: 0,
            body: 0,
            text: String::new(),
            problems: Vec::new(),
        }
    }
}

impl NoteKind {
    pub fn name(self) -> &'static str {
        match self {
            NoteKind::Claim => "claim",
            NoteKind::Decision => "decision",
            NoteKind::Entity => "entity",
        }
    }

    /// Returns how ids of this kind begin.
    pub fn prefix(self) -> &'static str {
        match self {
            NoteKind::Claim => "c-",
            NoteKind::Decision => "d-",
            NoteKind::Entity => "e-",
        }
    }
}

impl Note {
    /// Returns whether the file is a note.
    pub fn is_note(&self) -> bool {
        self.kind.is_some() && !self.id.is_empty()
    }
}
