//! `bm25_best`: FTS5's `bm25` for who wants the best rows only. SQLite calls it as a function (`sys::sqlite::fts5`).
//!
//! `bm25_best(text, limit, hits, weight, ...)` returns what `bm25(text, weight, ...)` does, bit for bit, for every row that
//! can be among the `limit` best, and 0 (worse than any score) for the others: a row is at least as long as the places of
//! the words in it tell, and where its score for that length is below the `limit` best so far, its length is not read,
//! which costs more than all the rest. `hits` are the rows of each phrase in the order of the query ("12 345"), which the caller has
//! counted to limit the query; `bm25` counts them again. Where their number is not that of the phrases, so does this.
//!
//! Formula and constants: FTS5's documentation, "the bm25() function".

use std::cmp::Ordering;
use std::collections::BinaryHeap;

const K1: f64 = 1.2;
const B: f64 = 0.75;
const LEAST_IDF: f64 = 1e-6;

/// Score every row of a query by `bm25` and remember the best.
pub struct Ranking {
    average_length: f64,
    idf: Vec<f64>,
    pub weights: Vec<f64>,
    /// Of each phrase in the row, its places weighted by column.
    pub frequencies: Vec<f64>,
    /// Of each column, how many tokens it has at least: those up to the last place of a phrase.
    pub ends: Vec<i32>,
    limit: usize,
    best: BinaryHeap<Worst>,
    pub last: (i64, f64),
}

impl Ranking {
    /// The ranking of a query over `rows` rows of together `tokens` tokens. `hits`: the rows of each phrase.
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

    /// The score of a row of that many tokens: the same operations in the same order as FTS5.
    pub fn score(&self, length: f64) -> f64 {
        let mut score = 0.0;
        for (idf, frequency) in self.idf.iter().zip(&self.frequencies) {
            score += idf * ((frequency * (K1 + 1.0)) / (frequency + K1 * (1.0 - B + B * length / self.average_length)));
        }
        score
    }

    /// Whether a row of that score cannot be among the best. Rounding is monotone: a bound never falls below the score.
    pub fn hopeless(&self, bound: f64) -> bool {
        self.best.len() >= self.limit && self.best.peek().is_none_or(|worst| bound < worst.0)
    }

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

/// A score, the lowest first in a heap.
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
