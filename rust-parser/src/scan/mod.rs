//! Which files of a tree are indexed, and why the others are not. Reads names, sizes and ignore files, not content, except
//! of manifests and of programs that say in their first line what they are.

mod content;
mod manifests;
mod names;
mod repository;
mod rules;
mod walk;

use pyo3::prelude::*;

pub use content::check_content;
pub use walk::{LanguageNames, Options, ScanResult, ScannedFile, SubProject, scan};

/// Reason why a file with this content is not indexed (binary, minified, generated, secret), or "".
#[pyfunction(name = "check_content")]
fn check_content_py(py: Python<'_>, path: &str, data: &[u8]) -> &'static str {
    py.detach(|| check_content(path, data))
}

/// Add this module's Python classes and functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScannedFile>()?;
    module.add_class::<SubProject>()?;
    module.add_class::<ScanResult>()?;
    module.add_function(wrap_pyfunction!(check_content_py, module)?)
}
