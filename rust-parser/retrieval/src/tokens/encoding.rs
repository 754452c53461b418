//! The byte pair encoding cl100k_base over tables that are read where they are mapped: nothing is unpacked, and the
//! processes of a machine share them.
//!
//! The last token of a text is the one suffix that is a token and that the encoding would not merge with, or split
//! differently from, the last token of the text before it. So the last tokens of all prefixes follow from left to right
//! (`github/rust-gems`, crate `bpe`, whose tables this one's come from).

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::suffix_hash::{EMPTY, LONGEST, SLOTS, SuffixHash, TOKEN_BITS};

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bytes"));
/// Where each token starts in `BYTES`, and the end: u32, little-endian.
static STARTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starts"));
/// Tokens by hash: u32, little-endian.
static SLOT_TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots"));
/// The two tokens that each is merged from, itself for single bytes: pairs of u32, little-endian.
static SPLITS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/splits"));
/// Length of the longest token that ends in two bytes.
static LONGEST_WITH: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/longest"));

/// The pieces of a text, of which each is encoded for itself. The encoding's look-ahead `\s+(?!\S)` is the second
/// pattern, whose match has one character too many.
static PIECES: LazyLock<Regex> = LazyLock::new(|| {
    let first = concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$"
    );
    Regex::new_many(&[first, r"\s+\s", r"\s+"]).expect("valid patterns")
});
const WITH_LOOK_AHEAD: usize = 1;

/// Splits a text into its pieces.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let found = PIECES.find(Input::new(&text[start..]).anchored(Anchored::Yes))?;
        let mut end = start + found.end();
        if found.pattern().as_usize() == WITH_LOOK_AHEAD {
            end -= text[start..end].chars().next_back().map_or(0, char::len_utf8);
        }
        let piece = &text[start..end];
        start = end;
        Some(piece)
    })
}

/// Returns the number of tokens of a text.
pub fn count(text: &str) -> usize {
    pieces(text).map(|piece| count_piece(piece.as_bytes())).sum()
}

/// Returns the number of tokens of a piece.
pub fn count_piece(piece: &[u8]) -> usize {
    if piece.len() <= LONGEST && find(piece, &[]).is_some() {
        return 1;
    }
    let mut prefixes = Prefixes::new(piece);
    (0..piece.len()).map(|_| prefixes.grow()).last().unwrap_or(0)
}

/// The tokens of the prefixes of a piece.
pub struct Prefixes<'a> {
    piece: &'a [u8],
    /// The last token of each prefix, and the number of its tokens.
    known: Vec<(u32, u32)>,
    /// The suffixes of the next prefix that are tokens, with their starts, the longest last.
    found: Vec<(usize, u32)>,
}

impl<'a> Prefixes<'a> {
    /// Begins with the empty prefix.
    pub fn new(piece: &'a [u8]) -> Self {
        Self { piece, known: Vec::with_capacity(piece.len().min(1 << 10)), found: Vec::with_capacity(8) }
    }

    /// Returns the number of tokens of the next prefix, which is one byte longer.
    pub fn grow(&mut self) -> usize {
        let end = self.known.len() + 1;
        let text = &self.piece[..end];
        let most = match text {
            [.., first, second] => usize::from(LONGEST_WITH[usize::from(*first) << 8 | usize::from(*second)]),
            _ => 1,
        };
        self.found.clear();
        let mut hash = SuffixHash::default();
        for start in (end - most.min(end)..end).rev() {
            hash = hash.before(text[start]);
            if let Some(token) = find_hashed(hash, &text[start..], &[]) {
                self.found.push((start, token));
            }
        }
        // mostly it is the longest one
        for &(start, token) in self.found.iter().rev() {
            let before = start.checked_sub(1).map(|at| self.known[at]);
            if before.is_none_or(|(last, _)| may_follow(last, token)) {
                let tokens = before.map_or(0, |(_, tokens)| tokens) + 1;
                self.known.push((token, tokens));
                return tokens as usize;
            }
        }
        unreachable!("every byte is a token")
    }
}

