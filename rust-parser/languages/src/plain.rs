//! Formats without definitions of their own: `plain.toml` in a folder of languages lists them. Each becomes a language
//! whose files are indexed as windows of lines.

use std::path::Path;

use serde::Deserialize;

use super::load::parse;
use super::{LanguageFolder, ScopeName, ScopeSettings, SearchSettings, Settings, TestSettings, read};
use atlas_facts::WindowKind;

const FILE: &str = "plain.toml";
/// Globs of test files and their data in every format; `t` at the root is the folder of Perl, Git and Vim plugins.
const TESTS: &[&str] = &[
    "**/test/**",
    "**/tests/**",
    "**/Tests/**",
    "**/*.Tests/**",
    "**/unittests/**",
    "**/testing/**",
    "**/testdata/**",
    "**/spec/**",
    "**/__{tests,mocks,fixtures,snapshots}__/**",
    "t/**",
];

/// How the files of a format are divided into windows and named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainSettings {
    pub kind: WindowKind,
    pub outline: Outline,
}

/// Which lines name a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outline {
    /// Lines with a keyword of definitions and a name.
    #[default]
    Code,
    /// Indented keys with values.
    Keys,
    /// `[section]` lines and keys.
    Headers,
    /// Rules of make.
    Targets,
    /// `FROM` lines.
    Stages,
    /// Headings, blocks and named elements of markup.
    Tags,
    /// Selectors of style sheets.
    Selectors,
    /// None: the first line.
    Lines,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Formats {
    #[serde(default, rename = "format")]
    formats: Vec<Format>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Format {
    name: String,
    #[serde(default)]
    kind: WindowKind,
    #[serde(default)]
    outline: Outline,
    #[serde(default)]
    extensions: Vec<String>,
    #[serde(default)]
    file_names: Vec<String>,
    #[serde(default)]
    shebangs: Vec<String>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    endings: Vec<String>,
    #[serde(default)]
    tests: Vec<String>,
}

/// Returns the formats of a folder of languages. An error names the file.
pub fn read_formats(root: &Path) -> Result<Vec<LanguageFolder>, String> {
    let path = root.join(FILE);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = read(&path)?;
    let Formats { formats } = parse(&path, &text)?;
    let folder = |format: Format| LanguageFolder {
        path: root.to_owned(),
        sources: format!("{format:?}"),
        settings: settings_of(format),
        patterns: Vec::new(),
    };
    Ok(formats.into_iter().map(folder).collect())
}

fn settings_of(format: Format) -> Settings {
    let Format { name, kind, outline, extensions, file_names, shebangs, words, endings, tests } = format;
    let paths = TESTS.iter().map(|&glob| glob.to_owned()).chain(tests).collect();
    Settings {
        name,
        code: "plain".to_owned(),
        extensions,
        file_names,
        shebangs,
        plain: Some(PlainSettings { kind, outline }),
        scope: ScopeSettings { rule: Some(ScopeName::Text), ..ScopeSettings::default() },
        tests: TestSettings { paths },
        search: SearchSettings { words, endings: Some(endings), ..SearchSettings::default() },
        ..Settings::default()
    }
}
