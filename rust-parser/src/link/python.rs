//! The Python face of linking: `Linker`.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use super::Project;
use super::index::SubProject;
use crate::facts::FileFacts;
use crate::parse::{Languages, ParsedFile};
use crate::unit::Unit;

/// All facts of one project; gives back each file's part of the graph.
#[pyclass]
pub struct Linker {
    project: Project,
}

#[pymethods]
impl Linker {
    #[new]
    #[pyo3(signature = (project, languages))]
    fn new(project: &str, languages: &Languages) -> Self {
        let _ = languages; // rules that are data of a language will need them; callers name them already
        Linker { project: Project::new(project) }
    }

    fn set_subprojects(&mut self, subprojects: Vec<(String, String, String)>) {
        let list = subprojects.into_iter().map(|(folder, kind, name)| SubProject { folder, kind, name });
        self.project.set_subprojects(list.collect());
    }

    #[pyo3(signature = (changed, removed=Vec::new()))]
    fn update(&mut self, py: Python<'_>, changed: Vec<PyRef<'_, ParsedFile>>, removed: Vec<String>) -> Vec<String> {
        let (mut facts, mut removed): (Vec<Arc<FileFacts>>, Vec<String>) = (Vec::new(), removed);
        for file in &changed {
            if file.skip_reason.is_empty() {
                facts.push(file.facts.clone());
            } else {
                removed.push(file.facts.path.clone());
            }
        }
        drop(changed);
        py.detach(|| self.project.update(facts, &removed))
    }

    fn unit(&self, path: &str) -> PyResult<Unit> {
        let source = self.project.unit(path).ok_or_else(|| PyKeyError::new_err(path.to_owned()))?;
        Ok(Unit::new(source))
    }

    fn digests(&self) -> HashMap<String, String> {
        let all = self.project.digests().into_iter();
        all.map(|(path, digest)| (path, crate::unit::hex(&digest))).collect()
    }
}

/// Add this module's Python classes and functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Linker>()
}
