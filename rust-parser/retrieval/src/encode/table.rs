//! The files that every static model has: a vocabulary, one int8 row of values and one scale per word, and a description.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::npy;
use super::vocabulary::Vocabulary;
use atlas_sys::scaled_sum::add_scaled;

/// Word vectors: the vector of a word is `scale[row] * embedding[row]`.
pub struct Table {
    pub name: String,
    pub dimension: usize,
    /// SHA-256 of `embedding.npy` from `model.json`. A test verifies it; loading does not.
    pub fingerprint: String,
    words: Vocabulary,
    values: npy::MappedValues,
    scale: Vec<f32>,
}

impl Table {
    /// Reads a model folder. Returns the table and the content of `model.json`.
    ///
    /// # Errors
    /// The damaged file and the reason.
    pub fn load(folder: &Path) -> Result<(Self, Value), String> {
        let meta = read_meta(folder)?;
        let (count, dimension, values) = npy::map(&folder.join("embedding.npy"))?;
        let (scales, _, scale) = npy::read(&folder.join("scale.npy"), "<f4", 4)?;
        let words = read_vocabulary(folder)?;
        let stated = meta["dim"].as_u64().ok_or_else(|| missing(folder, "dim"))?;
        if scales != count || words.count() != count || stated != dimension as u64 {
            return Err(mismatch(folder));
        }
        let text = |value: &Value, key: &str| value.as_str().map(str::to_owned).ok_or_else(|| missing(folder, key));
        let table = Self {
            name: text(&meta["name"], "name")?,
            dimension,
            fingerprint: text(&meta["sha256"]["embedding.npy"], "sha256 of embedding.npy")?,
            words,
            values,
            scale: npy::floats(&scale),
        };
        Ok((table, meta))
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.scale.len()
    }

    /// Returns the row of a word.
    pub fn row(&self, word: &[u8]) -> Option<u32> {
        self.words.row(word)
    }

    /// Returns the number of bytes of the longest word.
    pub fn longest_word(&self) -> usize {
        self.words.longest()
    }

    /// Returns the length of a row.
    pub fn length(&self, row: u32) -> f32 {
        let index = row as usize;
        let values = &self.values.get()[index * self.dimension..(index + 1) * self.dimension];
        let square = values.iter().map(|value| f32::from(*value) * f32::from(*value)).sum::<f32>();
        (square.sqrt() * self.scale[index]).max(1e-9)
    }

    /// Adds `weight` times the vector of a row to `sum`.
    pub fn add(&self, sum: &mut [f32], row: u32, weight: f32) {
        let index = row as usize;
        let weight = weight * self.scale[index];
        let values = &self.values.get()[index * self.dimension..(index + 1) * self.dimension];
        add_scaled(sum, weight, values);
    }
}

/// Scales a vector to length 1; the zero vector stays zero.
pub fn normalise(vector: &mut [f32]) {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-9);
    vector.iter_mut().for_each(|value| *value /= norm);
}

/// Reads `model.json`.
pub fn read_meta(folder: &Path) -> Result<Value, String> {
    serde_json::from_str(&read(folder, "model.json")?)
        .map_err(|error| format!("{}: {error}", folder.join("model.json").display()))
}

/// Reads `vocab.txt`.
pub fn read_vocabulary(folder: &Path) -> Result<Vocabulary, String> {
    Ok(Vocabulary::new(&read(folder, "vocab.txt")?))
}

/// Returns the message for a key that `model.json` does not have.
pub fn missing(folder: &Path, key: &str) -> String {
    format!("{}: no {key}", folder.join("model.json").display())
}

/// Returns the message for files of different sizes.
pub fn mismatch(folder: &Path) -> String {
    format!("{}: the files of the model do not match each other", folder.display())
}

fn read(folder: &Path, name: &str) -> Result<String, String> {
    let path = folder.join(name);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}
