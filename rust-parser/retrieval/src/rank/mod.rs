//! Code-aware ranking: candidates with their fused scores, the question and what is known about files in; the order of
//! the candidates out, one for each symbol, with their scores and features.
//!
//! `features` says what is known about each, `scoring` makes a score of it, `paths`, `files` and `roots` read paths,
//! words by file and words. Ties and additions have a fixed order, so that equal input gives equal output.

mod features;
mod files;
mod paths;
mod scoring;

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

pub use features::{Evidence, Known, features};
pub use files::WordCounts;
pub use paths::is_copy;
pub use scoring::{STEPS, Step};

use crate::tokens::split_words;
use scoring::{Scoring, score};

/// A node with its fused score, as `atlas.code.rank.rank.Candidate` has it.
pub struct Candidate<'a> {
    pub uid: &'a str,
    pub label: &'a str,
    pub kind: &'a str,
    pub name: &'a str,
    pub qualified_name: &'a str,
    pub path: &'a str,
    pub language: &'a str,
    pub signature: &'a str,
    /// Separated by blanks.
    pub modifiers: &'a str,
    pub is_test: bool,
    pub is_generated: bool,
    pub exported: bool,
    /// Lines behind the first.
    pub further_lines: u64,
    pub score: f64,
    /// Number of incoming edges.
    pub degree: u64,
}

impl Candidate<'_> {
    fn is_document(&self) -> bool {
        matches!(self.label, "DocFile" | "DocSection" | "ADR")
    }

    /// Whether it is a document or a window of markup or text.
    fn is_page(&self) -> bool {
        self.is_document() || self.label == "Chunk" && matches!(self.kind, "markup" | "text")
    }
}

/// A parsed question, as `atlas.code.question.parse_question.Query` has it.
pub struct Asked {
    pub text: String,
    pub words: Vec<String>,
    pub variants: Vec<String>,
    pub names: Vec<String>,
    pub languages: Vec<String>,
    pub focus: f64,
    pub wants_tests: bool,
    pub wants_documents: bool,
    pub wants_reasons: bool,
    pub wants_configuration: bool,
    pub states: bool,
    pub reports: bool,
    /// Whether it is a sentence of documentation: it describes one definition, as a rule.
    pub describes_one: bool,
}

/// The terms of all languages that ranking needs.
pub struct Terms {
    /// Extensions, with the dot, of files that only declare symbols that other files define.
    pub declarations: Vec<String>,
    /// Names of constructors, which count as their class.
    pub constructors: FxHashSet<String>,
    /// Languages whose files are indexed as windows of lines.
    pub windowed: FxHashSet<String>,
}

impl Terms {
    /// Returns whether a node only declares a symbol that is defined elsewhere.
    fn declares(&self, candidate: &Candidate<'_>) -> bool {
        candidate.modifiers.split_whitespace().any(|word| word == "declaration")
            || self.declarations.iter().any(|ending| candidate.path.ends_with(ending.as_str()))
    }
}

/// Candidates of one symbol as one.
#[derive(Debug, PartialEq)]
pub struct Ranked {
    /// Place of the best one among the candidates.
    pub place: usize,
    pub score: f64,
    /// Places of all, in their order, where there are several.
    pub merged: Vec<usize>,
}

