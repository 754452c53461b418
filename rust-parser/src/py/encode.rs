//! The Python class `StaticEncoder`.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::encode::{Model, Scratch, half_bytes};

/// A static embedding model, loaded from a folder with embedding.npy, scale.npy, vocab.txt and model.json.
#[pyclass(frozen, module = "atlas._parser")]
pub struct StaticEncoder {
    model: Model,
}

#[pymethods]
impl StaticEncoder {
    #[new]
    fn new(py: Python<'_>, folder: &str) -> PyResult<Self> {
        let model = py.detach(|| Model::load(Path::new(folder))).map_err(PyValueError::new_err)?;
        Ok(Self { model })
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.model.dimension
    }

    #[getter]
    fn name(&self) -> &str {
        &self.model.name
    }

    #[getter]
    fn fingerprint(&self) -> &str {
        &self.model.fingerprint
    }

    /// Encodes texts in parallel. Returns one L2-normalised vector for each text, as little-endian float16.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        names: Vec<PyBackedStr>,
        is_file: Vec<bool>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        if texts.len() != names.len() || texts.len() != is_file.len() {
            return Err(PyValueError::new_err("texts, names and is_file must have the same length"));
        }
        let vectors: Vec<Vec<u8>> = py.detach(|| {
            texts
                .par_iter()
                .zip(&names)
                .zip(&is_file)
                .with_min_len(64)
                .map_init(
                    || Scratch::new(&self.model),
                    |scratch, ((text, name), is_file)| half_bytes(self.model.chunk(scratch, text, name, *is_file)),
                )
                .collect()
        });
        Ok(vectors.iter().map(|vector| PyBytes::new(py, vector)).collect())
    }

    /// Encodes a query. Returns an L2-normalised vector as little-endian float32; all zeros when no word is known.
    fn query<'py>(&self, py: Python<'py>, text: &str) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = py.detach(|| {
            let mut scratch = Scratch::new(&self.model);
            self.model.query(&mut scratch, text).iter().flat_map(|value| value.to_le_bytes()).collect()
        });
        PyBytes::new(py, &bytes)
    }
}

/// Adds the classes of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<StaticEncoder>()
}
