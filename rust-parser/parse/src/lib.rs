//! Parsing: from the bytes of one file to its facts, independent of all other files.
//!
//! `registry` finds the language (`language`) of a file and provides its hooks (`hooks`; `languages` has one module per
//! language for what patterns cannot express). `parsed_file` decides whether a file is parsed. `extract` runs
//! tree-sitter within limits, `readings` chooses what the
//! grammar reads (`rewriting`, `recovery`), `flat_tree` flattens the syntax tree, and `walk` visits it once and interprets each node
//! by the patterns of the language's `tags.scm` (`query`). `facts_builder` records the facts, `detect` what the rules of
//! detectors find. `markdown` reads documents without a grammar, `documents` those of other formats, `notes` what agents
//! and people know, and `plain` everything else, as windows of lines. `statements` finds where excerpts can be cut.
//!
//! ```
//! use std::time::Duration;
//!
//! use atlas_facts::Kind;
//! use atlas_parse::{Limits, Registry, parse_content};
//!
//! let languages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../atlas/languages").to_owned();
//! let registry = Registry::load(&[languages], ".knowledge", &[]).unwrap();
//! let limits = Limits { timeout: Duration::from_secs(5), generated: false };
//!
//! let text = b"class A:\n    def f(self): return g()\n";
//! let facts = parse_content(&registry, "pkg/a.py", text, limits).facts;
//! let found: Vec<_> = facts.definitions.iter().map(|one| (one.kind, &facts.strings[one.path as usize])).collect();
//! assert_eq!(found, [(Kind::Module, ""), (Kind::Class, "A"), (Kind::Method, "A.f")]);
//! assert_eq!(facts.references.len(), 1); // the call of `g`
//! ```

#![forbid(unsafe_code)]

mod byte_limit;
pub mod detect;
mod digests;
mod doc_text;
mod documents;
mod extract;
mod facts_builder;
mod facts_check;
pub mod facts_json;
mod flat_tree;
mod grammars;
mod hooks;
mod language;
mod languages;
mod markdown;
mod notes;
mod parsed_file;
mod plain;
mod query;
mod readings;
mod recovery;
mod registry;
mod rewriting;
mod statements;
mod walk;

pub use markdown::blocks::{TextBlock, read_blocks};
pub use notes::{note_as_json, papers_named_in, yaml_as_json};
pub use parsed_file::{Limits, ParsedFile, parse_below, parse_content};
pub use registry::Registry;
pub use statements::Statements;
