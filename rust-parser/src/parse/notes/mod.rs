//! Reads notes: Markdown files with YAML front matter that hold a claim, a decision, or an entity and its observations.
//!
//! `front_matter` finds the YAML text, `yaml` reads it within limits, `reader` and `links` interpret its keys with the
//! forms of `fields` and fill a `note`, `observations` reads the body of an entity. `json` passes a note to Python.

mod fields;
mod front_matter;
mod json;
mod links;
mod note;
mod observations;
mod reader;
mod yaml;

use std::time::Duration;

use crate::parse::deadline::Deadline;

/// Largest CPU time for one note.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Returns a note as JSON. Never fails: what is wrong with the file is in its list of problems.
pub fn note_as_json(source: &[u8]) -> String {
    json::render(&reader::read(source, Deadline::after(TIMEOUT)))
}
