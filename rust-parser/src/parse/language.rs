//! One language as data: what `language.toml` and `tags.scm` say, compiled into tables by kind of node.

use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use crate::facts::ScopeRule;
use crate::parse::grammars;
use crate::parse::hooks::LanguageHooks;
use crate::parse::query::patterns::{Kinds, Pattern, compile};
use crate::parse::query::vocabulary::{Role, Shape};

/// `language.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub name: String,
    /// Name of a compiled-in grammar; empty when the language's code reads the text itself, without patterns.
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
    /// Folders beside this one whose `tags.scm` is appended.
    #[serde(default)]
    pub include: Vec<String>,
    /// Name of the Rust module that reads what patterns cannot say; empty for none.
    #[serde(default)]
    pub code: String,
    pub scope: ScopeSettings,
    #[serde(default)]
    pub tests: TestSettings,
    #[serde(default)]
    pub definitions: DefinitionSettings,
    #[serde(default)]
    pub docs: DocSettings,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeSettings {
    rule: RuleName,
    /// Leading path components that are not part of module names; one is dropped.
    #[serde(default)]
    pub strip_leading: Vec<String>,
    /// Path components dropped wherever they stand.
    #[serde(default)]
    pub strip_every: Vec<String>,
    /// Names of files that stand for their folder.
    #[serde(default)]
    pub index_names: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RuleName {
    File,
    Directory,
    Declared,
    Document,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestSettings {
    /// Globs over paths relative to the project; a file that fits one is a test file.
    #[serde(default)]
    paths: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefinitionSettings {
    /// Names that make a function in a class its constructor.
    #[serde(default)]
    pub constructors: Vec<String>,
    /// Names that stand for the class of `this`, also as a type.
    #[serde(default)]
    pub class_names: Vec<String>,
    #[serde(default)]
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

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocSettings {
    #[serde(default)]
    pub style: DocStyle,
    /// Beginnings of comments that are documentation; empty: every comment is.
    #[serde(default)]
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

/// What to do at nodes of one kind; numbers are indices into `Language::patterns`, in the order of the file.
#[derive(Debug, Default)]
pub struct KindRules {
    pub walk: Vec<u16>,
    pub expression: Vec<u16>,
    pub types: Vec<u16>,
    pub target: Vec<u16>,
    pub parameter: Vec<u16>,
    pub argument: Vec<u16>,
    /// Calls are recorded where they stand; attributes are read unless something else claimed them.
    pub records_call: bool,
    pub records_attribute: bool,
    pub is_comment: bool,
    pub is_block: bool,
    pub is_token: bool,
}

/// Finds the hooks that a `language.toml` names; the registry knows them all, a language does not.
pub type HooksByName = fn(&str) -> Option<&'static dyn LanguageHooks>;

/// A compiled language.
pub struct Language {
    pub settings: Settings,
    /// Text of the files it was loaded from.
    pub sources: String,
    /// None when the code reads the text itself.
    pub grammar: Option<tree_sitter::Language>,
    pub scope_rule: ScopeRule,
    pub hooks: &'static dyn LanguageHooks,
    pub patterns: Vec<Pattern>,
    /// By kind: a named node that is not a comment.
    pub content_kinds: Vec<bool>,
    kinds: Vec<KindRules>,
    no_rules: KindRules,
    tests: GlobSet,
}

impl Language {
    /// Load `<folder>/language.toml` and `<folder>/tags.scm`. The error names file and place.
    pub fn load(folder: &Path, hooks: HooksByName) -> Result<Language, String> {
        let settings_path = folder.join("language.toml");
        let text = read(&settings_path)?;
        let settings: Settings =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", settings_path.display()))?;
        let grammar = grammars::grammar(&settings.grammar);
        if grammar.is_none() && !settings.grammar.is_empty() {
            return Err(format!(
                "{}: unknown grammar {:?} (known: {})",
                settings_path.display(),
                settings.grammar,
                grammars::NAMES.join(", ")
            ));
        }
        let hooks = hooks(&settings.code)
            .ok_or_else(|| format!("{}: unknown code {:?}", settings_path.display(), settings.code))?;
        let mut sources = text;
        let mut patterns = Vec::new();
        if let Some(grammar) = &grammar {
            patterns = load_patterns(grammar, &folder.join("tags.scm"), &mut sources)?;
            for include in &settings.include {
                let path = folder.join("..").join(include).join("tags.scm");
                patterns.extend(load_patterns(grammar, &path, &mut sources)?);
            }
        }
        let tests = globs(&settings.tests.paths).map_err(|error| format!("{}: {error}", settings_path.display()))?;
        let mut language = Language {
            scope_rule: match settings.scope.rule {
                RuleName::File => ScopeRule::File,
                RuleName::Directory => ScopeRule::Directory,
                RuleName::Declared => ScopeRule::Declared,
                RuleName::Document => ScopeRule::Document,
            },
            settings,
            sources,
            grammar,
            hooks,
            patterns: Vec::new(),
            content_kinds: Vec::new(),
            kinds: Vec::new(),
            no_rules: KindRules::default(),
            tests,
        };
        language.take_patterns(patterns).map_err(|error| format!("{}: {error}", folder.join("tags.scm").display()))?;
        Ok(language)
    }

    fn take_patterns(&mut self, patterns: Vec<Pattern>) -> Result<(), String> {
        let Some(grammar) = &self.grammar else {
            return Ok(());
        };
        let count = grammar.node_kind_count();
        self.kinds.resize_with(count, KindRules::default);
        for (number, pattern) in patterns.iter().enumerate() {
            let Kinds::One(kind) = pattern.root.kinds else {
                return Err("the outermost node of a pattern must have a kind".into());
            };
            self.kinds[kind as usize].take(number as u16, pattern.role);
        }
        for rules in &mut self.kinds {
            rules.walk.sort_by_key(|&number| patterns[number as usize].role.rank());
        }
        self.content_kinds =
            (0..count).map(|kind| grammar.node_kind_is_named(kind as u16) && !self.kinds[kind].is_comment).collect();
        self.patterns = patterns;
        Ok(())
    }

    /// What to do at nodes of a kind.
    #[inline]
    pub fn rules(&self, kind: u16) -> &KindRules {
        self.kinds.get(kind as usize).unwrap_or(&self.no_rules)
    }

    /// A named node that is not a comment (or a syntax error).
    pub fn is_content(&self, kind: u16) -> bool {
        self.content_kinds.get(kind as usize).copied().unwrap_or(true)
    }

    pub fn is_test_path(&self, path: &str) -> bool {
        self.tests.is_match(path)
    }

    /// Dotted module of a path; a pure function of the path. Empty only where modules are declared, for documents, and for
    /// the root folder of a language with one package a folder.
    pub fn module_of(&self, path: &str) -> String {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = self.stem(file);
        let scope = &self.settings.scope;
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        if matches!(self.scope_rule, ScopeRule::Declared | ScopeRule::Document) {
            return String::new();
        }
        if parts.first().is_some_and(|part| scope.strip_leading.iter().any(|name| name == part)) {
            parts.remove(0);
        }
        parts.retain(|part| !scope.strip_every.iter().any(|name| name == part));
        if self.scope_rule == ScopeRule::File {
            if !scope.index_names.iter().any(|name| name == stem) {
                parts.push(stem);
            } else if parts.is_empty() {
                return stem.to_owned();
            }
        }
        parts.join(".")
    }

    /// A file's name without the extension of this language.
    pub fn stem<'p>(&self, file: &'p str) -> &'p str {
        let extension = self
            .settings
            .extensions
            .iter()
            .filter(|extension| {
                file.len() > extension.len() + 1
                    && file.ends_with(extension.as_str())
                    && file.as_bytes()[file.len() - extension.len() - 1] == b'.'
            })
            .max_by_key(|extension| extension.len());
        match extension {
            Some(extension) => &file[..file.len() - extension.len() - 1],
            None => file,
        }
    }
}

impl KindRules {
    fn take(&mut self, number: u16, role: Role) {
        match role {
            Role::Expression(shape) => {
                self.expression.push(number);
                self.records_call |= matches!(shape, Shape::Call { .. });
                self.records_attribute |= shape == Shape::Attribute;
            }
            Role::Type(_) => self.types.push(number),
            Role::Target(_) => self.target.push(number),
            Role::Parameter(_) => self.parameter.push(number),
            Role::Argument => self.argument.push(number),
            Role::Comment => self.is_comment = true,
            Role::Block => self.is_block = true,
            Role::Token => self.is_token = true,
            Role::Definition(crate::facts::Kind::Lambda) => {
                self.walk.push(number);
                self.expression.push(number);
            }
            _ => self.walk.push(number),
        }
    }

    /// Nothing happens at such nodes during the walk.
    #[inline]
    pub fn is_passive(&self) -> bool {
        self.walk.is_empty() && !self.records_call && !self.records_attribute && !self.is_comment
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn load_patterns(grammar: &tree_sitter::Language, path: &Path, sources: &mut String) -> Result<Vec<Pattern>, String> {
    let text = read(path)?;
    let patterns = compile(grammar, &text).map_err(|error| format!("{}:{error}", path.display()))?;
    sources.push('\0');
    sources.push_str(&text);
    Ok(patterns)
}

fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}
