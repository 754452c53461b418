//! The projects of the repository by the names that their manifests give them.

use rustc_hash::FxHashMap;

use super::declared::Declared;
use super::files::ManifestFiles;
use super::maven;
use super::names::normal;
use atlas_facts::{Ecosystem, Role};

/// A declared package of an ecosystem, by its normal name.
pub type Key = (Ecosystem, String);

/// Returns the folders of the projects of the repository by ecosystem and normal name.
pub fn folders_by_name(files: &ManifestFiles) -> FxHashMap<Key, String> {
    let mut folders = FxHashMap::default();
    for file in files.iter().filter(|file| file.manifest.role == Role::Manifest && !file.manifest.name.is_empty()) {
        let ecosystem = file.manifest.ecosystem;
        let name = match ecosystem {
            Ecosystem::Maven => maven::name_of(files, file),
            _ => file.manifest.name.clone(),
        };
        folders.entry((ecosystem, normal(ecosystem, &name))).or_insert_with(|| file.folder().to_owned());
    }
    folders
}

/// Returns the folder of the project with the name of a dependency. A Maven project that states no group may have any.
pub fn folder_named<'f>(folders: &'f FxHashMap<Key, String>, one: &Declared) -> Option<&'f String> {
    let name = normal(one.ecosystem, &one.dependency.name);
    let artifact = name.split_once(':').map(|(_, artifact)| format!(":{artifact}"));
    let found = folders.get(&(one.ecosystem, name));
    found.or_else(|| folders.get(&(one.ecosystem, artifact.filter(|_| one.ecosystem == Ecosystem::Maven)?)))
}
