//! Nearest neighbours by a scan over all int8 vectors in memory. Ids and vectors come in, ids and cosines go out; where
//! vectors are kept for good is not known here.
//!
//! A value has 12 bits: the upper 8 are scanned, the lower 4 decide among the best. (8 bits alone find 98.5 % of the ten
//! nearest of 30,000 functions, all 12 bits 99.9 %, for half as much memory again.) Rows are sorted by id, so that filters
//! are merges and equal scores come out by id without further work.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::encode::half;

use self::products::{Exact, dot};

mod products;

/// From this many rows on two threads share a scan; below it, waking the second costs more than it saves.
const ROWS_FOR_TWO_THREADS: usize = 50_000;
/// The largest 12-bit value: its upper bits are 127, its lower ones 0.
const TOP: f32 = 2032.0;

/// Vectors in memory as int8 for an exact scan. Mutable; safe to use from several threads.
#[pyclass(frozen, module = "atlas._parser")]
pub struct VectorIndex {
    dimension: usize,
    rows: RwLock<Rows>,
}

/// Parallel arrays, sorted by id.
#[derive(Default)]
struct Rows {
    ids: Vec<i64>,
    /// `dimension` values a row: the upper 8 bits of `round(value * 2032 / largest)`, rounded.
    upper: Vec<i8>,
    /// What is missing to the 12 bits, -8 to 7, plus 8; two values a byte, the even one in the lower half.
    lower: Vec<u8>,
    /// 1 / length of the 12-bit vector; 0 for the zero vector, which is never found.
    inverse_norms: Vec<f32>,
}

/// A question in 16 bits: as exact as floats for this use, and its products with int8 add up in 32 bits.
struct Query {
    values: Vec<i16>,
    inverse_norm: f32,
}

/// A found row; the greatest is the worst, so that a heap gives it up first. Positions are in the order of ids.
#[derive(PartialEq)]
struct Hit {
    score: f32,
    position: usize,
}

/// Sorted positions of rows that can be divided among two threads.
trait Positions: Sized + Send {
    fn count(&self) -> usize;
    fn halves(self) -> (Self, Self);
    fn each(self) -> impl Iterator<Item = usize>;
}

impl Positions for Range<usize> {
    fn count(&self) -> usize {
        self.len()
    }

    fn halves(self) -> (Self, Self) {
        let middle = self.start + self.len() / 2;
        (self.start..middle, middle..self.end)
    }

    fn each(self) -> impl Iterator<Item = usize> {
        self
    }
}

impl Positions for &[usize] {
    fn count(&self) -> usize {
        self.len()
    }

    fn halves(self) -> (Self, Self) {
        self.split_at(self.len() / 2)
    }

    fn each(self) -> impl Iterator<Item = usize> {
        self.iter().copied()
    }
}

impl Eq for Hit {}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.position.cmp(&other.position))
    }
}

