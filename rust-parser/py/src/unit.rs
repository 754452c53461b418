//! The Python class `Unit`: the rows of one file's graph as tuples.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use atlas_facts::content_digest::hex;
use atlas_link::unit::{Field, UnitSource};

/// The graph of one file, or of the project structure (path "").
#[pyclass(frozen)]
pub struct Unit {
    source: UnitSource,
}

impl Unit {
    pub fn new(source: UnitSource) -> Unit {
        Unit { source }
    }
}

#[pymethods]
impl Unit {
    #[getter]
    fn path(&self) -> &str {
        &self.source.path
    }

    #[getter]
    fn digest(&self, py: Python<'_>) -> String {
        py.detach(|| hex(&self.source.digest()))
    }

    #[getter]
    fn resolved(&self) -> u32 {
        self.source.resolved
    }

    #[getter]
    fn unresolved(&self) -> u32 {
        self.source.unresolved
    }

    /// Problems of the file that depend on other files, as `line: code: message`.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.source.problems.iter().map(|one| format!("{}: {}: {}", one.line, one.code, one.message)).collect()
    }

    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = (0..self.source.nodes.len()).map(|position| tuple(py, &self.source.node_fields(position)));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = self.source.edges.iter().map(|edge| tuple(py, &self.source.edge_fields(edge)));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    fn texts<'py>(&self, py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let rows = py.detach(|| self.source.texts(content));
        let tuples = rows.into_iter().map(|row| PyTuple::new(py, row));
        PyList::new(py, tuples.collect::<PyResult<Vec<_>>>()?)
    }
}

fn tuple<'py>(py: Python<'py>, fields: &[Field]) -> PyResult<Bound<'py, PyTuple>> {
    let mut values: Vec<Bound<'py, PyAny>> = Vec::with_capacity(fields.len());
    for field in fields {
        values.push(match field {
            Field::Text(text) if text.len() <= 16 => PyString::intern(py, text).into_any(),
            Field::Text(text) => PyString::new(py, text).into_any(),
            Field::Uid(project, name) => PyString::new(py, &[project, ":", name].concat()).into_any(),
            Field::Hex(0) => PyString::intern(py, "").into_any(),
            Field::Hex(number) => PyString::new(py, &format!("{number:016x}")).into_any(),
            Field::Number(number) => number.into_pyobject(py)?.into_any(),
            Field::Numbers(numbers) => PyTuple::new(py, *numbers)?.into_any(),
            Field::Flag(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
            Field::Fraction(value) => value.into_pyobject(py)?.into_any(),
        });
    }
    PyTuple::new(py, values)
}

/// Adds the classes and functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Unit>()
}
