//! Which files are manifests or lock files, by name.

use atlas_facts::{Ecosystem, Role};

/// Largest lock file that is read, in bytes.
pub const MAX_LOCK_BYTES: u64 = 16 << 20;

/// The format of a manifest or lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Pyproject,
    Requirements,
    SetupCfg,
    SetupPy,
    Pipfile,
    PackageJson,
    GoMod,
    CargoToml,
    Pom,
    Gradle,
    VersionCatalog,
    Csproj,
    PackagesProps,
    /// The older list of NuGet packages.
    PackagesConfig,
    ComposerJson,
    Gemfile,
    Gemspec,
    Mix,
    /// `[[package]]` with name and version, as in `Cargo.lock`.
    PythonLock,
    CargoLock,
    PipfileLock,
    PackageLock,
    ComposerLock,
    NugetLock,
    YarnLock,
    PnpmLock,
    GemfileLock,
    GradleLock,
    MixLock,
}

/// Returns the format of a path below the project's root.
pub fn format_of(path: &str) -> Option<Format> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    Some(match file {
        "pyproject.toml" => Format::Pyproject,
        "setup.cfg" => Format::SetupCfg,
        "setup.py" => Format::SetupPy,
        "Pipfile" => Format::Pipfile,
        "package.json" => Format::PackageJson,
        "go.mod" => Format::GoMod,
        "Cargo.toml" => Format::CargoToml,
        "pom.xml" => Format::Pom,
        "build.gradle" | "build.gradle.kts" => Format::Gradle,
        "composer.json" => Format::ComposerJson,
        "Gemfile" | "gems.rb" => Format::Gemfile,
        "mix.exs" => Format::Mix,
        "Directory.Packages.props" | "Directory.Build.props" => Format::PackagesProps,
        "packages.config" => Format::PackagesConfig,
        "poetry.lock" | "uv.lock" | "pdm.lock" | "pylock.toml" => Format::PythonLock,
        "Cargo.lock" => Format::CargoLock,
        "Pipfile.lock" => Format::PipfileLock,
        "package-lock.json" | "npm-shrinkwrap.json" => Format::PackageLock,
        "composer.lock" => Format::ComposerLock,
        "packages.lock.json" => Format::NugetLock,
        "yarn.lock" => Format::YarnLock,
        "pnpm-lock.yaml" => Format::PnpmLock,
        "Gemfile.lock" | "gems.locked" => Format::GemfileLock,
        "gradle.lockfile" => Format::GradleLock,
        "mix.lock" => Format::MixLock,
        _ if file.ends_with(".versions.toml") => Format::VersionCatalog,
        _ if [".csproj", ".fsproj", ".vbproj"].iter().any(|ending| file.ends_with(ending)) => Format::Csproj,
        _ if file.ends_with(".gemspec") => Format::Gemspec,
        _ if is_requirements(folder, file) => Format::Requirements,
        _ => return None,
    })
}

/// Returns whether a file name is that of a lock file that is read.
pub fn is_lock(file: &str) -> bool {
    format_of(file).is_some_and(|format| format.role() == Role::Lock)
}

/// `requirements-dev.txt`, `dev-requirements.in`, `constraints.txt`, `requirements/base.txt`.
fn is_requirements(folder: &str, file: &str) -> bool {
    let Some(stem) = file.strip_suffix(".txt").or_else(|| file.strip_suffix(".in")) else { return false };
    let stem = stem.to_ascii_lowercase();
    let place = folder.rsplit('/').next().unwrap_or_default();
    ["requirements", "constraints"].iter().any(|word| {
        stem.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            || stem.strip_suffix(word).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
    }) || matches!(place, "requirements" | "requirement" | "reqs")
        || (matches!(place, "extras" | "optional") && folder.contains("requirements/"))
}

impl Format {
    pub fn ecosystem(self) -> Ecosystem {
        match self {
            Format::PackageJson | Format::PackageLock | Format::YarnLock | Format::PnpmLock => Ecosystem::Npm,
            Format::GoMod => Ecosystem::Go,
            Format::CargoToml | Format::CargoLock => Ecosystem::Rust,
            Format::Pom | Format::Gradle | Format::VersionCatalog | Format::GradleLock => Ecosystem::Maven,
            Format::Csproj | Format::PackagesProps | Format::PackagesConfig | Format::NugetLock => Ecosystem::Dotnet,
            Format::ComposerJson | Format::ComposerLock => Ecosystem::Php,
            Format::Gemfile | Format::Gemspec | Format::GemfileLock => Ecosystem::Ruby,
            Format::Mix | Format::MixLock => Ecosystem::Elixir,
            _ => Ecosystem::Python,
        }
    }

    pub fn role(self) -> Role {
        match self {
            Format::PythonLock
            | Format::CargoLock
            | Format::PipfileLock
            | Format::PackageLock
            | Format::ComposerLock => Role::Lock,
            Format::NugetLock | Format::YarnLock | Format::PnpmLock | Format::GemfileLock => Role::Lock,
            Format::GradleLock | Format::MixLock => Role::Lock,
            Format::VersionCatalog | Format::PackagesProps => Role::Versions,
            _ => Role::Manifest,
        }
    }
}
