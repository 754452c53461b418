//! Encodes text as vectors with the static models that ship in the package: one of code, one of prose, and one of
//! emotions. A model is a folder.

mod code;
mod emotion;
mod near;
mod neighbours;
mod npy;
mod prose;
mod table;
mod vocabulary;

use half::f16;
use half::slice::HalfFloatSliceExt;

pub use code::{Model, Scratch};
pub use emotion::EmotionModel;
pub use near::{code_cosines, cosines};
pub use prose::{ProseModel, ProseScratch, is_word_char};

/// Returns the values in half precision, rounded to nearest, little-endian.
pub fn half_bytes(values: &[f32]) -> Vec<u8> {
    let mut halves = vec![f16::ZERO; values.len()];
    halves.convert_from_f32_slice(values);
    let mut bytes = vec![0; values.len() * 2];
    for (pair, half) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(&halves) {
        *pair = half.to_le_bytes();
    }
    bytes
}
