//! The Python face of linking: `Linker`.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::Project;
use super::index::SubProject;
use crate::cache::FactsCache;
use crate::facts::FileFacts;
use crate::parse::{Languages, ParsedFile};
use crate::unit::Unit;

/// All facts of one project; gives back each file's part of the graph.
#[pyclass]
pub struct Linker {
    project: Project,
    /// Taken in with the next update.
    recalled: Vec<Arc<FileFacts>>,
}

#[pymethods]
impl Linker {
    #[new]
    #[pyo3(signature = (project, languages))]
    fn new(project: &str, languages: &Languages) -> Self {
        let _ = languages; // rules that are data of a language will need them; callers name them already
        Linker { project: Project::new(project), recalled: Vec::new() }
    }

    fn set_subprojects(&mut self, subprojects: Vec<(String, String, String)>) {
        let list = subprojects.into_iter().map(|(folder, kind, name)| SubProject { folder, kind, name });
        self.project.set_subprojects(list.collect());
    }

    /// Take the facts of `(path, digest)` from a cache with the next update; return the paths that it does not hold.
    fn recall(&mut self, py: Python<'_>, cache: &FactsCache, wanted: Vec<(String, String)>) -> PyResult<Vec<String>> {
        let (found, missing) = py.detach(|| cache.recall(wanted))?;
        self.recalled.extend(found);
        Ok(missing)
    }

    #[pyo3(signature = (changed, removed=Vec::new()))]
    fn update(&mut self, py: Python<'_>, changed: Vec<PyRef<'_, ParsedFile>>, removed: Vec<String>) -> Vec<String> {
        let (mut facts, mut removed) = (std::mem::take(&mut self.recalled), removed);
        let is_recalled = !facts.is_empty();
        if is_recalled {
            let gone: FxHashSet<&str> = removed.iter().map(String::as_str).collect();
            facts.retain(|facts| !gone.contains(facts.path.as_str()));
        }
        for file in &changed {
            if file.skip_reason.is_empty() {
                facts.push(file.facts.clone());
            } else {
                facts.retain(|facts| facts.path != file.facts.path);
                removed.push(file.facts.path.clone());
            }
        }
        drop(changed);
        // what is recalled was written by an earlier process: hardly a unit of it will be asked for
        py.detach(|| self.project.update(facts, &removed, !is_recalled))
    }

    fn unit(&self, path: &str) -> PyResult<Unit> {
        let source = self.project.unit(path).ok_or_else(|| PyKeyError::new_err(path.to_owned()))?;
        Ok(Unit::new(source))
    }

    /// Give memory back until the next update: what it needs is unpacked then.
    fn rest(&mut self, py: Python<'_>) {
        py.detach(|| {
            self.project.rest();
            crate::memory::give_back();
        });
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
