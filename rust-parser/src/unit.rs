//! (being written)

use pyo3::prelude::*;

/// Add this module's Python classes and functions.
pub fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
