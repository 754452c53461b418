//! The Python class `Excerpts`.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use atlas_parse::Statements;
use atlas_retrieval::excerpts::{self, Body, Hit, Question, Row};

use crate::encode::ProseEncoder;

/// CPU time that parsing a text may take.
const TIMEOUT: Duration = Duration::from_millis(50);

/// Language, first and last line, first byte and end, likelihood.
type HitRow = (PyBackedStr, i64, i64, usize, usize, f64);
/// Path, content, line, summary, rows.
type HitSource = (PyBackedStr, PyBackedBytes, i64, PyBackedStr, Vec<HitRow>);
/// Value, tokens, and number and text of each line.
type RatedPiece = (f64, usize, Vec<(i64, String)>);

/// Divides sources into pieces and rates them.
#[pyclass(frozen, module = "atlas._parser")]
struct Excerpts(Statements);

#[pymethods]
impl Excerpts {
    #[new]
    fn new(folders: Vec<String>) -> Self {
        Self(Statements::new(folders))
    }

    /// Returns the pieces of each hit and the characters of all pieces in its lines.
    fn rate(
        &self,
        py: Python<'_>,
        question: &str,
        words: Vec<String>,
        hits: Vec<HitSource>,
        least: f64,
        encoder: Option<PyRef<'_, ProseEncoder>>,
    ) -> Vec<(Vec<RatedPiece>, usize)> {
        let model = encoder.as_ref().map(|encoder| encoder.model());
        py.detach(|| {
            let question = Question { text: question, words: &words, model, least };
            let hits: Vec<Hit<'_>> = hits.iter().map(hit).collect();
            let bodies = excerpts::rate(&question, &hits, |language, data| self.0.of(language, data, TIMEOUT));
            bodies.into_iter().map(rated).collect()
        })
    }

    /// Returns the lines, from 0, before which a text can be cut.
    fn borders(&self, py: Python<'_>, language: &str, lines: Vec<PyBackedStr>) -> Vec<usize> {
        py.detach(|| {
            let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
            excerpts::borders(&lines, |text| self.0.of(language, text, TIMEOUT))
        })
    }
}

fn hit((path, content, line, summary, rows): &HitSource) -> Hit<'_> {
    let rows = rows.iter().map(|(language, first, last, start, end, chance)| Row {
        language,
        lines: (*first, *last),
        bytes: (*start, *end),
        chance: *chance,
    });
    Hit { path, content, line: *line, summary, rows: rows.collect() }
}

fn rated(body: Body) -> (Vec<RatedPiece>, usize) {
    let pieces = body.pieces.into_iter().map(|piece| {
        let lines = piece.numbers.into_iter().zip(piece.text.split('\n').map(str::to_owned)).collect();
        (piece.value, piece.tokens, lines)
    });
    (pieces.collect(), body.characters)
}

/// Adds the class of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Excerpts>()
}
