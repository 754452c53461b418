//! `FactsCache`.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::cache::{CacheFile, Entry, Key, parse_digest};
use crate::facts::FileFacts;
use crate::parse;
use crate::py::parse::ParsedFile;

/// Facts on disk by content digest and path: one append-only file, checksummed records, torn tail cut off, mutable.
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

    /// (path, digest) each.
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

    /// Of these paths, keep only the facts with the digest ("" = none) and erase the others.
    fn replace(&self, py: Python<'_>, current: Vec<(String, String)>) -> PyResult<()> {
        py.detach(|| self.open().as_mut().map(|file| file.replace(&keys(&current)))).ok_or_else(closed)
    }

    /// Erase everything else.
    fn keep(&self, py: Python<'_>, wanted: Vec<(String, String)>) -> PyResult<()> {
        py.detach(|| self.open().as_mut().map(|file| file.keep(&keys(&wanted)))).ok_or_else(closed)
    }

    /// Let another process write; idempotent.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.open().take());
    }
}

/// Facts found, and the paths that are missing.
type Recalled = (Vec<Arc<FileFacts>>, Vec<String>);

impl FactsCache {
    /// The facts of `(path, digest)`; those of a file that must not be indexed are missing.
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

    fn open(&self) -> MutexGuard<'_, Option<CacheFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("the facts cache is closed")
}

/// Paths and digests; text that is no digest belongs to no record.
fn keys(wanted: &[(String, String)]) -> Vec<Key> {
    wanted.iter().map(|(path, digest)| (path.clone(), parse_digest(digest))).collect()
}

/// Add this module's Python classes.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FactsCache>()
}
