//! The projects of the repository by the names that their manifests give them, and the packages that they provide.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::declared::Declared;
use super::files::{ManifestFile, ManifestFiles};
use super::maven;
use super::names::normal;
use atlas_facts::{Ecosystem, Role};

/// A declared package of an ecosystem, by its normal name.
pub type Key = (Ecosystem, String);

/// Returns the folders of the projects of the repository by ecosystem and normal name.
pub fn folders_by_name(files: &ManifestFiles) -> FxHashMap<Key, String> {
    let mut folders = FxHashMap::default();
    for (file, name) in named(files) {
        let ecosystem = file.manifest.ecosystem;
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

/// Returns the packages that the manifests of the project at each folder provide, as a JSON object: `{"provides":
/// [[ecosystem, name, version, manifest], ...]}`. `project_of` returns the folder of the project around a folder.
pub fn provided(files: &ManifestFiles, project_of: impl Fn(&str) -> String) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, BTreeSet<[String; 4]>> = BTreeMap::new();
    for (file, name) in named(files) {
        let manifest = file.manifest;
        let package = [manifest.ecosystem.name().to_owned(), name, manifest.version.clone(), file.path.to_owned()];
        found.entry(project_of(file.folder())).or_default().insert(package);
    }
    let written = found.into_iter().map(|(folder, packages)| {
        let packages: Vec<Value> = packages.into_iter().map(|package| json!(package)).collect();
        (folder, json!({ "provides": packages }).to_string())
    });
    written.collect()
}

/// Yields the manifests that name a package, with its name.
fn named<'f>(files: &'f ManifestFiles<'f>) -> impl Iterator<Item = (ManifestFile<'f>, String)> {
    let manifests = files.iter().filter(|file| file.manifest.role == Role::Manifest && !file.manifest.name.is_empty());
    manifests.map(|file| match file.manifest.ecosystem {
        Ecosystem::Maven => (file, maven::name_of(files, file)),
        _ => (file, file.manifest.name.clone()),
    })
}
