//! Reads the TOML files of detectors and compiles their queries by language. `atlas/code/index/detectors/README.md`
//! explains the keys. Errors name the file and the rule.

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use crate::detect::rule_file::{DetectorFile, Shapes, check, read};
pub use crate::detect::rule_file::{FileRule, RuleKind, RuleSettings, Slot, Source};
use crate::query::patterns::{Kinds, Pattern, compile_with};
use crate::query::vocabulary::Capture;
use atlas_facts::content_digest::hash_of;

/// Name and grammar of a language.
pub type Grammar<'a> = (&'a str, Option<&'a tree_sitter::Language>);

/// A compiled rule.
pub struct Rule {
    pub framework: String,
    pub settings: RuleSettings,
    pub pattern: Pattern,
    pub packages: String,
    pub receivers: String,
    /// Trigger words by number, one of which must occur.
    words: Vec<u32>,
    /// Of a rule of the project itself: a hash of everything that it says.
    pub own: Option<u64>,
}

/// The rules of one language.
#[derive(Default)]
pub struct LanguageRules {
    pub rules: Vec<Rule>,
    /// Rules by the kind of the query's outermost node.
    pub by_kind: FxHashMap<u16, Vec<u16>>,
    pub files: Vec<(String, FileRule)>,
    /// By position in `files`, as `Rule::own`.
    pub own_files: Vec<Option<u64>>,
    words: Vec<String>,
    automaton: Option<AhoCorasick>,
}

/// All rules by language.
#[derive(Default)]
pub struct Detectors {
    by_language: FxHashMap<String, LanguageRules>,
}

impl Detectors {
    /// Compiles the rules of all sources for the given languages. `own` are those of the project itself: only they may
    /// use the shapes that they define.
    ///
    /// # Errors
    /// `name: rule 3: message`
    pub fn compile<'a>(
        sources: &[Source],
        own: &[Source],
        languages: impl Iterator<Item = Grammar<'a>> + Clone,
    ) -> Result<Detectors, String> {
        let mut files = Vec::new();
        let mut shapes = Shapes::new();
        let mut own_shapes = Shapes::new();
        for (number, (name, text)) in sources.iter().chain(own).enumerate() {
            let file = read(name, text)?;
            let is_own = number >= sources.len();
            let shapes = if is_own { &mut own_shapes } else { &mut shapes };
            for (shape, queries) in &file.shapes {
                shapes.entry(shape.clone()).or_default().extend(queries.clone());
            }
            files.push((name, file, is_own));
        }
        let mut detectors = Detectors::default();
        for &(name, ref file, is_own) in &files {
            let shapes = [&own_shapes, &shapes].into_iter().skip(usize::from(!is_own));
            for (number, settings) in file.rules.iter().enumerate() {
                let place = format!("{name}: rule {}", number + 1);
                check(settings).map_err(|error| format!("{place}: {error}"))?;
                let named = if settings.languages.is_empty() { &file.languages } else { &settings.languages };
                if named.is_empty() {
                    return Err(format!("{place}: languages is missing"));
                }
                for language in languages.clone().filter(|language| named.iter().any(|name| name == language.0)) {
                    let query =
                        query_of(settings, shapes.clone(), language.0).map_err(|error| format!("{place}: {error}"))?;
                    let rules = detectors.by_language.entry(language.0.to_owned()).or_default();
                    let own =
                        is_own.then(|| hash_of(&(name, &file.packages, &file.receivers, &file.words, settings, query)));
                    rules
                        .add((name, file), settings, language, query, own)
                        .map_err(|error| format!("{place}: {error}"))?;
                }
            }
            for rule in &file.files {
                for language in
                    languages.clone().filter(|language| rule.languages.iter().any(|name| name == language.0))
                {
                    let rules = detectors.by_language.entry(language.0.to_owned()).or_default();
                    rules.files.push((name.clone(), rule.clone()));
                    rules.own_files.push(is_own.then(|| hash_of(&(name, rule))));
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
        (framework, file): (&str, &DetectorFile),
        settings: &RuleSettings,
        (language, grammar): Grammar,
        query: &str,
        own: Option<u64>,
    ) -> Result<(), String> {
        let Some(grammar) = grammar else {
            return Err(format!("{language} has no grammar"));
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
                own,
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

fn query_of<'a>(
    settings: &'a RuleSettings,
    mut shapes: impl Iterator<Item = &'a Shapes>,
    language: &str,
) -> Result<&'a str, String> {
    if settings.shape.is_empty() {
        return Ok(&settings.query);
    }
    let queries = shapes
        .find_map(|shapes| shapes.get(&settings.shape))
        .ok_or_else(|| format!("unknown shape {:?}", settings.shape))?;
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
