//! The Python class `Linker`, and the function `match_routes`, with which answers across projects use its rule.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::cache::FactsCache;
use crate::parse::{Languages, ParsedFile};
use crate::unit::Unit;
use atlas_facts::FileFacts;
use atlas_facts::cache::parse_digest;
use atlas_link::Project;
use atlas_link::SubProject;
use atlas_link::{Template, best_fits};
use atlas_parse::Registry;
use atlas_parse::detect::own::is_read_alike;
use atlas_scan::files::Folder;

/// Number of files whose facts are read from the cache at a time.
const RECALLED_FILES: usize = 512;
/// Number of releases until freed memory goes back to the system, which visits the whole heap.
const RELEASES: u32 = 4;

/// Holds the facts of all files of one project and returns each file's part of the graph.
#[pyclass]
pub struct Linker {
    project: Project,
    registry: Arc<Registry>,
    is_recalled: bool,
    /// Since freed memory last went back to the system.
    releases: u32,
}

#[pymethods]
impl Linker {
    #[new]
    #[pyo3(signature = (project, languages, low_memory=false))]
    fn new(project: &str, languages: &Languages, low_memory: bool) -> Self {
        let registry = languages.registry.clone();
        let project = Project::new(project, registry.settings(), low_memory);
        Linker { project, registry, is_recalled: false, releases: 0 }
    }

    fn set_subprojects(&mut self, subprojects: Vec<(String, String, String)>) {
        let list = subprojects.into_iter().map(|(folder, kind, name)| SubProject { folder, kind, name });
        self.project.set_subprojects(list.collect());
    }

    /// Adds the facts of each `(path, digest)` from a cache. Returns the paths that the cache does not hold, and those
    /// of which it holds facts by other rules of the project than now apply to the file below `root`.
    #[pyo3(signature = (cache, wanted, root=None))]
    fn recall(
        &mut self,
        py: Python<'_>,
        cache: &FactsCache,
        wanted: Vec<(String, String)>,
        root: Option<&str>,
    ) -> PyResult<Vec<String>> {
        py.detach(|| {
            let mut missing = Vec::new();
            let folder = root.and_then(|root| Folder::open(Path::new(root)).ok());
            for part in wanted.chunks(RECALLED_FILES) {
                let (found, others) = cache.recall(part)?;
                let is_current = |facts: &Arc<FileFacts>| {
                    root.is_none() || folder.as_ref().is_some_and(|root| is_read_alike(&self.registry, root, facts))
                };
                let (found, differing): (Vec<_>, Vec<_>) = found.into_par_iter().partition(is_current);
                self.is_recalled |= !found.is_empty();
                self.project.take(found, &[]);
                missing.extend(others);
                missing.extend(differing.into_iter().map(|facts| facts.path.clone()));
            }
            Ok(missing)
        })
    }

    /// Writes a snapshot of the linked project beside the cache, or removes the one that is there if that is not
    /// possible. Returns whether it wrote one.
    fn save(&self, py: Python<'_>, cache: &FactsCache, made_with: &str) -> PyResult<bool> {
        py.detach(|| cache.with_file(|file| file.write_snapshot(|out| self.project.snapshot(made_with, out))))
    }

    /// Continues from the snapshot beside the cache, if it was made with the same text and of the same units: path,
    /// digest of the content, and digest of the graph of each file, and of the structure under "". Returns whether it did.
    fn restore(
        &mut self,
        py: Python<'_>,
        cache: &FactsCache,
        made_with: &str,
        units: Vec<(String, String, String)>,
    ) -> PyResult<bool> {
        py.detach(|| {
            let digests = |(path, content, unit): (String, String, String)| {
                Some((path, (parse_digest(&content), parse_digest(&unit)?)))
            };
            let Some(units) = units.into_iter().map(digests).collect::<Option<_>>() else { return Ok(false) };
            let settings = self.registry.settings();
            let found = cache.with_file(|file| self.project.restored(settings, made_with, &units, file))?;
            Ok(found.map(|project| self.project = project).is_some())
        })
    }

    #[pyo3(signature = (changed, removed=Vec::new()))]
    fn take(&mut self, py: Python<'_>, changed: Vec<PyRef<'_, ParsedFile>>, removed: Vec<String>) {
        let (mut facts, mut removed) = (Vec::with_capacity(changed.len()), removed);
        for file in &changed {
            if file.0.skip_reason.is_empty() {
                facts.push(file.0.facts.clone());
            } else {
                facts.retain(|facts: &Arc<FileFacts>| facts.path != file.0.facts.path);
                removed.push(file.0.facts.path.clone());
            }
        }
        drop(changed);
        py.detach(|| self.project.take(facts, &removed));
    }

    #[pyo3(signature = (changed=Vec::new(), removed=Vec::new()))]
    fn update(&mut self, py: Python<'_>, changed: Vec<PyRef<'_, ParsedFile>>, removed: Vec<String>) -> Vec<String> {
        self.take(py, changed, removed);
        // An earlier process has already written these files, so few of their units will be requested.
        let keep_edges = !std::mem::take(&mut self.is_recalled);
        py.detach(|| self.project.update(keep_edges))
    }

    fn unit(&self, path: &str) -> PyResult<Unit> {
        let source = self.project.unit(path).ok_or_else(|| PyKeyError::new_err(path.to_owned()))?;
        Ok(Unit::new(source))
    }

    fn pack(&mut self, py: Python<'_>) {
        py.detach(|| self.project.pack());
    }

    /// Frees the memory of files whose units were made, if no other unit needs it. Returns whether it did: then there
    /// must be no further update.
    fn release(&mut self, py: Python<'_>, paths: Vec<String>) -> bool {
        py.detach(|| {
            let is_released = self.project.release(&paths);
            self.releases += u32::from(is_released);
            if self.releases == RELEASES {
                self.releases = 0;
                atlas_sys::heap::trim_heap();
            }
            is_released
        })
    }

    /// Frees memory that only updates need; the next update unpacks it again.
    fn rest(&mut self, py: Python<'_>) {
        py.detach(|| {
            self.project.rest();
            atlas_sys::heap::trim_heap();
        });
    }

    #[pyo3(signature = (paths=None))]
    fn digests(&self, paths: Option<Vec<String>>) -> HashMap<String, String> {
        let found = match paths {
            Some(paths) => paths
                .into_iter()
                .filter_map(|path| {
                    let digest = self.project.digest(&path)?;
                    Some((path, digest))
                })
                .collect(),
            None => self.project.digests(),
        };
        found.into_iter().map(|(path, digest)| (path, atlas_facts::content_digest::hex(&digest))).collect()
    }
}

/// Returns, for each call (path and methods), the positions of the routes (method and path) that it fits best, and whether
/// they have segments before those of the call.
#[pyfunction]
fn match_routes(
    py: Python<'_>,
    calls: Vec<(String, String)>,
    routes: Vec<(String, String)>,
) -> Vec<(Vec<usize>, bool)> {
    py.detach(|| {
        let routes: Vec<Template> = routes.iter().map(|(method, path)| Template::new(method, path)).collect();
        calls.iter().map(|(path, methods)| best_fits(path, methods, &routes)).collect()
    })
}

/// Adds the classes and functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Linker>()?;
    module.add_function(wrap_pyfunction!(match_routes, module)?)
}
