//! `atlas._parser`: everything of Code Atlas that has to be fast. Values in, values out; the GIL is released while working.
//!
//! scan (which files) - parse (one file -> facts) - cache (facts on disk by content digest) - link (facts of a project ->
//! graph) - unit (graph of one file -> rows) - encode (text -> vector) - vectors (nearest neighbours) - tokens (words and
//! model tokens). For SQLite, which loads this library as an extension: bm25 (ranking of words) and page_checksums. `py` is the Python
//! module, `sys` the only module with unsafe code.

#![deny(unsafe_code)]

pub mod admission;
pub mod bm25;
pub mod cache;
pub mod content_digest;
pub mod encode;
pub mod facts;
pub mod files;
pub mod link;
pub mod page_checksums;
pub mod parse;
mod py;
pub mod scan;
pub mod secrets;
pub mod string_table;
#[allow(unsafe_code)]
mod sys;
pub mod tokens;
pub mod unit;
pub mod vectors;
