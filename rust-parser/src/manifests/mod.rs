//! Manifests and lock files of package managers: from the text of one file to what it declares. Pure; nothing is
//! executed, no other file is read. `files` recognises them by name.
//!
//! A file that cannot be read, in whole or in part, gives a problem with its line.

mod build_files;
mod cargo;
mod files;
mod go;
mod json;
mod maven;
mod npm;
mod nuget;
mod php;
mod pipfile;
mod poetry;
mod pyproject;
mod requirement;
mod requirements_txt;
mod ruby;
mod setup_cfg;
mod setup_py;
mod text_locks;
mod toml_text;
mod xml;

use crate::facts::{Dependency, Ecosystem, Include, IncludeKind, Locked, Manifest, Problem, Purpose, Role};
pub use files::{Format, MAX_LOCK_BYTES, format_of, is_lock};
pub use requirements_txt::pinned;

/// Largest number of declarations of one manifest.
const MAX_DEPENDENCIES: usize = 5_000;
/// Largest number of packages of one lock file.
const MAX_LOCKED: usize = 50_000;
/// Longest name, range or marker in bytes.
const MAX_TEXT_BYTES: usize = 400;

/// The ends of a text's lines.
pub struct Lines(Vec<usize>);

impl Lines {
    pub fn of(text: &str) -> Lines {
        Lines(memchr::memchr_iter(b'\n', text.as_bytes()).collect())
    }

    /// Returns the 1-based line of a byte position.
    pub fn line(&self, at: usize) -> u32 {
        self.0.partition_point(|&end| end < at) as u32 + 1
    }
}

/// What reading a manifest collects.
#[derive(Default)]
pub struct Reader {
    pub manifest: Manifest,
    pub problems: Vec<Problem>,
}

/// Returns what a manifest says, and what of it could not be read.
pub fn read(format: Format, path: &str, text: &str) -> (Manifest, Vec<Problem>) {
    let mut reader = Reader::default();
    reader.manifest.ecosystem = format.ecosystem();
    reader.manifest.role = format.role();
    let text = text.trim_start_matches('\u{feff}');
    match format {
        Format::Pyproject => pyproject::read(&mut reader, text),
        Format::Requirements => requirements_txt::read(&mut reader, path, text),
        Format::SetupCfg => setup_cfg::read(&mut reader, text),
        Format::SetupPy => setup_py::read(&mut reader, text),
        Format::Pipfile => pipfile::read(&mut reader, text),
        Format::PackageJson => npm::read(&mut reader, text),
        Format::GoMod => go::read(&mut reader, text),
        Format::CargoToml => cargo::read(&mut reader, text),
        Format::Pom => maven::read(&mut reader, text),
        Format::Gradle => build_files::read_gradle(&mut reader, text),
        Format::VersionCatalog => build_files::read_catalog(&mut reader, text),
        Format::Csproj | Format::PackagesProps => nuget::read(&mut reader, text),
        Format::ComposerJson => php::read(&mut reader, text),
        Format::Gemfile | Format::Gemspec => ruby::read(&mut reader, text, format),
        Format::Mix => build_files::read_mix(&mut reader, text),
        Format::PythonLock | Format::CargoLock => text_locks::read_toml(&mut reader, text),
        Format::PipfileLock => pipfile::read_lock(&mut reader, text),
        Format::PackageLock => npm::read_lock(&mut reader, text),
        Format::ComposerLock => php::read_lock(&mut reader, text),
        Format::NugetLock => nuget::read_lock(&mut reader, text),
        Format::YarnLock => text_locks::read_yarn(&mut reader, text),
        Format::PnpmLock => text_locks::read_pnpm(&mut reader, text),
        Format::GemfileLock => text_locks::read_gemfile(&mut reader, text),
        Format::GradleLock => text_locks::read_gradle(&mut reader, text),
        Format::MixLock => text_locks::read_mix(&mut reader, text),
    }
    reader.bounded()
}

impl Reader {
    /// Adds a dependency; without a name it is dropped.
    pub fn add(&mut self, dependency: Dependency) {
        if !dependency.name.is_empty() {
            self.manifest.dependencies.push(dependency);
        }
    }

    pub fn lock(&mut self, name: &str, version: &str, line: u32) {
        self.lock_for(name, version, "", line);
    }

    /// Adds a version that is installed for one owner, see [`Locked::owner`].
    pub fn lock_for(&mut self, name: &str, version: &str, owner: &str, line: u32) {
        if !name.is_empty() && !version.is_empty() {
            let (name, version, owner) = (name.to_owned(), public(version), owner.to_owned());
            self.manifest.locked.push(Locked { name, version, range: String::new(), owner, line });
        }
    }

    pub fn include(&mut self, path: &str, kind: IncludeKind, line: u32) {
        self.manifest.includes.push(Include { path: path.replace('\\', "/"), kind, line });
    }

    /// Records that a part of the manifest cannot be read.
    pub fn problem(&mut self, line: u32, message: &str) {
        let message = shortened(message);
        self.problems.push(Problem { line: line.max(1), code: "manifest".to_owned(), message });
    }

    fn bounded(mut self) -> (Manifest, Vec<Problem>) {
        let manifest = &mut self.manifest;
        let mut left = 0;
        for (list, limit) in [(&mut manifest.dependencies, MAX_DEPENDENCIES), (&mut manifest.managed, MAX_DEPENDENCIES)]
        {
            left += list.len().saturating_sub(limit);
            list.truncate(limit);
            for one in list {
                one.range = public(&one.range);
                for text in [&mut one.name, &mut one.import, &mut one.group, &mut one.range, &mut one.marker] {
                    *text = shortened(text);
                }
            }
        }
        left += manifest.locked.len().saturating_sub(MAX_LOCKED);
        manifest.locked.truncate(MAX_LOCKED);
        manifest.properties.truncate(MAX_DEPENDENCIES);
        manifest.includes.truncate(MAX_DEPENDENCIES);
        (manifest.name, manifest.version) = (shortened(&manifest.name), shortened(&manifest.version));
        if left > 0 {
            self.problem(1, &format!("{left} entries beyond the limit were left out"));
        }
        self.problems.truncate(100);
        (self.manifest, self.problems)
    }
}

impl Dependency {
    pub fn new(name: &str, range: &str, purpose: Purpose, line: u32) -> Dependency {
        let (name, range) = (name.trim().to_owned(), range.trim().to_owned());
        Dependency { name, range, purpose, line, ..Dependency::default() }
    }

    pub fn of_group(self, group: &str) -> Dependency {
        Dependency { group: group.to_owned(), ..self }
    }
}

/// Returns text on one line without control characters, at most [`MAX_TEXT_BYTES`] long.
fn shortened(text: &str) -> String {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// Returns a version or address without the user and password of a URL.
fn public(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..host].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => text.to_owned(),
    }
}
