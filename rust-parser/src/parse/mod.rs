//! Parsing: one file's bytes to facts. Pure; knows nothing about other files.
//!
//! `registry` finds the language (`language`) and hands its hooks down (`hooks`, `languages`: one module per language, for the
//! little that patterns cannot say). `parsed_file` decides whether a file is parsed. `extract` runs tree-sitter and bounds everything,
//! `flat_tree` lays the syntax tree out flat, `walk` passes over it once and lets the patterns of the language's `tags.scm` (`query`)
//! say what each node means. Facts are recorded with `facts_builder`. `markdown` reads documents without a grammar.

mod deadline;
mod digests;
mod doc_text;
mod extract;
mod facts_builder;
pub(crate) mod facts_json;
mod flat_tree;
mod grammars;
mod hooks;
mod language;
mod languages;
mod markdown;
mod parsed_file;
mod query;
mod registry;
mod walk;

pub use parsed_file::{Limits, ParsedFile, parse_below, parse_content};
pub use registry::Registry;