#[pymethods]
impl VectorIndex {
    #[new]
    fn new(dimension: usize) -> PyResult<Self> {
        if !(1..=65_536).contains(&dimension) {
            return Err(PyValueError::new_err(format!("dimension must be 1 to 65536, not {dimension}")));
        }
        Ok(Self { dimension, rows: RwLock::default() })
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.read(|rows| rows.ids.len()))
    }

    fn ids(&self, py: Python<'_>) -> Vec<i64> {
        py.detach(|| self.read(|rows| rows.ids.clone()))
    }

    /// float16 little-endian each; replaces by id. Nothing is changed when one of them has another dimension.
    fn put(&self, py: Python<'_>, ids: Vec<i64>, vectors: Vec<PyBackedBytes>) -> PyResult<()> {
        if ids.len() != vectors.len() {
            return Err(PyValueError::new_err("ids and vectors must have the same length"));
        }
        for vector in &vectors {
            self.check(vector.len(), 2)?;
        }
        py.detach(|| {
            let mut order: Vec<usize> = (0..ids.len()).collect();
            order.sort_by_key(|index| ids[*index]);
            // Of equal ids the last one counts; the sort is stable.
            order.reverse();
            order.dedup_by_key(|index| ids[*index]);
            order.reverse();
            let mut added = Rows::default();
            let mut floats = Vec::with_capacity(self.dimension);
            for index in order {
                floats.clear();
                floats.extend(
                    vectors[index].as_chunks::<2>().0.iter().map(|half| half::to_f32(u16::from_le_bytes(*half))),
                );
                added.push(ids[index], &floats);
            }
            let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
            rows.merge(added, self.dimension);
        });
        Ok(())
    }

    fn remove(&self, py: Python<'_>, mut ids: Vec<i64>) {
        py.detach(|| {
            ids.sort_unstable();
            let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
            rows.remove(&ids, self.dimension);
        });
    }

    /// Best first by cosine of the quantised vectors, ties by id. `allowed`: int64 little-endian sorted ids, or None for all.
    /// A zero query finds nothing, and a zero vector is never found.
    #[pyo3(signature = (query, limit, allowed=None))]
    fn search(
        &self,
        py: Python<'_>,
        query: PyBackedBytes,
        limit: usize,
        allowed: Option<PyBackedBytes>,
    ) -> PyResult<Vec<(i64, f32)>> {
        self.check(query.len(), 4)?;
        if allowed.as_ref().is_some_and(|ids| ids.len() % 8 != 0) {
            return Err(PyValueError::new_err("allowed must hold 8 bytes an id"));
        }
        Ok(py.detach(|| {
            let Some(query) = Query::new(&query) else { return Vec::new() };
            self.read(|rows| match &allowed {
                None => rows.nearest(&query, limit, 0..rows.ids.len()),
                Some(ids) => rows.nearest(&query, limit, rows.positions(ids).as_slice()),
            })
        }))
    }

    /// Exact cosines of a float32 question with float16 vectors, in their order; NaN where one has no length.
    fn cosines(&self, py: Python<'_>, query: PyBackedBytes, vectors: Vec<PyBackedBytes>) -> PyResult<Vec<f64>> {
        self.check(query.len(), 4)?;
        for vector in &vectors {
            self.check(vector.len(), 2)?;
        }
        Ok(py.detach(|| {
            let exact = Exact::new(&query);
            vectors.iter().map(|vector| exact.as_ref().map_or(f64::NAN, |exact| exact.cosine(vector))).collect()
        }))
    }
}

impl VectorIndex {
    fn read<T>(&self, work: impl FnOnce(&Rows) -> T) -> T {
        work(&self.rows.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn check(&self, bytes: usize, value_bytes: usize) -> PyResult<()> {
        let expected = self.dimension * value_bytes;
        if bytes == expected {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "expected {expected} bytes for dimension {} and got {bytes}",
            self.dimension
        )))
    }
}

impl Rows {
    /// Append a vector; its id must be greater than all others. Values that are not finite count as 0.
    fn push(&mut self, id: i64, vector: &[f32]) {
        let values = vector.iter().map(|value| if value.is_finite() { *value } else { 0.0 });
        let largest =
            values.clone().fold(0f32, |largest, value| if value.abs() > largest { value.abs() } else { largest });
        let factor = if largest > 0.0 { TOP / largest } else { 0.0 };
        let mut squares = 0i64;
        let mut nibbles = 0;
        for (column, value) in values.enumerate() {
            let whole = round(value * factor) as i32;
            let upper = (whole + 8) >> 4;
            squares += i64::from(whole * whole);
            self.upper.push(upper as i8);
            let nibble = (whole - upper * 16 + 8) as u8;
            if column % 2 == 0 {
                nibbles = nibble;
                self.lower.push(nibbles);
            } else if let Some(last) = self.lower.last_mut() {
                *last = nibbles | nibble << 4;
            }
        }
        self.ids.push(id);
        self.inverse_norms.push(if squares > 0 { 1.0 / (squares as f32).sqrt() } else { 0.0 });
    }

    /// The upper bits of a row.
    fn row(&self, position: usize, dimension: usize) -> &[i8] {
        &self.upper[position * dimension..(position + 1) * dimension]
    }

