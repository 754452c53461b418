//! The dependencies of each manifest, completed by what it inherits: included requirements, Cargo workspaces, parents of
//! Maven projects, version catalogs, central versions of NuGet.

use rustc_hash::FxHashMap;

use super::files::{ManifestFile, ManifestFiles, around};
use super::maven;
use crate::project::paths::{file_name_of, folder_of, join, normalised};
use atlas_facts::{Dependency, Ecosystem, IncludeKind, Purpose, Role};

/// Largest number of requirements files that include one another.
const MAX_INCLUDED: usize = 64;

/// A dependency of one manifest.
#[derive(Debug, Clone)]
pub struct Declared {
    /// The manifest whose project it belongs to.
    pub manifest: String,
    /// The file that says so.
    pub path: String,
    pub ecosystem: Ecosystem,
    /// Its `path` is a folder of the project, if it is not empty.
    pub dependency: Dependency,
    /// Whether the dependency names a folder of the repository.
    pub is_local: bool,
    /// The constraint on its version, and the place of it, in another file.
    pub constraint: Option<(String, String)>,
}

/// Returns the dependencies of all manifests, in the order of paths.
pub fn declared(files: &ManifestFiles) -> Vec<Declared> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.manifest.role == Role::Manifest) {
        match file.manifest.ecosystem {
            Ecosystem::Maven if file.path.ends_with(".xml") => found.extend(maven::dependencies(files, file)),
            Ecosystem::Maven => from_gradle(files, file, &mut found),
            Ecosystem::Rust => from_cargo(files, file, &mut found),
            Ecosystem::Dotnet => from_nuget(files, file, &mut found),
            Ecosystem::Python => from_python(files, file, &mut found),
            _ => found.extend(file.manifest.dependencies.iter().map(|one| declaration(file, file, one))),
        }
    }
    found
}

/// Returns a dependency of a manifest that a file declares.
pub fn declaration(manifest: ManifestFile, file: ManifestFile, dependency: &Dependency) -> Declared {
    let mut dependency = dependency.clone();
    let is_local = !dependency.path.is_empty();
    dependency.path = match is_local {
        true => normalised(file.folder(), &dependency.path).unwrap_or_else(|| "..".to_owned()),
        false => String::new(),
    };
    Declared {
        manifest: manifest.path.to_owned(),
        path: file.path.to_owned(),
        ecosystem: file.manifest.ecosystem,
        dependency,
        is_local,
        constraint: None,
    }
}

