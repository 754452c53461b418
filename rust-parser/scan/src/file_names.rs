//! Classifies files and folders by name: secrets, lock files, bundles, generated code, installed dependencies.

use atlas_manifests as manifests;

/// Names of files that hold secrets, in lower case.
const SECRET_NAMES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".htpasswd",
    ".pgpass",
    ".git-credentials",
    ".dockercfg",
    ".my.cnf",
    "credentials",
    "id_dsa",
    "id_ecdsa",
    "kubeconfig",
    ".s3cfg",
    ".boto",
    ".vault_pass",
    ".vault-token",
];
const SECRET_PREFIXES: &[&str] = &[".env", "id_rsa", "id_ed25519"];
const SECRET_SUFFIXES: &[&str] = &[
    ".env",
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".p8",
    ".gpg",
    ".age",
    ".tfvars",
    ".tfstate",
];
/// Extensions with which such names hold secrets: `secrets.yaml` does, `secrets.py` is a module about them.
const SECRET_DATA: &[&str] = &["json", "yaml", "yml", "toml", "ini", "cfg", "conf", "properties", "xml", "txt", "enc"];

/// Files that package managers write. Those with a reader are read for versions.
const LOCK_FILES: &[&str] = &[
    "bun.lock",
    "bun.lockb",
    "cargo.lock",
    "composer.lock",
    "flake.lock",
    "gemfile.lock",
    "go.sum",
    "go.work.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pdm.lock",
    "pipfile.lock",
    "pnpm-lock.yaml",
    "podfile.lock",
    "poetry.lock",
    "pubspec.lock",
    "pylock.toml",
    "uv.lock",
    "yarn.lock",
];

const MINIFIED_SUFFIXES: &[&str] =
    &[".min.js", ".min.mjs", ".min.cjs", ".min.css", "-min.js", "-min.css", ".bundle.js", ".chunk.js", ".pack.js"];

const GENERATED_SUFFIXES: &[&str] = &[
    "_pb2.py",
    "_pb2_grpc.py",
    ".pb.go",
    ".pb.gw.go",
    ".pb.cc",
    ".pb.h",
    "_pb.js",
    "_pb.d.ts",
    "_pb.rb",
    ".g.cs",
    ".g.i.cs",
    ".designer.cs",
];

/// Hidden folders in which projects keep what belongs to them: workflows, containers, hooks, settings of tools.
const HIDDEN_FOLDERS: &[&str] = &[
    ".github",
    ".gitlab",
    ".gitea",
    ".forgejo",
    ".circleci",
    ".buildkite",
    ".azure-pipelines",
    ".semaphore",
    ".woodpecker",
    ".tekton",
    ".ci",
    ".cargo",
    ".config",
    ".devcontainer",
    ".husky",
    ".storybook",
    ".vitepress",
    ".vuepress",
    ".changeset",
    ".mvn",
];
/// Hidden files of that kind, in lower case.
const HIDDEN_FILES: &[&str] = &[
    ".editorconfig",
    ".gitmodules",
    ".flake8",
    ".pylintrc",
    ".coveragerc",
    ".clang-format",
    ".clang-tidy",
    ".python-version",
    ".ruby-version",
    ".tool-versions",
    ".nvmrc",
    ".babelrc",
    ".swcrc",
    ".jshintrc",
    ".rspec",
    ".yamllint",
    ".sqlfluff",
    ".justfile",
    ".gitlab-ci.yml",
];
/// First parts of hidden files of that kind: `.eslintrc.json`, `.pre-commit-config.yaml`.
const HIDDEN_STEMS: &[&str] = &[
    "eslintrc",
    "prettierrc",
    "stylelintrc",
    "lintstagedrc",
    "mocharc",
    "releaserc",
    "babelrc",
    "travis",
    "appveyor",
    "cirrus",
    "drone",
    "woodpecker",
    "gitlab-ci",
    "pre-commit-config",
    "pre-commit-hooks",
    "readthedocs",
    "golangci",
    "goreleaser",
    "rubocop",
    "rubocop_todo",
    "swiftlint",
    "swiftformat",
    "rustfmt",
    "codecov",
    "coveralls",
    "markdownlint",
    "commitlintrc",
    "bumpversion",
    "mergify",
    "all-contributorsrc",
    "php-cs-fixer",
    "scalafmt",
    "formatter",
    "credo",
];

/// Folders of copied programs, whose configuration, markup and text say nothing about this one.
const VENDORED_FOLDERS: &[&str] =
    &["vendor", "vendors", "vendored", "_vendor", "third_party", "third-party", "thirdparty"];
/// Endings of folders that a packager writes.
const METADATA_ENDINGS: &[&str] = &[".egg-info", ".dist-info"];
/// Folders of data for tests and programs.
const DATA_FOLDERS: &[&str] = &[
    "fixtures",
    "fixture",
    "__fixtures__",
    "testdata",
    "test-data",
    "test_data",
    "snapshots",
    "__snapshots__",
    "cassettes",
    "golden",
    "goldens",
    "corpus",
    "corpora",
    "dataset",
    "datasets",
];

const DEPENDENCY_FOLDERS: &[&str] =
    &["node_modules", "bower_components", "jspm_packages", ".venv", "__pycache__", "__pypackages__", "site-packages"];

