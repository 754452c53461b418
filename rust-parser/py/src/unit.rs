//! The Python class `Unit`: the rows of one file's graph as tuples.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;

use atlas_facts::content_digest::hex;
use atlas_link::unit::{Field, UnitSource};

/// The graph of one file, or of the project structure (path "").
#[pyclass(frozen)]
pub struct Unit {
    source: UnitSource,
    made: Mutex<Made>,
}

impl Unit {
    pub fn new(source: UnitSource) -> Unit {
        Unit { source, made: Mutex::default() }
    }

    /// Makes rows with the strings made before, without a lock meanwhile: Python may run other threads.
    fn rows<R>(&self, make: impl FnOnce(&mut Made) -> R) -> R {
        let mut made = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        let rows = make(&mut made);
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = made;
        rows
    }
}

/// Longest text, in bytes, of which a process keeps one copy: labels, kinds, strategies.
const SHORT: usize = 16;

/// Strings of Python by their text. Rows share them: a node is named by its own row, its words and all its edges, and
/// an edge has no text of its own.
#[derive(Default)]
struct Made {
    /// By uid without the project.
    uids: FxHashMap<Box<str>, Py<PyString>>,
    short: FxHashMap<Box<str>, Py<PyString>>,
}

impl Made {
    fn uid<'py>(&mut self, py: Python<'py>, project: &str, name: &str) -> Bound<'py, PyString> {
        if let Some(known) = self.uids.get(name) {
            return known.bind(py).clone();
        }
        let made = PyString::new(py, &[project, ":", name].concat());
        self.uids.insert(name.into(), made.clone().unbind());
        made
    }

    /// Returns the string of a uid with the project, the one of the node's row if that was made before.
    fn whole<'py>(&self, py: Python<'py>, uid: &str) -> Bound<'py, PyString> {
        let name = uid.split_once(':').map_or(uid, |(_, name)| name);
        let known = self.uids.get(name).map(|known| known.bind(py).clone());
        // a project's name may contain a colon
        known.filter(|known| known.to_str().is_ok_and(|known| known == uid)).unwrap_or_else(|| PyString::new(py, uid))
    }

    fn short<'py>(&mut self, py: Python<'py>, text: &str) -> Bound<'py, PyString> {
        if let Some(known) = self.short.get(text) {
            return known.bind(py).clone();
        }
        let made = PyString::intern(py, text);
        self.short.insert(text.into(), made.clone().unbind());
        made
    }

    fn tuple<'py>(&mut self, py: Python<'py>, fields: &[Field]) -> PyResult<Bound<'py, PyTuple>> {
        let mut values: Vec<Bound<'py, PyAny>> = Vec::with_capacity(fields.len());
        for field in fields {
            values.push(match field {
                Field::Text(text) if text.len() <= SHORT => self.short(py, text).into_any(),
                Field::Text(text) => PyString::new(py, text).into_any(),
                Field::Uid(project, name) => self.uid(py, project, name).into_any(),
                Field::Hex(0) => self.short(py, "").into_any(),
                Field::Hex(number) => PyString::new(py, &format!("{number:016x}")).into_any(),
                Field::Number(number) => number.into_pyobject(py)?.into_any(),
                Field::Numbers(numbers) => PyTuple::new(py, *numbers)?.into_any(),
                Field::Flag(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
                Field::Fraction(value) => value.into_pyobject(py)?.into_any(),
            });
        }
        PyTuple::new(py, values)
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
        self.rows(|made| {
            let fields = (0..self.source.nodes.len()).map(|position| self.source.node_fields(position));
            let rows = fields.map(|fields| made.tuple(py, &fields));
            PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
        })
    }

    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.rows(|made| {
            let rows = self.source.edges.iter().map(|edge| made.tuple(py, &self.source.edge_fields(edge)));
            PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
        })
    }

    fn texts<'py>(&self, py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let texts = py.detach(|| self.source.texts(content));
        self.rows(|made| {
            let mut of_path = (String::new(), PyString::new(py, ""));
            let rows = texts.into_iter().map(|[uid, name, qualified, docstring, source, path]| {
                if of_path.0 != path {
                    of_path = (path.clone(), PyString::new(py, &path));
                }
                let words = [name, qualified, docstring, source].map(|text| PyString::new(py, &text));
                let [name, qualified, docstring, source] = words;
                PyTuple::new(py, [made.whole(py, &uid), name, qualified, docstring, source, of_path.1.clone()])
            });
            PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
        })
    }
}

/// Adds the classes and functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Unit>()
}
