//! The Python classes `WordIndex` and `WordMerger` and the function `build_words`.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use atlas_retrieval::segments::{self, Among, Block, Blocks, COLUMNS, Damaged, Merger, Row, Source};

type SegmentRow = (i64, PyBackedBytes, PyBackedBytes, PyBackedBytes);
type BlockRow = (i64, PyBackedBytes);
/// Node, file, label, is_test, is_generated and the columns.
type TextRow = (u32, u32, PyBackedStr, bool, bool, PyBackedStr, PyBackedStr, PyBackedStr, PyBackedStr, PyBackedStr);
type BlockBytes = Vec<(Vec<u8>, Vec<u8>)>;
/// Files as sorted little-endian uint32, labels, with tests, with generated code.
type Filter = (Option<PyBackedBytes>, Option<Vec<String>>, bool, bool);
/// Number of texts, and (file, number of texts that pass).
type CountedWord = (u64, Vec<(u32, u32)>);

/// The words of all segments of a store in one state. Immutable and thread-safe.
#[pyclass(frozen, module = "atlas._parser")]
pub struct WordIndex(segments::WordIndex);

#[pymethods]
impl WordIndex {
    #[new]
    fn new(
        py: Python<'_>,
        before: Option<PyRef<'_, WordIndex>>,
        ids: Vec<i64>,
        new: Vec<SegmentRow>,
    ) -> PyResult<Self> {
        let before = before.as_deref().map(|index| &index.0);
        py.detach(|| segments::WordIndex::new(before, &ids, &sources(&new))).map(Self).map_err(damaged)
    }

    #[getter]
    fn segments(&self) -> Vec<i64> {
        self.0.segments()
    }

    /// Returns the ids of the blocks that a search for these words and phrases needs: of postings, and of positions.
    fn blocks(&self, words: Vec<String>) -> (Vec<i64>, Vec<i64>) {
        self.0.blocks(&words)
    }

    /// Returns the best `limit` nodes with their scores, in no order, and all others that score as the last of them.
    fn search(
        &self,
        py: Python<'_>,
        words: Vec<String>,
        postings: Vec<BlockRow>,
        positions: Vec<BlockRow>,
        among: Filter,
        limit: usize,
    ) -> PyResult<Vec<(u32, f64)>> {
        let found = py.detach(|| self.0.search(&words, &blocks(&postings, &positions), &filter(among), limit));
        found.map_err(damaged)
    }

    /// Returns for each word its number of texts and, if these are at most `most`, those that pass by file.
    fn count(
        &self,
        py: Python<'_>,
        words: Vec<String>,
        postings: Vec<BlockRow>,
        positions: Vec<BlockRow>,
        among: Filter,
        most: u64,
    ) -> PyResult<Vec<CountedWord>> {
        let counted = py.detach(|| self.0.count(&words, &blocks(&postings, &positions), &filter(among), most));
        Ok(counted.map_err(damaged)?.into_iter().map(|word| (word.texts, word.by_file)).collect())
    }

    /// Returns the ids of all blocks, in ascending order.
    fn all_blocks(&self) -> Vec<i64> {
        self.0.all_blocks()
    }

    /// Reads a block of a segment; returns the number of words in it, including those of replaced texts. Stops when there
    /// are more than `most`.
    fn check(
        &self,
        py: Python<'_>,
        segment: i64,
        postings: PyBackedBytes,
        positions: PyBackedBytes,
        most: u64,
    ) -> PyResult<u64> {
        py.detach(|| self.0.check(segment, &postings, &positions, most)).map_err(damaged)
    }

    /// Returns (node, term, column, position) for all live occurrences in a block of a segment.
    fn occurrences(
        &self,
        segment: i64,
        postings: PyBackedBytes,
        positions: PyBackedBytes,
    ) -> PyResult<Vec<(u32, String, usize, u32)>> {
        self.0.occurrences(segment, &postings, &positions).map_err(damaged)
    }
}

/// Merges segments into one. Thread-safe.
#[pyclass(frozen, module = "atlas._parser")]
pub struct WordMerger(Mutex<Merger>);

#[pymethods]
impl WordMerger {
    #[new]
    fn new(segments: Vec<SegmentRow>, keeps_gone: bool) -> PyResult<Self> {
        let merger = Merger::new(&sources(&segments), keeps_gone).map_err(damaged)?;
        Ok(Self(Mutex::new(merger)))
    }

    /// Merges until the next block of a segment is needed; returns its place, or None at the end.
    fn step(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        py.detach(|| self.with(Merger::step)).map_err(damaged)
    }

    /// Takes the next block of a segment, None if it has no more.
    fn feed(&self, place: usize, block: Option<(PyBackedBytes, PyBackedBytes)>) -> PyResult<()> {
        let block = block.as_ref().map(|(postings, positions)| (&**postings, &**positions));
        self.with(|merger| merger.feed(place, block)).map_err(damaged)
    }

    /// Takes the blocks that are complete.
    fn take(&self) -> BlockBytes {
        pairs(self.with(Merger::take))
    }

    /// Completes the last block; returns nodes, gone and directory of the segment.
    fn end(&self) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        self.with(Merger::end)
    }
}

impl WordMerger {
    fn with<T>(&self, work: impl FnOnce(&mut Merger) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns nodes, gone, directory and blocks of the segment of these texts, which replaces those of the nodes `gone`.
#[pyfunction]
fn build_words(py: Python<'_>, rows: Vec<TextRow>, gone: Vec<u32>) -> (Vec<u8>, Vec<u8>, Vec<u8>, BlockBytes) {
    py.detach(|| {
        let rows = rows.iter().map(|row| {
            let columns: [&str; COLUMNS] = [&row.5, &row.6, &row.7, &row.8, &row.9];
            Row { node: row.0, file: row.1, label: &row.2, is_test: row.3, is_generated: row.4, columns }
        });
        let segment = segments::build(rows.collect(), gone);
        (segment.nodes, segment.gone, segment.directory, pairs(segment.blocks))
    })
}

fn sources(rows: &[SegmentRow]) -> Vec<Source<'_>> {
    rows.iter().map(|row| Source { id: row.0, nodes: &row.1, gone: &row.2, directory: &row.3 }).collect()
}

fn blocks<'a>(postings: &'a [BlockRow], positions: &'a [BlockRow]) -> Blocks<'a> {
    let by_id = |rows: &'a [BlockRow]| rows.iter().map(|(id, bytes)| (*id, &**bytes)).collect();
    Blocks { words: by_id(postings), places: by_id(positions) }
}

fn filter((files, labels, tests, generated): Filter) -> Among {
    let files = files.map(|bytes| bytes.as_chunks::<4>().0.iter().map(|id| u32::from_le_bytes(*id)).collect());
    Among { files, labels, tests, generated }
}

fn pairs(blocks: Vec<Block>) -> BlockBytes {
    blocks.into_iter().map(|block| (block.words, block.places)).collect()
}

fn damaged(_: Damaged) -> PyErr {
    PyValueError::new_err("the index of words is damaged")
}

/// Adds the classes and functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(build_words, module)?)?;
    module.add_class::<WordIndex>()?;
    module.add_class::<WordMerger>()
}
