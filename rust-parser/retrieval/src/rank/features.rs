//! What is known about a candidate for a question, as numbers about 0..1: the input of every ranking.
//!
//! Lexical, semantic, structural, path and graph features. `tests/bench/train_ranker.py` fits a weight to each.

use rustc_hash::{FxHashMap, FxHashSet};

use super::files::{FileMatches, WordCounts};
use super::paths::{
    asks_version, before_dot, component_share, is_copy, is_old_version, is_translation, newest_versions,
    read_components,
};
use super::{Asked, Candidate, Terms};
use crate::roots::{part_roots, root_of};
use crate::tokens::split_words;

/// A name among other words counts by the square of its share of the words (adr/0008).
const FOCUS_POWER: i32 = 2;
/// Other candidates of the file that are evidence for a candidate.
const COHERENT: usize = 3;
/// Logarithm of the number of callers that counts in full.
const CALLERS: f64 = 3.0;
const DEEP: f64 = 5.0;
/// Logarithm of the number of lines that counts in full.
const LONG: f64 = 6.0;
/// Names of files that stand for their folder.
const STEMLESS: [&str; 5] = ["__init__", "index", "mod", "main", "lib"];

macro_rules! features {
    ($($feature:ident $name:literal),* $(,)?) => {
        /// A feature.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub enum Feature { $($feature),* }

        /// The names of the features, in the order of `Feature`.
        pub const NAMES: &[&str] = &[$($name),*];
    };
}

features! {
    Component "component", FileMeaning "file_meaning", Mentions "mentions", Coverage "coverage", File "file",
    Stem "stem", Copy "copy", Coherence "coherence", Description "description", Naming "naming", ReasonWanted "reason_wanted",
    DecisionWanted "decision_wanted", ConfigurationWanted "configuration_wanted", Text "text", Words "words",
    Meaning "meaning", Quality "quality", Cosine "cosine", Name "name", Phrase "phrase", Written "written",
    Graph "graph", StemRarity "stem_rarity", PathRarity "path_rarity", Translation "translation",
    PackageFile "package_file", NameCover "name_cover", NameRarity "name_rarity", QualifiedRarity "qualified_rarity",
    SaidRarity "said_rarity", Class "class", Method "method", WholeFile "whole_file", Value "value",
    External "external", Document "document", DocumentWanted "document_wanted", Window "window",
    WindowedFile "windowed_file", Test "test", TestWanted "test_wanted", LanguageWanted "language_wanted",
    Generated "generated", Private "private", Underscore "underscore", Declaration "declaration", Callers "callers",
    Depth "depth", Length "length", TextTest "text_test", TextDocument "text_document", TextWindow "text_window",
    TextValue "text_value", TextCopy "text_copy", TextFile "text_file", DocumentName "document_name",
    DocumentRarity "document_rarity", Title "title",
}

const COUNT: usize = NAMES.len();
/// The features of the constants; the others are only computed on request.
const MAIN: usize = Feature::Text as usize;

/// The features of a candidate; those that are not computed are 0.
#[derive(Clone, Copy)]
pub struct Known([f64; COUNT]);

impl Default for Known {
    fn default() -> Self {
        Self([0.0; COUNT])
    }
}

impl Known {
    pub fn of(&self, feature: Feature) -> f64 {
        self.0[feature as usize]
    }

    pub fn has(&self, feature: Feature) -> bool {
        self.of(feature) != 0.0
    }

    pub fn set(&mut self, feature: Feature, value: f64) {
        self.0[feature as usize] = value;
    }

    fn flag(&mut self, feature: Feature, value: bool) {
        self.set(feature, f64::from(u8::from(value)));
    }

    /// Sets a feature by its name; unknown names are ignored.
    pub fn set_by_name(&mut self, name: &str, value: f64) {
        if let Some(place) = NAMES.iter().position(|known| *known == name) {
            self.0[place] = value;
        }
    }

