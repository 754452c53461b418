//! The static model of code: `vector = sum over words of weight * scale[row] * embedding[row]`, L2-normalised, where
//! `weight = sqrt(tf in text) + name_weight * sqrt(tf in name)` (`model.json`, key `fields`). A word that the table does
//! not contain is cut into words that it does.

use std::path::Path;

use super::table::{Table, missing, normalise};
use crate::tokens::cut;

/// Weight of a name that is a path (`model.json`, `fields.file_chunks`).
const FILE_NAME_WEIGHT: f32 = 3.0;
/// Shortest piece of an unknown word (`model.json`, `tokenizer.pieces`).
const MIN_PIECE: usize = 3;
/// Longest unknown word that is cut into pieces.
const MAX_PIECED: usize = 32;

/// A static embedding model of code.
pub struct Model {
    pub table: Table,
    name_weight: f32,
    max_chars: usize,
    /// Whether unknown words are cut into known ones (`model.json`, `tokenizer.pieces`).
    has_pieces: bool,
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

    /// Counts a word once more.
    fn count(&mut self, row: u32, is_name: bool) {
        let index = row as usize;
        if self.in_text[index] == 0 && self.in_name[index] == 0 {
            self.touched.push(row);
        }
        let counts = if is_name { &mut self.in_name } else { &mut self.in_text };
        counts[index] = counts[index].saturating_add(1);
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
        Ok(Self { table, name_weight, max_chars, has_pieces: meta["tokenizer"]["pieces"].is_string() })
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
        scratch.word.clear();
        scratch.word.extend(word.iter().map(u8::to_ascii_lowercase));
        if let Some(row) = self.table.row(&scratch.word) {
            scratch.count(row, is_name);
        } else if self.has_pieces && word.len() <= MAX_PIECED && !word[0].is_ascii_digit() {
            self.add_pieces(scratch, is_name);
        }
    }

    /// Counts the known words that an unknown word consists of, by greedy longest match from the left; a letter at which
    /// none begins is skipped.
    fn add_pieces(&self, scratch: &mut Scratch, is_name: bool) {
        let mut at = 0;
        while at + MIN_PIECE <= scratch.word.len() {
            let longest = scratch.word.len().min(at + self.table.longest_word());
            let piece =
                (at + MIN_PIECE..=longest).rev().find_map(|end| Some((end, self.table.row(&scratch.word[at..end])?)));
            match piece {
                Some((end, row)) => {
                    scratch.count(row, is_name);
                    at = end;
                }
                None => at += 1,
            }
        }
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
