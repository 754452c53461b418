//! The Python functions `content_digest`, `digest_paths`, `stamps`, `paths_that_differ`,
//! `positions_that_differ`, `read_path` and `read_small`.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use atlas_facts::content_digest::{digest_of, hex};
use atlas_manifests::{MAX_LOCK_BYTES, is_lock};
use atlas_scan::files::{Folder, Recorded, digest_of_file, read_linked};

const STAMP_BYTES: usize = 8;

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

/// Returns 8 bytes per path that differ once its file or the entries of its folder have changed, in parallel; zeros for
/// a missing path and for one that changed at or after `young_ns`. `paths` holds one path per line. Opens nothing.
#[pyfunction]
fn stamps<'py>(python: Python<'py>, root: &str, paths: &str, young_ns: i64) -> Bound<'py, PyBytes> {
    let found = python.detach(|| stamps_of(root, paths, young_ns));
    PyBytes::new(python, found.as_flattened())
}

/// Returns the paths, one per line of `paths`, whose stamps are no longer these or are zeros. Raises ValueError unless
/// there is one stamp per path.
#[pyfunction]
fn paths_that_differ(
    python: Python<'_>,
    root: &str,
    paths: &str,
    stamps: &[u8],
    young_ns: i64,
) -> PyResult<Vec<String>> {
    python.detach(|| {
        let found = stamps_of(root, paths, young_ns);
        if found.as_flattened().len() != stamps.len() {
            return Err(PyValueError::new_err("not one stamp per path"));
        }
        let before = stamps.as_chunks::<STAMP_BYTES>().0;
        let differs =
            |(now, before): (&[u8; STAMP_BYTES], &[u8; STAMP_BYTES])| now != before || *now == [0; STAMP_BYTES];
        // Dividing the paths again would take longer than all these comparisons.
        if !found.iter().zip(before).any(differs) {
            return Ok(Vec::new());
        }
        let pairs = paths.split('\n').zip(found.iter().zip(before));
        Ok(pairs.filter(|(_, pair)| differs(*pair)).map(|(path, _)| path.to_owned()).collect())
    })
}

fn stamps_of(root: &str, paths: &str, young_ns: i64) -> Vec<[u8; STAMP_BYTES]> {
    let root = Folder::open(Path::new(root));
    let stamp = |path: &str| root.as_ref().ok()?.stamp(path, young_ns);
    paths.par_split('\n').map(|path| stamp(path).unwrap_or(0).to_le_bytes()).collect()
}

/// Returns the positions of the paths, separated by zero bytes, that are missing or differ from what is recorded of
/// them: three numbers of 8 bytes per path (size, modification time in nanoseconds, type bits of the mode). In parallel;
/// opens nothing. Raises ValueError unless there is one record per path.
#[pyfunction]
fn positions_that_differ(python: Python<'_>, root: PathBuf, paths: &[u8], recorded: &[u8]) -> PyResult<Vec<usize>> {
    const BYTES: usize = 3 * size_of::<i64>();
    if paths.is_empty() && recorded.is_empty() {
        return Ok(Vec::new());
    }
    let paths: Vec<&[u8]> = paths.split(|byte| *byte == 0).collect();
    if paths.len() * BYTES != recorded.len() {
        return Err(PyValueError::new_err("not one record per path"));
    }
    python.detach(|| {
        let root = Folder::open(&root)?;
        let records = recorded.par_chunks_exact(BYTES).map(|bytes| {
            let number = |at: usize| i64::from_le_bytes(std::array::from_fn(|index| bytes[at * 8 + index]));
            Recorded { size: number(0), mtime_ns: number(1), kind: number(2) }
        });
        let pairs = paths.par_iter().zip(records).enumerate().with_min_len(256);
        Ok(pairs.filter(|(_, (path, record))| root.differs(path, record)).map(|(position, _)| position).collect())
    })
}

/// Returns the content of a regular file below a folder, or None.
#[pyfunction]
fn read_path<'py>(python: Python<'py>, root: &str, path: &str, max_bytes: u64) -> Option<Bound<'py, PyBytes>> {
    let max_bytes = if is_lock(path) { max_bytes.max(MAX_LOCK_BYTES) } else { max_bytes };
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
    module.add_function(wrap_pyfunction!(paths_that_differ, module)?)?;
    module.add_function(wrap_pyfunction!(positions_that_differ, module)?)?;
    module.add_function(wrap_pyfunction!(read_path, module)?)?;
    module.add_function(wrap_pyfunction!(read_small, module)?)?;
    Ok(())
}