/// Returns candidates best first, one per symbol, ties by name, by the steps that are not `off`.
pub fn rank(
    candidates: &[Candidate<'_>],
    known: &[Known],
    asked: &Asked,
    terms: &Terms,
    demote_tests: bool,
    off: &FxHashSet<String>,
) -> Vec<Ranked> {
    let mut in_path: FxHashMap<&str, usize> = FxHashMap::default();
    let scores: Vec<f64> = candidates
        .iter()
        .zip(known)
        .map(|(candidate, known)| {
            let words_in_path = *in_path.entry(candidate.path).or_insert_with(|| {
                let words = split_words(candidate.path);
                asked.words.iter().filter(|word| words.contains(word)).count()
            });
            score(&Scoring { candidate, known, asked, terms, words_in_path, demote_tests }, off)
        })
        .collect();
    collapse(candidates, &scores, terms)
}

/// Keeps one candidate per symbol and file that defines it: class before constructor, declaration last. Best first.
pub fn collapse(candidates: &[Candidate<'_>], scores: &[f64], terms: &Terms) -> Vec<Ranked> {
    let classes: FxHashSet<&str> =
        candidates.iter().filter(|each| each.label == "Class").map(|each| each.qualified_name).collect();
    let declares: Vec<bool> = candidates.iter().map(|each| terms.declares(each)).collect();
    let symbols: Vec<&str> =
        candidates.iter().zip(&declares).map(|(each, declares)| symbol(each, *declares, &classes, terms)).collect();
    // Declarations belong to the first file that has a definition.
    let mut defined: FxHashMap<&str, &str> = FxHashMap::default();
    for (place, each) in candidates.iter().enumerate().filter(|(place, _)| !declares[*place]) {
        defined.entry(symbols[place]).or_insert(each.path);
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    for (place, each) in candidates.iter().enumerate() {
        let path = if declares[place] { defined.get(symbols[place]).copied().unwrap_or("") } else { each.path };
        let group = *group_of.entry((symbols[place], path)).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(place);
    }
    let keys: Vec<Key<'_>> = candidates.iter().zip(scores).map(|(each, score)| Key::new(each, *score)).collect();
    let preference = |place: usize| (declares[place], candidates[place].label != "Class");
    let mut kept: Vec<(Ranked, Key<'_>)> = Vec::with_capacity(groups.len());
    for group in groups {
        let best = group.iter().copied().min_by(|left, right| {
            preference(*left).cmp(&preference(*right)).then_with(|| keys[*left].compare(&keys[*right]))
        });
        let Some(place) = best else { continue };
        let score = group.iter().map(|place| scores[*place]).fold(f64::NEG_INFINITY, f64::max);
        let merged = if group.len() > 1 { group } else { Vec::new() };
        kept.push((Ranked { place, score, merged }, Key::new(&candidates[place], score)));
    }
    kept.sort_by(|(_, left), (_, right)| left.compare(right));
    kept.into_iter().map(|(ranked, _)| ranked).collect()
}

/// What candidates are ordered by: score, then length and text of the qualified name, then uid.
struct Key<'a> {
    score: f64,
    length: usize,
    qualified_name: &'a str,
    uid: &'a str,
}

impl<'a> Key<'a> {
    fn new(candidate: &Candidate<'a>, score: f64) -> Self {
        let qualified_name = candidate.qualified_name;
        Self { score: rounded(score), length: qualified_name.chars().count(), qualified_name, uid: candidate.uid }
    }

    fn compare(&self, other: &Self) -> Ordering {
        let by_score = other.score.partial_cmp(&self.score).unwrap_or(Ordering::Equal);
        let by_name =
            || (self.length, self.qualified_name, self.uid).cmp(&(other.length, other.qualified_name, other.uid));
        by_score.then_with(by_name)
    }
}

/// Returns the nearest number of nine decimal places, so that noise of additions decides no order.
fn rounded(score: f64) -> f64 {
    format!("{score:.9}").parse().unwrap_or(score)
}

/// Returns the name of the node's symbol: declarations share one, and so do a class and its constructor.
fn symbol<'a>(candidate: &Candidate<'a>, declares: bool, classes: &FxHashSet<&str>, terms: &Terms) -> &'a str {
    let whole = candidate.qualified_name;
    let (owner, name) = whole.rsplit_once('.').unwrap_or(("", whole));
    if terms.constructors.contains(name) && classes.contains(owner) {
        return owner;
    }
    let first = whole.trim_end_matches(|character: char| character.is_ascii_digit());
    match first.strip_suffix('#') {
        Some(symbol) if declares && first.len() < whole.len() => symbol,
        _ => whole,
    }
}
