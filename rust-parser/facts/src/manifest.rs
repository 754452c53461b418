//! Manifests in facts: what a manifest or lock file says about the packages of a project. The linker combines the files.

use serde::{Deserialize, Serialize};

/// What one manifest or lock file says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Manifest {
    pub ecosystem: Ecosystem,
    pub role: Role,
    /// Name of the project as other manifests refer to it (`group:artifact` in Maven); "" if the file names none.
    pub name: String,
    pub version: String,
    /// In source order.
    pub dependencies: Vec<Dependency>,
    /// Declarations that other manifests inherit: Maven's `dependencyManagement`, Cargo's `workspace.dependencies`,
    /// NuGet's `PackageVersion`, a Gradle version catalog.
    pub managed: Vec<Dependency>,
    pub locked: Vec<Locked>,
    /// Maven's and MSBuild's properties: name and value.
    pub properties: Vec<(String, String)>,
    pub includes: Vec<Include>,
    /// Bundles of a version catalog: name and the keys of its entries.
    pub bundles: Vec<(String, Vec<String>)>,
    /// Where modules are, in source order.
    pub settings: Vec<Setting>,
}

/// A statement of a configuration file about the places of modules. Paths are relative to the file, `/`-separated.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setting {
    pub kind: SettingKind,
    /// What is imported, with at most one `*` for any text; "" where the kind needs no name.
    pub name: String,
    /// In order of preference.
    pub values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SettingKind {
    /// An imported name stands for paths (beginning with `.`) or for other names; `*` in them is what `*` in the name
    /// fits. Of several that fit, the one with the longest text before `*` counts.
    Alias,
    /// The same in `compilerOptions.paths`; the paths are relative to [`SettingKind::Base`] where there is one.
    Paths,
    /// Names of modules are paths below this folder.
    Base,
    /// Other files whose settings apply unless this file has its own; the last one first in precedence.
    Extends,
    /// Other projects, by file or folder.
    References,
    /// Files that the settings apply to.
    Files,
    /// Patterns of paths that the settings apply to, or do not.
    Include,
    Exclude,
    /// Names that begin with `#`, inside of the package.
    Imports,
    /// What the package offers: `.` or `./below`. Without values, nothing.
    Exports,
    /// Files that the package's name means.
    Entry,
    /// The name under which code imports the package, and the file of its top-level module.
    Library,
    /// Namespaces that every file of the project imports.
    Using,
    /// A project of the build, by its folder, and the folders of those that it depends on.
    Project,
    /// Folders that relative paths treat as one.
    Roots,
    /// The folder that a build writes, and the one of the sources that it writes there.
    Output,
}

/// The package registries that names belong to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Ecosystem {
    #[default]
    Python,
    Npm,
    Go,
    Rust,
    Maven,
    Dotnet,
    Php,
    Ruby,
    Elixir,
}

/// What a file is in a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Declares the dependencies of the project around it.
    #[default]
    Manifest,
    /// Says which versions are installed.
    Lock,
    /// Only restricts or supplies versions: constraints, version catalogs, `Directory.Packages.props`.
    Versions,
    /// Only says where modules are: `tsconfig.json`, `go.work`, `build.sbt`, configurations of bundlers.
    Modules,
}

/// What a dependency is needed for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Purpose {
    #[default]
    Runtime,
    Optional,
    Peer,
    /// Supplied by the environment at run time (Maven).
    Provided,
    Build,
    Development,
    /// Listed for the sake of its version; only dependencies need it (Go).
    Indirect,
}

/// A declared dependency.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dependency {
    /// As declared, without extras.
    pub name: String,
    /// The name under which code imports it, if the manifest says so (Cargo's renamed packages).
    pub import: String,
    pub purpose: Purpose,
    /// Extra, dependency group, scope, configuration or target; "" for the main one.
    pub group: String,
    /// The version range as declared, or what stands for it: a URL without credentials, a path.
    pub range: String,
    /// The condition under which it applies (PEP 508 marker).
    pub marker: String,
    /// The folder of the package, relative to the manifest, `/`-separated.
    pub path: String,
    /// Whether another manifest supplies what is missing here.
    pub inherited: bool,
    /// The key under which other manifests refer to this entry, or this entry to theirs.
    pub key: String,
    pub line: u32,
}

/// An installed version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Locked {
    pub name: String,
    pub version: String,
    /// The range that this version was chosen for (`yarn.lock`), or "".
    pub range: String,
    /// What this version is installed for, if that is not everything: the folder of a workspace package, relative to the
    /// lock file, or `=` and the name of a package.
    pub owner: String,
    pub line: u32,
}

/// Another file that is part of a manifest, relative to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Include {
    pub path: String,
    pub kind: IncludeKind,
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IncludeKind {
    /// Its dependencies are dependencies of the including manifest.
    Dependencies,
    /// It restricts versions.
    Constraints,
    /// The parent of a Maven project.
    Parent,
}

impl Ecosystem {
    /// Returns the name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Ecosystem::Python => "python",
            Ecosystem::Npm => "npm",
            Ecosystem::Go => "go",
            Ecosystem::Rust => "rust",
            Ecosystem::Maven => "maven",
            Ecosystem::Dotnet => "dotnet",
            Ecosystem::Php => "php",
            Ecosystem::Ruby => "ruby",
            Ecosystem::Elixir => "elixir",
        }
    }
}

impl Purpose {
    /// Returns the name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Runtime => "runtime",
            Purpose::Optional => "optional",
            Purpose::Peer => "peer",
            Purpose::Provided => "provided",
            Purpose::Build => "build",
            Purpose::Development => "development",
            Purpose::Indirect => "indirect",
        }
    }
}

impl Dependency {
    /// Creates an entry with this name and range, without surrounding blanks.
    pub fn new(name: &str, range: &str, purpose: Purpose, line: u32) -> Dependency {
        let (name, range) = (name.trim().to_owned(), range.trim().to_owned());
        Dependency { name, range, purpose, line, ..Dependency::default() }
    }

    /// Returns the entry as part of a group.
    pub fn of_group(self, group: &str) -> Dependency {
        Dependency { group: group.to_owned(), ..self }
    }
}
