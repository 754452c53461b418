//! The Python functions `rank_candidates`, `candidate_features`, `collapse_candidates`, `scoring_steps` and `is_copy`.
//!
//! Candidates, questions and evidence are the values of `atlas.code`, read by their attributes.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyTuple};
use rustc_hash::{FxHashMap, FxHashSet};

use atlas_retrieval::rank::{self, Asked, Candidate, Evidence, Known, Ranked, STEPS, Terms, WordCounts};

/// `atlas.code.rank.rank.Candidate`.
#[derive(FromPyObject)]
struct ScoredNode<'py> {
    node: NodeOfCandidate<'py>,
    score: f64,
    degree: u64,
    features: Bound<'py, PyAny>,
}

#[derive(FromPyObject)]
struct NodeOfCandidate<'py> {
    row: Bound<'py, PyTuple>,
}

/// The columns of `atlas.core.model.NodeRow` that ranking reads.
struct RowText {
    uid: PyBackedStr,
    label: PyBackedStr,
    kind: PyBackedStr,
    name: PyBackedStr,
    qualified_name: PyBackedStr,
    path: PyBackedStr,
    language: PyBackedStr,
    signature: PyBackedStr,
    modifiers: PyBackedStr,
    is_test: bool,
    is_generated: bool,
    exported: bool,
    further_lines: u64,
}

impl RowText {
    fn read(row: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let text = |column: usize| -> PyResult<PyBackedStr> { row.get_item(column)?.extract() };
        let flag = |column: usize| row.get_item(column)?.extract::<bool>();
        let line = |column: usize| row.get_item(column)?.extract::<i64>();
        Ok(Self {
            uid: text(0)?,
            label: text(1)?,
            kind: text(2)?,
            name: text(3)?,
            qualified_name: text(4)?,
            path: text(5)?,
            language: text(6)?,
            further_lines: u64::try_from(line(9)? - line(8)?).unwrap_or(0),
            signature: text(12)?,
            is_test: flag(14)?,
            is_generated: flag(15)?,
            exported: flag(16)?,
            modifiers: text(17)?,
        })
    }

    fn candidate(&self, of: &ScoredNode<'_>) -> Candidate<'_> {
        Candidate {
            uid: &self.uid,
            label: &self.label,
            kind: &self.kind,
            name: &self.name,
            qualified_name: &self.qualified_name,
            path: &self.path,
            language: &self.language,
            signature: &self.signature,
            modifiers: &self.modifiers,
            is_test: self.is_test,
            is_generated: self.is_generated,
            exported: self.exported,
            further_lines: self.further_lines,
            score: of.score,
            degree: of.degree,
        }
    }
}

/// `atlas.code.question.parse_question.Query`.
#[derive(FromPyObject)]
struct QueryParts {
    text: String,
    words: Vec<String>,
    variants: Vec<String>,
    names: Vec<String>,
    languages: Vec<String>,
    focus: f64,
    wants_tests: bool,
    wants_documents: bool,
    wants_reasons: bool,
    wants_configuration: bool,
    states: bool,
    reports: bool,
}

impl QueryParts {
    fn asked(self, describes_one: bool) -> Asked {
        let Self { text, words, variants, names, languages, focus, states, reports, .. } = self;
        let Self { wants_tests, wants_documents, wants_reasons, wants_configuration, .. } = self;
        Asked {
            text,
            words,
            variants,
            names,
            languages,
            focus,
            wants_tests,
            wants_documents,
            wants_reasons,
            wants_configuration,
            states,
            reports,
            describes_one,
        }
    }
}

/// `atlas.code.question.languages.LanguageTerms`.
#[derive(FromPyObject)]
struct LanguageParts {
    declarations: Vec<String>,
    constructors: FxHashSet<String>,
    forms: FxHashMap<String, String>,
}

impl LanguageParts {
    fn terms(self) -> Terms {
        let windowed = self.forms.into_iter().filter(|(_, form)| matches!(form.as_str(), "source" | "text"));
        Terms {
            declarations: self.declarations,
            constructors: self.constructors,
            windowed: windowed.map(|(language, _)| language).collect(),
        }
    }
}

/// `atlas.code.rank.features.QuestionEvidence`.
#[derive(FromPyObject)]
struct EvidenceParts {
    counts: Option<CountParts>,
    file_weight: f64,
    file_meaning: FxHashMap<String, f64>,
    mentions: FxHashMap<String, f64>,
    descriptions: FxHashMap<String, f64>,
    namings: FxHashMap<String, f64>,
    channels: Option<FxHashMap<String, FxHashMap<String, f64>>>,
}

/// `atlas.core.model.WordCounts`: files with their nodes, and those of each word.
struct CountParts {
    nodes: FileCounts,
    words: Vec<(String, FileCounts)>,
}

type FileCounts = Vec<(PyBackedStr, u64)>;

impl<'py> FromPyObject<'_, 'py> for CountParts {
    type Error = PyErr;

