//! Text to vector with the static word-vector model that ships in the package. A model is a folder; nothing else is known.

pub mod half;
mod model;
mod npy;

pub use model::{Model, Scratch};
