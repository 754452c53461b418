//! Detectors: rules, kept as data, that find routes, routers, events and commands in a file's syntax tree.
//!
//! `rule_file` reads the TOML files, `rules` compiles them. `detecting` holds those whose
//! trigger words occur in a file, and `candidates` matches their queries during the walk. After it, `build` turns the matches into facts with the strings of
//! `text`, the arguments of `arguments`, the `handlers`, the places of `places` and the notations of `names`; `commands`
//! names those of functions and enumerations, `templates` fills in what loops and formatting write into strings; `outer` gives the prefixes; `files`
//! finds routes by file names, `annotated` reads what is beside an annotation, `formats` what formatting calls make of a
//! text, `locals` what a function puts into a variable before, `variables` names of environment variables. `own` tells which rules of the project
//! itself apply to a file.

mod annotated;
mod arguments;
mod build;
mod candidates;
mod commands;
mod created;
pub mod detecting;
mod draft;
mod files;
mod formats;
mod handlers;
mod locals;
pub(crate) mod names;
mod outer;
pub mod own;
mod places;
mod rule_file;
pub mod rules;
mod templates;
mod text;
mod variables;