/// Returns whether the encoding of the two tokens' text is just these two.
fn may_follow(mut first: u32, mut second: u32) -> bool {
    // merges with later tokens happen after those that made the two
    let mut limit = u32::MAX;
    loop {
        if merged(first, second).is_some_and(|token| token < limit) {
            return false;
        }
        // undo the later of the two merges
        let take_first = first > second;
        for is_first in [take_first, !take_first] {
            let (token, side) = if is_first { (&mut first, 1) } else { (&mut second, 0) };
            limit = *token + u32::from(!is_first);
            *token = split(*token)[side];
            if *token + u32::from(!is_first) != limit {
                break;
            }
            if is_first != take_first {
                return true;
            }
        }
    }
}

/// Returns the token that the encoding makes of two.
fn merged(first: u32, second: u32) -> Option<u32> {
    find(bytes(first), bytes(second)).filter(|token| split(*token) == [first, second])
}

/// Returns the token with the bytes of two slices.
fn find(first: &[u8], second: &[u8]) -> Option<u32> {
    if first.len() + second.len() > LONGEST {
        return None;
    }
    find_hashed(SuffixHash::default().before_all(second).before_all(first), first, second)
}

fn find_hashed(hash: SuffixHash, first: &[u8], second: &[u8]) -> Option<u32> {
    let (mut place, tag) = hash.slot();
    loop {
        let slot = word(SLOT_TABLE, place);
        if slot == EMPTY {
            return None;
        }
        let token = slot & ((1 << TOKEN_BITS) - 1);
        if slot == tag | token && bytes(token).strip_prefix(first) == Some(second) {
            return Some(token);
        }
        place = (place + 1) % SLOTS;
    }
}

fn bytes(token: u32) -> &'static [u8] {
    &BYTES[word(STARTS, token as usize) as usize..word(STARTS, token as usize + 1) as usize]
}

fn split(token: u32) -> [u32; 2] {
    [word(SPLITS, 2 * token as usize), word(SPLITS, 2 * token as usize + 1)]
}

fn word(table: &[u8], index: usize) -> u32 {
    u32::from_le_bytes(table.as_chunks::<4>().0[index])
}

#[cfg(test)]
mod tests {
    use bpe_openai::appendable_encoder::AppendableEncoder;

    use super::{Prefixes, SuffixHash, bytes, count, count_piece, find_hashed, pieces};

    fn random_text(state: &mut u64, bits: &[&str], length: usize) -> String {
        let mut next = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bits[(*state >> 33) as usize % bits.len()]
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn every_token_is_found_and_is_one() {
        let known = &bpe_openai::cl100k_base().bpe;
        for token in 0..known.num_tokens() as u32 {
            assert_eq!(bytes(token), known.token_bytes(token));
            let hash = SuffixHash::default().before_all(bytes(token));
            assert_eq!(find_hashed(hash, bytes(token), &[]), Some(token));
            let mut prefixes = Prefixes::new(bytes(token));
            assert_eq!((0..bytes(token).len()).map(|_| prefixes.grow()).last(), Some(1), "{token}");
        }
    }

    #[test]
    fn pieces_and_counts_are_those_of_the_reference() {
        let known = bpe_openai::cl100k_base();
        let letters = ["a", "e", "st", "in", "Z", "ab", "tion", "é", "数", "x", "qu"];
        let marks =
            ["a", "Z", "'", "'re", "\"", "{", "\n", "\r\n", " ", "   ", "\t", "12", "٣", "\u{a0}", "🦀", "-", "/"];
        let mut state = 11;
        for round in 0..6_000 {
            let text = random_text(&mut state, if round % 2 == 0 { &letters } else { &marks }, 1 + round % 60);
            assert_eq!(pieces(&text).collect::<Vec<_>>(), known.split(&text).collect::<Vec<_>>());
            assert_eq!(count(&text), known.count(text.as_str()), "{text:?}");
            let mut expected = AppendableEncoder::new(&known.bpe);
            let mut prefixes = Prefixes::new(text.as_bytes());
            for byte in text.bytes() {
                expected.push(byte);
                assert_eq!(prefixes.grow(), expected.token_count(), "{text:?}");
            }
        }
        for long in ["a".repeat(50_000), " ".repeat(9_999), random_text(&mut state, &letters, 20_000)] {
            assert_eq!(count_piece(long.as_bytes()), known.bpe.count(long.as_bytes()));
        }
    }
}
