//! What the configuration files of a project say about the places of modules: aliases, packages by name and by folder,
//! roots, and the projects of the tree that depend on one another. A pure function of the manifests and the sub-projects;
//! linking reads it by recorded queries, one for each folder.

pub mod npm;
pub mod patterns;
mod projects;
mod typescript;

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::configuration::npm::NpmPackage;
use crate::configuration::patterns::Pattern;
pub use crate::configuration::typescript::TsConfig;
use crate::packages::declared::declared;
use crate::packages::files::{ManifestFile, ManifestFiles, SubProject, around};
use crate::project::dependencies::{DependencyKind, text_key};
use crate::project::paths::{file_name_of, folder_of, normalised};
use atlas_facts::{Ecosystem, Role, SettingKind};

/// Folders of configurations, which are about the folder around them.
const CONFIGURATION_FOLDERS: [&str; 7] = ["config", "configs", ".config", "build", "webpack", "scripts", "etc"];

/// Values by folder; the number is part of the keys of queries.
#[derive(Debug)]
pub struct Table<const NUMBER: u8, T>(FxHashMap<String, T>);

/// The aliases of bundlers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aliases {
    pub patterns: Vec<Pattern>,
    /// Folders that names of modules start from.
    pub bases: Vec<String>,
}

/// Where a Python project looks for modules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPaths {
    pub roots: Vec<String>,
    /// Folders of the projects of the tree that are installed with it.
    pub installed: Vec<String>,
}

/// A Rust package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Crate {
    /// The file of its library, if the manifest says so.
    pub library: Option<String>,
    /// The folders of packages of the tree, by the names under which this one imports them.
    pub dependencies: Vec<(String, String)>,
}

/// What configuration files say.
#[derive(Debug, Default)]
pub struct Configuration {
    pub tsconfigs: Table<0, Vec<TsConfig>>,
    pub aliases: Table<1, Aliases>,
    pub packages: Table<2, NpmPackage>,
    pub search_paths: Table<3, SearchPaths>,
    pub crates: Table<4, Crate>,
    /// The files of the libraries that manifests name.
    pub libraries: Table<8, ()>,
    /// Of Go's modules and workspaces: the folders that replace modules.
    pub replaced: Table<5, Vec<(String, String)>>,
    /// Namespaces that all files of a .NET project import.
    pub usings: Table<6, Vec<String>>,
    /// The folders of the projects that a compiled project depends on, by its kind and folder.
    pub projects: Table<7, Vec<String>>,
    /// The folders of the projects that one file declares for a whole tree, by kind.
    pub builds: Table<9, BTreeSet<String>>,
    /// Folders by kind and name, and all folders by kind. They are those of the sub-projects, after whose change every file
    /// is linked again.
    names: FxHashMap<String, FxHashMap<String, Vec<String>>>,
    folders: FxHashMap<String, FxHashSet<String>>,
}

impl<const NUMBER: u8, T> Default for Table<NUMBER, T> {
    fn default() -> Self {
        Table(FxHashMap::default())
    }
}

impl<const NUMBER: u8, T> Table<NUMBER, T> {
    /// Returns the row of a folder. Linking asks by [`Query::configured`](crate::project::query::Query), which records it.
    pub fn get(&self, folder: &str) -> Option<&T> {
        self.0.get(folder)
    }

    /// Returns the key of the query for a folder.
    pub fn key(folder: &str) -> u32 {
        text_key(DependencyKind::Configuration, NUMBER, folder)
    }
}

impl<const NUMBER: u8, T: PartialEq> Table<NUMBER, T> {
    /// Adds the keys of the queries whose answers differ.
    fn differences(&self, other: &Table<NUMBER, T>, keys: &mut FxHashSet<u32>) {
        let folders = self.0.keys().chain(other.0.keys());
        let changed = folders.filter(|folder| self.0.get(*folder) != other.0.get(*folder));
        keys.extend(changed.map(|folder| Self::key(folder)));
    }
}

