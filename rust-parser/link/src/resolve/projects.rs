//! Projects of a tree that are compiled each by itself: which of several definitions with one name a file means.

use rustc_hash::FxHashMap;

use crate::project::names::{FileId, SymbolId};
use crate::project::query::Query;

/// Largest number of projects that one depends on.
const MAX_PROJECTS: usize = 2_000;
/// Distance to what belongs to no project.
const SHARED: u32 = 1_000_000;

impl Query<'_> {
    /// Returns the folder of the project that a file is compiled with.
    pub(crate) fn project_of(&self, file: FileId) -> Option<&str> {
        let entry = self.index.file(file);
        let (configuration, kind) = (&self.index.configuration, &entry.rules.modules.manifest);
        if kind.is_empty() {
            return None;
        }
        self.configured(&configuration.builds, kind);
        configuration.project_around(kind, &entry.path)
    }

    /// Returns the number of steps from this file's project to that of another file, over the projects that each depends
    /// on; `None` if it does not depend on it.
    pub(crate) fn project_distance(&self, file: FileId) -> Option<u32> {
        *self.distances.borrow_mut().entry(file).or_insert_with(|| {
            let (own, other) = (self.project_of(self.home), self.project_of(file));
            match other {
                _ if own == other => Some(0),
                None => Some(SHARED),
                Some(other) => self.reachable.get_or_init(|| self.reachable_projects(own)).get(other).copied(),
            }
        })
    }

    fn reachable_projects(&self, own: Option<&str>) -> FxHashMap<String, u32> {
        let mut found: FxHashMap<String, u32> = FxHashMap::default();
        let mut open: Vec<String> = own.map(str::to_owned).into_iter().collect();
        let mut steps = 0;
        while !open.is_empty() && found.len() < MAX_PROJECTS {
            steps += 1;
            let mut next = Vec::new();
            for folder in open {
                let key = format!("{}\0{folder}", self.file.rules.modules.manifest);
                for below in self.configured(&self.index.configuration.projects, &key).into_iter().flatten() {
                    if !found.contains_key(below) {
                        found.insert(below.clone(), steps);
                        next.push(below.clone());
                    }
                }
            }
            open = next;
        }
        found
    }

    /// Returns which of several definitions of one name is meant: that of the file's own project, else of the nearest one
    /// that it depends on, else the first.
    pub(crate) fn of_nearest_project(&self, mut found: impl Iterator<Item = SymbolId>) -> Option<SymbolId> {
        let first = found.next()?;
        if self.file.rules.modules.manifest.is_empty() {
            return Some(first);
        }
        let Some(second) = found.next() else { return Some(first) };
        let distance = |symbol: &SymbolId| self.project_distance(self.index.symbols.get(*symbol).file);
        [first, second].into_iter().chain(found).min_by_key(|symbol| distance(symbol).unwrap_or(u32::MAX))
    }

    /// Returns, for a definition of a project that this file's project does not depend on, those of the same qualified name
    /// in other such projects: any of them may be meant. Empty if a definition of a nearer project has the name.
    pub(crate) fn equally_named(&self, symbol: SymbolId) -> Vec<SymbolId> {
        let place = self.index.symbols.get(symbol);
        let target = self.index.file(place.file);
        let is_divided = !target.rules.modules.manifest.is_empty() && target.rules.family == self.file.rules.family;
        if !is_divided {
            return Vec::new();
        }
        self.record_uid(symbol);
        let name = self.index.qualified_name(symbol);
        if !self.index.is_shared_name(name) || self.project_distance(place.file).is_some() {
            return Vec::new();
        }
        let all = self.index.claimants(name);
        let file = |symbol: &SymbolId| self.index.symbols.get(*symbol).file;
        if all.iter().any(|other| self.project_distance(file(other)).is_some()) {
            return Vec::new();
        }
        let own = self.project_of(place.file);
        let is_other = |other: &SymbolId| {
            self.index.file(file(other)).rules.family == target.rules.family && self.project_of(file(other)) != own
        };
        all.into_iter().filter(is_other).collect()
    }
}