/// Files that mark a folder as created by a tool: a virtual environment or a cache (<https://bford.info/cachedir/>).
pub const DEPENDENCY_MARKERS: &[&str] = &["pyvenv.cfg", "CACHEDIR.TAG"];

/// Returns whether a character ends a line, controls a terminal, or reorders the surrounding text.
pub fn breaks_lines(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns why a file at this path is not indexed, because of its name, or "".
pub fn of_file(path: &str, generated: bool) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_ascii_lowercase();
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| lower.ends_with(suffix));
    // `requirements/extras/auth.txt` lists packages.
    let is_requirements = || manifests::format_of(path) == Some(manifests::Format::Requirements);
    if is_secret(&lower) && !is_requirements() {
        "secret"
    } else if LOCK_FILES.contains(&lower.as_str()) && !manifests::is_lock(name) {
        "lock-file"
    } else if ends(MINIFIED_SUFFIXES) {
        "minified"
    } else if !generated && ends(GENERATED_SUFFIXES) {
        "generated"
    } else if name.starts_with('.') && !is_named_hidden_file(&lower) {
        "hidden"
    } else {
        ""
    }
}

/// Returns why a file that is indexed as text is left out because of the folders around it, if it is.
pub fn of_plain(path: &str, may_be_data: bool) -> Option<&'static str> {
    let (folders, _) = path.rsplit_once('/')?;
    let mut folders = folders.split('/').map(str::to_ascii_lowercase);
    folders.find_map(|folder| match folder.as_str() {
        name if VENDORED_FOLDERS.contains(&name) => Some("vendored"),
        name if METADATA_ENDINGS.iter().any(|ending| name.ends_with(ending)) => Some("generated"),
        name if may_be_data && DATA_FOLDERS.contains(&name) => Some("data"),
        _ => None,
    })
}

fn is_named_hidden_file(lower: &str) -> bool {
    let stem = lower[1..].split('.').next().unwrap_or_default();
    is_template_of_variables(lower) || HIDDEN_FILES.contains(&lower) || HIDDEN_STEMS.contains(&stem)
}

/// Returns why a folder with this name is not entered, or "".
pub fn of_folder(name: &str) -> &'static str {
    if DEPENDENCY_FOLDERS.contains(&name) {
        "dependencies"
    } else if name.starts_with('.') && !HIDDEN_FOLDERS.contains(&name) {
        "hidden"
    } else {
        ""
    }
}

fn is_secret(lower: &str) -> bool {
    if is_template_of_variables(lower) {
        return false;
    }
    let (stem, extension) = lower.rsplit_once('.').unwrap_or((lower, ""));
    SECRET_NAMES.contains(&lower)
        || SECRET_PREFIXES.iter().any(|prefix| lower.starts_with(prefix) && !lower.ends_with(".pub"))
        || SECRET_SUFFIXES.iter().any(|suffix| lower.ends_with(suffix))
        || (SECRET_DATA.contains(&extension) && is_secret_stem(stem))
}

/// Recognizes `.env.example` and `example.env`, which have names of variables with placeholders as their values.
fn is_template_of_variables(lower: &str) -> bool {
    const WORDS: [&str; 4] = ["example", "sample", "template", "dist"];
    let named = |text: &str| WORDS.contains(&text);
    let last = lower.rsplit('.').next().unwrap_or_default();
    (lower.contains(".env.") && named(last)) || lower.strip_suffix(".env").is_some_and(named)
}

/// Recognizes `secrets.yaml`, `prod.secrets.json`, `db-credentials.toml`, `service-account-key.json`.
fn is_secret_stem(stem: &str) -> bool {
    let last = stem.rsplit(['.', '-', '_']).next().unwrap_or(stem);
    matches!(last, "secret" | "secrets" | "credential" | "credentials" | "kubeconfig")
        || matches!(stem, "auth" | "service-account" | "service_account" | "service-account-key" | "local.settings")
        || stem.starts_with("credentials")
        || stem.starts_with("secrets.")
}

#[cfg(test)]
mod tests {
    use super::of_file;

    #[test]
    fn secret_files_are_distinguished_from_modules_about_secrets() {
        for name in [
            ".env",
            ".env.local",
            "prod.env",
            "server.PEM",
            "id_rsa",
            "credentials.json",
            "secrets.yml",
            ".npmrc",
            "prod.secrets.yaml",
            "db-credentials.toml",
            "auth.json",
            "extras/auth.txt",
            "requirements/auth.json",
        ] {
            assert_eq!(of_file(name, false), "secret", "{name}");
        }
        for name in [
            "secrets-store.yaml",
            ".env.example",
            "example.env",
            "auth.py",
            "secrets.py",
            "credentials.go",
            "environment.py",
            "key.py",
            "id_rsa.pub",
            "envelope.ts",
            "keys.rs",
            "requirements/extras/auth.txt",
        ] {
            assert_eq!(of_file(name, false), "", "{name}");
        }
    }

    #[test]
    fn generated_names_are_indexed_when_asked_for() {
        assert_eq!(of_file("api_pb2.py", false), "generated");
        assert_eq!(of_file("api_pb2.py", true), "");
    }
}
