//! `atlas._parser`: everything of Code Atlas that has to be fast. Values in, values out; the GIL is released while working.
//!
//! scan (which files) - parse (one file -> facts) - cache (facts on disk by content digest) - link (facts of a project ->
//! graph) - unit (graph of one file -> rows) - encode (text -> vector) - vectors (nearest neighbours) - tokens (words and
//! model tokens). And for SQLite, which loads this library too: bm25 (ranking of words), pages (checksums).

pub mod admission;
pub mod bm25;
pub mod cache;
pub mod content;
pub mod encode;
pub mod facts;
pub mod files;
pub mod link;
pub mod memory;
pub mod pages;
pub mod parse;
mod py;
pub mod scan;
pub mod secrets;
pub mod string_table;

pub mod tokens;
pub mod unit;
pub mod vectors;

use pyo3::prelude::*;

#[pymodule]
fn _parser(module: &Bound<'_, PyModule>) -> PyResult<()> {
    scan::register(module)?;
    py::parse::register(module)?;
    content::register(module)?;
    secrets::register(module)?;
    cache::register(module)?;
    py::link::register(module)?;
    py::unit::register(module)?;
    encode::register(module)?;
    vectors::register(module)?;
    tokens::register(module)?;
    Ok(())
}
