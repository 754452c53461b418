//! The Python function `scan` with its result classes, and the functions `check_content`, `searched`,
//! `changes_rules` and `personal_rules`.

use std::borrow::Cow;
use std::path::Path;

use ignore::gitignore::gitconfig_excludes_path;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::parse::Languages;
use atlas_scan::{self as tree, LanguageNames, Options, ScanError, changes_rules, check_content, scan, scan_tracked};

/// A file to index.
#[pyclass(frozen, get_all, module = "atlas._parser")]
#[derive(Clone)]
pub struct ScannedFile {
    path: String,
    language: String,
    size: u64,
    mtime_ns: i64,
    /// Hash of the inode number and the inode's last change time.
    identity: u64,
}

#[pymethods]
impl ScannedFile {
    #[new]
    fn new(path: String, language: String, size: u64, mtime_ns: i64, identity: u64) -> Self {
        Self { path, language, size, mtime_ns, identity }
    }
}

/// A folder with its own manifest.
#[pyclass(frozen, get_all, module = "atlas._parser")]
#[derive(Clone)]
pub struct SubProject {
    folder: String,
    kind: String,
    name: String,
}

/// The files of a tree, or of the requested part of it, sorted by path.
#[pyclass(frozen, get_all, module = "atlas._parser")]
pub struct ScanResult {
    files: Vec<ScannedFile>,
    skipped: Vec<(String, String)>,
    subprojects: Vec<SubProject>,
    /// Every folder that was visited, "" for the root. The result can only change when the content of one of them does.
    folders: Vec<String>,
    /// Folders below the root that are roots of repositories: their git folders hold rules, too.
    repositories: Vec<String>,
}

impl From<tree::ScanResult> for ScanResult {
    fn from(result: tree::ScanResult) -> Self {
        let file = |file: tree::ScannedFile| {
            let tree::ScannedFile { path, language, size, mtime_ns, identity } = file;
            ScannedFile { path, language, size, mtime_ns, identity }
        };
        let subproject = |tree::SubProject { folder, kind, name }: tree::SubProject| SubProject { folder, kind, name };
        ScanResult {
            files: result.files.into_iter().map(file).collect(),
            skipped: result.skipped,
            subprojects: result.subprojects.into_iter().map(subproject).collect(),
            folders: result.folders,
            repositories: result.repositories,
        }
    }
}

impl LanguageNames for Languages {
    fn of_path(&self, path: &str) -> Option<&str> {
        self.registry.of_path(path)
    }

    fn max_bytes(&self, language: &str) -> Option<u64> {
        self.registry.max_bytes(language)
    }

    fn may_be_data(&self, language: &str) -> bool {
        self.registry.may_be_data(language)
    }

    fn note_folder(&self) -> &str {
        self.registry.note_folder()
    }

    fn of_first_line(&self, data: &[u8]) -> Option<&str> {
        self.registry.of_shebang(data)
    }
}

/// Walks a tree by git's ignore rules; with `only`, just these paths and what is below them. Raises OSError when root
/// is not a readable folder and ValueError for an invalid glob.
#[pyfunction(name = "scan")]
#[pyo3(
    signature = (
        root, languages, *, include=vec![], exclude=vec![], max_bytes=1_048_576, git_rules=true, generated=false,
        plain_text=true, only=None
    ),
    text_signature = "(root, languages, *, include=(), exclude=(), max_bytes=1048576, git_rules=True, generated=False, \
                      plain_text=True, only=None)"
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
    plain_text: bool,
    only: Option<Vec<String>>,
) -> PyResult<ScanResult> {
    let options = Options { include, exclude, max_bytes, git_rules, generated, plain_text, only };
    py.detach(|| scan(Path::new(root), languages, &options).map(ScanResult::from)).map_err(as_python_error)
}

/// Returns the tracked files of a git work tree that scan rules allow, of any language. Raises OSError when root is not
/// a readable folder.
#[pyfunction(name = "scan_tracked")]
fn scan_tracked_py(py: Python<'_>, root: &str, max_bytes: u64) -> PyResult<ScanResult> {
    py.detach(|| scan_tracked(Path::new(root), max_bytes).map(ScanResult::from)).map_err(as_python_error)
}

fn as_python_error(error: ScanError) -> PyErr {
    match error {
        ScanError::Root(error) => PyErr::from(error),
        ScanError::Glob(message) => PyValueError::new_err(message),
    }
}

/// Returns why a file with this content is not indexed (binary, minified, generated), or "".
#[pyfunction(name = "check_content")]
fn check_content_py(py: Python<'_>, path: &str, data: &[u8]) -> &'static str {
    py.detach(|| check_content(path, data))
}

/// Returns the text of a file that is searched and shown, in UTF-8: decoded, and without the outputs of a notebook.
#[pyfunction(name = "searched")]
fn searched_py<'py>(py: Python<'py>, path: &str, data: &Bound<'py, PyBytes>) -> Bound<'py, PyBytes> {
    match tree::searched(path, data.as_bytes()) {
        Cow::Borrowed(_) => data.clone(),
        Cow::Owned(text) => PyBytes::new(py, &text),
    }
}

/// Returns whether a change of the file at this path can change which other files are indexed, or the names of
/// sub-projects.
#[pyfunction(name = "changes_rules")]
fn changes_rules_py(path: &str) -> bool {
    changes_rules(path)
}

/// Returns what is wrong with globs of the settings, or "".
#[pyfunction(name = "glob_problem")]
fn glob_problem_py(py: Python<'_>, globs: Vec<String>) -> String {
    py.detach(|| tree::globs(&globs).err().unwrap_or_default())
}

/// Returns the path of the user's own ignore rules for all repositories, whether or not it exists.
#[pyfunction(name = "personal_rules")]
fn personal_rules_py(py: Python<'_>) -> Option<std::path::PathBuf> {
    py.detach(gitconfig_excludes_path)
}

/// Adds the classes and functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScannedFile>()?;
    module.add_class::<SubProject>()?;
    module.add_class::<ScanResult>()?;
    module.add_function(wrap_pyfunction!(scan_py, module)?)?;
    module.add_function(wrap_pyfunction!(scan_tracked_py, module)?)?;
    module.add_function(wrap_pyfunction!(changes_rules_py, module)?)?;
    module.add_function(wrap_pyfunction!(glob_problem_py, module)?)?;
    module.add_function(wrap_pyfunction!(personal_rules_py, module)?)?;
    module.add_function(wrap_pyfunction!(searched_py, module)?)?;
    module.add_function(wrap_pyfunction!(check_content_py, module)?)
}
