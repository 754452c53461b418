//! Cosines of a query with stored float16 vectors, in double precision and in a fixed order of additions, so that equal stores
//! give equal answers on every processor.

use crate::encode::half;

/// A query as doubles, with its length.
pub struct ExactQuery {
    values: Vec<f64>,
    length: f64,
}

impl ExactQuery {
    /// From float32 little-endian; None when its length is zero or not finite.
    pub fn new(query: &[u8]) -> Option<Self> {
        let values: Vec<f64> =
            query.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect();
        let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
        (length > 0.0 && length.is_finite()).then_some(Self { values, length })
    }

    /// Cosine with a float16 little-endian vector of the same dimension; NaN with the zero vector.
    pub fn cosine(&self, vector: &[u8]) -> f64 {
        let mut product = 0.0;
        let mut squares = 0.0;
        for (value, bytes) in self.values.iter().zip(vector.as_chunks::<2>().0) {
            let own = f64::from(half::to_f32(u16::from_le_bytes(*bytes)));
            product += own * value;
            squares += own * own;
        }
        if squares > 0.0 { product / (squares.sqrt() * self.length) } else { f64::NAN }
    }
}
