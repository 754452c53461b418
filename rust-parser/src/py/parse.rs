//! The Python face of parsing: `Languages`, `ParsedFile`, `parse_bytes`, `parse_paths`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::admission::ByteLimit;
use crate::content::{digest_of, hex};
use crate::facts::{FACTS_VERSION, FileFacts, Problem};
use crate::files::{Folder, read_capped};
use crate::parse::Registry;
use crate::parse::{file, json};
use crate::scan::check_content;
use crate::secrets;
use crate::secrets::Secret;

/// A file of 1 MiB that a person wrote has a tenth of it; each takes some ten kilobytes until it is written.
const MAX_DEFINITIONS: usize = 20_000;

/// Secrets of one file that are told one by one.
const MAX_SECRETS: usize = 100;

/// Source that is parsed at the same time. A hostile file takes a hundred times its size while it is parsed.
const BYTES_AT_ONCE: u64 = 4 << 20;

static PARSED_AT_ONCE: ByteLimit = ByteLimit::new(BYTES_AT_ONCE);

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
    let Ok(found) = secrets::find(data) else {
        return ParsedFile::skipped(path, data, "secret-scan-limit");
    };
    let mut facts = file::parse(language, path, &secrets::mask(data, &found), limits.timeout);
    if facts.definitions.len() > MAX_DEFINITIONS {
        return ParsedFile::skipped(path, data, "too-many-definitions");
    }
    facts.is_generated = is_generated;
    if !found.is_empty() {
        // The identity of the file is that of its bytes on disk; everything else comes from the masked text.
        facts.digest = digest_of(data);
        note_secrets(&mut facts, &found);
    }
    ParsedFile { facts: Arc::new(facts), skip_reason: String::new() }
}

/// One problem a line and rule, so that status tells where secrets are masked, and whoever reads the file that they are.
fn note_secrets(facts: &mut FileFacts, found: &[Secret]) {
    let mut told: Vec<(u32, &str)> = found.iter().map(|secret| (secret.line, secret.rule)).collect();
    told.dedup();
    let left = told.len().saturating_sub(MAX_SECRETS);
    for &(line, rule) in told.iter().take(MAX_SECRETS) {
        facts.problems.push(Problem { line, code: "secret".to_owned(), message: rule.to_owned() });
    }
    if left > 0 {
        let line = told[MAX_SECRETS].0;
        facts.problems.push(Problem { line, code: "secret".to_owned(), message: format!("and {left} more below") });
    }
    facts.problems.sort_by(|a, b| (a.line, &a.code, &a.message).cmp(&(b.line, &b.code, &b.message)));
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
        let root = Folder::open(&root);
        paths
            .par_iter()
            .map(|path| {
                let parsed = match &root {
                    Ok(root) => parse_below(registry, root, path, max_bytes, limits),
                    Err(error) => Err(format!("unreadable: {error}")),
                };
                parsed.map_or_else(Outcome::Unreadable, Outcome::Parsed)
            })
            .collect()
    })
}

/// Read and parse a file below a folder. Links, special files and files over the limit are refused.
fn parse_below(
    registry: &Registry,
    root: &Folder,
    path: &str,
    max_bytes: u64,
    limits: Limits,
) -> Result<ParsedFile, String> {
    let too_large = || format!("unreadable: larger than {max_bytes} bytes");
    let reason = |error: io::Error| match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        _ => format!("unreadable: {error}"),
    };
    let file = root.open_file(path).map_err(reason)?;
    let size = file.metadata().map_err(reason)?.len();
    if size > max_bytes {
        return Err(too_large());
    }
    let _share = PARSED_AT_ONCE.enter(size);
    let data = read_capped(file, max_bytes).map_err(reason)?;
    Ok(parse_content(registry, path, &data, limits))
}

/// Add this module's Python classes and functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Languages>()?;
    module.add_class::<ParsedFile>()?;
    module.add_function(wrap_pyfunction!(parse_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(parse_paths, module)?)?;
    Ok(())
}
