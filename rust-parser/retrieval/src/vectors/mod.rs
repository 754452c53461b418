//! Exact nearest-neighbour search: a scan over all vectors in memory, quantized to 12 bits. Takes ids and vectors and
//! returns ids and cosines; the store keeps the originals.
//!
//! A value has 12 bits: the scan uses the upper 8, and the lower 4 decide among the best rows. (8 bits alone find 98.5
//! % of the ten nearest of 30,000 functions, 12 bits 99.9 % for half as much memory again.) Rows are sorted by id, so
//! that filters are merges and ties are in order of id.

use std::sync::{PoisonError, RwLock};

use half::f16;
use half::slice::HalfFloatSliceExt;

pub use self::cosine::{ExactQuery, cosine};
use self::rows::Rows;
use self::search::Query;

mod cosine;
mod rows;
mod search;

/// An in-memory index of quantized vectors with exact search. Mutable and thread-safe.
pub struct VectorIndex {
    dimension: usize,
    rows: RwLock<Rows>,
}

impl VectorIndex {
    /// Creates an empty index for vectors of a dimension from 1 to 65536.
    pub fn new(dimension: usize) -> Result<Self, String> {
        if !(1..=65_536).contains(&dimension) {
            return Err(format!("dimension must be 1 to 65536, not {dimension}"));
        }
        Ok(Self { dimension, rows: RwLock::default() })
    }

    /// Returns the number of vectors.
    pub fn count(&self) -> usize {
        self.read(|rows| rows.ids.len())
    }

    /// Returns the ids of all vectors, sorted.
    pub fn ids(&self) -> Vec<i64> {
        self.read(|rows| rows.ids.clone())
    }

    /// Inserts or replaces vectors by id, each little-endian float16.
    ///
    /// # Errors
    /// A vector has another dimension; nothing is changed.
    pub fn put(&self, ids: &[i64], vectors: &[impl AsRef<[u8]>]) -> Result<(), String> {
        if ids.len() != vectors.len() {
            return Err("ids and vectors must have the same length".to_owned());
        }
        vectors.iter().try_for_each(|vector| self.check(vector.as_ref(), 2))?;
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|index| ids[*index]);
        // Of equal ids the last one wins; the sort is stable.
        order.reverse();
        order.dedup_by_key(|index| ids[*index]);
        order.reverse();
        let mut added = Rows::default();
        let mut stored = vec![f16::ZERO; self.dimension];
        let mut floats = vec![0.0; self.dimension];
        for index in order {
            for (value, bytes) in stored.iter_mut().zip(vectors[index].as_ref().as_chunks::<2>().0) {
                *value = f16::from_le_bytes(*bytes);
            }
            stored.convert_to_f32_slice(&mut floats);
            added.push(ids[index], &floats);
        }
        self.rows.write().unwrap_or_else(PoisonError::into_inner).merge(added, self.dimension);
        Ok(())
    }

    /// Removes the vectors with these ids; unknown ids are ignored.
    pub fn remove(&self, mut ids: Vec<i64>) {
        ids.sort_unstable();
        self.rows.write().unwrap_or_else(PoisonError::into_inner).remove(&ids, self.dimension);
    }

    /// Returns the nearest ids by cosine of the quantized vectors, best first, ties by id. `query` is little-endian
    /// float32; `allowed` holds sorted ids as little-endian int64, and `None` allows all. A zero query finds nothing,
    /// and a zero vector is never found.
    pub fn search(&self, query: &[u8], limit: usize, allowed: Option<&[u8]>) -> Result<Vec<(i64, f32)>, String> {
        self.check(query, 4)?;
        if allowed.is_some_and(|ids| ids.len() % 8 != 0) {
            return Err("allowed must have 8 bytes per id".to_owned());
        }
        let Some(query) = Query::new(query) else { return Ok(Vec::new()) };
        Ok(self.read(|rows| match allowed {
            None => rows.nearest(&query, limit, 0..rows.ids.len()),
            Some(ids) => rows.nearest(&query, limit, rows.positions(ids).as_slice()),
        }))
    }

    /// Returns the exact cosines of a float32 query with float16 vectors, in their order; NaN for a zero vector.
    pub fn cosines(&self, query: &[u8], vectors: &[impl AsRef<[u8]>]) -> Result<Vec<f64>, String> {
        self.check(query, 4)?;
        vectors.iter().try_for_each(|vector| self.check(vector.as_ref(), 2))?;
        let exact = ExactQuery::new(query);
        let cosine = |vector: &[u8]| exact.as_ref().map_or(f64::NAN, |exact| exact.cosine(vector));
        Ok(vectors.iter().map(|vector| cosine(vector.as_ref())).collect())
    }

    fn read<T>(&self, work: impl FnOnce(&Rows) -> T) -> T {
        work(&self.rows.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn check(&self, bytes: &[u8], value_bytes: usize) -> Result<(), String> {
        let (expected, found) = (self.dimension * value_bytes, bytes.len());
        if found == expected {
            return Ok(());
        }
        Err(format!("expected {expected} bytes for dimension {} and got {found}", self.dimension))
    }
}