impl Configuration {
    /// Reads the configuration of a project.
    pub fn of(files: &ManifestFiles, subprojects: &[SubProject]) -> Configuration {
        let mut made = Configuration::default();
        for project in subprojects {
            let SubProject { folder, kind, name } = project;
            made.names.entry(kind.clone()).or_default().entry(name.clone()).or_default().push(folder.clone());
            made.folders.entry(kind.clone()).or_default().insert(folder.clone());
        }
        let package = |name: &str| made.named("npm", name).first().cloned();
        made.tsconfigs = Table(typescript::by_folder(files, &package));
        made.aliases = Table(aliases(files));
        let packages = files.iter().filter(|file| file_name_of(file.path) == "package.json");
        made.packages = Table(packages.map(|file| (file.folder().to_owned(), NpmPackage::of(file))).collect());
        let declared = declared(files);
        made.search_paths = Table(projects::python(files, &declared));
        made.crates = Table(projects::crates(files, &declared, &made));
        let libraries = made.crates.0.values().filter_map(|one| one.library.clone());
        made.libraries = Table(libraries.map(|path| (path, ())).collect());
        made.replaced = Table(replaced(files));
        made.usings = Table(usings(files));
        made.builds = Table(projects::builds(files));
        made.projects = Table(projects::compiled(files, &declared, &made));
        made
    }

    /// Adds the keys of the queries whose answers differ from those of another configuration.
    pub fn differences(&self, other: &Configuration, keys: &mut FxHashSet<u32>) {
        self.tsconfigs.differences(&other.tsconfigs, keys);
        self.aliases.differences(&other.aliases, keys);
        self.packages.differences(&other.packages, keys);
        self.search_paths.differences(&other.search_paths, keys);
        self.crates.differences(&other.crates, keys);
        self.libraries.differences(&other.libraries, keys);
        self.replaced.differences(&other.replaced, keys);
        self.usings.differences(&other.usings, keys);
        self.projects.differences(&other.projects, keys);
        self.builds.differences(&other.builds, keys);
    }

    /// Returns the folders of the sub-projects with a name, sorted.
    pub fn named(&self, kind: &str, name: &str) -> &[String] {
        self.names.get(kind).and_then(|names| names.get(name)).map_or(&[], Vec::as_slice)
    }

    /// Returns the folder of the sub-project of a kind around a path. Linking records the query for the builds of the kind.
    pub fn project_around<'p>(&self, kind: &str, path: &'p str) -> Option<&'p str> {
        let (folders, declared) = (self.folders.get(kind), self.builds.get(kind));
        let is_project = |folder: &&str| {
            folders.is_some_and(|folders| folders.contains(*folder))
                || declared.is_some_and(|declared| declared.contains(*folder))
        };
        if folders.is_none() && declared.is_none() {
            return None;
        }
        around(folder_of(path)).find(is_project)
    }
}

/// Returns the aliases of bundlers by the folder that they are about.
fn aliases(files: &ManifestFiles) -> FxHashMap<String, Aliases> {
    let mut found: FxHashMap<String, Aliases> = FxHashMap::default();
    let is_told = |file: &ManifestFile| {
        let format = atlas_manifests::format_of(file.path);
        file.manifest.ecosystem == Ecosystem::Npm && !matches!(format, None | Some(atlas_manifests::Format::TsConfig))
    };
    for file in files.iter().filter(is_told) {
        let folder =
            match CONFIGURATION_FOLDERS.contains(&file_name_of(file.folder())) && file.manifest.role == Role::Modules {
                true => folder_of(file.folder()),
                false => file.folder(),
            };
        for one in &file.manifest.settings {
            match one.kind {
                SettingKind::Alias => {
                    let pattern = Pattern::new(&one.name, file.folder(), &one.values);
                    found.entry(folder.to_owned()).or_default().patterns.push(pattern);
                }
                SettingKind::Base => {
                    let bases = one.values.iter().filter_map(|value| normalised(file.folder(), value));
                    found.entry(folder.to_owned()).or_default().bases.extend(bases);
                }
                _ => {}
            }
        }
    }
    found
}

fn replaced(files: &ManifestFiles) -> FxHashMap<String, Vec<(String, String)>> {
    let mut found: FxHashMap<String, Vec<(String, String)>> = FxHashMap::default();
    for file in files.iter().filter(|file| file.manifest.ecosystem == Ecosystem::Go) {
        for one in file.manifest.settings.iter().filter(|one| one.kind == SettingKind::Alias) {
            let folder = one.values.first().and_then(|value| normalised(file.folder(), value));
            found.entry(file.folder().to_owned()).or_default().extend(folder.map(|folder| (one.name.clone(), folder)));
        }
    }
    found
}

fn usings(files: &ManifestFiles) -> FxHashMap<String, Vec<String>> {
    let mut found: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for file in files.iter().filter(|file| file.manifest.ecosystem == Ecosystem::Dotnet) {
        let names = file.manifest.settings.iter().filter(|one| one.kind == SettingKind::Using);
        for one in names {
            found.entry(file.folder().to_owned()).or_default().push(one.name.clone());
        }
    }
    found
}
