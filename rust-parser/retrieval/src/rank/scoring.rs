//! From the fused score of a candidate to that of the ranking: the ordered list `STEPS`.
//!
//! The fused score measures how well the text matches; the factors here measure how useful a node of that kind is as an
//! answer. Every number is a named constant with its reason.

use rustc_hash::FxHashSet;

use super::features::{Feature, Known, file_name};
use super::paths::{before_dot, is_translation};
use super::{Asked, Candidate, Terms};

/// Tests repeat the words of the code under test and would outrank it without this factor.
const TEST_FACTOR: f64 = 0.2;
/// The question names it: a library has helpers for tests as well (`override_settings`).
const TEST_NAMED_FACTOR: f64 = 0.5;
/// The question mentions tests.
const TEST_WANTED_FACTOR: f64 = 1.2;
const GENERATED_FACTOR: f64 = 0.5;
/// Among equals, prefer exported symbols; the factor is close to 1, because helpers are often the target.
const PRIVATE_FACTOR: f64 = 0.95;
/// Prototypes, overloads and stubs rank below the definition with the implementation.
const DECLARATION_FACTOR: f64 = 0.95;
/// The question names the node's language.
const LANGUAGE_FACTOR: f64 = 1.15;
/// If all query words occur in the path; a share of the words earns the same share of the bonus.
const PATH_BONUS: f64 = 0.1;
/// Per e-fold of callers, up to `CENTRAL_LIMIT`: breaks ties in favour of central code.
const CENTRAL_BONUS: f64 = 0.01;
const CENTRAL_LIMIT: f64 = 3.0;
/// Configuration, markup and text repeat the words of the code that they belong to. A question that names their
/// language or their path asks for them.
const WINDOW_FACTOR: f64 = 0.75;
/// A file whose text is in windows of lines has no text of its own.
const WINDOWED_FILE_FACTOR: f64 = 0.5;
/// A translated document says what its original says.
const TRANSLATION_FACTOR: f64 = 0.6;
/// The question asks for a page, or how to do something. Windows of markup and text count as documents.
const DOCUMENT_WANTED_FACTOR: f64 = 1.4;
/// Documents, where the question is a sentence of documentation.
const STATED_FACTOR: f64 = 0.8;
/// Documents, where the question is a long text, such as a report: manuals, release notes and change logs repeat its
/// words, but it is about code, unless its title asks for documents or reasons.
const REPORTED_FACTOR: f64 = 0.5;
/// The question asks why: documents give reasons, code does not.
const REASON_WANTED_FACTOR: f64 = 1.4;
/// The same for records of decisions and notes, on top of it: they are written to answer it.
const DECISION_WANTED_FACTOR: f64 = 1.25;
/// The question asks for a setting of the project, and this is a file of settings.
const CONFIGURATION_WANTED_FACTOR: f64 = 3.0;
/// A class that is named like its file is what the file is about.
const NAMESAKE_FACTOR: f64 = 1.06;
/// Legacy and vendored code and examples say what their original says.
const COPY_FACTOR: f64 = 0.8;
/// For the file that matches the question's words best as a whole; a lower share for the others (`files`).
const FILE_BONUS: f64 = 0.12;
/// For the file that a title names in front of a colon (`paths`).
const COMPONENT_BONUS: f64 = 0.2;
/// If all parts of the file's name are words of the question.
const STEM_BONUS: f64 = 0.03;
/// If the file's other candidates match in full. A name has one place: the more of the question is a name, the less it
/// counts.
const COHERENCE_BONUS: f64 = 0.05;
/// For the file whose own text is nearest to the question; a lower share for the next 59
/// (`atlas/code/retrieve/file_evidence.py`). It does most for questions in other words than the code. Documents have
/// none: a section is found by its own vector.
const FILE_MEANING_BONUS: f64 = 0.35;
/// For code of a file to which all mentions in matching documents lead.
const MENTIONS_BONUS: f64 = 0.55;
/// For the file whose definitions have all words of the question together.
const COVERAGE_BONUS: f64 = 0.35;
/// For the candidate whose path, name, signature and documentation are most like the question, by the model of prose.
const DESCRIPTION_BONUS: f64 = 0.55;
/// Of these four bonuses, where the question is a sentence of documentation: it describes one definition, no topic.
const STATED_TOPIC_FACTOR: f64 = 0.6;
/// For the definition whose name and signature are most like a sentence of documentation, by both models: one describes
/// what the name says in short. Added behind the factors of labels, since a value has a name as functions have.
const NAMING_BONUS: f64 = 1.5;
/// Per segment of the qualified name: among equals, prefer the shorter name.
const DEPTH_PENALTY: f64 = 0.004;

/// Definitions with a body are more useful than the file around them, values less, names of other packages least.
fn label_factor(label: &str) -> f64 {
    match label {
        "DocSection" | "ADR" | "Claim" | "Decision" => 0.9,
        "Entity" | "Observation" | "Module" | "File" | "DocFile" | "Chunk" | "Package" => 0.85,
        "Value" => 0.8,
        "ExternalSymbol" | "ExternalPackage" => 0.4,
        "Project" => 0.3,
        _ => 1.0,
    }
}

