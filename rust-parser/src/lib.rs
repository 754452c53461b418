//! `atlas._parser`: the performance-critical parts of Code Atlas. Functions take and return values, and release the GIL
//! while they work.
//!
//! `scan` lists the files of a tree, `parse` turns one file into facts, `cache` stores facts by content digest, `link`
//! turns the facts of a project into a graph, `unit` turns the graph of one file into rows, `encode` turns text into
//! vectors, `vectors` finds nearest neighbours, and `tokens` counts words and model tokens. SQLite loads this library
//! as an extension for `bm25` (ranking) and `page_checksums`. `py` is the Python module, and `sys` the only module with
//! unsafe code.

#![deny(unsafe_code)]

pub mod bm25;
pub mod byte_limit;
pub mod cache;
pub mod content_digest;
pub mod cypher_regex;
pub mod encode;
pub mod facts;
pub mod files;
#[cfg(test)]
#[path = "../tests/fuzz.rs"]
mod fuzz;
pub mod language_data;
pub mod link;
pub mod manifests;
pub mod page_checksums;
pub mod parse;
mod py;
pub mod route_path;
pub mod scan;
pub mod secrets;
pub mod string_table;
#[allow(unsafe_code)]
mod sys;
pub mod tokens;
pub mod unit;
pub mod vectors;