    /// Returns names and values, those of the constants or all.
    pub fn named(&self, all: bool) -> impl Iterator<Item = (&'static str, f64)> {
        NAMES.iter().copied().zip(self.0).take(if all { COUNT } else { MAIN })
    }
}

/// What the channels and the store say about a question.
pub struct Evidence<'p> {
    /// None if words by file do not count.
    pub counts: Option<WordCounts<'p>>,
    /// How much files by meaning, mentions and coverage count, 0..1.
    pub file_weight: f64,
    /// 0..1 by path.
    pub file_meaning: &'p FxHashMap<String, f64>,
    pub mentions: &'p FxHashMap<String, f64>,
    /// 0..1 by uid.
    pub descriptions: &'p FxHashMap<String, f64>,
    pub namings: &'p FxHashMap<String, f64>,
    /// Scores by channel and uid: words, meaning, prose, quality, cosine, name, phrase, written, graph. If given, all
    /// features are computed.
    pub channels: Option<&'p FxHashMap<String, FxHashMap<String, f64>>>,
}

/// Returns the features of each candidate, in the same order.
pub fn features(candidates: &[Candidate<'_>], asked: &Asked, terms: &Terms, evidence: &Evidence<'_>) -> Vec<Known> {
    let mut by_file: FxHashMap<&str, Vec<f64>> = FxHashMap::default();
    for each in candidates {
        by_file.entry(each.path).or_default().push(each.score);
    }
    by_file.values_mut().for_each(|scores| scores.sort_by(|left, right| right.total_cmp(left)));
    let question = Question::new(asked, evidence, &by_file.keys().copied().collect());
    let newest = if asked.reports { FxHashMap::default() } else { newest_versions(by_file.keys().copied()) };
    let of_paths: FxHashMap<&str, Known> = by_file
        .keys()
        .map(|path| {
            let mut known = question.of_path(path);
            if is_old_version(path, &newest) && !asks_version(&asked.text, path) {
                known.set(Feature::Copy, 1.0);
            }
            (*path, known)
        })
        .collect();
    let mut found = Vec::with_capacity(candidates.len());
    for each in candidates {
        let mut known = of_paths[each.path];
        known.set(Feature::Coherence, coherence(each.score, &by_file[each.path]));
        known.set(Feature::Description, evidence.descriptions.get(each.uid).copied().unwrap_or(0.0));
        known.set(Feature::Naming, evidence.namings.get(each.uid).copied().unwrap_or(0.0));
        question.add_intents(&mut known, each);
        if let Some(channels) = evidence.channels {
            question.add_channels(&mut known, each, channels);
            question.add_names(&mut known, each);
            question.add_kind(&mut known, each, terms);
            add_structure(&mut known, each, terms);
            add_products(&mut known);
        }
        found.push(known);
    }
    found
}

struct Question<'q, 'p> {
    asked: &'q Asked,
    evidence: &'q Evidence<'p>,
    /// Roots of the question's words.
    roots: FxHashSet<String>,
    components: Vec<String>,
    files: FileMatches<'q>,
}

impl<'q, 'p: 'q> Question<'q, 'p> {
    fn new(asked: &'q Asked, evidence: &'q Evidence<'p>, paths: &FxHashSet<&str>) -> Self {
        let mut files = FileMatches::default();
        if let Some(counts) = &evidence.counts {
            files = FileMatches::new(counts, &asked.words, &asked.variants);
            if evidence.file_weight != 0.0 {
                files.cover(counts, paths);
            }
        }
        let roots = asked.words.iter().map(|word| root_of(word).to_owned()).collect();
        Self { asked, evidence, roots, components: read_components(&asked.text), files }
    }

    /// Returns what the file says as a whole, its name, and on request the words of its path.
    fn of_path(&self, path: &str) -> Known {
        let mut known = Known::default();
        if !self.components.is_empty() {
            known.set(Feature::Component, component_share(path, &self.components));
        }
        let weight = self.evidence.file_weight;
        if weight != 0.0 {
            let of = |scores: &FxHashMap<String, f64>| weight * scores.get(path).copied().unwrap_or(0.0);
            known.set(Feature::FileMeaning, of(self.evidence.file_meaning));
            known.set(Feature::Mentions, of(self.evidence.mentions));
            known.set(Feature::Coverage, weight * self.files.coverage(path));
        }
        let parts = stem_roots(path);
        known.set(Feature::File, self.files.scores.get(path).copied().unwrap_or(0.0));
        known.set(Feature::Stem, self.covered(&parts));
        known.flag(Feature::Copy, is_copy(path, &self.roots));
        if self.evidence.channels.is_some() {
            known.set(Feature::StemRarity, self.rarity(&parts));
            known.set(Feature::PathRarity, self.rarity(&roots_of(&split_words(path))));
            known.flag(Feature::Translation, is_translation(path));
            known.flag(Feature::PackageFile, STEMLESS.contains(&before_dot(file_name(path))));
        }
        known
    }

    /// Returns the share of parts that the question has.
    fn covered(&self, parts: &[String]) -> f64 {
        let asked = parts.iter().filter(|part| self.roots.contains(*part)).count();
        if parts.is_empty() { 0.0 } else { asked as f64 / parts.len() as f64 }
    }

    /// Returns the share of the question's rarity that roots have.
    fn rarity(&self, roots: &[String]) -> f64 {
        self.files.share(roots.iter().map(String::as_str).filter(|root| self.roots.contains(*root)))
    }

    /// Adds whether the question asks for reasons or configuration and the node has such.
    fn add_intents(&self, known: &mut Known, candidate: &Candidate<'_>) {
        let has_reasons = matches!(candidate.label, "ADR" | "Decision" | "Claim" | "Observation");
        let is_config = candidate.label == "Chunk" && candidate.kind == "config";
        let wants = self.asked.wants_reasons;
        known.flag(Feature::ReasonWanted, wants && (has_reasons || candidate.is_document()));
        known.flag(Feature::DecisionWanted, wants && has_reasons);
        known.flag(Feature::ConfigurationWanted, is_config && self.asked.wants_configuration);
    }

    /// Adds how well the channels match.
    fn add_channels(
        &self,
        known: &mut Known,
        candidate: &Candidate<'_>,
        channels: &FxHashMap<String, FxHashMap<String, f64>>,
    ) {
        let of = |channel: &str| channels.get(channel).and_then(|hits| hits.get(candidate.uid)).copied().unwrap_or(0.0);
        known.set(Feature::Text, candidate.score);
        known.set(Feature::Words, of("words"));
        known.set(Feature::Meaning, of("meaning").max(of("prose")));
        known.set(Feature::Quality, of("quality"));
        known.set(Feature::Cosine, of("cosine"));
        known.set(Feature::Name, of("name") * self.asked.focus.powi(FOCUS_POWER));
        known.set(Feature::Phrase, of("phrase"));
        known.set(Feature::Written, of("written"));
        known.set(Feature::Graph, of("graph"));
    }

    /// Adds how the names of the node cover the question, and the question the name.
    fn add_names(&self, known: &mut Known, candidate: &Candidate<'_>) {
        let parts = part_roots(candidate.name);
        let qualified = roots_of(&split_words(candidate.qualified_name));
        let mut said = roots_of(&split_words(&format!("{} {}", candidate.signature, candidate.path)));
        said.extend(qualified.iter().cloned());
        known.set(Feature::NameCover, self.covered(&parts));
        known.set(Feature::NameRarity, self.rarity(&parts));
        known.set(Feature::QualifiedRarity, self.rarity(&qualified));
        known.set(Feature::SaidRarity, self.rarity(&said));
    }

    /// Adds the kind of the node, and whether the question asks for that kind.
    fn add_kind(&self, known: &mut Known, candidate: &Candidate<'_>, terms: &Terms) {
        let (asked, label) = (self.asked, candidate.label);
        let is_document = candidate.is_document();
        let is_window = label == "Chunk" && candidate.kind != "code";
        let is_config = is_window && candidate.kind == "config";
        known.flag(Feature::Class, label == "Class");
        known.flag(Feature::Method, label == "Method");
        known.flag(Feature::WholeFile, matches!(label, "Module" | "File" | "Package" | "DocFile"));
        known.flag(Feature::Value, label == "Value");
        known.flag(Feature::External, matches!(label, "ExternalPackage" | "ExternalSymbol" | "Project"));
        known.flag(Feature::Document, is_document && !asked.wants_documents);
        known.flag(Feature::DocumentWanted, candidate.is_page() && asked.wants_documents);
        known.flag(Feature::Window, is_window && !(asked.wants_configuration && is_config));
        known.flag(Feature::WindowedFile, label == "File" && terms.windowed.contains(candidate.language));
        known.flag(Feature::Test, candidate.is_test && !asked.wants_tests);
        known.flag(Feature::TestWanted, candidate.is_test && asked.wants_tests);
        known.flag(Feature::LanguageWanted, asked.languages.iter().any(|language| language == candidate.language));
    }
}

