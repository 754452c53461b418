//! The Python functions `parse_note` and `papers_named_in`.

use pyo3::prelude::*;

use atlas_parse::{self as parse, note_as_json};

#[pyfunction]
fn parse_note(py: Python<'_>, data: &[u8]) -> String {
    py.detach(|| note_as_json(data))
}

#[pyfunction]
fn papers_named_in(text: &str, most: usize) -> Vec<String> {
    parse::papers_named_in(text, most)
}

/// Adds the functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_note, module)?)?;
    module.add_function(wrap_pyfunction!(papers_named_in, module)?)
}
