//! Locked versions: from a declared dependency to the entry of the lock file that is valid for its manifest.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::declared::Declared;
use super::files::{ManifestFile, ManifestFiles, around};
use super::names::normal;
use crate::project::paths::folder_of;
use atlas_facts::{Ecosystem, Locked, Role};

/// Largest number of versions of one package that are listed.
const MAX_VERSIONS: usize = 5;

/// All lock files of a project.
pub struct Locks<'i> {
    locks: Vec<Lock<'i>>,
}

struct Lock<'i> {
    file: ManifestFile<'i>,
    /// Entries by normal name.
    entries: OnceCell<FxHashMap<String, Vec<&'i Locked>>>,
}

impl<'i> Locks<'i> {
    pub fn of(files: &ManifestFiles<'i>) -> Locks<'i> {
        let locks = files.iter().filter(|file| file.manifest.role == Role::Lock);
        Locks { locks: locks.map(|file| Lock { file, entries: OnceCell::new() }).collect() }
    }

    /// Returns the locked versions of a dependency, joined, and the place of the first in a lock file ("" if a manifest
    /// names the version itself).
    pub fn version(&self, one: &Declared, project: &str, project_folder: &str) -> (String, String) {
        if one.is_local {
            return Default::default();
        }
        if one.ecosystem == Ecosystem::Go {
            // The versions in a `go.mod` are those that are built.
            return (one.dependency.range.split(' ').next().unwrap_or_default().to_owned(), String::new());
        }
        let folder = folder_of(&one.manifest);
        let fitting = || self.locks.iter().filter(|lock| lock.file.manifest.ecosystem == one.ecosystem);
        let nearest = around(folder).flat_map(|folder| fitting().filter(move |lock| lock.file.folder() == folder));
        let inside = |lock: &&Lock| {
            let path = lock.file.folder();
            path != folder
                && (project_folder.is_empty()
                    || path.strip_prefix(project_folder).is_some_and(|rest| rest.starts_with('/')))
        };
        let others = fitting().filter(|lock| one.ecosystem == Ecosystem::Python && inside(lock));
        let found = nearest.chain(others).find_map(|lock| lock.version(one, project));
        found.or_else(|| constrained(one)).unwrap_or_default()
    }
}

impl Lock<'_> {
    fn version(&self, one: &Declared, project: &str) -> Option<(String, String)> {
        let ecosystem = one.ecosystem;
        let entries = self.entries.get_or_init(|| {
            let mut entries: FxHashMap<String, Vec<&Locked>> = FxHashMap::default();
            for entry in &self.file.manifest.locked {
                entries.entry(normal(ecosystem, &entry.name)).or_default().push(entry);
            }
            entries
        });
        // Renamed packages are locked under the name that the code imports.
        let name = |name: &str| entries.get(&normal(ecosystem, name));
        let all = name(&one.dependency.name)
            .or_else(|| name(&one.dependency.import).filter(|_| !one.dependency.import.is_empty()))?;
        let folder = self.file.folder();
        let below = folder_of(&one.manifest).strip_prefix(folder).unwrap_or_default().trim_start_matches('/');
        let package = format!("={project}");
        let owned: Vec<&&Locked> = all
            .iter()
            .filter(|entry| !entry.owner.is_empty() && (entry.owner == below || entry.owner == package))
            .collect();
        let mut kept: Vec<&&Locked> = match owned.is_empty() {
            false => owned,
            true => all.iter().filter(|entry| entry.owner.is_empty()).collect(),
        };
        let range = one.dependency.range.trim_start_matches("npm:");
        if kept.iter().any(|entry| entry.range == range && !range.is_empty()) {
            kept.retain(|entry| entry.range == range);
        }
        let first = kept.first()?;
        let mut versions: Vec<&str> = Vec::new();
        for entry in &kept {
            if !versions.contains(&entry.version.as_str()) && versions.len() < MAX_VERSIONS {
                versions.push(&entry.version);
            }
        }
        Some((versions.join(", "), format!("{}:{}", self.file.path, first.line)))
    }
}

/// Returns the version that a requirement or a constraint on it allows as the only one.
fn constrained(one: &Declared) -> Option<(String, String)> {
    if one.ecosystem != Ecosystem::Python {
        return None;
    }
    let pinned = |range: &str| atlas_manifests::pinned(range).map(str::to_owned);
    let constraint = one.constraint.as_ref();
    pinned(&one.dependency.range)
        .map(|version| (version, String::new()))
        .or_else(|| constraint.and_then(|(range, place)| Some((pinned(range)?, place.clone()))))
}
