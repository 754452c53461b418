//! Parsing: one file's bytes to facts. Pure; knows nothing about other files.
//!
//! `languages` finds the language, `file` runs tree-sitter and bounds everything, `tree` lays the syntax tree out flat,
//! `walk` passes over it once and lets the language's patterns (`patterns`, `matching`, from `tags.scm`) say what each node
//! means; `definitions` (with `wraps` and `paths`), `bindings` and `expressions` record
//! facts in `collect`. `python`, `ecmascript`, ... hold the little
//! that patterns cannot say; `markdown` reads documents without a grammar.

mod around;
mod bindings;
mod c_macros;
mod cfamily;
mod code;
mod collect;
mod csharp;
mod deadline;
mod definitions;
mod digests;
mod docs;
mod dotted;
mod ecmascript;
mod ecmascript_imports;
mod expressions;
mod file;
mod go;
mod grammars;
mod heads;
mod java;
mod json;
mod kotlin;
mod language;
mod languages;

mod markdown;
mod markdown_blocks;
mod markdown_html;
mod markdown_inline;
mod markdown_lines;
mod matching;
mod module;
mod paths;
mod patterns;
mod php;
mod python;
mod ruby;
mod ruby_members;
mod rust;
mod rust_items;
mod rust_macros;
mod scala;
mod scheme;
mod swift;
mod tree;
mod type_text;
mod vocabulary;
mod walk;
mod wraps;

pub use languages::Registry;
pub use module::{Languages, Limits, ParsedFile, parse_content, register};
