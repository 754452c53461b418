//! Cosines of a query with stored float16 vectors, in double precision and with a fixed order of additions, so that
//! equal stores give equal results on every processor.

use half::f16;
use half::slice::HalfFloatSliceExt;

/// Number of half-precision values converted at a time; one at a time takes three times as long.
const AT_ONCE: usize = 64;

/// A query in double precision, with its norm.
pub struct ExactQuery {
    values: Vec<f64>,
    length: f64,
}

impl ExactQuery {
    /// Decodes a little-endian float32 vector. Returns `None` if its norm is zero or not finite.
    pub fn new(query: &[u8]) -> Option<Self> {
        let values: Vec<f64> =
            query.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect();
        let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
        (length > 0.0 && length.is_finite()).then_some(Self { values, length })
    }

    /// Returns the cosine with a little-endian float16 vector of the same dimension; NaN for the zero vector.
    pub fn cosine(&self, vector: &[u8]) -> f64 {
        let mut product = 0.0;
        let mut squares = 0.0;
        let (mut halves, mut floats) = ([f16::ZERO; AT_ONCE], [0.0; AT_ONCE]);
        for (values, stored) in self.values.chunks(AT_ONCE).zip(vector.as_chunks::<2>().0.chunks(AT_ONCE)) {
            for (half, bytes) in halves.iter_mut().zip(stored) {
                *half = f16::from_le_bytes(*bytes);
            }
            halves.convert_to_f32_slice(&mut floats);
            for (value, own) in values.iter().zip(&floats[..stored.len()]) {
                let own = f64::from(*own);
                product += own * value;
                squares += own * own;
            }
        }
        if squares > 0.0 { product / (squares.sqrt() * self.length) } else { f64::NAN }
    }
}

/// Returns the cosine of two vectors of little-endian float32, 0 if one has no direction or they differ in dimension.
pub fn cosine(one: &[u8], other: &[u8]) -> f64 {
    if one.len() != other.len() {
        return 0.0;
    }
    let value = |bytes: &[u8; 4]| f64::from(f32::from_le_bytes(*bytes));
    let (mut product, mut squares, mut its_squares) = (0.0, 0.0, 0.0);
    for (mine, theirs) in one.as_chunks::<4>().0.iter().zip(other.as_chunks::<4>().0) {
        let (mine, theirs) = (value(mine), value(theirs));
        product += mine * theirs;
        squares += mine * mine;
        its_squares += theirs * theirs;
    }
    let cosine = product / (squares * its_squares).sqrt();
    if cosine.is_finite() { cosine } else { 0.0 }
}