    fn extract(counts: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let words = counts.getattr("words")?;
        let words = words.cast::<PyDict>()?.iter();
        Ok(Self {
            nodes: file_counts(&counts.getattr("nodes")?)?,
            words: words.map(|(word, files)| Ok((word.extract()?, file_counts(&files)?))).collect::<PyResult<_>>()?,
        })
    }
}

impl CountParts {
    fn counts(&self) -> WordCounts<'_> {
        WordCounts {
            nodes: borrowed(&self.nodes).collect(),
            words: self.words.iter().map(|(word, files)| (word.clone(), borrowed(files).collect())).collect(),
        }
    }
}

fn file_counts(files: &Bound<'_, PyAny>) -> PyResult<FileCounts> {
    files.cast::<PyDict>()?.iter().map(|(path, count)| Ok((path.extract()?, count.extract()?))).collect()
}

fn borrowed(files: &FileCounts) -> impl Iterator<Item = (&str, u64)> {
    files.iter().map(|(path, count)| (&**path, *count))
}

type Features<'py> = Bound<'py, PyDict>;
/// Place, score, places of all that were merged, features.
type RankedPlace<'py> = (usize, f64, Vec<usize>, Option<Features<'py>>);

/// Returns places of the candidates best first, one per symbol, ties by name, with their scores, the places of all that
/// were merged, and their features if all of them were asked for.
///
/// Without evidence, the features are those that the candidates have. `off`: steps and features that do not count.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the call crosses to Python once a question")]
fn rank_candidates<'py>(
    py: Python<'py>,
    candidates: Vec<ScoredNode<'py>>,
    query: QueryParts,
    describes_one: bool,
    languages: LanguageParts,
    evidence: Option<EvidenceParts>,
    demote_tests: bool,
    off: FxHashSet<String>,
) -> PyResult<Vec<RankedPlace<'py>>> {
    let rows = rows_of(&candidates)?;
    let table: Vec<Candidate<'_>> = rows.iter().zip(&candidates).map(|(row, of)| row.candidate(of)).collect();
    let (asked, terms) = (query.asked(describes_one), languages.terms());
    let own = match &evidence {
        None => Some(candidates.iter().map(|each| given(&each.features)).collect::<PyResult<Vec<_>>>()?),
        Some(_) => None,
    };
    let evidence = evidence.as_ref();
    let (known, ranked) = py.detach(|| {
        let known = own.unwrap_or_else(|| computed(&table, &asked, &terms, evidence, &off));
        let ranked = rank::rank(&table, &known, &asked, &terms, demote_tests, &off);
        (known, ranked)
    });
    let has_all = evidence.is_some_and(|evidence| evidence.channels.is_some());
    ranked
        .into_iter()
        .map(|Ranked { place, score, merged }| {
            let features = if has_all { Some(named(py, &known[place], true, &off)?) } else { None };
            Ok((place, score, merged, features))
        })
        .collect()
}

