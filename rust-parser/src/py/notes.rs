//! The Python function `parse_note`.

use pyo3::prelude::*;

use crate::parse::note_as_json;

#[pyfunction]
fn parse_note(py: Python<'_>, data: &[u8]) -> String {
    py.detach(|| note_as_json(data))
}

/// Adds the function of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_note, module)?)
}
