//! Reads the TOML files of detectors and compiles their queries by language. `atlas/detectors/README.md` explains the
//! keys. Errors name the file and the rule.

use std::collections::BTreeMap;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::parse::language::Language;
use crate::parse::query::patterns::{Kinds, Pattern, compile_with};
use crate::parse::query::vocabulary::Capture;

/// Limits of one file of rules, which may come from a repository.
const MAX_BYTES: usize = 64 * 1024;
const MAX_RULES: usize = 200;
const MAX_QUERY: usize = 4096;
const MAX_WORDS: usize = 64;

/// The name of a detector with its TOML text.
pub type Source = (String, String);

/// One file of rules. Keys of a rule replace those of the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DetectorFile {
    languages: Vec<String>,
    words: Vec<String>,
    packages: Vec<String>,
    receivers: Vec<String>,
    rules: Vec<RuleSettings>,
    files: Vec<FileRule>,
    /// Queries by name and language.
    shapes: BTreeMap<String, BTreeMap<String, String>>,
}

/// What a rule finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleKind {
    #[default]
    Route,
    /// A prefix of everything inside a part of the text.
    Scope,
    Router,
    Mount,
    Handles,
    Emits,
    Injects,
    /// Fixtures that a definition asks for by name.
    Requests,
}

/// A place of a value: the position of an argument (from the end if negative), its keyword, or a `@capture`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Slot {
    Position(i32),
    Keyword(String),
}

impl Slot {
    pub fn is_keyword(&self, word: &str) -> bool {
        matches!(self, Slot::Keyword(keyword) if keyword == word)
    }
}

/// One route of a rule that registers several.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    pub methods: String,
    pub path: String,
    pub action: String,
}

/// A rule: a query, and how its captures become a detection.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RuleSettings {
    pub kind: RuleKind,
    languages: Vec<String>,
    words: Vec<String>,
    packages: Option<Vec<String>>,
    receivers: Option<Vec<String>>,
    query: String,
    shape: String,
    /// Names of the called method, function, decorator or annotation; `*` at the beginning: any ending.
    pub names: Vec<String>,
    pub path: Vec<Slot>,
    /// Appended to the path.
    pub suffix: String,
    /// Whether a missing path is the empty one.
    pub optional: bool,
    /// Whether the path must begin with `/`.
    pub absolute: bool,
    pub regex: bool,
    /// Fixed methods, space-separated; the name if empty.
    pub methods: String,
    /// Where the methods are among the arguments; `methods` is their default.
    pub method: Vec<Slot>,
    /// Methods of names that are none: `del = "DELETE"`.
    pub verbs: BTreeMap<String, String>,
    pub handler: Vec<Slot>,
    /// Names that the handler may have; `*` at the beginning: any ending. Empty: any.
    pub handlers: Vec<String>,
    /// Texts of handlers that are none: beginnings if they end in `(`, else ends.
    pub skip: Vec<String>,
    /// Notation of handlers in strings: `rails` (`users#show`), `at` (`Users@show`), `path` (a dotted name).
    pub notation: String,
    /// Whether the handler argument is a chain of methods with their handlers: `get(list).post(create)`.
    pub chained: bool,
    /// Name of a method called on the result, with the HTTP methods: `Methods`.
    pub outer: String,
    pub child: Vec<Slot>,
    pub replaces: bool,
    /// `class` or `function`: the kind of the annotated definition.
    pub on: String,
    /// The part of the text in which a scope applies.
    pub within: String,
    /// Where the name of an event is; `$name`, `$receiver` and `$handler` are the texts of these parts.
    pub event: Vec<Slot>,
    /// Kind of the event: signal, task, event, dom, message, command.
    pub event_kind: String,
    pub expand: Vec<Expansion>,
    /// By the value of the argument `on`: what comes before the path.
    pub places: BTreeMap<String, String>,
}

/// Routes by the path of the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FileRule {
    pub languages: Vec<String>,
    /// Folders below which paths are routes.
    pub roots: Vec<String>,
    /// Stem of the file; empty for every file.
    pub stem: String,
    /// `exports`: functions named like HTTP methods; `default`: the default export; a name: the class or function.
    pub handlers: String,
    pub methods: String,
    /// Prefix of the path.
    pub prefix: String,
    /// Kind of the event, if the files are commands.
    pub event_kind: String,
}

/// A compiled rule.
pub struct Rule {
    pub framework: String,
    pub settings: RuleSettings,
    pub pattern: Pattern,
    pub packages: String,
    pub receivers: String,
    /// Trigger words by number, one of which must occur.
    words: Vec<u32>,
}

/// The rules of one language.
#[derive(Default)]
pub struct LanguageRules {
    pub rules: Vec<Rule>,
    /// Rules by the kind of the query's outermost node.
    pub by_kind: FxHashMap<u16, Vec<u16>>,
    pub files: Vec<(String, FileRule)>,
    words: Vec<String>,
    automaton: Option<AhoCorasick>,
}

/// All rules by language.
#[derive(Default)]
pub struct Detectors {
    by_language: FxHashMap<String, LanguageRules>,
}

