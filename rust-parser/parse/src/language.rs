//! A compiled language: `language.toml` and `tags.scm` as tables by node kind.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use globset::{Glob, GlobSet, GlobSetBuilder};
use rustc_hash::FxHashMap;

use crate::grammars;
use crate::hooks::LanguageHooks;
use crate::query::patterns::{Kinds, Pattern, compile};
use crate::query::vocabulary::{Role, Shape};
use atlas_facts::ScopeRule;
use atlas_languages::{LanguageFolder, ScopeName, Settings, add_source, read};

/// Nodes that run from their start to their end, and the assignments in them.
const SEQUENCES: &[&str] = &[
    "module",
    "program",
    "block",
    "statement_block",
    "expression_statement",
    "lexical_declaration",
    "variable_declaration",
    "export_statement",
    "assignment",
    "variable_declarator",
    "assignment_expression",
];

/// The actions for one node kind. Numbers are indices into `Language::patterns`, in the order of the file.
#[derive(Debug, Default)]
pub struct KindRules {
    pub walk: Vec<u16>,
    pub expression: Vec<u16>,
    pub types: Vec<u16>,
    pub target: Vec<u16>,
    pub parameter: Vec<u16>,
    pub argument: Vec<u16>,
    pub local: Vec<u16>,
    /// Calls are recorded at their own node; attributes are reads unless another role claims them.
    pub records_call: bool,
    pub records_attribute: bool,
    /// Elements are reads unless they are bound.
    pub records_index: bool,
    pub is_comment: bool,
    pub is_block: bool,
    pub is_token: bool,
    pub is_definition: bool,
}

/// Finds the hooks named in a `language.toml`. Passed in by the registry, so that this file does not depend on all
/// languages.
pub type HooksByName = fn(&str) -> Option<&'static dyn LanguageHooks>;

/// A compiled language.
pub struct Language {
    pub settings: Settings,
    /// Text of the files from which the language was loaded.
    pub sources: String,
    /// `None` if the hooks read the text themselves.
    pub grammar: Option<tree_sitter::Language>,
    pub scope_rule: ScopeRule,
    pub hooks: &'static dyn LanguageHooks,
    pub patterns: Vec<Pattern>,
    /// By node kind: whether it is named and not a comment.
    pub content_kinds: Vec<bool>,
    sequence_kinds: Vec<bool>,
    /// Whether a pattern describes variables of a part of a function.
    pub has_locals: bool,
    /// The numbers of the grammar's fields: the grammar itself searches its list of names.
    fields: FxHashMap<String, u16>,
    kinds: Vec<KindRules>,
    no_rules: KindRules,
    tests: GlobSet,
}

/// The languages that this process has compiled, by folder and name: the index, the check of the tree and what reads old
/// revisions use the same ones. All languages take 15 MB and 40 ms.
static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);

type Compiled = FxHashMap<(PathBuf, String), Arc<Language>>;

impl Language {
    /// Compiles the folder of a language, unless this process has compiled the same files before.
    ///
    /// # Errors
    /// A message with file and position.
    pub fn load(mut folder: LanguageFolder, hooks: HooksByName) -> Result<Arc<Language>, String> {
        let mut texts = Vec::new();
        if grammars::grammar(&folder.settings.grammar).is_some() {
            for path in &folder.patterns {
                let text = read(path)?;
                add_source(&mut folder.sources, &text);
                texts.push(text);
            }
        }
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (folder.path.clone(), folder.settings.name.clone());
        if let Some(known) = compiled.get(&key).filter(|known| known.sources == folder.sources) {
            return Ok(Arc::clone(known));
        }
        let language = Arc::new(Self::compile(folder, &texts, hooks)?);
        compiled.insert(key, Arc::clone(&language));
        Ok(language)
    }

