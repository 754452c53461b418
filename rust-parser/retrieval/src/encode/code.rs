//! The static model of code: `vector = sum over words of weight * scale[row] * embedding[row]`, L2-normalised, where
//! `weight = sqrt(tf in text) + name_weight * sqrt(tf in name)` (`model.json`, key `fields`). A word of a question is
//! moved towards its neighbours (`neighbours.rs`).

use std::path::Path;

use super::neighbours::Neighbours;
use super::table::{Table, missing, normalise};
use crate::tokens::cut;

/// Weight of a name that is a path (`model.json`, `fields.file_chunks`).
const FILE_NAME_WEIGHT: f32 = 3.0;
/// Different known words of a question; a longer text has enough words of its own.
const MAX_ASKED: usize = 40;

/// A static embedding model of code.
pub struct Model {
    pub table: Table,
    neighbours: Option<Neighbours>,
    name_weight: f32,
    max_chars: usize,
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
            in_text: vec![0; model.table.len()],
            in_name: vec![0; model.table.len()],
            touched: Vec::new(),
            word: Vec::new(),
            vector: vec![0.0; model.table.dimension],
        }
    }
}

impl Model {
    /// Reads a model folder.
    ///
    /// # Errors
    /// The damaged file and the reason.
    pub fn load(folder: &Path) -> Result<Self, String> {
        let (table, meta) = Table::load(folder)?;
        let number = |key: &str| meta["fields"][key].as_f64().ok_or_else(|| missing(folder, key));
        let (name_weight, max_chars) = (number("name_weight")? as f32, number("max_text_chars")? as usize);
        let neighbours = if meta["neighbours"].is_null() { None } else { Some(Neighbours::load(folder, table.len())?) };
        Ok(Self { table, neighbours, name_weight, max_chars })
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
        match &self.neighbours {
            Some(neighbours) if scratch.touched.len() <= MAX_ASKED => self.sum_asked(scratch, neighbours),
            _ => self.sum(scratch, 0.0),
        }
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
        if word.len() > self.table.longest_word() {
            return;
        }
        scratch.word.clear();
        scratch.word.extend(word.iter().map(u8::to_ascii_lowercase));
        let Some(row) = self.table.row(&scratch.word) else { return };
        let index = row as usize;
        if scratch.in_text[index] == 0 && scratch.in_name[index] == 0 {
            scratch.touched.push(row);
        }
        let counts = if is_name { &mut scratch.in_name } else { &mut scratch.in_text };
        counts[index] = counts[index].saturating_add(1);
    }

    /// Computes the vector of a question from the counts, each word moved towards its neighbours, and clears them.
    fn sum_asked<'s>(&self, scratch: &'s mut Scratch, neighbours: &Neighbours) -> &'s [f32] {
        scratch.vector.fill(0.0);
        for row in scratch.touched.drain(..) {
            let count = f32::from(std::mem::take(&mut scratch.in_text[row as usize]));
            let word = neighbours.moved(&self.table, row);
            for (sum, value) in scratch.vector.iter_mut().zip(word) {
                *sum += count.sqrt() * value;
            }
        }
        normalise(&mut scratch.vector);
        &scratch.vector
    }

    /// Computes the vector from the counts and clears them.
    fn sum<'s>(&self, scratch: &'s mut Scratch, name_weight: f32) -> &'s [f32] {
        scratch.vector.fill(0.0);
        for row in scratch.touched.drain(..) {
            let index = row as usize;
            let in_text = f32::from(std::mem::take(&mut scratch.in_text[index]));
            let in_name = f32::from(std::mem::take(&mut scratch.in_name[index]));
            self.table.add(&mut scratch.vector, row, in_text.sqrt() + name_weight * in_name.sqrt());
        }
        normalise(&mut scratch.vector);
        &scratch.vector
    }
}
