//! The projects of a tree that depend on one another: Python, Rust, and those that are compiled each by itself (Maven,
//! Gradle, sbt, .NET, Composer).

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{Configuration, Crate, SearchPaths};
use crate::packages::declared::Declared;
use crate::packages::files::{ManifestFile, ManifestFiles};
use crate::packages::projects::{Key, folder_named, folders_by_name};
use crate::project::paths::{folder_of, join, normalised};
use atlas_facts::{Ecosystem, Setting, SettingKind};

/// Returns the folder of the project of the tree that a dependency names, by its path or by its name.
fn folder_meant(named: &FxHashMap<Key, String>, one: &Declared) -> Option<String> {
    match one.is_local {
        true => Some(one.dependency.path.clone()).filter(|path| path != ".."),
        false => folder_named(named, one).cloned(),
    }
}

/// Returns where the Python projects of a tree look for modules.
pub fn python(files: &ManifestFiles, declared: &[Declared]) -> FxHashMap<String, SearchPaths> {
    let mut found: FxHashMap<String, SearchPaths> = FxHashMap::default();
    for file in files.iter().filter(|file| file.manifest.ecosystem == Ecosystem::Python) {
        for one in file.manifest.settings.iter().filter(|one| one.kind == SettingKind::Base) {
            let roots = one.values.iter().filter_map(|value| normalised(file.folder(), value));
            found.entry(file.folder().to_owned()).or_default().roots.extend(roots);
        }
    }
    let named = folders_by_name(files);
    for one in declared.iter().filter(|one| one.ecosystem == Ecosystem::Python) {
        // `requirements/dev.txt` is about the folder around.
        let own = folder_of(&one.manifest);
        let own = if one.manifest.ends_with(".toml") || !own.ends_with("requirements") { own } else { folder_of(own) };
        if let Some(folder) = folder_meant(&named, one).filter(|folder| folder != own) {
            let installed = &mut found.entry(own.to_owned()).or_default().installed;
            if !installed.contains(&folder) {
                installed.push(folder);
            }
        }
    }
    found
}

/// Returns the Rust packages of a tree.
pub fn crates(files: &ManifestFiles, declared: &[Declared], all: &Configuration) -> FxHashMap<String, Crate> {
    let mut found: FxHashMap<String, Crate> = FxHashMap::default();
    let mut libraries: FxHashMap<&str, &str> = FxHashMap::default();
    for file in files.iter().filter(|file| file.manifest.ecosystem == Ecosystem::Rust) {
        libraries.insert(file.folder(), &file.manifest.name);
        for one in file.manifest.settings.iter().filter(|one| one.kind == SettingKind::Library) {
            if !one.name.is_empty() {
                libraries.insert(file.folder(), &one.name);
            }
            let library = one.values.first().and_then(|path| normalised(file.folder(), path));
            found.entry(file.folder().to_owned()).or_default().library = library;
        }
    }
    for one in declared.iter().filter(|one| one.ecosystem == Ecosystem::Rust) {
        let dependency = &one.dependency;
        let folder = match one.is_local {
            true => Some(dependency.path.clone()),
            false => all.named("rust", &dependency.name).first().cloned(),
        };
        let Some(folder) = folder else { continue };
        let name = match libraries.get(folder.as_str()) {
            _ if !dependency.import.is_empty() => &dependency.import,
            Some(&name) if !name.is_empty() => name,
            _ => &dependency.name,
        };
        let own = found.entry(folder_of(&one.manifest).to_owned()).or_default();
        own.dependencies.push((name.replace('-', "_"), folder));
    }
    found
}

/// Returns the folders that each compiled project depends on, by its kind and folder.
pub fn compiled(files: &ManifestFiles, declared: &[Declared], all: &Configuration) -> FxHashMap<String, Vec<String>> {
    let named = folders_by_name(files);
    let mut found: FxHashMap<String, BTreeSet<String>> = FxHashMap::default();
    for one in declared {
        let kind = one.ecosystem.name();
        if !matches!(one.ecosystem, Ecosystem::Maven | Ecosystem::Dotnet | Ecosystem::Php) {
            continue;
        }
        let project = |folder: &str| all.project_around(kind, &join(folder, "x")).map(str::to_owned);
        let target = folder_meant(&named, one).and_then(|folder| project(&folder));
        let (Some(own), Some(target)) = (project(folder_of(&one.manifest)), target) else { continue };
        if own != target {
            found.entry(format!("{kind}\0{own}")).or_default().insert(target);
        }
    }
    for (file, one) in declared_projects(files) {
        let kind = file.manifest.ecosystem.name();
        let Some(own) = normalised(file.folder(), &one.name) else { continue };
        let others = one.values.iter().filter_map(|other| normalised(file.folder(), other));
        found.entry(format!("{kind}\0{own}")).or_default().extend(others.filter(|other| *other != own));
    }
    found.into_iter().map(|(key, folders)| (key, folders.into_iter().collect())).collect()
}

/// Returns the folders of the projects that builds declare, by kind.
pub fn builds(files: &ManifestFiles) -> FxHashMap<String, BTreeSet<String>> {
    let mut found: FxHashMap<String, BTreeSet<String>> = FxHashMap::default();
    for (file, one) in declared_projects(files) {
        let folder = normalised(file.folder(), &one.name);
        found.entry(file.manifest.ecosystem.name().to_owned()).or_default().extend(folder);
    }
    found
}

fn declared_projects<'f>(files: &'f ManifestFiles<'f>) -> impl Iterator<Item = (ManifestFile<'f>, &'f Setting)> {
    files.iter().flat_map(|file| {
        let declared = file.manifest.settings.iter().filter(|one| one.kind == SettingKind::Project);
        declared.map(move |one| (file, one))
    })
}