/// Where the question is a sentence of documentation: most describe one action.
fn described_factor(label: &str) -> f64 {
    match label {
        "Function" | "Method" => 1.1,
        "Class" | "Value" => 0.95,
        "DocFile" | "DocSection" | "ADR" => STATED_FACTOR,
        _ => 1.0,
    }
}

/// What the steps know besides the score so far.
pub struct Scoring<'s> {
    pub candidate: &'s Candidate<'s>,
    pub known: &'s Known,
    pub asked: &'s Asked,
    pub terms: &'s Terms,
    /// Words of the question that the path has.
    pub words_in_path: usize,
    pub demote_tests: bool,
}

impl Scoring<'_> {
    /// Returns how much evidence about the topic counts.
    fn topic(&self) -> f64 {
        if self.asked.states || self.asked.describes_one { STATED_TOPIC_FACTOR } else { 1.0 }
    }
}

/// A step from the fused score to that of the ranking.
pub struct Step {
    pub name: &'static str,
    /// Why it is there, for `atlas search --explain`.
    pub why: &'static str,
    /// Features that only this step uses; they count as 0 without it.
    pub features: &'static [&'static str],
    run: fn(f64, &Scoring<'_>) -> f64,
}

const fn step(
    name: &'static str,
    run: fn(f64, &Scoring<'_>) -> f64,
    why: &'static str,
    features: &'static [&'static str],
) -> Step {
    Step { name, why, features, run }
}

/// The steps in this order: bonuses, factors, ties.
pub const STEPS: [Step; 25] = [
    step("files", files, "a file as a whole has words of the question that one definition lacks", &[]),
    step("stems", stems, "the file's name says what it is about", &["stem"]),
    step("coherence", coherence, "several hits of a file support each other", &["coherence"]),
    step("file_meaning", file_meaning, "the start of a file tells its topic", &["file_meaning"]),
    step("mentions", mentions, "documents that match mention the code", &["mentions"]),
    step("coverage", coverage, "the definitions of a file have the words together", &["coverage"]),
    step("descriptions", descriptions, "names and documentation say it in other words", &[]),
    step("components", components, "a title names a file before its colon", &["component"]),
    step("labels", labels, "definitions with a body are more useful than the file around them", &[]),
    step("namings", namings, "a sentence of documentation says what a name says in short", &["naming"]),
    step("tests", tests, "tests repeat the words of the code under test", &[]),
    step("generated", generated, "nobody edits generated code", &[]),
    step("private", private, "among equals, exported symbols are meant", &[]),
    step("declarations", declarations, "the definition has the implementation", &[]),
    step("reports", reports, "a report is about code, although manuals repeat its words", &[]),
    step("kinds", kinds, "pages, settings or a language are asked for; windows repeat the words of code", &[]),
    step(
        "intents",
        intents,
        "documents and decisions give reasons, code does not",
        &["reason_wanted", "decision_wanted", "configuration_wanted"],
    ),
    step("stated", stated, "a sentence of documentation describes code, most often a function", &[]),
    step("namesakes", namesakes, "a file is about the class that is named like it", &[]),
    step("copies", copies, "copies say what their original says", &["copy", "text_copy"]),
    step("windowed", windowed, "the text of such a file is in its windows", &[]),
    step("translations", translations, "a translated document says what its original says", &[]),
    step("paths", paths, "the path has words of the question", &[]),
    step("central", central, "among equals, code with callers is meant", &[]),
    step("depth", depth, "among equals, the shorter name is meant", &[]),
];

/// Returns the score after the steps that are not `off`.
pub fn score(of: &Scoring<'_>, off: &FxHashSet<String>) -> f64 {
    let on = STEPS.iter().filter(|step| !off.contains(step.name));
    on.fold(of.candidate.score, |score, step| (step.run)(score, of))
}

fn files(score: f64, of: &Scoring<'_>) -> f64 {
    score + FILE_BONUS * of.known.of(Feature::File)
}

fn stems(score: f64, of: &Scoring<'_>) -> f64 {
    score + STEM_BONUS * of.known.of(Feature::Stem)
}

fn coherence(score: f64, of: &Scoring<'_>) -> f64 {
    score + COHERENCE_BONUS * of.known.of(Feature::Coherence) * (1.0 - of.asked.focus)
}

fn file_meaning(score: f64, of: &Scoring<'_>) -> f64 {
    score + FILE_MEANING_BONUS * of.known.of(Feature::FileMeaning) * of.topic()
}

fn mentions(score: f64, of: &Scoring<'_>) -> f64 {
    score + MENTIONS_BONUS * of.known.of(Feature::Mentions) * of.topic()
}

