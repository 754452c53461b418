//! Reads notes: Markdown files with YAML front matter that hold a claim, a decision, or an entity and its observations.
//!
//! `front_matter` finds the YAML text, `yaml` reads it within limits, `reader` and `links` interpret its keys with the
//! forms of `fields` and fill a `note`, `observations` reads the body of an entity. `papers` finds the papers that a
//! source names. `json` passes a note to Python, `definitions` to the linker.

mod definitions;
mod fields;
mod front_matter;
mod json;
mod links;
mod note;
mod observations;
mod papers;
mod reader;
mod yaml;

pub use papers::named_in as papers_named_in;
use std::time::Duration;

use crate::facts_builder::FactsBuilder;
use crate::hooks::LanguageHooks;
use crate::markdown::Markdown;
use atlas_languages::Settings;
use atlas_languages::deadline::Deadline;

/// Largest CPU time for one note.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The hooks of notes, which read a whole file.
pub struct Notes;

impl LanguageHooks for Notes {
    /// Reads a note, or the document that the file is instead. A README without front matter is meant as a document.
    fn read(&self, settings: &Settings, builder: &mut FactsBuilder, source: &[u8], deadline: Deadline) {
        let note = reader::read(source, deadline);
        if note.is_note() {
            definitions::add(builder, source, note);
            return;
        }
        let file = builder.facts.path.rsplit('/').next().unwrap_or_default();
        let is_about_folder = note.keys.is_empty() && file.to_ascii_lowercase().starts_with("readme.");
        if !is_about_folder || note.front_end > 0 {
            builder.facts.problems.extend(note.problems);
        }
        Markdown.read(settings, builder, source, deadline);
    }
}

/// Returns a YAML text as JSON.
///
/// # Errors
/// What `yaml::parse` refuses, with the byte at which reading stopped.
pub fn yaml_as_json(text: &str) -> Result<String, String> {
    match yaml::parse_within(text, Deadline::after(TIMEOUT), yaml::DEEP) {
        Ok(node) => Ok(node.map_or(serde_json::Value::Null, json::value_of).to_string()),
        Err(refusal) => Err(format!("byte {}: {}", refusal.at, refusal.message)),
    }
}

/// Returns a note as JSON. Never fails: what is wrong with the file is in its list of problems.
pub fn note_as_json(source: &[u8]) -> String {
    json::render(&reader::read(source, Deadline::after(TIMEOUT)))
}
