//! The Python classes `Languages` and `ParsedFile`, and the functions `parse_bytes` and `parse_paths`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use atlas_facts::content_digest::hex;
use atlas_languages::search_terms;
use atlas_parse::{self as parse, Limits, Registry, facts_json, parse_below, parse_content};
use atlas_scan::files::Folder;

/// The registered languages.
#[pyclass(frozen)]
pub struct Languages {
    pub registry: Arc<Registry>,
}

#[pymethods]
impl Languages {
    #[new]
    #[pyo3(signature = (folders, note_folder="", detectors=Vec::new()))]
    fn new(folders: Vec<String>, note_folder: &str, detectors: Vec<(String, String)>) -> PyResult<Self> {
        let registry = Registry::load(&folders, note_folder, &detectors).map_err(PyValueError::new_err)?;
        Ok(Languages { registry: Arc::new(registry) })
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.registry.names()
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.registry.fingerprint()
    }

    /// Returns these languages with the rules of a project's own file. Raises ValueError for broken rules.
    fn with_own_rules(&self, own: Vec<(String, String)>) -> PyResult<Self> {
        let registry = self.registry.with_own_rules(&own).map_err(PyValueError::new_err)?;
        Ok(Languages { registry: Arc::new(registry) })
    }

    /// Returns the language of a file by its name, or None when no language matches.
    pub fn of_path(&self, path: &str) -> Option<&str> {
        self.registry.of_path(path)
    }
}

/// The facts of one file, shared with the linker.
#[pyclass(frozen)]
#[derive(Clone)]
pub struct ParsedFile(pub parse::ParsedFile);

#[pymethods]
impl ParsedFile {
    #[getter]
    fn path(&self) -> &str {
        &self.0.facts.path
    }

    #[getter]
    fn language(&self) -> &str {
        &self.0.facts.language
    }

    #[getter]
    fn digest(&self) -> String {
        hex(&self.0.facts.digest)
    }

    #[getter]
    fn size(&self) -> u32 {
        self.0.facts.size
    }

    #[getter]
    fn lines(&self) -> u32 {
        self.0.facts.lines
    }

    #[getter]
    fn module(&self) -> &str {
        &self.0.facts.module
    }

    #[getter]
    fn is_test(&self) -> bool {
        self.0.facts.is_test
    }

    #[getter]
    fn is_generated(&self) -> bool {
        self.0.facts.is_generated
    }

    #[getter]
    fn problems(&self) -> Vec<String> {
        self.0
            .facts
            .problems
            .iter()
            .map(|problem| format!("{}: {}: {}", problem.line, problem.code, problem.message))
            .collect()
    }

    #[getter]
    fn skip_reason(&self) -> &str {
        &self.0.skip_reason
    }

    /// Returns all facts as JSON with strings resolved, for tests and debugging.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| facts_json::render(&self.0.facts))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.encode()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        py.detach(|| parse::ParsedFile::decode(data))
            .map(Self)
            .map_err(|error| PyValueError::new_err(format!("not the facts of a file: {error}")))
    }
}

#[pyfunction]
#[pyo3(signature = (languages, path, data, *, timeout_ms = 1000, generated = false))]
fn parse_bytes(
    py: Python<'_>,
    languages: &Languages,
    path: &str,
    data: &[u8],
    timeout_ms: u64,
    generated: bool,
) -> ParsedFile {
    let limits = Limits { timeout: Duration::from_millis(timeout_ms), generated };
    ParsedFile(py.detach(|| parse_content(&languages.registry, path, data, limits)))
}

/// A parsed file, or the reason why it could not be read.
#[derive(IntoPyObject)]
enum Outcome {
    Parsed(ParsedFile),
    Unreadable(String),
}

#[pyfunction]
#[pyo3(signature = (languages, root, paths, *, max_bytes = 1_048_576, timeout_ms = 1000, generated = false))]
fn parse_paths(
    py: Python<'_>,
    languages: &Languages,
    root: PathBuf,
    paths: Vec<String>,
    max_bytes: u64,
    timeout_ms: u64,
    generated: bool,
) -> Vec<Outcome> {
    let registry = &languages.registry;
    let limits = Limits { timeout: Duration::from_millis(timeout_ms), generated };
    py.detach(|| {
        let root = Folder::open(&root);
        paths
            .par_iter()
            .map(|path| {
                let parsed = match &root {
                    Ok(root) => parse_below(registry, root, path, max_bytes, limits),
                    Err(error) => Err(format!("unreadable: {error}")),
                };
                parsed.map_or_else(Outcome::Unreadable, |file| Outcome::Parsed(ParsedFile(file)))
            })
            .collect()
    })
}

/// `(name, words, endings, declarations, constructors, form)` of a language.
type Terms = (String, Vec<String>, Vec<String>, Vec<String>, Vec<String>, &'static str);

/// Returns the `[search]` table of each language, sorted by name. Does not load grammars.
#[pyfunction]
fn language_terms(folders: Vec<String>) -> PyResult<Vec<Terms>> {
    let all = search_terms(&folders).map_err(PyValueError::new_err)?;
    let row = |(name, (form, terms))| {
        let [words, endings, declarations, constructors]: [Vec<String>; 4] = terms;
        (name, words, endings, declarations, constructors, form)
    };
    Ok(all.into_iter().map(row).collect())
}

/// Adds the classes and functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Languages>()?;
    module.add_class::<ParsedFile>()?;
    module.add_function(wrap_pyfunction!(language_terms, module)?)?;
    module.add_function(wrap_pyfunction!(parse_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(parse_paths, module)?)?;
    Ok(())
}
