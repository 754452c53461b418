//! `VectorIndex`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::vectors;

/// Vectors in memory as int8 for an exact scan. Mutable; safe to use from several threads.
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

    /// float16 little-endian each; replaces by id. Nothing is changed when one of them has another dimension.
    fn put(&self, py: Python<'_>, ids: Vec<i64>, vectors: Vec<PyBackedBytes>) -> PyResult<()> {
        py.detach(|| self.0.put(&ids, &vectors)).map_err(PyValueError::new_err)
    }

    fn remove(&self, py: Python<'_>, ids: Vec<i64>) {
        py.detach(|| self.0.remove(ids));
    }

    /// Best first by cosine of the quantised vectors, ties by id. `allowed`: int64 little-endian sorted ids, or None for all.
    /// A zero query finds nothing, and a zero vector is never found.
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

    /// Exact cosines of a float32 question with float16 vectors, in their order; NaN where one has no length.
    fn cosines(&self, py: Python<'_>, query: PyBackedBytes, vectors: Vec<PyBackedBytes>) -> PyResult<Vec<f64>> {
        py.detach(|| self.0.cosines(&query, &vectors)).map_err(PyValueError::new_err)
    }
}

/// Add this module's Python classes.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<VectorIndex>()
}
