//! The Python class `FactsCache`.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::parse::ParsedFile;
use atlas_facts::FileFacts;
use atlas_facts::cache::{CacheFile, Entry, Key, parse_digest};
use atlas_parse as parse;

/// A cache of facts on disk, keyed by path and content digest. One append-only file with checksummed records; a torn
/// tail is truncated when the file is opened.
#[pyclass(frozen, module = "atlas._parser")]
pub struct FactsCache {
    file: Mutex<Option<CacheFile>>,
}

#[pymethods]
impl FactsCache {
    #[new]
    fn new(py: Python<'_>, path: &str) -> Self {
        let file = py.detach(|| CacheFile::open(Path::new(path)));
        Self { file: Mutex::new(Some(file)) }
    }

    /// Returns the facts of each `(path, digest)`, or None where the cache has none. Raises ValueError when closed.
    fn get(&self, py: Python<'_>, wanted: Vec<(String, String)>) -> PyResult<Vec<Option<ParsedFile>>> {
        let parsed = |entry: Entry| {
            ParsedFile(parse::ParsedFile { facts: Arc::new(entry.facts), skip_reason: entry.skip_reason })
        };
        let found = py.detach(|| self.open().as_ref().map(|file| file.get(&keys(&wanted))));
        Ok(found.ok_or_else(closed)?.into_iter().map(|entry| entry.map(parsed)).collect())
    }

    fn put(&self, py: Python<'_>, files: Vec<Py<ParsedFile>>) -> PyResult<()> {
        let written = py.detach(|| {
            let entries: Vec<_> =
                files.iter().map(Py::get).map(|file| (file.0.skip_reason.as_str(), &*file.0.facts)).collect();
            self.open().as_mut().map(|file| file.put(&entries))
        });
        written.ok_or_else(closed)
    }

    /// Keeps, for each of these paths, only the facts with the given digest ("" for none), and removes the others.
    fn replace(&self, py: Python<'_>, current: Vec<(String, String)>) -> PyResult<()> {
        py.detach(|| self.open().as_mut().map(|file| file.replace(&keys(&current)))).ok_or_else(closed)
    }

    /// Removes everything but these `(path, digest)` pairs.
    fn keep(&self, py: Python<'_>, wanted: Vec<(String, String)>) -> PyResult<()> {
        py.detach(|| self.open().as_mut().map(|file| file.keep(&keys(&wanted)))).ok_or_else(closed)
    }

    /// Closes the file and releases its lock. Idempotent.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.open().take());
    }
}

/// The facts that the cache holds, and the paths that it does not.
type Recalled = (Vec<Arc<FileFacts>>, Vec<String>);

impl FactsCache {
    /// Returns the facts of each `(path, digest)`. Files that must not be indexed count as missing.
    pub fn recall(&self, wanted: &[(String, String)]) -> PyResult<Recalled> {
        let wanted = keys(wanted);
        let entries = self.open().as_ref().map(|file| file.get(&wanted)).ok_or_else(closed)?;
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for (entry, (path, _)) in entries.into_iter().zip(wanted) {
            match entry.filter(|entry| entry.skip_reason.is_empty()) {
                Some(entry) => found.push(Arc::new(entry.facts)),
                None => missing.push(path),
            }
        }
        Ok((found, missing))
    }

    /// Calls a function with the open cache.
    pub fn with_file<T>(&self, work: impl FnOnce(&CacheFile) -> T) -> PyResult<T> {
        self.open().as_ref().map(work).ok_or_else(closed)
    }

    fn open(&self) -> MutexGuard<'_, Option<CacheFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("the facts cache is closed")
}

/// Converts paths and digests to keys. Text that is not a digest matches no record.
fn keys(wanted: &[(String, String)]) -> Vec<Key> {
    wanted.iter().map(|(path, digest)| (path.clone(), parse_digest(digest))).collect()
}

/// Adds the classes of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FactsCache>()
}
