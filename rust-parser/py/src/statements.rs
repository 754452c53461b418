//! The Python class `Statements`.

use std::time::Duration;

use pyo3::prelude::*;

use atlas_parse as parse;

/// Finds the statements of texts.
#[pyclass(frozen)]
struct Statements(parse::Statements);

#[pymethods]
impl Statements {
    #[new]
    fn new(folders: Vec<String>) -> Self {
        Statements(parse::Statements::new(folders))
    }

    /// Returns (first line, last line, depth) of each statement of a text; lines count from 0.
    #[pyo3(signature = (language, data, *, timeout_ms = 50))]
    fn of(&self, py: Python<'_>, language: &str, data: &[u8], timeout_ms: u64) -> Vec<(u32, u32, u32)> {
        let found = py.detach(|| self.0.of(language, data, Duration::from_millis(timeout_ms)));
        found.iter().map(|each| (each.first, each.last, each.depth)).collect()
    }
}

/// Adds the class of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Statements>()
}
