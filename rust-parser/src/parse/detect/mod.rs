//! Detectors: rules, kept as data, that find routes, routers, events and commands in a file's syntax tree.
//!
//! `rules` reads and compiles the TOML files. During the walk, `candidates` matches the queries of those rules whose
//! trigger words occur in the file. After it, `build` turns the matches into facts with the strings of `text`, the
//! arguments of `arguments`, the `handlers`, the places of `places` and the notations of `names`; `templates` fills in what
//! loops and formatting write into strings; `files` finds routes by file names.

mod arguments;
mod build;
pub mod candidates;
mod created;
mod files;
mod handlers;
mod names;
mod places;
pub mod rules;
mod templates;
mod text;
