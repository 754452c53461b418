//! The search: a scan by the upper 8 bits, then a second ranking of the best rows with all 12 bits.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::rows::{Rows, round};
use atlas_sys::dot_product::{dot, dots};

/// Least number of rows for which two threads share a scan; below it, waking the second thread costs more than it
/// saves.
const ROWS_FOR_TWO_THREADS: usize = 50_000;
/// Consecutive rows whose products are computed before they are compared.
const BLOCK: usize = 64;

/// A query quantized to 16 bits: precise enough for this use, and sums of its products with int8 fit 32 bits.
pub struct Query {
    values: Vec<i16>,
    inverse_norm: f32,
}

/// A candidate row, ordered so that the worst is on top of the heap. Positions are in the order of ids.
#[derive(PartialEq)]
struct Hit {
    score: f32,
    position: usize,
}

/// Sorted row positions that can be divided between two threads.
pub trait Positions: Sized + Send {
    fn count(&self) -> usize;
    fn halves(self) -> (Self, Self);
    /// Calls `take` with each position and the product of its row with the query.
    fn products(self, rows: &Rows, query: &[i16], take: impl FnMut(usize, i32));
}

impl Positions for Range<usize> {
    fn count(&self) -> usize {
        self.len()
    }

    fn halves(self) -> (Self, Self) {
        let middle = self.start + self.len() / 2;
        (self.start..middle, middle..self.end)
    }

    fn products(self, rows: &Rows, query: &[i16], mut take: impl FnMut(usize, i32)) {
        let mut products = [0; BLOCK];
        for start in self.clone().step_by(BLOCK) {
            let block = start..self.end.min(start + BLOCK);
            let products = &mut products[..block.len()];
            dots(query, rows.consecutive(block.clone(), query.len()), products);
            block.zip(products).for_each(|(position, product)| take(position, *product));
        }
    }
}

impl Positions for &[usize] {
    fn count(&self) -> usize {
        self.len()
    }

    fn halves(self) -> (Self, Self) {
        self.split_at(self.len() / 2)
    }

    fn products(self, rows: &Rows, query: &[i16], mut take: impl FnMut(usize, i32)) {
        self.iter().for_each(|position| take(*position, dot(query, rows.row(*position, query.len()))));
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

impl Query {
    /// Decodes a little-endian float32 vector. Returns `None` for the zero vector.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let floats = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let floats: Vec<f32> = floats.map(|value| if value.is_finite() { value } else { 0.0 }).collect();
        let largest = floats.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        // The sum of `dimension` products with int8 must fit 32 bits.
        let top = (i32::MAX / (127 * floats.len() as i32)).min(i32::from(i16::MAX)) as f32;
        let values: Vec<i16> = floats.iter().map(|value| round(value / largest * top) as i16).collect();
        let squares: f64 = values.iter().map(|value| f64::from(*value).powi(2)).sum();
        (squares > 0.0).then(|| Self { values, inverse_norm: (1.0 / squares.sqrt()) as f32 })
    }
}

impl Rows {
    /// Returns ids and cosines of the best `limit` rows among sorted positions.
    pub fn nearest(&self, query: &Query, limit: usize, positions: impl Positions) -> Vec<(i64, f32)> {
        // Keeps more than `limit` rows, because the lower bits can change the order.
        let wide = limit.saturating_mul(2).saturating_add(32);
        let mut best = BinaryHeap::new();
        let mut lower = vec![0; query.values.len().next_multiple_of(2)];
        for rough in self.scan(query, wide, positions) {
            let product = self.exact(query, rough.position, &mut lower);
            let score = product * query.inverse_norm * self.inverse_norms[rough.position];
            keep(&mut best, limit, Hit { score, position: rough.position });
        }
        best.into_sorted_vec().into_iter().map(|hit| (self.ids[hit.position], hit.score)).collect()
    }

    /// Returns the best rows by their upper bits.
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
        let mut best = BinaryHeap::with_capacity(limit.min(self.ids.len()) + 1);
        let mut least = f32::NEG_INFINITY;
        positions.products(self, &query.values, |position, product| {
            let inverse_norm = self.inverse_norms[position];
            let score = product as f32 * inverse_norm;
            // Nearly every row ends here. Of equal scores, the earlier row is the better one.
            if score > least && inverse_norm > 0.0 {
                keep(&mut best, limit, Hit { score, position });
                if best.len() == limit {
                    least = best.peek().map_or(least, |worst| worst.score);
                }
            }
        });
        best
    }

    /// Returns the dot product with all 12 bits; `lower` is scratch memory, an even number of values.
    fn exact(&self, query: &Query, position: usize, lower: &mut [i8]) -> f32 {
        let dimension = query.values.len();
        let upper = i64::from(dot(&query.values, self.row(position, dimension)));
        // Two values a byte; the second one of the last byte counts only in an even dimension.
        let bytes = &self.lower[Self::low_range(position, dimension)];
        for (pair, byte) in lower.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
            *pair = [(byte & 15) as i8 - 8, (byte >> 4) as i8 - 8];
        }
        (upper * 16 + i64::from(dot(&query.values, &lower[..dimension]))) as f32
    }
}

/// Adds a hit if it is among the best `limit`.
fn keep(best: &mut BinaryHeap<Hit>, limit: usize, hit: Hit) {
    if best.len() < limit {
        best.push(hit);
    } else if best.peek().is_some_and(|worst| hit < *worst) {
        best.pop();
        best.push(hit);
    }
}
