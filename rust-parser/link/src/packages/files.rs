//! The manifests and lock files of a project, by path and by folder, and its folders with a manifest.

use crate::project::paths::folder_of;
use atlas_facts::Manifest;

/// A folder with its own manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubProject {
    pub folder: String,
    /// One of: python npm go rust maven dotnet php ruby elixir.
    pub kind: String,
    pub name: String,
}

/// A manifest or lock file of the project.
#[derive(Clone, Copy)]
pub struct ManifestFile<'i> {
    pub path: &'i str,
    pub manifest: &'i Manifest,
}

impl<'i> ManifestFile<'i> {
    pub fn folder(&self) -> &'i str {
        folder_of(self.path)
    }
}

/// All manifests and lock files, by path.
pub struct ManifestFiles<'i>(Vec<ManifestFile<'i>>);

impl<'i> ManifestFiles<'i> {
    /// Takes manifests in any order.
    pub fn of(manifests: impl Iterator<Item = ManifestFile<'i>>) -> ManifestFiles<'i> {
        let mut files: Vec<ManifestFile> = manifests.collect();
        files.sort_unstable_by_key(|file| file.path);
        ManifestFiles(files)
    }

    pub fn iter(&self) -> impl Iterator<Item = ManifestFile<'i>> {
        self.0.iter().copied()
    }

    pub fn at(&self, path: &str) -> Option<ManifestFile<'i>> {
        self.0.binary_search_by(|file| file.path.cmp(path)).ok().map(|at| self.0[at])
    }

    /// Returns the files that fit, in the folder or the nearest one around it.
    pub fn nearest(&self, folder: &str, fits: impl Fn(&ManifestFile) -> bool) -> Option<ManifestFile<'i>> {
        let fitting: Vec<ManifestFile> = self.iter().filter(fits).collect();
        around(folder).find_map(|folder| fitting.iter().find(|file| file.folder() == folder).copied())
    }
}

/// Returns a folder and the folders around it, nearest first; "" is the last.
pub fn around(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| (!folder.is_empty()).then(|| folder_of(folder)))
}