fn coverage(score: f64, of: &Scoring<'_>) -> f64 {
    score + COVERAGE_BONUS * of.known.of(Feature::Coverage) * of.topic()
}

fn descriptions(score: f64, of: &Scoring<'_>) -> f64 {
    score + DESCRIPTION_BONUS * of.known.of(Feature::Description) * (1.0 - of.asked.focus) * of.topic()
}

fn components(score: f64, of: &Scoring<'_>) -> f64 {
    score + COMPONENT_BONUS * of.known.of(Feature::Component)
}

fn labels(score: f64, of: &Scoring<'_>) -> f64 {
    score * label_factor(of.candidate.label)
}

fn namings(score: f64, of: &Scoring<'_>) -> f64 {
    score + NAMING_BONUS * of.known.of(Feature::Naming)
}

fn tests(score: f64, of: &Scoring<'_>) -> f64 {
    if of.candidate.is_test && of.asked.wants_tests {
        return score * TEST_WANTED_FACTOR;
    }
    if of.candidate.is_test && of.demote_tests {
        let is_named = of.asked.names.iter().any(|name| name == of.candidate.name);
        return score * if is_named { TEST_NAMED_FACTOR } else { TEST_FACTOR };
    }
    score
}

fn generated(score: f64, of: &Scoring<'_>) -> f64 {
    if of.candidate.is_generated { score * GENERATED_FACTOR } else { score }
}

fn private(score: f64, of: &Scoring<'_>) -> f64 {
    if of.candidate.exported { score } else { score * PRIVATE_FACTOR }
}

fn declarations(score: f64, of: &Scoring<'_>) -> f64 {
    if of.terms.declares(of.candidate) { score * DECLARATION_FACTOR } else { score }
}

fn reports(score: f64, of: &Scoring<'_>) -> f64 {
    let is_about_code = of.asked.reports && !(of.asked.wants_documents || of.asked.wants_reasons);
    if of.candidate.is_page() && is_about_code { score * REPORTED_FACTOR } else { score }
}

fn kinds(score: f64, of: &Scoring<'_>) -> f64 {
    let (candidate, asked) = (of.candidate, of.asked);
    if asked.wants_documents && candidate.is_page() {
        return score * DOCUMENT_WANTED_FACTOR;
    }
    if of.known.has(Feature::ConfigurationWanted) {
        return score * CONFIGURATION_WANTED_FACTOR;
    }
    if asked.languages.iter().any(|language| language == candidate.language) {
        return score * LANGUAGE_FACTOR;
    }
    if candidate.label == "Chunk" && candidate.kind != "code" { score * WINDOW_FACTOR } else { score }
}

fn intents(score: f64, of: &Scoring<'_>) -> f64 {
    if !of.known.has(Feature::ReasonWanted) {
        return score;
    }
    let decision = if of.known.has(Feature::DecisionWanted) { DECISION_WANTED_FACTOR } else { 1.0 };
    score * (REASON_WANTED_FACTOR * decision)
}

fn stated(score: f64, of: &Scoring<'_>) -> f64 {
    if of.asked.describes_one {
        return score * described_factor(of.candidate.label);
    }
    if of.asked.states && of.candidate.is_document() { score * STATED_FACTOR } else { score }
}

fn namesakes(score: f64, of: &Scoring<'_>) -> f64 {
    if of.candidate.label != "Class" || of.asked.reports || of.asked.describes_one {
        return score;
    }
    let stem = before_dot(file_name(of.candidate.path));
    if squeezed(stem) == squeezed(of.candidate.name) { score * NAMESAKE_FACTOR } else { score }
}

fn squeezed(name: &str) -> String {
    name.replace(['_', '-'], "").to_lowercase()
}

fn copies(score: f64, of: &Scoring<'_>) -> f64 {
    if of.known.has(Feature::Copy) { score * COPY_FACTOR } else { score }
}

fn windowed(score: f64, of: &Scoring<'_>) -> f64 {
    let is_windowed = of.candidate.label == "File" && of.terms.windowed.contains(of.candidate.language);
    if is_windowed { score * WINDOWED_FILE_FACTOR } else { score }
}

fn translations(score: f64, of: &Scoring<'_>) -> f64 {
    if of.candidate.is_document() && is_translation(of.candidate.path) { score * TRANSLATION_FACTOR } else { score }
}

fn paths(score: f64, of: &Scoring<'_>) -> f64 {
    if of.asked.words.is_empty() {
        return score;
    }
    score + PATH_BONUS * of.candidate.score * of.words_in_path as f64 / of.asked.words.len() as f64
}

fn central(score: f64, of: &Scoring<'_>) -> f64 {
    score + CENTRAL_BONUS * (of.candidate.degree as f64).ln_1p().min(CENTRAL_LIMIT) * of.candidate.score
}

fn depth(score: f64, of: &Scoring<'_>) -> f64 {
    score - DEPTH_PENALTY * of.candidate.qualified_name.matches('.').count() as f64
}
