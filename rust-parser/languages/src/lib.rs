//! Languages as data. The settings of a language: `language.toml`, the `shared.toml` of the folders that it includes, and their word
//! files.
//!
//! `load` reads and merges the files; `rules` holds the parts that the linker reads. Grammars and patterns are loaded
//! by `atlas_parse`.
//!
//! `deadline` and `syntax` are how every reader gets a syntax tree: within limits of CPU time and memory.
//!
//! ```
//! let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../atlas/languages").to_owned();
//! let languages = atlas_languages::read_all(&[folder]).unwrap();
//! let go = languages.iter().find(|language| language.settings.name == "go").unwrap();
//! assert_eq!(go.settings.extensions, ["go"]);
//! assert_eq!(go.settings.grammar, "go");
//! ```

#![forbid(unsafe_code)]

pub mod deadline;
mod load;
mod plain;
mod rules;
pub mod syntax;

use std::collections::BTreeMap;

use serde::Deserialize;

use atlas_facts::WindowKind;

pub use load::{LanguageFolder, add_source, read, read_all};
pub use plain::{Outline, PlainSettings};
pub use rules::{
    ExternalName, IncludeSettings, IncludedName, LinkSettings, MemberOrder, ModuleRule, ModuleSettings, OuterPackages,
    PackageKind,
};

/// `language.toml`, merged with what it includes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub name: String,
    /// Name of a compiled-in grammar; empty when the language's hooks read the text without one.
    #[serde(default)]
    pub grammar: String,
    /// Without the dot; the longest match wins (`d.ts` before `ts`).
    #[serde(default)]
    pub extensions: Vec<String>,
    /// Complete file names.
    #[serde(default)]
    pub file_names: Vec<String>,
    /// The language that hands over files of this one by their content; it claims the names of the files, and the facts
    /// carry its name. Empty for a language of its own.
    #[serde(default)]
    pub dialect_of: String,
    /// Where a file of markup has its code; none for a language that has nothing else.
    #[serde(default)]
    pub scripts: Option<ScriptPlaces>,
    /// Interpreter names of a `#!` line, without versions.
    #[serde(default)]
    pub shebangs: Vec<String>,
    /// Folders next to this one. Their `tags.scm` is appended; their `shared.toml` and word files are merged.
    #[serde(default)]
    pub include: Vec<String>,
    /// Name of the Rust hooks that handle what patterns cannot express; empty for none.
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub scope: ScopeSettings,
    #[serde(default)]
    pub tests: TestSettings,
    #[serde(default)]
    pub definitions: DefinitionSettings,
    #[serde(default)]
    pub docs: DocSettings,
    #[serde(default)]
    pub operators: OperatorSettings,
    #[serde(default)]
    pub link: LinkSettings,
    #[serde(default)]
    pub modules: ModuleSettings,
    #[serde(default)]
    pub includes: IncludeSettings,
    #[serde(default)]
    pub search: SearchSettings,
    /// Set for the formats of `plain.toml`, whose files are indexed as windows of lines.
    #[serde(skip)]
    pub plain: Option<PlainSettings>,
    /// Words of `builtins.txt`.
    #[serde(skip)]
    pub builtins: Vec<String>,
    /// Words of `standard.txt`.
    #[serde(skip)]
    pub standard: Vec<String>,
    /// Words of `common_methods.txt`.
    #[serde(skip)]
    pub common_methods: Vec<String>,
}

impl Settings {
    /// Returns the name of the language family whose members can refer to each other's names.
    pub fn family(&self) -> &str {
        if self.link.family.is_empty() { &self.name } else { &self.link.family }
    }

    /// Returns what files of the language are: `code`, `document`, or windows of lines of `source` code or `text`.
    fn form(&self) -> &'static str {
        match self.scope.rule {
            Some(ScopeName::Text) if self.plain.as_ref().is_some_and(|plain| plain.kind == WindowKind::Code) => {
                "source"
            }
            Some(ScopeName::Text) => "text",
            Some(ScopeName::Document) => "document",
            _ => "code",
        }
    }

    /// Returns `[words, endings, declarations, constructors]` of `[search]`, with defaults filled in.
    fn search_terms(&self) -> [Vec<String>; 4] {
        let SearchSettings { words, endings, declarations, constructors } = self.search.clone();
        let constructors = self.definitions.constructors.iter().cloned().chain(constructors).collect();
        [words, endings.unwrap_or_else(|| self.extensions.clone()), declarations, constructors]
    }
}