    /// Place of the lower bits of a row.
    fn low_range(position: usize, dimension: usize) -> Range<usize> {
        let stride = dimension.div_ceil(2);
        position * stride..(position + 1) * stride
    }

    fn copy_from(&mut self, other: &Rows, position: usize, dimension: usize) {
        self.ids.push(other.ids[position]);
        self.upper.extend_from_slice(other.row(position, dimension));
        self.lower.extend_from_slice(&other.lower[Self::low_range(position, dimension)]);
        self.inverse_norms.push(other.inverse_norms[position]);
    }

    /// Take in rows that are sorted by id; they win over rows of the same id.
    fn merge(&mut self, added: Rows, dimension: usize) {
        if self.ids.last() < added.ids.first() {
            grow(&mut self.ids, added.ids);
            grow(&mut self.upper, added.upper);
            grow(&mut self.lower, added.lower);
            grow(&mut self.inverse_norms, added.inverse_norms);
            return;
        }
        let mut fresh = Rows::default();
        for position in 0..added.ids.len() {
            match self.ids.binary_search(&added.ids[position]) {
                Ok(old) => {
                    self.upper[old * dimension..(old + 1) * dimension].copy_from_slice(added.row(position, dimension));
                    self.lower[Self::low_range(old, dimension)]
                        .copy_from_slice(&added.lower[Self::low_range(position, dimension)]);
                    self.inverse_norms[old] = added.inverse_norms[position];
                }
                Err(_) => fresh.copy_from(&added, position, dimension),
            }
        }
        if fresh.ids.is_empty() {
            return;
        }
        let old = std::mem::take(self);
        let count = old.ids.len() + fresh.ids.len();
        self.ids.reserve_exact(count);
        self.upper.reserve_exact(count * dimension);
        self.lower.reserve_exact(Self::low_range(count, dimension).start);
        self.inverse_norms.reserve_exact(count);
        let mut next = 0;
        for position in 0..old.ids.len() {
            while next < fresh.ids.len() && fresh.ids[next] < old.ids[position] {
                self.copy_from(&fresh, next, dimension);
                next += 1;
            }
            self.copy_from(&old, position, dimension);
        }
        for position in next..fresh.ids.len() {
            self.copy_from(&fresh, position, dimension);
        }
    }

    /// Drop the rows of the sorted ids.
    fn remove(&mut self, gone: &[i64], dimension: usize) {
        let mut kept = 0;
        for position in 0..self.ids.len() {
            if gone.binary_search(&self.ids[position]).is_ok() {
                continue;
            }
            if kept != position {
                self.ids[kept] = self.ids[position];
                self.inverse_norms[kept] = self.inverse_norms[position];
                self.upper.copy_within(position * dimension..(position + 1) * dimension, kept * dimension);
                self.lower.copy_within(Self::low_range(position, dimension), Self::low_range(kept, dimension).start);
            }
            kept += 1;
        }
        self.ids.truncate(kept);
        self.inverse_norms.truncate(kept);
        self.upper.truncate(kept * dimension);
        self.lower.truncate(Self::low_range(kept, dimension).start);
    }

    /// Positions of the ids (sorted, 8 bytes each) that are here.
    fn positions(&self, allowed: &[u8]) -> Vec<usize> {
        let ids = allowed.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
        // A search costs about log2(rows) comparisons, a merge one for each row.
        if ids.len() * 16 < self.ids.len() {
            return ids.filter_map(|id| self.ids.binary_search(&id).ok()).collect();
        }
        let mut found = Vec::with_capacity(ids.len());
        let mut position = 0;
        for id in ids {
            while self.ids.get(position).is_some_and(|own| *own < id) {
                position += 1;
            }
            if self.ids.get(position) == Some(&id) {
                found.push(position);
            }
        }
        found
    }

    /// Ids and cosines of the best `limit` rows among some positions, which are sorted.
    fn nearest(&self, query: &Query, limit: usize, positions: impl Positions) -> Vec<(i64, f32)> {
        // More than asked for, because the lower bits can change the order.
        let wide = limit.saturating_mul(2).saturating_add(32);
        let mut best = BinaryHeap::new();
        for rough in self.scan(query, wide, positions) {
            let score = self.exact(query, rough.position) * query.inverse_norm * self.inverse_norms[rough.position];
            keep(&mut best, limit, Hit { score, position: rough.position });
        }
        best.into_sorted_vec().into_iter().map(|hit| (self.ids[hit.position], hit.score)).collect()
    }