    /// Compiles a folder whose files of patterns have these texts.
    fn compile(folder: LanguageFolder, texts: &[String], hooks: HooksByName) -> Result<Language, String> {
        let LanguageFolder { path: folder, settings, patterns: pattern_paths, sources } = folder;
        let settings_path = folder.join("language.toml");
        let grammar = grammars::grammar(&settings.grammar);
        if grammar.is_none() && !settings.grammar.is_empty() {
            return Err(format!(
                "{}: unknown grammar {:?} (known: {})",
                settings_path.display(),
                settings.grammar,
                grammars::names().join(", ")
            ));
        }
        let hooks = hooks(&settings.code)
            .ok_or_else(|| format!("{}: unknown code {:?}", settings_path.display(), settings.code))?;
        let mut patterns = Vec::new();
        if let Some(grammar) = &grammar {
            for (path, text) in pattern_paths.iter().zip(texts) {
                patterns.extend(compile(grammar, text).map_err(|error| format!("{}:{error}", path.display()))?);
            }
        }
        let tests = globs(&settings.tests.paths).map_err(|error| format!("{}: {error}", settings_path.display()))?;
        let mut language = Language {
            scope_rule: scope_rule_of(&settings),
            settings,
            sources,
            grammar,
            hooks,
            patterns: Vec::new(),
            content_kinds: Vec::new(),
            sequence_kinds: Vec::new(),
            has_locals: false,
            fields: FxHashMap::default(),
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
        let fields = (1..=grammar.field_count() as u16)
            .filter_map(|field| Some((grammar.field_name_for_id(field)?.to_owned(), field)));
        self.fields = fields.collect();
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
        let is_sequence =
            |kind: usize| grammar.node_kind_for_id(kind as u16).is_some_and(|name| SEQUENCES.contains(&name));
        self.sequence_kinds = (0..count).map(is_sequence).collect();
        self.has_locals = patterns.iter().any(|pattern| matches!(pattern.role, Role::Local(_)));
        self.patterns = patterns;
        Ok(())
    }

    /// Returns the name of the language in facts.
    pub fn reported_name(&self) -> &str {
        let Settings { name, dialect_of, .. } = &self.settings;
        if dialect_of.is_empty() { name } else { dialect_of }
    }

    /// Returns the actions for a node kind.
    #[inline]
    pub fn rules(&self, kind: u16) -> &KindRules {
        self.kinds.get(kind as usize).unwrap_or(&self.no_rules)
    }

    /// Returns the number of a field of the grammar.
    pub fn field(&self, name: &str) -> Option<u16> {
        self.fields.get(name).copied()
    }

    /// Returns whether nodes of a kind are named and neither comments nor syntax errors.
    pub fn is_content(&self, kind: u16) -> bool {
        self.content_kinds.get(kind as usize).copied().unwrap_or(true)
    }

    /// Returns whether nodes of a kind run from their start to their end.
    pub fn is_sequence(&self, kind: u16) -> bool {
        self.sequence_kinds.get(kind as usize).copied().unwrap_or(false)
    }

    /// Returns whether the path is that of a test file.
    pub fn is_test_path(&self, path: &str) -> bool {
        self.tests.is_match(path)
    }

    /// Returns the dotted module of a path, which depends on nothing else. Empty only where files declare their
    /// modules, for documents, and for the root folder of a language with one package per folder.
    pub fn module_of(&self, path: &str) -> String {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = self.stem(file);
        let scope = &self.settings.scope;
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        if matches!(self.scope_rule, ScopeRule::Declared | ScopeRule::Document | ScopeRule::Text) {
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

    /// Returns a file's name without the extension of this language.
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
                self.records_index |= matches!(shape, Shape::Index | Shape::Slice);
                if shape == Shape::Operator {
                    self.walk.push(number);
                }
            }
            Role::Type(_) => self.types.push(number),
            Role::Target(_) => self.target.push(number),
            Role::Parameter(_) => self.parameter.push(number),
            Role::Argument | Role::SpreadArgument { .. } => self.argument.push(number),
            Role::Local(_) => self.local.push(number),
            Role::Comment => self.is_comment = true,
            Role::Block => self.is_block = true,
            Role::Token => self.is_token = true,
            Role::Definition(atlas_facts::Kind::Lambda) => {
                self.is_definition = true;
                self.walk.push(number);
                self.expression.push(number);
            }
            Role::Definition(_) => {
                self.is_definition = true;
                self.walk.push(number);
            }
            _ => self.walk.push(number),
        }
    }

    /// Returns whether the walk ignores nodes of a kind.
    #[inline]
    pub fn is_ignored_kind(&self) -> bool {
        self.walk.is_empty() && !self.records_call && !self.records_attribute && !self.records_index && !self.is_comment
    }
}

/// Returns the scope rule of a language.
pub fn scope_rule_of(settings: &Settings) -> ScopeRule {
    match settings.scope.rule {
        Some(ScopeName::File) | None => ScopeRule::File,
        Some(ScopeName::Directory) => ScopeRule::Directory,
        Some(ScopeName::Declared) => ScopeRule::Declared,
        Some(ScopeName::Document) => ScopeRule::Document,
        Some(ScopeName::Text) => ScopeRule::Text,
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}