/// The form of a language, and words, endings, declarations and constructors.
pub type SearchTerms = (&'static str, [Vec<String>; 4]);

/// Returns the form of each language, and words, endings, declarations and constructors of `[search]`, by name.
pub fn search_terms(roots: &[String]) -> Result<BTreeMap<String, SearchTerms>, String> {
    let languages = read_all(roots)?.into_iter().map(|folder| folder.settings);
    Ok(languages.map(|settings| (settings.name.clone(), (settings.form(), settings.search_terms()))).collect())
}

/// `shared.toml`: settings that several languages share.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // Parsed only to validate the file, so that an error names its line.
struct SharedSettings {
    #[serde(default)]
    scope: ScopeSettings,
    #[serde(default)]
    tests: TestSettings,
    #[serde(default)]
    definitions: DefinitionSettings,
    #[serde(default)]
    docs: DocSettings,
    #[serde(default)]
    link: LinkSettings,
    #[serde(default)]
    modules: ModuleSettings,
    #[serde(default)]
    includes: IncludeSettings,
    #[serde(default)]
    search: SearchSettings,
}

/// `[scope]`: how files of the language name their top-level scope.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScopeSettings {
    /// Required, in this file or in an included folder.
    pub rule: Option<ScopeName>,
    /// Leading path components that are not part of module names; at most one is dropped.
    pub strip_leading: Vec<String>,
    /// Path components that are dropped anywhere in a path.
    pub strip_every: Vec<String>,
    /// Names of files that represent their folder.
    pub index_names: Vec<String>,
}

/// Where a file of markup has its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptPlaces {
    /// In elements (`<script>`).
    Elements,
    /// Between lines of `---` at the start, and in elements.
    FrontMatter,
}

/// `scope.rule`; see [`atlas_facts::ScopeRule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeName {
    File,
    Directory,
    Declared,
    Document,
    Text,
}

/// `[tests]`: which files are tests.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TestSettings {
    /// Globs over paths relative to the project; a file that matches one is a test file.
    pub paths: Vec<String>,
}

/// `[definitions]`: names and visibility of definitions.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DefinitionSettings {
    /// Names of constructors; the linker calls the first. Absent: a constructor has the name of its class.
    pub constructors: Vec<String>,
    /// Names that denote the class of `this`, also as a type.
    pub class_names: Vec<String>,
    pub exported: Exported,
}

/// Which definitions are visible outside their module.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exported {
    /// Names without a leading underscore (dunder names too).
    Underscore,
    /// Names with an upper-case first letter.
    Capitalised,
    /// Definitions with `@flag.exported`; members follow their class unless private.
    Explicit,
    /// All definitions without `@flag.private`.
    #[default]
    Always,
}

/// `[operators]`: the methods behind operators; an empty one stands for none.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OperatorSettings {
    /// By operator: those between two operands, and those before or after one.
    pub binary: BTreeMap<String, String>,
    pub prefix: BTreeMap<String, String>,
    /// The method of any other operator, with `*` for its text; none if empty.
    pub pattern: String,
}

/// `[docs]`: where documentation is written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DocSettings {
    pub style: DocStyle,
    /// Prefixes of documentation comments; empty if every comment documents.
    pub prefixes: Vec<String>,
}

/// The position of a definition's documentation.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocStyle {
    /// A string that is the first statement of the body.
    FirstString,
    /// The comment directly above the definition.
    #[default]
    CommentAbove,
}

/// How queries and hits identify the language.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Words in a query that name the language.
    pub words: Vec<String>,
    /// Endings for which `name.ending` in a query is a file; absent: the extensions.
    pub endings: Option<Vec<String>>,
    /// Endings of files that only declare what other files define.
    pub declarations: Vec<String>,
    /// Additional names, besides those of `definitions`, for which a hit represents its class.
    pub constructors: Vec<String>,
}
