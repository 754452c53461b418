//! The Python classes `StaticEncoder`, `ProseEncoder` and `EmotionEncoder`.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use atlas_retrieval::encode::{
    EmotionModel, Model, ProseModel, ProseScratch, Scratch, code_cosines, cosines, half_bytes,
};

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
        self.model.table.dimension
    }

    #[getter]
    fn name(&self) -> &str {
        &self.model.table.name
    }

    #[getter]
    fn fingerprint(&self) -> &str {
        &self.model.table.fingerprint
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
            single_bytes(self.model.query(&mut scratch, text))
        });
        PyBytes::new(py, &bytes)
    }

    /// Returns how similar each (name, text) is to a question; nothing when no word of it is known.
    fn cosines(&self, py: Python<'_>, question: &str, named: Vec<(PyBackedStr, PyBackedStr)>) -> Vec<f64> {
        py.detach(|| code_cosines(&self.model, question, &named))
    }
}

/// A static embedding model of prose, loaded from a folder with embedding.npy, scale.npy, vocab.txt and model.json.
#[pyclass(frozen, module = "atlas._parser")]
pub struct ProseEncoder {
    model: ProseModel,
}

#[pymethods]
impl ProseEncoder {
    #[new]
    fn new(py: Python<'_>, folder: &str) -> PyResult<Self> {
        let model = py.detach(|| ProseModel::load(Path::new(folder))).map_err(PyValueError::new_err)?;
        Ok(Self { model })
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.model.table.dimension
    }

    #[getter]
    fn name(&self) -> &str {
        &self.model.table.name
    }

    #[getter]
    fn fingerprint(&self) -> &str {
        &self.model.table.fingerprint
    }

    /// Encodes texts in parallel. Returns one L2-normalised vector for each text, as little-endian float16.
    fn encode<'py>(&self, py: Python<'py>, texts: Vec<PyBackedStr>) -> Vec<Bound<'py, PyBytes>> {
        let vectors: Vec<Vec<u8>> = py.detach(|| {
            let encode = |scratch: &mut ProseScratch, text: &PyBackedStr| half_bytes(self.model.encode(scratch, text));
            texts.par_iter().with_min_len(64).map_init(ProseScratch::default, encode).collect()
        });
        vectors.iter().map(|vector| PyBytes::new(py, vector)).collect()
    }

    /// Encodes a query. Returns an L2-normalised vector as little-endian float32; all zeros when no word is known.
    fn query<'py>(&self, py: Python<'py>, text: &str) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| single_bytes(self.model.encode(&mut ProseScratch::default(), text)));
        PyBytes::new(py, &bytes)
    }

    /// Returns how similar each text of some files is to a question; nothing when no word of it is known.
    fn cosines(&self, py: Python<'_>, question: &str, files: Vec<(PyBackedStr, Vec<PyBackedStr>)>) -> Vec<f64> {
        py.detach(|| cosines(&self.model, question, &files))
    }

    /// Returns the rows of the tokens of a text, in the order of the text.
    fn tokens(&self, py: Python<'_>, text: &str) -> Vec<u32> {
        py.detach(|| self.model.tokens(text))
    }
}

impl ProseEncoder {
    /// Returns the model.
    pub fn model(&self) -> &ProseModel {
        &self.model
    }
}

/// A classifier of emotions, loaded from a folder with weights.npy, idf.npy, vocab.txt and model.json.
#[pyclass(frozen, module = "atlas._parser")]
pub struct EmotionEncoder {
    model: EmotionModel,
}

#[pymethods]
impl EmotionEncoder {
    #[new]
    fn new(py: Python<'_>, folder: &str) -> PyResult<Self> {
        let model = py.detach(|| EmotionModel::load(Path::new(folder))).map_err(PyValueError::new_err)?;
        Ok(Self { model })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.model.name
    }

    #[getter]
    fn labels(&self) -> Vec<String> {
        self.model.labels.clone()
    }

    /// Returns the probability of each label.
    fn probabilities(&self, py: Python<'_>, text: &str) -> Vec<f32> {
        py.detach(|| self.model.probabilities(text))
    }

    /// Returns one L2-normalised emotional vector for each text, as little-endian float32.
    fn encode<'py>(&self, py: Python<'py>, texts: Vec<PyBackedStr>) -> Vec<Bound<'py, PyBytes>> {
        let encode = |text: &PyBackedStr| single_bytes(&self.model.encode(text));
        let vectors: Vec<Vec<u8>> = py.detach(|| texts.par_iter().with_min_len(64).map(encode).collect());
        vectors.iter().map(|vector| PyBytes::new(py, vector)).collect()
    }
}

/// Returns the values in single precision, little-endian.
fn single_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Adds the classes of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<StaticEncoder>()?;
    module.add_class::<ProseEncoder>()?;
    module.add_class::<EmotionEncoder>()
}
