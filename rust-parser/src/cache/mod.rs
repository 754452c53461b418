//! Facts on disk by path and content digest, so that a restart does not parse again. It may cost time, never truth.

mod file;

use pyo3::prelude::*;

pub use file::{CacheFile, Entry};

/// Add this module's Python classes.
pub fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
