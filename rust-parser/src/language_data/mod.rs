//! A language as data: what `language.toml`, the `shared.toml` of the folders it includes, and their word files say.
//!
//! `load` reads and merges the files; `rules` are the parts that linking reads. Grammars and patterns are not loaded here.

mod load;
mod rules;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use load::{LanguageFolder, read, read_all};
pub use rules::{
    ExternalName, IncludeSettings, IncludedName, LinkSettings, MemberOrder, ModuleRule, ModuleSettings, OuterPackages,
    PackageKind,
};

/// `language.toml`, merged with what it includes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub name: String,
    /// Name of a compiled-in grammar; empty when the language's hooks read the text themselves, without patterns.
    #[serde(default)]
    pub grammar: String,
    /// Without the dot; the longest match wins (`d.ts` before `ts`).
    #[serde(default)]
    pub extensions: Vec<String>,
    /// Whole file names.
    #[serde(default)]
    pub file_names: Vec<String>,
    /// Interpreter names of a `#!` line, without version.
    #[serde(default)]
    pub shebangs: Vec<String>,
    /// Folders next to this one: their `tags.scm` is appended, their `shared.toml` and word files are merged.
    #[serde(default)]
    pub include: Vec<String>,
    /// Name of the Rust module that reads what patterns cannot say; empty for none.
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
    pub link: LinkSettings,
    #[serde(default)]
    pub modules: ModuleSettings,
    #[serde(default)]
    pub includes: IncludeSettings,
    #[serde(default)]
    pub search: SearchSettings,
    /// Of `builtins.txt`.
    #[serde(skip)]
    pub builtins: Vec<String>,
    /// Of `common_methods.txt`.
    #[serde(skip)]
    pub common_methods: Vec<String>,
}

impl Settings {
    /// The family of languages that can refer to each other's names.
    pub fn family(&self) -> &str {
        if self.link.family.is_empty() { &self.name } else { &self.link.family }
    }

    /// (words, endings, declarations, constructors): what the language says about questions and hits.
    fn search_terms(&self) -> [Vec<String>; 4] {
        let SearchSettings { words, endings, declarations, constructors } = self.search.clone();
        let constructors = self.definitions.constructors.iter().cloned().chain(constructors).collect();
        [words, endings.unwrap_or_else(|| self.extensions.clone()), declarations, constructors]
    }
}

/// Words, endings, declarations and constructors of `[search]` by language, in the order of their names.
pub fn search_terms(roots: &[String]) -> Result<BTreeMap<String, [Vec<String>; 4]>, String> {
    let languages = read_all(roots)?.into_iter().map(|folder| folder.settings);
    Ok(languages.map(|settings| (settings.name.clone(), settings.search_terms())).collect())
}

/// `shared.toml`: what several languages have in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // read only to check a file by itself, so that an error names its line
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

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScopeSettings {
    /// Required, here or in an included folder.
    pub rule: Option<ScopeName>,
    /// Leading path components that are not part of module names; one is dropped.
    pub strip_leading: Vec<String>,
    /// Path components dropped wherever they stand.
    pub strip_every: Vec<String>,
    /// Names of files that stand for their folder.
    pub index_names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeName {
    File,
    Directory,
    Declared,
    Document,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TestSettings {
    /// Globs over paths relative to the project; a file that fits one is a test file.
    pub paths: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DefinitionSettings {
    /// Names that make a function in a class its constructor; linking calls the first. None: named like the class.
    pub constructors: Vec<String>,
    /// Names that stand for the class of `this`, also as a type.
    pub class_names: Vec<String>,
    pub exported: Exported,
}

/// Which definitions are visible outside their module.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exported {
    /// Names without a leading underscore (dunder names too).
    Underscore,
    /// Names with a capital first letter.
    Capitalised,
    /// What a `@flag.exported` says; members follow their class unless private.
    Explicit,
    /// All but `@flag.private`.
    #[default]
    Always,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DocSettings {
    pub style: DocStyle,
    /// Beginnings of comments that are documentation; empty: every comment is.
    pub prefixes: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocStyle {
    /// The string that is the first statement of the body.
    FirstString,
    /// The comment directly above.
    #[default]
    CommentAbove,
}

/// How questions and hits show the language.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Words of a question that name the language.
    pub words: Vec<String>,
    /// `name.ending` in a question is a file; absent: the extensions.
    pub endings: Option<Vec<String>>,
    /// Endings of files that only declare what other files define.
    pub declarations: Vec<String>,
    /// Names, besides those of `definitions`, under which a hit stands for its class.
    pub constructors: Vec<String>,
}
