//! Content digests: what says whether a file is still the one that was indexed. Knows bytes, not languages.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::files::{Folder, read_linked};

/// Add this module's Python functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(content_digest, module)?)?;
    module.add_function(wrap_pyfunction!(digest_paths, module)?)?;
    module.add_function(wrap_pyfunction!(read_path, module)?)?;
    module.add_function(wrap_pyfunction!(read_small, module)?)?;
    Ok(())
}

/// First 16 bytes of BLAKE3: the identity of a file's content.
pub fn digest_of(data: &[u8]) -> [u8; 16] {
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::hash(data).as_bytes()[..16]);
    digest
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[pyfunction]
fn content_digest(data: &[u8]) -> String {
    hex(&digest_of(data))
}

/// Larger files are not read; the default is what the parser could still take.
#[pyfunction]
#[pyo3(signature = (root, paths, max_bytes = 1_073_741_824))]
fn digest_paths(python: Python<'_>, root: &str, paths: Vec<String>, max_bytes: u64) -> Vec<String> {
    python.detach(|| {
        let root = Folder::open(Path::new(root));
        let digest = |path: &String| digest_of_file(root.as_ref().ok()?, path, max_bytes).ok();
        paths.par_iter().map(|path| digest(path).map_or_else(String::new, |digest| hex(&digest))).collect()
    })
}

/// Read a file piece by piece.
fn digest_of_file(root: &Folder, path: &str, max_bytes: u64) -> io::Result<[u8; 16]> {
    let file = root.open_file(path)?;
    let size = file.metadata()?.len();
    if size > max_bytes {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut hasher = blake3::Hasher::new();
    // It must not grow without end meanwhile.
    hasher.update_reader(file.take(size.saturating_add(1)))?;
    let mut digest = [0; 16];
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Ok(digest)
}

/// The content of a regular file below a folder, or None.
#[pyfunction]
fn read_path<'py>(python: Python<'py>, root: &str, path: &str, max_bytes: u64) -> Option<Bound<'py, PyBytes>> {
    let content = python.detach(|| Folder::open(Path::new(root))?.read_file(path, max_bytes)).ok()?;
    Some(PyBytes::new(python, &content))
}

/// The content of a regular file, or None; links are followed.
#[pyfunction]
fn read_small<'py>(python: Python<'py>, path: PathBuf, max_bytes: u64) -> Option<Bound<'py, PyBytes>> {
    let content = python.detach(|| read_linked(&path, max_bytes)).ok()?;
    Some(PyBytes::new(python, &content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_the_head_of_blake3() {
        // First 16 bytes of the official BLAKE3 test vector for the empty input.
        assert_eq!(hex(&digest_of(b"")), "af1349b9f5f9a1a6a0404dea36dcc949");
    }
}
