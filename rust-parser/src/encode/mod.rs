//! Text to vector with the static word-vector model that ships in the package. A model is a folder; nothing else is known.

mod model;
mod npy;

use half::f16;
use half::slice::HalfFloatSliceExt;

pub use model::{Model, Scratch};

/// The values in half precision, the nearest of each, little-endian.
pub fn half_bytes(values: &[f32]) -> Vec<u8> {
    let mut halves = vec![f16::ZERO; values.len()];
    halves.convert_from_f32_slice(values);
    let mut bytes = vec![0; values.len() * 2];
    for (pair, half) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(&halves) {
        *pair = half.to_le_bytes();
    }
    bytes
}
