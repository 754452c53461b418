//! The Python function `read_markdown`.

use std::time::Duration;

use pyo3::prelude::*;

use atlas_parse::read_blocks;

type Row = (&'static str, String, String, u32, u32, Vec<(String, String)>);

/// Returns the blocks of a Markdown text, and the line at which the CPU time was over (0 if it was enough).
#[pyfunction]
fn read_markdown(py: Python<'_>, text: &str, seconds: f64) -> (Vec<Row>, u32) {
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let (blocks, cut) = py.detach(|| read_blocks(text, limit));
    let rows = blocks.into_iter().map(|one| (one.kind, one.text, one.label, one.depth, one.line, one.links)).collect();
    (rows, cut.unwrap_or(0))
}

/// Adds the function of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_markdown, module)?)
}
