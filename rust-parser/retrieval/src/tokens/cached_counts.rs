//! Counts tokens with a cache, for texts that share most of their parts: an answer is measured repeatedly until it fits
//! a budget.
//!
//! A text is split where the encoding has a boundary in every context, so the counts of the parts add up to that of the
//! text. The counts of short parts are cached.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, TryLockError};

use super::encoding;

/// Longest text that is split, in bytes: longer ones would evict everything else from the cache.
const MAX_TEXT_BYTES: usize = 256 << 10;
/// Longest cached part in bytes.
const MAX_PART_BYTES: usize = 2048;
/// Size of the cache in bytes, including the overhead of table entries. The cache is cleared when it is full.
const MAX_BYTES: usize = 4 << 20;
const PLACE_BYTES: usize = 48;

#[derive(Default)]
struct Remembered {
    counts: HashMap<Box<str>, usize>,
    bytes: usize,
}

static REMEMBERED: LazyLock<Mutex<Remembered>> = LazyLock::new(Mutex::default);

/// Returns the exact number of cl100k_base tokens.
pub fn count(text: &str) -> usize {
    if text.len() > MAX_TEXT_BYTES {
        return encoding::count(text);
    }
    let mut known = match REMEMBERED.try_lock() {
        Ok(known) => known,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return encoding::count(text),
    };
    parts(text).map(|part| known.count(part)).sum()
}

impl Remembered {
    fn count(&mut self, part: &str) -> usize {
        if let Some(count) = self.counts.get(part) {
            return *count;
        }
        let count = encoding::count(part);
        if part.len() <= MAX_PART_BYTES {
            if self.bytes > MAX_BYTES {
                *self = Self::default();
            }
            self.bytes += part.len() + PLACE_BYTES;
            self.counts.insert(part.into(), count);
        }
        count
    }
}

/// Splits a text into parts whose tokens, together, are those of the text.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = (start + 1..text.len()).find(|at| is_cut(text.as_bytes(), *at)).unwrap_or(text.len());
        let part = (start < end).then(|| &text[start..end]);
        start = end;
        part
    })
}

/// Returns whether a piece of cl100k_base ends before the byte at `at` (not the first) in every context: at the start
/// of a line, of a JSON object, or of a JSON list of strings.
///
/// White space with line ends forms one piece up to the last of them. Two punctuation marks in a row belong to one
/// piece, which continues as long as marks and line ends follow, so a letter ends it. (One mark before a letter may
/// belong to the letter's piece.)
fn is_cut(bytes: &[u8], at: usize) -> bool {
    match bytes[at - 1] {
        b'\n' => bytes[at..].iter().find(|byte| **byte != b' ').is_some_and(u8::is_ascii_graphic),
        b'"' => at > 1 && matches!(bytes[at - 2], b'{' | b'[') && bytes[at].is_ascii_alphabetic(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PART_BYTES, MAX_TEXT_BYTES, count, encoding, parts};

    const ANSWER: &str = concat!(
        "[shop @1, indexed now, fresh]\n1. function shop.cart.add a/b.py:12 #0f3c\n   why 0.913: words\n\n\n  called by\n",
        r#"{"hits":[{"rank":1,"uid":"shop:a.b","it's":"don't (''s)","n":[["a","b.py:1","exact",0.95]],"x":{}}]}"#,
    );

    #[test]
    fn an_answer_is_cut_into_short_parts() {
        assert_eq!(parts(ANSWER).collect::<String>(), ANSWER);
        assert!(parts(ANSWER).count() >= 7);
        assert_eq!(parts("").count(), 0);
        assert_eq!(parts("one").collect::<Vec<_>>(), ["one"]);
    }

    #[test]
    fn counts_are_those_of_the_whole() {
        let bits = [
            "a", "Z", "s", "'", "\"", "{", ",", "\n", "\r", " ", "  ", "\t", "1", "23", "é", "数", "\u{301}", "_", "-",
            "/", "[\"", "{\"", "'re", "don't", "(''s", "\n\n ", "٣", "\u{a0}", "🦀", "word",
        ];
        let mut state = 7u64;
        for _ in 0..40_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(bits[(state >> 33) as usize % bits.len()]);
            }
            assert_eq!(count(&text), encoding::count(&text), "{text:?}");
            assert_eq!(parts(&text).map(encoding::count).sum::<usize>(), encoding::count(&text));
        }
        for text in [ANSWER.to_owned(), "x".repeat(2 * MAX_PART_BYTES), "ab 1\n".repeat(MAX_TEXT_BYTES / 4)] {
            assert_eq!(count(&text), encoding::count(&text));
            assert_eq!(count(&text), encoding::count(&text));
        }
    }
}
