//! Parsing: one file's bytes to facts. Pure; knows nothing about other files.
//!
//! `registry` finds the language (`language`, `hooks`), `content` decides whether a file is parsed, `file` runs tree-sitter and bounds everything, `flat_tree` lays the syntax
//! tree out flat, `walk` passes over it once and lets the patterns of the language's `tags.scm` (`query`) say what each node means.
//! `languages` holds the little that patterns cannot say, one module per language; `markdown` reads documents without a grammar.
//! Facts are recorded with `facts_builder`.

mod content;
mod deadline;
mod digests;
mod doc_text;
mod facts_builder;
pub(crate) mod facts_json;
mod file;
mod flat_tree;
mod grammars;
mod hooks;
mod language;
mod languages;
mod markdown;
mod query;
mod registry;
mod walk;

pub use content::{Limits, ParsedFile, parse_below, parse_content};
pub use registry::Registry;
