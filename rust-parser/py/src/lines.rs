//! The Python classes `LineSearch`, `LineFinder` and `WiderPattern`, and the function `score_lines`.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use atlas_lines::{
    FileLines, Limits, Lines as FoundLines, Pattern, PatternError, ScoredText, ScoredWord, scored_lines,
};

/// Path, number of matching lines, and the first of them: number and text.
type Lines = (String, usize, Vec<(u64, String)>);
/// Files with matching lines, reasons of skipped files with their number, and the number of files that were not read.
type Found = (Vec<Lines>, Vec<(&'static str, usize)>, usize);

/// Number, start, end and reach of a line.
type Span = (usize, usize, usize, usize);

/// Searches files on disk for lines.
#[pyclass(frozen, module = "atlas._parser")]
#[derive(Default)]
pub struct LineSearch(atlas_lines::LineSearch);

#[pymethods]
impl LineSearch {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Returns the files with a match in the order given, the number of files left out by reason, and the number of
    /// those not read to the end. `patterns` are exact texts, or one regular expression. Raises ValueError for an
    /// invalid pattern, with the message and the character where it begins, and OSError for an unreadable root.
    #[pyo3(signature = (root, paths, patterns, *, is_regex=false, keep=0, max_bytes, max_lines, timeout_ms))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
    fn search(
        &self,
        py: Python<'_>,
        root: PathBuf,
        paths: Vec<String>,
        patterns: Vec<String>,
        is_regex: bool,
        keep: usize,
        max_bytes: u64,
        max_lines: usize,
        timeout_ms: u64,
    ) -> PyResult<Found> {
        let limits = Limits { keep, max_bytes, max_lines, time: Duration::from_millis(timeout_ms) };
        py.detach(|| {
            let pattern = match &patterns[..] {
                [expression] if is_regex => Pattern::regex(expression),
                texts => Pattern::exact(texts),
            };
            let found = self.0.search(&root, &paths, &pattern.map_err(invalid)?, &limits)?;
            let lines = |file: FileLines| (file.path, file.count, file.lines);
            Ok((found.files.into_iter().map(lines).collect(), found.skipped, found.unread))
        })
    }
}

/// An expression that matches wherever one of Python's `re` does.
#[pyclass(frozen, module = "atlas._parser")]
pub struct WiderPattern(atlas_lines::WiderPattern);

#[pymethods]
impl WiderPattern {
    /// Compiles a pattern of Python's `re`; what cannot be compiled matches everything.
    #[new]
    fn new(pattern: &str, ignores_case: bool) -> Self {
        Self(atlas_lines::WiderPattern::new(pattern, ignores_case))
    }
}

/// Finds the lines of texts in memory that have one of several needles.
#[pyclass(frozen, module = "atlas._parser")]
pub struct LineFinder(atlas_lines::LineFinder);

#[pymethods]
impl LineFinder {
    /// `most`: characters of a line that is tried, and of the next one that a match may reach into.
    #[new]
    fn new(needles: Vec<PyBackedBytes>, most: usize) -> PyResult<Self> {
        atlas_lines::LineFinder::new(&needles, most).map(Self).map_err(PyValueError::new_err)
    }

    /// Returns, for each text, number, start, end and reach of the lines with a needle at which the pattern may match;
    /// None for a text with a needle whose lines Python has to find.
    fn find(&self, py: Python<'_>, texts: Vec<PyBackedBytes>, pattern: &WiderPattern) -> Vec<Option<Vec<Span>>> {
        let spans = |text: &PyBackedBytes| match self.0.find(text, &pattern.0) {
            FoundLines::Found(lines) => {
                Some(lines.iter().map(|line| (line.number, line.start, line.end, line.reach)).collect())
            }
            FoundLines::Unknown => None,
        };
        py.detach(|| texts.iter().map(spans).collect())
    }

    /// Returns for each text whether it has a needle; None where Python has to find out.
    fn are_in(&self, py: Python<'_>, texts: Vec<PyBackedBytes>) -> Vec<Option<bool>> {
        py.detach(|| texts.iter().map(|text| self.0.is_in(text)).collect())
    }
}

/// Returns number of the text, number of the line, the line, and its score: lines with words of a question.
///
/// A text has whether it is a document, and a test that is not asked for; a word in lower case has whether it is a name,
/// and whether few lines that have it are worth showing. With `only_rare`, lines have one of those.
#[pyfunction]
fn score_lines(
    py: Python<'_>,
    texts: Vec<(PyBackedBytes, bool, bool)>,
    words: Vec<(String, bool, bool)>,
    only_rare: bool,
) -> Vec<(usize, usize, String, f64)> {
    py.detach(|| {
        let decoded: Vec<_> = texts.iter().map(|(text, ..)| String::from_utf8_lossy(text)).collect();
        let searched: Vec<_> = (texts.iter().zip(&decoded))
            .map(|(&(_, is_document, is_test), text)| ScoredText { text, is_document, is_test })
            .collect();
        let words: Vec<_> =
            words.into_iter().map(|(word, is_name, tells)| ScoredWord { word, is_name, tells }).collect();
        let found = scored_lines(&searched, &words, only_rare);
        found.into_iter().map(|each| (each.text, each.line, each.shown, each.score)).collect()
    })
}

fn invalid(error: PatternError) -> PyErr {
    PyValueError::new_err((error.message, error.at))
}

/// Adds what this file has to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LineFinder>()?;
    module.add_class::<WiderPattern>()?;
    module.add_function(wrap_pyfunction!(score_lines, module)?)?;
    module.add_class::<LineSearch>()
}
