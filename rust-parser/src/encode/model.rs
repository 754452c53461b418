//! The static model: `vector = sum over words of weight * scale[row] * embedding[row]`, L2-normalised, where
//! `weight = sqrt(tf in text) + name_weight * sqrt(tf in name)` (`model.json`, key `fields`).

use std::fs;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::npy;
use crate::tokens::cut;

/// Weight of a name that is a path (`model.json`, `fields.file_chunks`).
const FILE_NAME_WEIGHT: f32 = 3.0;

/// A static embedding model.
pub struct Model {
    pub name: String,
    pub dimension: usize,
    /// SHA-256 of `embedding.npy` from `model.json`. A test verifies it; loading does not.
    pub fingerprint: String,
    name_weight: f32,
    max_chars: usize,
    rows: FxHashMap<Box<[u8]>, u32>,
    longest_word: usize,
    table: Vec<i8>,
    scale: Vec<f32>,
}

/// Scratch memory of one thread: word frequencies by row, and the vector being summed.
pub struct Scratch {
    in_text: Vec<u16>,
    in_name: Vec<u16>,
    touched: Vec<u32>,
    word: Vec<u8>,
    vector: Vec<f32>,
}

impl Scratch {
    pub fn new(model: &Model) -> Self {
        Self {
            in_text: vec![0; model.scale.len()],
            in_name: vec![0; model.scale.len()],
            touched: Vec::new(),
            word: Vec::new(),
            vector: vec![0.0; model.dimension],
        }
    }
}

impl Model {
    /// Reads a model folder.
    ///
    /// # Errors
    /// The damaged file and the reason.
    pub fn load(folder: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let meta: Value = serde_json::from_str(&read("model.json")?)
            .map_err(|error| format!("{}: {error}", folder.join("model.json").display()))?;
        let missing = |key: &str| format!("{}: no {key}", folder.join("model.json").display());
        let (count, dimension, table) = npy::read(&folder.join("embedding.npy"), "|i1", 1)?;
        let (scales, _, scale) = npy::read(&folder.join("scale.npy"), "<f4", 4)?;
        let words = read("vocab.txt")?;
        let rows: FxHashMap<Box<[u8]>, u32> =
            words.lines().enumerate().map(|(row, word)| (word.as_bytes().into(), row as u32)).collect();
        let stated = meta["dim"].as_u64().ok_or_else(|| missing("dim"))?;
        if scales != count || rows.len() != count || stated != dimension as u64 {
            return Err(format!("{}: the files of the model do not match each other", folder.display()));
        }
        let text = |value: &Value, key: &str| value.as_str().map(str::to_owned).ok_or_else(|| missing(key));
        let number = |key: &str| meta["fields"][key].as_f64().ok_or_else(|| missing(key));
        Ok(Self {
            name: text(&meta["name"], "name")?,
            dimension,
            fingerprint: text(&meta["sha256"]["embedding.npy"], "sha256 of embedding.npy")?,
            name_weight: number("name_weight")? as f32,
            max_chars: number("max_text_chars")? as usize,
            longest_word: rows.keys().map(|word| word.len()).max().unwrap_or(0),
            rows,
            table: table.into_iter().map(|byte| byte as i8).collect(),
            scale: scale
                .chunks_exact(4)
                .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                .collect(),
        })
    }

    /// Returns the vector of a piece of code and its name.
    pub fn chunk<'s>(&self, scratch: &'s mut Scratch, text: &str, name: &str, is_file: bool) -> &'s [f32] {
        let name_weight = if is_file { FILE_NAME_WEIGHT } else { self.name_weight };
        self.count(scratch, cut(text, self.max_chars), false);
        self.count(scratch, name, true);
        self.sum(scratch, name_weight)
    }

    /// Returns the vector of a query.
    pub fn query<'s>(&self, scratch: &'s mut Scratch, text: &str) -> &'s [f32] {
        self.count(scratch, cut(text, self.max_chars), false);
        self.sum(scratch, 0.0)
    }

    /// Counts the known words of a text. Words are the parts of ASCII letters and digits by the rule
    /// `[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+`, in lower case.
    fn count(&self, scratch: &mut Scratch, text: &str, is_name: bool) {
        let bytes = text.as_bytes();
        let run = |from: usize, test: fn(&u8) -> bool| {
            from + bytes[from..].iter().position(|byte| !test(byte)).unwrap_or(bytes.len() - from)
        };
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            at = match bytes[at] {
                b'a'..=b'z' => run(at, u8::is_ascii_lowercase),
                b'0'..=b'9' => run(at, u8::is_ascii_digit),
                b'A'..=b'Z' => {
                    let upper = run(at, u8::is_ascii_uppercase);
                    let lower = run(upper, u8::is_ascii_lowercase);
                    // The last upper-case letter before lower-case letters belongs to them.
                    match upper - at {
                        1 => lower,
                        _ if lower > upper => upper - 1,
                        _ => upper,
                    }
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.add(scratch, &bytes[start..at], is_name);
        }
    }

    fn add(&self, scratch: &mut Scratch, word: &[u8], is_name: bool) {
        if word.len() > self.longest_word {
            return;
        }
        scratch.word.clear();
        scratch.word.extend(word.iter().map(u8::to_ascii_lowercase));
        let Some(&row) = self.rows.get(scratch.word.as_slice()) else { return };
        let index = row as usize;
        if scratch.in_text[index] == 0 && scratch.in_name[index] == 0 {
            scratch.touched.push(row);
        }
        let counts = if is_name { &mut scratch.in_name } else { &mut scratch.in_text };
        counts[index] = counts[index].saturating_add(1);
    }

    /// Computes the vector from the counts and clears them.
    fn sum<'s>(&self, scratch: &'s mut Scratch, name_weight: f32) -> &'s [f32] {
        scratch.vector.fill(0.0);
        for row in scratch.touched.drain(..) {
            let index = row as usize;
            let in_text = f32::from(std::mem::take(&mut scratch.in_text[index]));
            let in_name = f32::from(std::mem::take(&mut scratch.in_name[index]));
            let weight = (in_text.sqrt() + name_weight * in_name.sqrt()) * self.scale[index];
            let values = &self.table[index * self.dimension..(index + 1) * self.dimension];
            for (sum, value) in scratch.vector.iter_mut().zip(values) {
                *sum += weight * f32::from(*value);
            }
        }
        let norm = scratch.vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-9);
        scratch.vector.iter_mut().for_each(|value| *value /= norm);
        &scratch.vector
    }
}
