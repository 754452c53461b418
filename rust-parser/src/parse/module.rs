//! The Python face of parsing: `Languages`, `ParsedFile`, `parse_bytes`, `parse_paths`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use super::languages::Registry;
use super::{file, json};
use crate::content::{digest_of, hex};
use crate::facts::{FACTS_VERSION, FileFacts};
use crate::scan::check_content;

/// The languages known.
#[pyclass(frozen)]
pub struct Languages {
    pub registry: Arc<Registry>,
}

#[pymethods]
impl Languages {
    #[new]
    fn new(folders: Vec<String>) -> PyResult<Self> {
        let registry = Registry::load(&folders).map_err(PyValueError::new_err)?;
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

    /// Language by file name; None when no language claims it.
    pub fn of_path(&self, path: &str) -> Option<&str> {
        self.registry.of_path(path)
    }
}

/// Facts of one file, shared.
#[pyclass(frozen)]
#[derive(Clone)]
pub struct ParsedFile {
    pub facts: Arc<FileFacts>,
    /// Why the file must not be indexed; empty when it may. No facts then.
    pub skip_reason: String,
}

#[pymethods]
impl ParsedFile {
    #[getter]
    fn path(&self) -> &str {
        &self.facts.path
    }

    #[getter]
    fn language(&self) -> &str {
        &self.facts.language
    }

    #[getter]
    fn digest(&self) -> String {
        hex(&self.facts.digest)
    }

    #[getter]
    fn size(&self) -> u32 {
        self.facts.size
    }

    #[getter]
    fn lines(&self) -> u32 {
        self.facts.lines
    }

    #[getter]
    fn module(&self) -> &str {
        &self.facts.module
    }

    #[getter]
    fn is_test(&self) -> bool {
        self.facts.is_test
    }

    #[getter]
    fn is_generated(&self) -> bool {
        self.facts.is_generated
    }

    #[getter]
    fn problems(&self) -> Vec<String> {
        self.facts
            .problems
            .iter()
            .map(|problem| format!("{}: {}: {}", problem.line, problem.code, problem.message))
            .collect()
    }

    #[getter]
    fn skip_reason(&self) -> &str {
        &self.skip_reason
    }

    /// All facts, strings resolved, for tests and debugging.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| json::render(&self.facts))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.encode()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        py.detach(|| Self::decode(data))
            .map_err(|error| PyValueError::new_err(format!("not the facts of a file: {error}")))
    }
}

impl ParsedFile {
    /// Postcard of (FACTS_VERSION, facts, skip_reason).
    pub fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(FACTS_VERSION, &*self.facts, &self.skip_reason))
    }

    /// The opposite of `encode`. Another FACTS_VERSION is an error.
    pub fn decode(data: &[u8]) -> Result<Self, postcard::Error> {
        let (version, rest) = postcard::take_from_bytes::<u32>(data)?;
        if version != FACTS_VERSION {
            return Err(postcard::Error::DeserializeBadEncoding);
        }
        let (facts, skip_reason) = postcard::from_bytes(rest)?;
        Ok(ParsedFile { facts: Arc::new(facts), skip_reason })
    }

    fn skipped(path: &str, data: &[u8], reason: &str) -> Self {
        ParsedFile {
            facts: Arc::new(FileFacts {
                path: path.to_owned(),
                digest: digest_of(data),
                size: data.len().min(u32::MAX as usize) as u32,
                ..FileFacts::default()
            }),
            skip_reason: reason.to_owned(),
        }
    }
}

/// Bounds of parsing one file.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub timeout: Duration,
    /// Take generated files too; their facts say so.
    pub generated: bool,
}

/// Parse one file's content, unless the content says that it must not be indexed.
pub fn parse_content(registry: &Registry, path: &str, data: &[u8], limits: Limits) -> ParsedFile {
    let Some(language) = registry.of_file(path, data) else {
        return ParsedFile::skipped(path, data, "unknown language");
    };
    if data.len() >= u32::MAX as usize / 2 {
        return ParsedFile::skipped(path, data, "too large");
    }
    let reason = check_content(path, data);
    let is_generated = reason == "generated";
    if !(reason.is_empty() || is_generated && limits.generated) {
        return ParsedFile::skipped(path, data, reason);
    }
    let mut facts = file::parse(language, path, data, limits.timeout);
    facts.is_generated = is_generated;
    ParsedFile { facts: Arc::new(facts), skip_reason: String::new() }
}

#[pyfunction]
#[pyo3(signature = (languages, path, data, *, timeout_ms = 2000, generated = false))]
fn parse_bytes(
    py: Python<'_>,
    languages: &Languages,
    path: &str,
    data: &[u8],
    timeout_ms: u64,
    generated: bool,
) -> ParsedFile {
    let limits = Limits { timeout: Duration::from_millis(timeout_ms), generated };
    py.detach(|| parse_content(&languages.registry, path, data, limits))
}

/// A parsed file, or why it could not be read.
#[derive(IntoPyObject)]
enum Outcome {
    Parsed(ParsedFile),
    Unreadable(String),
}

#[pyfunction]
#[pyo3(signature = (languages, root, paths, *, max_bytes = 1_048_576, timeout_ms = 2000, generated = false))]
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
        let real_root = root.canonicalize();
        paths
            .par_iter()
            .map(|path| {
                let data = match &real_root {
                    Ok(root) => read_within(root, path, max_bytes),
                    Err(error) => Err(format!("unreadable: {error}")),
                };
                match data {
                    Ok(data) => Outcome::Parsed(parse_content(registry, path, &data, limits)),
                    Err(reason) => Outcome::Unreadable(reason),
                }
            })
            .collect()
    })
}

/// Read a file below a folder; links that lead out of it, special files and files over the limit are refused.
fn read_within(root: &Path, path: &str, max_bytes: u64) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("unreadable: {error}");
    let real = root.join(path).canonicalize().map_err(unreadable)?;
    if !real.starts_with(root) {
        return Err("unreadable: leads out of the project".to_owned());
    }
    // Before opening: opening a pipe would wait for its writer.
    let metadata = std::fs::metadata(&real).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err("unreadable: not a regular file".to_owned());
    }
    let mut data = Vec::with_capacity(metadata.len().min(max_bytes) as usize + 1);
    File::open(&real)
        .map_err(unreadable)?
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut data)
        .map_err(unreadable)?;
    if data.len() as u64 > max_bytes {
        return Err(format!("unreadable: larger than {max_bytes} bytes"));
    }
    Ok(data)
}

/// Add this module's Python classes and functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Languages>()?;
    module.add_class::<ParsedFile>()?;
    module.add_function(wrap_pyfunction!(parse_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(parse_paths, module)?)?;
    Ok(())
}