    /// The best rows by their upper bits.
    fn scan(&self, query: &Query, limit: usize, positions: impl Positions) -> BinaryHeap<Hit> {
        if positions.count() > ROWS_FOR_TWO_THREADS {
            let (left, right) = positions.halves();
            let (mut best, other) =
                rayon::join(|| self.scan_each(query, limit, left), || self.scan_each(query, limit, right));
            other.into_iter().for_each(|hit| keep(&mut best, limit, hit));
            return best;
        }
        self.scan_each(query, limit, positions)
    }

    fn scan_each(&self, query: &Query, limit: usize, positions: impl Positions) -> BinaryHeap<Hit> {
        let dimension = query.values.len();
        let mut best = BinaryHeap::with_capacity(limit.min(self.ids.len()) + 1);
        let mut least = f32::NEG_INFINITY;
        for position in positions.each() {
            let inverse_norm = self.inverse_norms[position];
            if inverse_norm > 0.0 {
                let score = dot(&query.values, self.row(position, dimension)) as f32 * inverse_norm;
                // nearly every row ends here; of equal scores the first, which is the better one, came before
                if score > least {
                    keep(&mut best, limit, Hit { score, position });
                    if best.len() == limit {
                        least = best.peek().map_or(least, |worst| worst.score);
                    }
                }
            }
        }
        best
    }

    /// Dot product with all 12 bits.
    fn exact(&self, query: &Query, position: usize) -> f32 {
        let dimension = query.values.len();
        let upper = i64::from(dot(&query.values, self.row(position, dimension)));
        let lower = &self.lower[Self::low_range(position, dimension)];
        let nibbles = lower.iter().flat_map(|pair| [i64::from(pair & 15) - 8, i64::from(pair >> 4) - 8]);
        let lower: i64 = query.values.iter().zip(nibbles).map(|(left, right)| i64::from(*left) * right).sum();
        (upper * 16 + lower) as f32
    }
}

/// Append, with a sixteenth to spare when it must grow: doubling would keep as much again for nothing.
fn grow<T>(values: &mut Vec<T>, added: Vec<T>) {
    if values.capacity() - values.len() < added.len() {
        values.reserve_exact(added.len() + values.len() / 16);
    }
    values.extend(added);
}

/// Add a hit to the best `limit` ones if it belongs there.
fn keep(best: &mut BinaryHeap<Hit>, limit: usize, hit: Hit) {
    if best.len() < limit {
        best.push(hit);
    } else if best.peek().is_some_and(|worst| hit < *worst) {
        best.pop();
        best.push(hit);
    }
}

/// The nearest whole number of a value below 2^22: adding 1.5 * 2^23 leaves no bits for a fraction. `f32::round` is a call
/// on processors without SSE4.1 and took most of the time of loading vectors.
fn round(value: f32) -> f32 {
    const WHOLE: f32 = 12_582_912.0;
    (value + WHOLE) - WHOLE
}

impl Query {
    /// From float32 little-endian; None for the zero vector.
    fn new(bytes: &[u8]) -> Option<Self> {
        let floats = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let floats: Vec<f32> = floats.map(|value| if value.is_finite() { value } else { 0.0 }).collect();
        let largest = floats.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        // A sum of `dimension` products with int8 must fit 32 bits.
        let top = (i32::MAX / (127 * floats.len() as i32)).min(i32::from(i16::MAX)) as f32;
        let values: Vec<i16> = floats.iter().map(|value| round(value / largest * top) as i16).collect();
        let squares: f64 = values.iter().map(|value| f64::from(*value).powi(2)).sum();
        (squares > 0.0).then(|| Self { values, inverse_norm: (1.0 / squares.sqrt()) as f32 })
    }
}

/// Add this module's Python classes.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<VectorIndex>()
}
