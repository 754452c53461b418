//! The Python functions `content_digest`, `digest_paths`, `stamps`, `read_path` and `read_small`.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::content_digest::{digest_of, digest_of_file, hex};
use crate::files::{Folder, read_linked};

#[pyfunction]
fn content_digest(data: &[u8]) -> String {
    hex(&digest_of(data))
}

/// Computes the digests of files in parallel. Files over the size limit, by default the largest that the parser
/// accepts, are not read.
#[pyfunction]
#[pyo3(signature = (root, paths, max_bytes = 1_073_741_824))]
fn digest_paths(python: Python<'_>, root: &str, paths: Vec<String>, max_bytes: u64) -> Vec<String> {
    python.detach(|| {
        let root = Folder::open(Path::new(root));
        let digest = |path: &String| digest_of_file(root.as_ref().ok()?, path, max_bytes).ok();
        paths.par_iter().map(|path| digest(path).map_or_else(String::new, |digest| hex(&digest))).collect()
    })
}

/// Returns a number per path that differs once its file or the entries of its folder have changed, in parallel; 0 for
/// a missing path and for one that changed at or after `young_ns`. Opens nothing.
#[pyfunction]
fn stamps(python: Python<'_>, root: &str, paths: Vec<String>, young_ns: i64) -> Vec<u64> {
    python.detach(|| {
        let root = Folder::open(Path::new(root));
        let stamp = |path: &String| root.as_ref().ok()?.stamp(path, young_ns);
        paths.par_iter().with_min_len(256).map(|path| stamp(path).unwrap_or(0)).collect()
    })
}

/// Returns the content of a regular file below a folder, or None.
#[pyfunction]
fn read_path<'py>(python: Python<'py>, root: &str, path: &str, max_bytes: u64) -> Option<Bound<'py, PyBytes>> {
    let content = python.detach(|| Folder::open(Path::new(root))?.read_file(path, max_bytes)).ok()?;
    Some(PyBytes::new(python, &content))
}

/// Returns the content of a regular file, or None. Follows symbolic links.
#[pyfunction]
fn read_small<'py>(python: Python<'py>, path: PathBuf, max_bytes: u64) -> Option<Bound<'py, PyBytes>> {
    let content = python.detach(|| read_linked(&path, max_bytes)).ok()?;
    Some(PyBytes::new(python, &content))
}

/// Adds the functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(content_digest, module)?)?;
    module.add_function(wrap_pyfunction!(digest_paths, module)?)?;
    module.add_function(wrap_pyfunction!(stamps, module)?)?;
    module.add_function(wrap_pyfunction!(read_path, module)?)?;
    module.add_function(wrap_pyfunction!(read_small, module)?)?;
    Ok(())
}
