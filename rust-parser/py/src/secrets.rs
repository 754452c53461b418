//! The Python functions `find_secrets` and `mask_secrets`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use atlas_secrets::{TooMuch, find, mask};

#[pyfunction]
fn find_secrets(py: Python<'_>, data: &[u8]) -> PyResult<Vec<(usize, usize, &'static str, u32)>> {
    let found = py.detach(|| find(data)).map_err(too_much)?;
    Ok(found.into_iter().map(|secret| (secret.start, secret.end, secret.rule, secret.line)).collect())
}

#[pyfunction]
fn mask_secrets<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let masked = py.detach(|| find(data).map(|secrets| mask(data, &secrets))).map_err(too_much)?;
    Ok(PyBytes::new(py, &masked))
}

fn too_much(_: TooMuch) -> PyErr {
    PyValueError::new_err("the text has too many places that may hold a secret")
}

/// Adds the functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(find_secrets, module)?)?;
    module.add_function(wrap_pyfunction!(mask_secrets, module)?)?;
    Ok(())
}