impl Detectors {
    /// Compiles the rules of all sources for the given languages.
    ///
    /// # Errors
    /// `name: rule 3: message`
    pub fn compile<'a>(
        sources: &[Source],
        languages: impl Iterator<Item = &'a Language> + Clone,
    ) -> Result<Detectors, String> {
        let mut files = Vec::new();
        let mut shapes: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (name, text) in sources {
            let file = read(name, text)?;
            for (shape, queries) in &file.shapes {
                shapes.entry(shape.clone()).or_default().extend(queries.clone());
            }
            files.push((name, file));
        }
        let mut detectors = Detectors::default();
        for (name, file) in &files {
            for (number, settings) in file.rules.iter().enumerate() {
                let place = format!("{name}: rule {}", number + 1);
                check(settings).map_err(|error| format!("{place}: {error}"))?;
                let named = if settings.languages.is_empty() { &file.languages } else { &settings.languages };
                if named.is_empty() {
                    return Err(format!("{place}: languages is missing"));
                }
                for language in languages.clone().filter(|language| named.contains(&language.settings.name)) {
                    let query = query_of(settings, &shapes, &language.settings.name)
                        .map_err(|error| format!("{place}: {error}"))?;
                    let rules = detectors.by_language.entry(language.settings.name.clone()).or_default();
                    rules.add(name, file, settings, language, query).map_err(|error| format!("{place}: {error}"))?;
                }
            }
            for rule in &file.files {
                for language in languages.clone().filter(|language| rule.languages.contains(&language.settings.name)) {
                    let rules = detectors.by_language.entry(language.settings.name.clone()).or_default();
                    rules.files.push(((*name).clone(), rule.clone()));
                }
            }
        }
        for rules in detectors.by_language.values_mut() {
            rules.automaton = AhoCorasick::new(&rules.words).ok();
        }
        Ok(detectors)
    }

    /// Returns the rules of a language.
    pub fn of(&self, language: &str) -> Option<&LanguageRules> {
        self.by_language.get(language)
    }
}

impl LanguageRules {
    fn add(
        &mut self,
        framework: &str,
        file: &DetectorFile,
        settings: &RuleSettings,
        language: &Language,
        query: &str,
    ) -> Result<(), String> {
        let Some(grammar) = &language.grammar else {
            return Err(format!("{} has no grammar", language.settings.name));
        };
        let words = if settings.words.is_empty() { &file.words } else { &settings.words };
        let words: Vec<u32> = words.iter().map(|word| self.word(word)).collect();
        if words.is_empty() {
            return Err("words is missing".to_owned());
        }
        for pattern in compile_with(grammar, query, capture_of)? {
            let Kinds::One(kind) = pattern.root.kinds else {
                return Err("the outermost node of a query must have a kind".to_owned());
            };
            self.by_kind.entry(kind).or_default().push(self.rules.len() as u16);
            self.rules.push(Rule {
                framework: framework.to_owned(),
                pattern,
                packages: settings.packages.as_ref().unwrap_or(&file.packages).join(" "),
                receivers: settings.receivers.as_ref().unwrap_or(&file.receivers).join(" "),
                words: words.clone(),
                settings: settings.clone(),
            });
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> u32 {
        let known = self.words.iter().position(|known| known == word);
        known.unwrap_or_else(|| {
            self.words.push(word.to_owned());
            self.words.len() - 1
        }) as u32
    }

    /// Returns, by rule, whether one of its trigger words occurs in a file, or `None` if no rule applies.
    pub fn active(&self, source: &[u8]) -> Option<Vec<bool>> {
        let mut seen = vec![false; self.words.len()];
        let mut missing = seen.len();
        for found in self.automaton.as_ref()?.find_overlapping_iter(source) {
            if !std::mem::replace(&mut seen[found.pattern().as_usize()], true) {
                missing -= 1;
                if missing == 0 {
                    break;
                }
            }
        }
        let active: Vec<bool> =
            self.rules.iter().map(|rule| rule.words.iter().any(|&word| seen[word as usize])).collect();
        active.contains(&true).then_some(active)
    }
}

fn read(name: &str, text: &str) -> Result<DetectorFile, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("{name}: larger than {MAX_BYTES} bytes"));
    }
    let file: DetectorFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("{name}: line {line}: {}", error.message())
    })?;
    if file.rules.len() + file.files.len() > MAX_RULES {
        return Err(format!("{name}: more than {MAX_RULES} rules"));
    }
    Ok(file)
}

fn check(settings: &RuleSettings) -> Result<(), String> {
    if settings.query.len() > MAX_QUERY || settings.words.len() > MAX_WORDS {
        return Err(format!("a query has at most {MAX_QUERY} bytes, a rule at most {MAX_WORDS} words"));
    }
    if settings.query.is_empty() == settings.shape.is_empty() {
        return Err("a rule has either query or shape".to_owned());
    }
    let is_known = |value: &str, known: &[&str]| value.is_empty() || known.contains(&value);
    if !is_known(&settings.on, &["class", "function"]) {
        return Err("on is class or function".to_owned());
    }
    if !is_known(&settings.within, &["definition", "node", "arguments", "body", "chain"]) {
        return Err("within is definition, node, arguments, body or chain".to_owned());
    }
    if !is_known(&settings.notation, &["rails", "at", "path"]) {
        return Err("notation is rails, at or path".to_owned());
    }
    Ok(())
}

fn query_of<'a>(
    settings: &'a RuleSettings,
    shapes: &'a BTreeMap<String, BTreeMap<String, String>>,
    language: &str,
) -> Result<&'a str, String> {
    if settings.shape.is_empty() {
        return Ok(&settings.query);
    }
    let queries = shapes.get(&settings.shape).ok_or_else(|| format!("unknown shape {:?}", settings.shape))?;
    let query = queries.get(language);
    query.map(String::as_str).ok_or_else(|| format!("the shape {:?} has no query for {language}", settings.shape))
}

/// Returns the meaning of a capture name in a rule of a detector.
pub fn capture_of(name: &str) -> Option<Capture> {
    Some(match name {
        "receiver" => Capture::Receiver,
        "name" => Capture::Name,
        "arguments" => Capture::Arguments,
        "body" => Capture::Body,
        "path" => Capture::Path,
        "method" => Capture::Method,
        "handler" => Capture::Handler,
        "event" => Capture::Event,
        "child" => Capture::Child,
        _ => return Capture::anonymous(name),
    })
}
