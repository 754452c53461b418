//! The Python module `atlas._parser`: its classes and functions. All code that depends on PyO3 is in this folder.

mod cache;
mod cypher_regex;
mod encode;
mod files;
mod link;
mod markdown;
mod notes;
mod parse;
mod scan;
mod secrets;
mod statements;
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
    statements::register(module)?;
    cache::register(module)?;
    link::register(module)?;
    unit::register(module)?;
    encode::register(module)?;
    vectors::register(module)?;
    tokens::register(module)?;
    cypher_regex::register(module)
}