fn add_structure(known: &mut Known, candidate: &Candidate<'_>, terms: &Terms) {
    let name = candidate.name;
    known.flag(Feature::Generated, candidate.is_generated);
    known.flag(Feature::Private, !candidate.exported);
    known.flag(Feature::Underscore, name.starts_with('_') && !name.starts_with("__"));
    known.flag(Feature::Declaration, terms.declares(candidate));
    known.set(Feature::Callers, (candidate.degree as f64).ln_1p().min(CALLERS) / CALLERS);
    known.set(Feature::Depth, candidate.qualified_name.matches('.').count() as f64 / DEEP);
    known.set(Feature::Length, (candidate.further_lines as f64).ln_1p().min(LONG) / LONG);
}

/// Adds products of features: how much the text counts depends on what it is the text of.
fn add_products(known: &mut Known) {
    let text = known.of(Feature::Text);
    let document = known.of(Feature::Document);
    known.set(Feature::TextTest, text * known.of(Feature::Test));
    known.set(Feature::TextDocument, text * document);
    known.set(Feature::TextWindow, text * known.of(Feature::Window));
    known.set(Feature::TextValue, text * known.of(Feature::Value));
    known.set(Feature::TextCopy, text * known.of(Feature::Copy));
    known.set(Feature::TextFile, text * known.of(Feature::File));
    known.set(Feature::DocumentName, document * known.of(Feature::NameCover));
    known.set(Feature::DocumentRarity, document * known.of(Feature::NameRarity));
    known.set(Feature::Title, document * known.of(Feature::NameCover) * known.of(Feature::NameRarity));
}

/// Returns the roots of the parts of a file's name, or of its folder's name if the file has none of its own.
fn stem_roots(path: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = match before_dot(name) {
        "" => name,
        stem => stem,
    };
    part_roots(if STEMLESS.contains(&stem) && !folder.is_empty() { file_name(folder) } else { stem })
}

pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn roots_of(words: &[String]) -> Vec<String> {
    words.iter().map(|word| root_of(word).to_owned()).collect()
}

/// Returns the mean of the best other candidates of the file (`scores`, descending), those missing as 0.
fn coherence(text: f64, scores: &[f64]) -> f64 {
    let first = &scores[..scores.len().min(COHERENT + 1)];
    let others = if first.contains(&text) {
        first.iter().sum::<f64>() - text
    } else {
        scores[..scores.len().min(COHERENT)].iter().sum()
    };
    others.max(0.0) / COHERENT as f64
}
