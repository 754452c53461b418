//! The Python class `CypherRegex`.

use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regex_automata::hybrid::dfa::Cache;

use atlas_retrieval::cypher_regex;

/// Longest text, in bytes, that is matched with the GIL held.
const LONG_TEXT: usize = 1 << 12;

/// A compiled pattern of Cypher's `=~` operator.
#[pyclass(frozen, module = "atlas._parser")]
pub struct CypherRegex {
    regex: cypher_regex::CypherRegex,
    /// Scratch memory of the last match. A running match takes it out of the lock.
    cache: Mutex<Option<Cache>>,
}

#[pymethods]
impl CypherRegex {
    #[new]
    fn new(pattern: &str) -> PyResult<Self> {
        let regex = cypher_regex::CypherRegex::new(pattern).map_err(PyValueError::new_err)?;
        Ok(Self { regex, cache: Mutex::new(None) })
    }

    /// Returns the memory of the compiled pattern in bytes.
    #[getter]
    fn memory(&self) -> usize {
        self.regex.memory()
    }

    /// Returns whether the whole text matches. Calls `check` periodically; an exception that it raises ends the match.
    fn fullmatch(&self, py: Python<'_>, text: &str, check: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mut cache = self.taken().unwrap_or_else(|| self.regex.create_cache());
        let matched = if text.len() <= LONG_TEXT {
            self.regex.is_match(&mut cache, text, || Ok(()))
        } else {
            let check = check.clone().unbind();
            py.detach(|| self.regex.is_match(&mut cache, text, || Python::attach(|py| check.call0(py).map(drop))))
        };
        if let Ok(mut kept) = self.cache.lock() {
            *kept = Some(cache);
        }
        matched
    }
}

impl CypherRegex {
    fn taken(&self) -> Option<Cache> {
        self.cache.lock().ok()?.take()
    }
}

/// Adds the class of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CypherRegex>()
}
