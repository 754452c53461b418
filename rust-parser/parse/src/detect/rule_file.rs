//! The TOML format of a file of rules, its limits and checks. `atlas/code/index/detectors/README.md` explains the
//! keys. Errors name the line.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Limits of one file of rules, which may come from a repository.
const MAX_BYTES: usize = 64 * 1024;
const MAX_RULES: usize = 200;
const MAX_QUERY: usize = 4096;
const MAX_WORDS: usize = 64;

/// The name of a detector with its TOML text.
pub type Source = (String, String);

/// Queries by name and language.
pub type Shapes = BTreeMap<String, BTreeMap<String, String>>;

/// One file of rules. Keys of a rule replace those of the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DetectorFile {
    pub languages: Vec<String>,
    pub words: Vec<String>,
    pub packages: Vec<String>,
    pub receivers: Vec<String>,
    pub rules: Vec<RuleSettings>,
    pub files: Vec<FileRule>,
    pub shapes: Shapes,
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
    /// A call of a route by its URL.
    Client,
    /// A read or a definition of an environment variable.
    Reads,
    Sets,
}

impl RuleKind {
    /// Returns whether a match has names instead of paths.
    pub fn is_named(self) -> bool {
        use RuleKind::{Emits, Handles, Reads, Requests, Sets};
        matches!(self, Handles | Emits | Requests | Reads | Sets)
    }
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
    pub languages: Vec<String>,
    pub words: Vec<String>,
    pub packages: Option<Vec<String>>,
    pub receivers: Option<Vec<String>>,
    pub query: String,
    pub shape: String,
    /// Names of the called method, function, decorator or annotation; `*` at the beginning: any ending.
    pub names: Vec<String>,
    pub path: Vec<Slot>,
    /// Appended to the path.
    pub suffix: String,
    /// Whether a missing path is the empty one.
    pub optional: bool,
    /// Whether the path must begin with `/`.
    pub absolute: bool,
    /// Whether the path is a regular expression.
    pub regex: bool,
    /// Whether the path is a URL as clients write it, whose host may be unknown.
    pub url: bool,
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
    /// `class`: the class around the annotated function is the router of a route or mount.
    pub owner: String,
    /// Annotations beside which the match counts for nothing: the function then has another meaning.
    pub unless: Vec<String>,
    /// The part of the text in which a scope applies: `definition`, `node`, `arguments`, `body` or `chain`.
    pub within: String,
    /// Where the name of an event is; `$name`, `$receiver` and `$handler` are the texts of these parts.
    pub event: Vec<Slot>,
    /// Whether only a known text is the name of an event, not the name of a variable.
    pub literal: bool,
    /// Texts behind which names stand in the text of the match: `${`, `env:"`.
    pub inside: Vec<String>,
    /// Bases or, with `@`, annotations of the class around the match: one that it must have, and those that it must not.
    pub class: Vec<String>,
    pub unless_class: Vec<String>,
    /// Texts of which the file gives one to the variable that the receiver is: `const env = process.env`.
    pub held: Vec<String>,
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

/// Reads a file of rules.
///
/// # Errors
/// `name: line 3: message`
pub fn read(name: &str, text: &str) -> Result<DetectorFile, String> {
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

/// Returns what is wrong with a rule.
pub fn check(settings: &RuleSettings) -> Result<(), String> {
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
    if !is_known(&settings.owner, &["class"]) {
        return Err("owner is class".to_owned());
    }
    if !is_known(&settings.within, &["definition", "node", "arguments", "body", "chain"]) {
        return Err("within is definition, node, arguments, body or chain".to_owned());
    }
    if !is_known(&settings.notation, &["rails", "at", "path"]) {
        return Err("notation is rails, at or path".to_owned());
    }
    Ok(())
}
