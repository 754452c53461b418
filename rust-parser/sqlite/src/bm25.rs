//! `bm25_best`: a variant of FTS5's `bm25` that computes exact scores only for the best rows. SQLite calls it as an
//! auxiliary function (`sys::sqlite::fts5`).
//!
//! `bm25_best(text, limit, hits, weight, ...)` returns the same value as `bm25(text, weight, ...)`, bit for bit, for
//! every row that can be among the `limit` best, and 0 (worse than any score) for the others. The positions of the
//! matched words give a lower bound for the length of a row. If the score for this length is below the `limit` best so
//! far, the real length is not read, which is the largest part of the cost. `hits` lists the number of rows of each
//! phrase in the order of the query ("12 345"); the caller has already counted them, whereas `bm25` counts them again.
//! If the list does not match the phrases, this function counts them, too.
//! Source of formula and constants: FTS5's documentation, "The bm25() function".

use std::cmp::Ordering;
use std::collections::BinaryHeap;

const K1: f64 = 1.2;
const B: f64 = 0.75;
const LEAST_IDF: f64 = 1e-6;

/// Scores the rows of a query by `bm25` and keeps the best scores.
pub struct Ranking {
    average_length: f64,
    idf: Vec<f64>,
    pub weights: Vec<f64>,
    /// For each phrase, its occurrences in the row, weighted by column.
    pub frequencies: Vec<f64>,
    /// For each column, a lower bound of its tokens: the end of the last occurrence of a phrase.
    pub ends: Vec<i32>,
    limit: usize,
    best: BinaryHeap<Worst>,
    pub last: (i64, f64),
}

impl Ranking {
    /// Creates the ranking of a query over `rows` rows with `tokens` tokens in total. `hits` is the number of rows of
    /// each phrase.
    pub fn new(rows: i64, tokens: i64, hits: &[i64], weights: Vec<f64>, limit: usize) -> Self {
        Self {
            average_length: tokens as f64 / rows as f64,
            idf: hits.iter().map(|&found| idf(rows, found)).collect(),
            ends: vec![0; weights.len()],
            weights,
            frequencies: vec![0.0; hits.len()],
            limit,
            best: BinaryHeap::new(),
            last: (i64::MIN, 0.0),
        }
    }

    /// Returns the score of a row with this many tokens, by the same operations in the same order as FTS5.
    pub fn score(&self, length: f64) -> f64 {
        let mut score = 0.0;
        for (idf, frequency) in self.idf.iter().zip(&self.frequencies) {
            score += idf * ((frequency * (K1 + 1.0)) / (frequency + K1 * (1.0 - B + B * length / self.average_length)));
        }
        score
    }

    /// Returns whether a row with this score cannot be among the best. Rounding is monotone, so a bound never falls
    /// below the score.
    pub fn cannot_rank(&self, bound: f64) -> bool {
        self.best.len() >= self.limit && self.best.peek().is_none_or(|worst| bound < worst.0)
    }

    /// Keeps a score if it is among the best.
    pub fn keep(&mut self, score: f64) {
        if self.best.len() < self.limit {
            self.best.push(Worst(score));
        } else if let Some(mut worst) = self.best.peek_mut()
            && worst.0 < score
        {
            *worst = Worst(score);
        }
    }
}

/// A score, ordered so that the lowest is on top of the heap.
struct Worst(f64);

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0)
    }
}
impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Worst {}

fn idf(rows: i64, hits: i64) -> f64 {
    let idf = ((rows as f64 - hits as f64 + 0.5) / (hits as f64 + 0.5)).ln();
    if idf <= 0.0 { LEAST_IDF } else { idf }
}
