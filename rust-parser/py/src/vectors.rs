//! The Python class `VectorIndex` and the function `cosines`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use atlas_retrieval::vectors;

/// An in-memory index of int8 vectors with exact search. Mutable and thread-safe.
#[pyclass(frozen, module = "atlas._parser")]
pub struct VectorIndex(vectors::VectorIndex);

#[pymethods]
impl VectorIndex {
    #[new]
    fn new(dimension: usize) -> PyResult<Self> {
        vectors::VectorIndex::new(dimension).map(Self).map_err(PyValueError::new_err)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.count())
    }

    fn ids(&self, py: Python<'_>) -> Vec<i64> {
        py.detach(|| self.0.ids())
    }

    /// Inserts or replaces vectors by id, each little-endian float16. Raises ValueError, and changes nothing, when a
    /// vector has another dimension.
    fn put(&self, py: Python<'_>, ids: Vec<i64>, vectors: Vec<PyBackedBytes>) -> PyResult<()> {
        py.detach(|| self.0.put(&ids, &vectors)).map_err(PyValueError::new_err)
    }

    fn remove(&self, py: Python<'_>, ids: Vec<i64>) {
        py.detach(|| self.0.remove(ids));
    }

    /// Returns the nearest ids by cosine of the quantised vectors, best first, ties by id. `allowed` holds sorted ids
    /// as little-endian int64, or is None for all. A zero query finds nothing, and a zero vector is never found.
    #[pyo3(signature = (query, limit, allowed=None))]
    fn search(
        &self,
        py: Python<'_>,
        query: PyBackedBytes,
        limit: usize,
        allowed: Option<PyBackedBytes>,
    ) -> PyResult<Vec<(i64, f32)>> {
        py.detach(|| self.0.search(&query, limit, allowed.as_deref())).map_err(PyValueError::new_err)
    }

    /// Returns the exact cosines of a float32 query with float16 vectors, in their order; NaN for a vector of length
    /// zero.
    fn cosines(&self, py: Python<'_>, query: PyBackedBytes, vectors: Vec<PyBackedBytes>) -> PyResult<Vec<f64>> {
        py.detach(|| self.0.cosines(&query, &vectors)).map_err(PyValueError::new_err)
    }
}

/// Returns the cosines of a float32 query with float32 vectors, in their order; 0 for a vector of length zero or of
/// another dimension.
#[pyfunction(name = "cosines")]
fn cosines_py(py: Python<'_>, query: PyBackedBytes, vectors: Vec<PyBackedBytes>) -> Vec<f64> {
    py.detach(|| vectors.iter().map(|vector| vectors::cosine(&query, vector)).collect())
}

/// Adds the classes and functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cosines_py, module)?)?;
    module.add_class::<VectorIndex>()
}
