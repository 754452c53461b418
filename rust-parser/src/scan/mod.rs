//! Which files of a tree are indexed, and why the others are not. Reads names, sizes and ignore files, not content, except
//! of manifests and of programs that say in their first line what they are.

mod content;
mod manifests;
mod names;
mod only;
mod patterns;
mod repository;
mod rules;
mod walk;

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::parse::Languages;

pub use content::check_content;
pub use manifests::name_of as manifest_name;
pub use rules::changes_rules;
pub use walk::{LanguageNames, Options, ScanError, ScanResult, ScannedFile, SubProject, scan};

impl LanguageNames for Languages {
    fn of_path(&self, path: &str) -> Option<&str> {
        self.registry.of_path(path)
    }

    fn of_first_line(&self, data: &[u8]) -> Option<&str> {
        self.registry.of_shebang(data)
    }
}

/// Walk a tree, or with `only` the parts of it at and below these paths, with git's rules. Raises OSError when root is not a readable folder, ValueError for a glob that is none.
#[pyfunction(name = "scan")]
#[pyo3(
    signature = (
        root, languages, *, include=vec![], exclude=vec![], max_bytes=1_048_576, git_rules=true, generated=false, only=None
    ),
    text_signature = "(root, languages, *, include=(), exclude=(), max_bytes=1048576, git_rules=True, generated=False, \
                      only=None)"
)]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
fn scan_py(
    py: Python<'_>,
    root: &str,
    languages: &Languages,
    include: Vec<String>,
    exclude: Vec<String>,
    max_bytes: u64,
    git_rules: bool,
    generated: bool,
    only: Option<Vec<String>>,
) -> PyResult<ScanResult> {
    let options = Options { include, exclude, max_bytes, git_rules, generated, only };
    py.detach(|| scan(Path::new(root), languages, &options)).map_err(|error| match error {
        ScanError::Root(error) => PyErr::from(error),
        ScanError::Glob(message) => PyValueError::new_err(message),
    })
}

/// Reason why a file with this content is not indexed (binary, minified, generated), or "".
#[pyfunction(name = "check_content")]
fn check_content_py(py: Python<'_>, path: &str, data: &[u8]) -> &'static str {
    py.detach(|| check_content(path, data))
}

/// Can a change of the file at this path change which other files are indexed, or how sub-projects are named?
#[pyfunction(name = "changes_rules")]
fn changes_rules_py(path: &str) -> bool {
    changes_rules(path)
}

/// Add this module's Python classes and functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScannedFile>()?;
    module.add_class::<SubProject>()?;
    module.add_class::<ScanResult>()?;
    module.add_function(wrap_pyfunction!(scan_py, module)?)?;
    module.add_function(wrap_pyfunction!(changes_rules_py, module)?)?;
    module.add_function(wrap_pyfunction!(check_content_py, module)?)
}
