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
    GoWork,
    Sbt,
    TsConfig,
    /// The configuration of a bundler, test runner or framework, as a program or as JSON.
    Script,
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
        "build.sbt" => Format::Sbt,
        "composer.json" => Format::ComposerJson,
        "Gemfile" | "gems.rb" => Format::Gemfile,
        "mix.exs" => Format::Mix,
        "Directory.Packages.props" | "Directory.Build.props" | "Directory.Build.targets" => Format::PackagesProps,
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
        "go.work" => Format::GoWork,
        _ if file.ends_with(".versions.toml") => Format::VersionCatalog,
        _ if [".csproj", ".fsproj", ".vbproj"].iter().any(|ending| file.ends_with(ending)) => Format::Csproj,
        _ if file.ends_with(".gemspec") => Format::Gemspec,
        _ if is_tsconfig(folder, file) => Format::TsConfig,
        _ if is_script(file) => Format::Script,
        _ if is_requirements(folder, file) => Format::Requirements,
        _ => return None,
    })
}

/// Returns the format of a file by its path, else by its content: settings of TypeScript that others extend may have any
/// name.
pub fn format_of_file(path: &str, data: &[u8]) -> Option<Format> {
    let has_options = || path.ends_with(".json") && memchr::memmem::find(data, b"\"compilerOptions\"").is_some();
    format_of(path).or_else(|| has_options().then_some(Format::TsConfig))
}

/// Returns whether a file name is that of a lock file that is read.
pub fn is_lock(file: &str) -> bool {
    format_of(file).is_some_and(|format| format.role() == Role::Lock)
}

/// `tsconfig.json`, `tsconfig.app.json`, `jsconfig.json`, and the files of a package of such settings:
/// `packages/typescript-config/base.json`.
fn is_tsconfig(folder: &str, file: &str) -> bool {
    let Some(stem) = file.strip_suffix(".json") else { return false };
    let first = stem.split(['.', '-', '_']).next().unwrap_or(stem);
    let place = folder.rsplit('/').next().unwrap_or_default();
    matches!(first, "tsconfig" | "jsconfig")
        || ["tsconfig", "ts-config", "typescript-config"].iter().any(|word| place.contains(word))
}

/// The first words of configurations of bundlers, test runners and frameworks: `vite.config.ts`, `webpack.prod.js`.
const SCRIPTS: [&str; 18] = [
    "vite", "vitest", "webpack", "rspack", "rsbuild", "rollup", "metro", "babel", "jest", "nuxt", "svelte", "vue",
    "next", "astro", "craco", "quasar", "electron", "snowpack",
];
const SCRIPT_ENDINGS: [&str; 7] = [".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".json"];

fn is_script(file: &str) -> bool {
    if file == ".babelrc" || file.starts_with(".babelrc.") {
        return true;
    }
    let Some(stem) = SCRIPT_ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)) else { return false };
    let (first, rest) = stem.split_once(['.', '-']).unwrap_or((stem, ""));
    SCRIPTS.contains(&first) && (rest.contains("config") || (first == "webpack" && !rest.is_empty()))
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
            Format::TsConfig | Format::Script => Ecosystem::Npm,
            Format::GoMod | Format::GoWork => Ecosystem::Go,
            Format::CargoToml | Format::CargoLock => Ecosystem::Rust,
            Format::Pom | Format::Gradle | Format::Sbt => Ecosystem::Maven,
            Format::VersionCatalog | Format::GradleLock => Ecosystem::Maven,
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
            Format::GoWork | Format::Sbt | Format::TsConfig | Format::Script => Role::Modules,
            _ => Role::Manifest,
        }
    }
}