/// Returns the features of each candidate, in their order: all if the evidence has channels, else the main ones.
#[pyfunction]
fn candidate_features<'py>(
    py: Python<'py>,
    candidates: Vec<ScoredNode<'py>>,
    query: QueryParts,
    describes_one: bool,
    languages: LanguageParts,
    evidence: EvidenceParts,
    off: FxHashSet<String>,
) -> PyResult<Vec<Features<'py>>> {
    let rows = rows_of(&candidates)?;
    let table: Vec<Candidate<'_>> = rows.iter().zip(&candidates).map(|(row, of)| row.candidate(of)).collect();
    let (asked, terms) = (query.asked(describes_one), languages.terms());
    let has_all = evidence.channels.is_some();
    let evidence = Some(&evidence);
    let known = py.detach(|| computed(&table, &asked, &terms, evidence, &off));
    known.iter().map(|known| named(py, known, has_all, &off)).collect()
}

/// Returns places of the candidates by their scores, one per symbol, with their scores and the places of all that were
/// merged.
#[pyfunction]
fn collapse_candidates(
    py: Python<'_>,
    candidates: Vec<ScoredNode<'_>>,
    languages: LanguageParts,
) -> PyResult<Vec<(usize, f64, Vec<usize>)>> {
    let rows = rows_of(&candidates)?;
    let table: Vec<Candidate<'_>> = rows.iter().zip(&candidates).map(|(row, of)| row.candidate(of)).collect();
    let (scores, terms) = (table.iter().map(|each| each.score).collect::<Vec<_>>(), languages.terms());
    let ranked = py.detach(|| rank::collapse(&table, &scores, &terms));
    Ok(ranked.into_iter().map(|each| (each.place, each.score, each.merged)).collect())
}

/// Returns name, reason and own features of the steps of the score, in their order.
#[pyfunction]
fn scoring_steps() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    STEPS.iter().map(|step| (step.name, step.why, step.features.to_vec())).collect()
}

/// Returns whether a folder or file of the path says that its code is legacy, vendored, a benchmark or an example.
#[pyfunction]
fn is_copy(path: &str) -> bool {
    rank::is_copy(path, &FxHashSet::default())
}

fn rows_of(candidates: &[ScoredNode<'_>]) -> PyResult<Vec<RowText>> {
    candidates.iter().map(|each| RowText::read(&each.node.row)).collect()
}

fn given(features: &Bound<'_, PyAny>) -> PyResult<Known> {
    let mut known = Known::default();
    let features: FxHashMap<String, f64> = features.extract()?;
    features.iter().for_each(|(name, value)| known.set_by_name(name, *value));
    Ok(known)
}

/// Computes features; those that are off, or that only a step uses that is off, are 0.
fn computed(
    candidates: &[Candidate<'_>],
    asked: &Asked,
    terms: &Terms,
    evidence: Option<&EvidenceParts>,
    off: &FxHashSet<String>,
) -> Vec<Known> {
    let Some(parts) = evidence else { return vec![Known::default(); candidates.len()] };
    let evidence = Evidence {
        counts: parts.counts.as_ref().map(CountParts::counts),
        file_weight: parts.file_weight,
        file_meaning: &parts.file_meaning,
        mentions: &parts.mentions,
        descriptions: &parts.descriptions,
        namings: &parts.namings,
        channels: parts.channels.as_ref(),
    };
    let mut known = rank::features(candidates, asked, terms, &evidence);
    for name in omitted(off) {
        known.iter_mut().for_each(|known| known.set_by_name(name, 0.0));
    }
    known
}

/// Returns the features that do not count.
fn omitted(off: &FxHashSet<String>) -> FxHashSet<&str> {
    let of_steps = STEPS.iter().filter(|step| off.contains(step.name)).flat_map(|step| step.features.iter().copied());
    off.iter().map(String::as_str).chain(of_steps).collect()
}

fn named<'py>(py: Python<'py>, known: &Known, all: bool, off: &FxHashSet<String>) -> PyResult<Features<'py>> {
    let (omitted, found) = (omitted(off), PyDict::new(py));
    for (name, value) in known.named(all).filter(|(name, _)| !omitted.contains(name)) {
        found.set_item(name, value)?;
    }
    Ok(found)
}

/// Adds the functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(rank_candidates, module)?)?;
    module.add_function(wrap_pyfunction!(candidate_features, module)?)?;
    module.add_function(wrap_pyfunction!(collapse_candidates, module)?)?;
    module.add_function(wrap_pyfunction!(scoring_steps, module)?)?;
    module.add_function(wrap_pyfunction!(is_copy, module)?)
}
