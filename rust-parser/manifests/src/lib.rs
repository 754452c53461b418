//! Manifests and lock files of package managers: from the text of one file to what it declares. Pure; nothing is
//! executed, no other file is read. `files` recognises them by name.
//!
//! A file that cannot be read, in whole or in part, gives a problem with its line.
//!
//! ```
//! use atlas_facts::{Ecosystem, Purpose};
//! use atlas_manifests::{format_of, read};
//!
//! let text = "[project]\nname = 'demo'\ndependencies = ['httpx>=0.27; python_version > \"3.8\"']\n";
//! let format = format_of("backend/pyproject.toml").unwrap();
//! let (manifest, problems) = read(format, "backend/pyproject.toml", text);
//! assert_eq!((manifest.ecosystem, manifest.name.as_str()), (Ecosystem::Python, "demo"));
//! let [httpx] = &manifest.dependencies[..] else { panic!() };
//! assert_eq!((httpx.name.as_str(), httpx.range.as_str(), httpx.purpose), ("httpx", ">=0.27", Purpose::Runtime));
//! assert!(problems.is_empty());
//! ```

#![forbid(unsafe_code)]

mod build_files;
mod cargo;
mod described;
mod files;
mod go;
mod json;
mod literals;
mod maven;
mod npm;
mod nuget;
mod php;
mod pipfile;
mod poetry;
mod pyproject;
mod reader;
mod requirement;
mod requirements_txt;
mod ruby;
mod sbt;
mod scripts;
mod setup_cfg;
mod setup_py;
mod text_locks;
mod toml_text;
mod tsconfig;
mod xml;

use atlas_facts::{Manifest, Problem};
pub use files::{Format, MAX_LOCK_BYTES, format_of, format_of_file, is_lock};
use reader::Reader;
pub use requirements_txt::pinned;

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
        Format::GoMod | Format::GoWork => go::read(&mut reader, text),
        Format::TsConfig => tsconfig::read(&mut reader, text),
        Format::Script => scripts::read(&mut reader, path, text),
        Format::CargoToml => cargo::read(&mut reader, text),
        Format::Pom => maven::read(&mut reader, text),
        Format::Gradle => build_files::read_gradle(&mut reader, text),
        Format::Sbt => sbt::read(&mut reader, text),
        Format::VersionCatalog => build_files::read_catalog(&mut reader, text),
        Format::Csproj | Format::PackagesProps => nuget::read(&mut reader, text),
        Format::PackagesConfig => nuget::read_config(&mut reader, text),
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
