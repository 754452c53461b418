//! The Python functions `parse_note`, `papers_named_in` and `yaml_as_json`.

use pyo3::exceptions::PyValueError;
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

#[pyfunction]
fn yaml_as_json(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| parse::yaml_as_json(text)).map_err(PyValueError::new_err)
}

/// Adds the functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_note, module)?)?;
    module.add_function(wrap_pyfunction!(papers_named_in, module)?)?;
    module.add_function(wrap_pyfunction!(yaml_as_json, module)?)
}
