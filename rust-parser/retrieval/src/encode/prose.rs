//! The static model of prose: `vector = sum over tokens of sqrt(tf) * scale[row] * embedding[row]`, L2-normalised.
//! A token is a word of the vocabulary or, for an unknown word, a piece of it (`model.json`, key `tokenizer`).

use std::path::Path;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};
use unicode_normalization::UnicodeNormalization;

use super::table::{Table, missing, normalise};
use crate::tokens::cut;

/// Longest word, in characters, that is cut into pieces (`model.json`, `tokenizer.max_word_chars`).
const MAX_WORD_CHARS: usize = 64;
/// What precedes a piece after the first in the vocabulary.
const CONTINUATION: &[u8] = b"##";

/// Letters and digits of all scripts.
static WORD: LazyLock<ClassUnicode> = LazyLock::new(|| unicode_class(r"[\p{L}\p{N}]"));
/// Nonspacing marks, which folding drops.
static MARK: LazyLock<ClassUnicode> = LazyLock::new(|| unicode_class(r"\p{Mn}"));

/// A static embedding model of prose.
pub struct ProseModel {
    pub table: Table,
    max_chars: usize,
}

/// Scratch memory of one thread.
#[derive(Default)]
pub struct ProseScratch {
    rows: Vec<u32>,
    folded: String,
    piece: Vec<u8>,
    vector: Vec<f32>,
}

impl ProseModel {
    /// Reads a model folder.
    ///
    /// # Errors
    /// The damaged file and the reason.
    pub fn load(folder: &Path) -> Result<Self, String> {
        let (table, meta) = Table::load(folder)?;
        let max_chars = meta["max_text_chars"].as_u64().ok_or_else(|| missing(folder, "max_text_chars"))?;
        Ok(Self { table, max_chars: max_chars as usize })
    }

    /// Returns the vector of a text; all zeros if no token is known.
    pub fn encode<'s>(&self, scratch: &'s mut ProseScratch, text: &str) -> &'s [f32] {
        self.encode_after(scratch, &[], text)
    }

    /// Returns the vector of a text behind another one that has these tokens, if no word goes on and no limit is reached.
    pub fn encode_after<'s>(&self, scratch: &'s mut ProseScratch, before: &[u32], text: &str) -> &'s [f32] {
        self.tokenise(scratch, text);
        scratch.rows.extend_from_slice(before);
        scratch.rows.sort_unstable();
        scratch.vector.clear();
        scratch.vector.resize(self.table.dimension, 0.0);
        for same in scratch.rows.chunk_by(|left, right| left == right) {
            self.table.add(&mut scratch.vector, same[0], (same.len() as f32).sqrt());
        }
        normalise(&mut scratch.vector);
        &scratch.vector
    }

    /// Returns the number of characters of a text that are read.
    pub fn max_chars(&self) -> usize {
        self.max_chars
    }

    /// Returns the rows of the tokens of a text, in the order of the text.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        let mut scratch = ProseScratch::default();
        self.tokenise(&mut scratch, text);
        scratch.rows
    }

    fn tokenise(&self, scratch: &mut ProseScratch, text: &str) {
        scratch.rows.clear();
        let mut rest = cut(text, self.max_chars);
        while let Some(start) = rest.find(is_word_char) {
            let end = rest[start..].find(|character| !is_word_char(character)).map_or(rest.len(), |at| start + at);
            self.add_word(scratch, &rest[start..end]);
            rest = &rest[end..];
        }
    }

    fn add_word(&self, scratch: &mut ProseScratch, word: &str) {
        fold(word, &mut scratch.folded);
        if let Some(row) = self.table.row(scratch.folded.as_bytes()) {
            scratch.rows.push(row);
        } else if cut(word, MAX_WORD_CHARS).len() == word.len() {
            let mut start = 0;
            for end in (1..word.len()).filter(|&at| is_case_boundary(word.as_bytes(), at)).chain([word.len()]) {
                fold(&word[start..end], &mut scratch.folded);
                self.add_pieces(scratch);
                start = end;
            }
        }
    }

    /// Adds the pieces of the folded part by greedy longest match; adds nothing if they do not cover it.
    fn add_pieces(&self, scratch: &mut ProseScratch) {
        let ProseScratch { rows, folded, piece, .. } = scratch;
        let before = rows.len();
        let mut at = 0;
        while at < folded.len() {
            piece.clear();
            piece.extend(if at == 0 { &b""[..] } else { CONTINUATION });
            let prefix = piece.len();
            piece.extend(folded.as_bytes()[at..].iter().take(self.table.longest_word()));
            // No word ends within a character, so that cutting by bytes finds the same pieces.
            let found = (prefix + 1..=piece.len()).rev().find_map(|end| Some((end, self.table.row(&piece[..end])?)));
            let Some((end, row)) = found else {
                rows.truncate(before);
                return;
            };
            rows.push(row);
            at += end - prefix;
        }
    }
}

/// Writes a word in lower case, canonically decomposed and without nonspacing marks, to `folded`.
fn fold(word: &str, folded: &mut String) {
    folded.clear();
    if word.is_ascii() {
        folded.push_str(word);
        folded.make_ascii_lowercase();
    } else {
        folded.extend(word.to_lowercase().nfd().filter(|&character| !contains(&MARK, character)));
    }
}

/// Whether a part of a word begins at this byte: between `[a-z0-9]` and `[A-Z]`, and between `[A-Z]` and `[A-Z][a-z]`.
fn is_case_boundary(word: &[u8], at: usize) -> bool {
    let (left, right) = (word[at - 1], word[at]);
    right.is_ascii_uppercase()
        && (left.is_ascii_lowercase()
            || left.is_ascii_digit()
            || left.is_ascii_uppercase() && word.get(at + 1).is_some_and(u8::is_ascii_lowercase))
}

/// Returns whether a character is a letter or digit of any script.
pub fn is_word_char(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_alphanumeric() } else { contains(&WORD, character) }
}

fn contains(class: &ClassUnicode, character: char) -> bool {
    let ranges = class.ranges();
    let after = ranges.partition_point(|range| range.start() <= character);
    after > 0 && character <= ranges[after - 1].end()
}

/// Returns the characters of a class in regex syntax.
fn unicode_class(pattern: &str) -> ClassUnicode {
    match regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::{MARK, WORD, contains, fold, is_case_boundary};

    #[test]
    fn classes_are_those_of_unicode() {
        assert!(['é', '数', '٣', '½', 'ⅷ'].into_iter().all(|character| contains(&WORD, character)));
        assert!(['\u{301}', '’', '\u{0}', '🙂'].into_iter().all(|character| !contains(&WORD, character)));
        assert!(contains(&MARK, '\u{301}') && !contains(&MARK, '\u{903}') && !contains(&MARK, 'e'));
    }

    #[test]
    fn folding_drops_case_and_accents() {
        let mut folded = String::new();
        fold("ÉCOLE", &mut folded);
        assert_eq!(folded, "ecole");
        fold("ΣΊΣΥΦΟΣ", &mut folded);
        assert_eq!(folded, "σισυφος");
    }

    #[test]
    fn parts_begin_at_case_changes() {
        let parts = |word: &str| {
            let mut out = String::new();
            for (at, byte) in word.bytes().enumerate() {
                if at > 0 && is_case_boundary(word.as_bytes(), at) {
                    out.push(' ');
                }
                out.push(byte as char);
            }
            out
        };
        assert_eq!(parts("getUserName"), "get User Name");
        assert_eq!(parts("XMLHttpRequest2Go"), "XML Http Request2 Go");
        assert_eq!(parts("sha256"), "sha256");
    }
}
