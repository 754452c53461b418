//! The Python module `atlas._parser`: the performance-critical parts of Code Atlas as classes and functions, which take
//! and return values and release the GIL while they work. This crate is the only one that depends on PyO3; what it wraps
//! is in the crates below it. `atlas/_parser.pyi` has the types.
//!
//! `scan` lists the files of a tree, `parse` turns one file into facts, `cache` stores facts by content digest, `link`
//! turns the facts of a project into a graph, `unit` gives the graph of one file as rows, `encode` turns text into
//! vectors, `vectors` finds nearest neighbours, `segments` is the index of words, `rank` orders what is found, `excerpts`
//! chooses what is shown of source, `lines` searches files on disk, and
//! `tokens` counts words and model tokens. SQLite loads this library as
//! an extension, too (`atlas_sys::sqlite`).
//!
//! ```python
//! from atlas import _parser
//!
//! assert _parser.split_words("HttpClient.send") == ["httpclient", "http", "client", "send"]
//! ```

#![deny(unsafe_code)]

mod cache;
mod cypher_regex;
mod encode;
mod excerpts;
mod files;
mod lines;
mod link;
mod markdown;
mod notes;
mod parse;
mod rank;
mod scan;
mod secrets;
mod segments;
mod tokens;
mod unit;
mod vectors;

use pyo3::prelude::*;

#[pymodule]
fn _parser(module: &Bound<'_, PyModule>) -> PyResult<()> {
    scan::register(module)?;
    parse::register(module)?;
    notes::register(module)?;
    markdown::register(module)?;
    files::register(module)?;
    secrets::register(module)?;
    excerpts::register(module)?;
    cache::register(module)?;
    lines::register(module)?;
    link::register(module)?;
    unit::register(module)?;
    encode::register(module)?;
    vectors::register(module)?;
    segments::register(module)?;
    rank::register(module)?;
    tokens::register(module)?;
    cypher_regex::register(module)
}