/// Adds the dependencies of a Python manifest and of the requirements files of other folders that it includes. Those of
/// its own folder and below are manifests of the same project.
fn from_python(files: &ManifestFiles, file: ManifestFile, found: &mut Vec<Declared>) {
    let start = found.len();
    found.extend(file.manifest.dependencies.iter().map(|one| declaration(file, file, one)));
    let mut constraints: FxHashMap<String, (String, String)> = FxHashMap::default();
    let mut seen = vec![file.path.to_owned()];
    let mut open = vec![file];
    while let Some(current) = open.pop() {
        for include in &current.manifest.includes {
            let target = normalised(current.folder(), &include.path).and_then(|path| files.at(&path));
            let Some(target) = target.filter(|target| !seen.iter().any(|path| path == target.path)) else { continue };
            if seen.len() == MAX_INCLUDED {
                break;
            }
            seen.push(target.path.to_owned());
            if include.kind == IncludeKind::Constraints {
                for one in target.manifest.managed.iter().chain(&target.manifest.dependencies) {
                    let place = format!("{}:{}", target.path, one.line);
                    constraints
                        .entry(super::names::normal(Ecosystem::Python, &one.name))
                        .or_insert((one.range.clone(), place));
                }
                continue;
            }
            open.push(target);
            if !is_below(target.path, file.folder()) {
                found.extend(target.manifest.dependencies.iter().map(|one| declaration(file, target, one)));
            }
        }
    }
    for one in &mut found[start..] {
        one.constraint = constraints.get(&super::names::normal(Ecosystem::Python, &one.dependency.name)).cloned();
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Adds the dependencies of a `Cargo.toml`; `workspace = true` refers to the workspace around it.
fn from_cargo(files: &ManifestFiles, file: ManifestFile, found: &mut Vec<Declared>) {
    let is_workspace =
        |other: &ManifestFile| other.manifest.ecosystem == Ecosystem::Rust && !other.manifest.managed.is_empty();
    let workspace = files.nearest(file.folder(), is_workspace);
    for one in &file.manifest.dependencies {
        let mut made = declaration(file, file, one);
        if let Some((workspace, shared)) = workspace.and_then(|workspace| {
            let shared = workspace.manifest.managed.iter().find(|shared| shared.key == one.key)?;
            one.inherited.then_some((workspace, shared))
        }) {
            let shared = declaration(file, workspace, shared);
            let own = &mut made.dependency;
            (own.name, own.import) = (shared.dependency.name, shared.dependency.import);
            (own.range, own.path) = (shared.dependency.range, shared.dependency.path);
            made.is_local = shared.is_local;
        }
        found.push(made);
    }
}

/// Adds the dependencies of a `build.gradle`: entries of a version catalog under their names, projects by their folders.
fn from_gradle(files: &ManifestFiles, file: ManifestFile, found: &mut Vec<Declared>) {
    let catalogs: Vec<ManifestFile> = files.iter().filter(|other| other.path.ends_with("libs.versions.toml")).collect();
    let catalog = around(file.folder()).find_map(|folder| {
        let path = join(folder, "gradle/libs.versions.toml");
        catalogs.iter().find(|catalog| catalog.path == path)
    });
    let key_of = |key: &str| key.replace(['-', '_'], ".");
    for one in &file.manifest.dependencies {
        let mut made = declaration(file, file, one);
        if made.is_local {
            // Relative to the root of the build, which is one of the folders around.
            let below = one.path.trim_start_matches('/');
            let exists = |folder: &str| {
                let place = join(folder, below);
                let inside =
                    |other: ManifestFile| other.folder() == place && other.manifest.ecosystem == Ecosystem::Maven;
                files.iter().any(inside).then_some(place)
            };
            let placed = around(file.folder()).find_map(exists).or_else(|| only_named(files, &one.name));
            made.dependency.path = placed.unwrap_or_else(|| below.to_owned());
            found.push(made);
            continue;
        }
        if !one.inherited {
            found.push(made);
            continue;
        }
        let wanted = key_of(&one.key);
        let entries: Vec<String> = match wanted.strip_prefix("bundles.") {
            Some(bundle) => {
                let bundles = catalog.map(|catalog| &catalog.manifest.bundles).into_iter().flatten();
                let keys = bundles.filter(|(name, _)| key_of(name) == bundle).flat_map(|(_, keys)| keys);
                keys.map(|key| key_of(key)).collect()
            }
            None => vec![wanted],
        };
        let managed = catalog.map(|catalog| &catalog.manifest.managed).into_iter().flatten();
        let named: Vec<&Dependency> = managed.filter(|shared| entries.contains(&key_of(&shared.key))).collect();
        if named.is_empty() {
            made.dependency.name = format!("libs.{}", one.key);
            found.push(made);
            continue;
        }
        for shared in named {
            let mut made = made.clone();
            (made.dependency.name, made.dependency.range) = (shared.name.clone(), shared.range.clone());
            found.push(made);
        }
    }
}

/// Returns the only folder of a Gradle project with a name: settings may place a project anywhere.
fn only_named(files: &ManifestFiles, name: &str) -> Option<String> {
    let is_meant = |file: &ManifestFile| {
        file.manifest.ecosystem == Ecosystem::Maven
            && file.manifest.role == Role::Manifest
            && file_name_of(file.folder()) == name
    };
    let mut found = files.iter().filter(is_meant).map(|file| file.folder());
    let first = found.next()?;
    found.all(|other| other == first).then(|| first.to_owned())
}

/// Adds the dependencies of a project file with the central versions.
fn from_nuget(files: &ManifestFiles, file: ManifestFile, found: &mut Vec<Declared>) {
    // Shared files declare packages for every project below them.
    if file.manifest.role != Role::Manifest {
        return;
    }
    let shared: Vec<ManifestFile> = around(file.folder())
        .flat_map(|folder| ["Directory.Packages.props", "Directory.Build.props"].map(|name| join(folder, name)))
        .filter_map(|path| files.at(&path))
        .collect();
    let central = shared.iter().find(|other| !other.manifest.managed.is_empty());
    let property = |name: &str| {
        let own = file.manifest.properties.iter().rev();
        let others = shared.iter().flat_map(|other| other.manifest.properties.iter().rev());
        own.chain(others).find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
    };
    let inherited = shared.iter().flat_map(|other| other.manifest.dependencies.iter().map(|one| (*other, one)));
    for (source, one) in file.manifest.dependencies.iter().map(|one| (file, one)).chain(inherited) {
        let mut made = declaration(file, source, one);
        if one.inherited
            && let Some(version) = central.and_then(|central| {
                central.manifest.managed.iter().find(|shared| shared.name.eq_ignore_ascii_case(&one.name))
            })
        {
            made.dependency.range = version.range.clone();
        }
        made.dependency.range = maven::expanded(&made.dependency.range, "$(", ")", &property);
        found.push(made);
    }
}

/// Returns whether a dependency only names the project that declares it.
pub fn is_itself(one: &Declared) -> bool {
    one.is_local && one.dependency.path == folder_of(&one.manifest) && one.dependency.purpose != Purpose::Peer
}
