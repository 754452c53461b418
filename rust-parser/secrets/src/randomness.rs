//! How random a value looks: Shannon entropy, and the average cost of a character after the one before it, from a table of
//! letter pairs in English words and identifiers.

use super::rules::BIGRAM_COSTS;

/// Costs of character pairs other than two letters, in half bits.
const LETTER_DIGIT: u32 = 10;
const DIGIT_LETTER: u32 = 12;
const DIGIT_DIGIT: u32 = 7;
const SEPARATOR: u32 = 4;
const SIGN: u32 = 12;
const CASE_UP: u32 = 3;
/// Least average cost of a random value in half bits per character. Words average about 8, random letters and digits
/// about 13.
pub const RANDOM_COST: f64 = 10.1;
/// Least average cost of a value without digits.
pub const LETTERS_COST: f64 = 11.6;
/// Least average cost of a value after a known provider prefix, which is evidence in itself.
pub const PREFIXED_COST: f64 = 9.2;

/// Returns the Shannon entropy in bits per byte.
pub fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    value.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let length = value.len() as f64;
    counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length).map(|p| -p * p.log2()).sum()
}

/// Returns the number of letters of the longest run that resembles words, which may be written as `TwoWords`.
pub fn longest_word(value: &[u8]) -> usize {
    value
        .split(|byte| !byte.is_ascii_alphabetic())
        .filter(|run| run.len() >= 4 && average_cost(run) < 10.0)
        .map(letters_of_words)
        .filter(|letters| *letters >= 4)
        .max()
        .unwrap_or(0)
}

/// Returns the number of letters in parts of a run that are written as words are: `word`, `Word` or `WORD`, not `wOrD`.
fn letters_of_words(run: &[u8]) -> usize {
    run.chunk_by(|a, b| a.is_ascii_uppercase() || b.is_ascii_lowercase())
        .filter(|part| part.len() >= 2)
        .filter(|part| {
            part[1..].iter().all(u8::is_ascii_lowercase)
                || part.iter().all(u8::is_ascii_uppercase)
                || part.windows(2).filter(|pair| pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase()).count()
                    == 1
                    && part.len() > 4
        })
        .map(<[u8]>::len)
        .sum()
}

/// Returns whether a name consists of words, unlike base64.
pub fn consists_of_words(name: &[u8]) -> bool {
    name.len() >= 3 && average_cost(name) < RANDOM_COST
}

/// Returns the average cost of each character after the one before it, in half bits.
pub fn average_cost(value: &[u8]) -> f64 {
    let table = &*BIGRAM_COSTS;
    let letter = |byte: u8| usize::from(byte.to_ascii_lowercase() - b'a');
    let sum: u32 = value
        .windows(2)
        .map(|pair| match (pair[0], pair[1]) {
            (a, b) if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                let up = a.is_ascii_lowercase() && b.is_ascii_uppercase();
                u32::from(table[letter(a)][letter(b)]) + if up { CASE_UP } else { 0 }
            }
            (a, b) if a.is_ascii_digit() && b.is_ascii_digit() => DIGIT_DIGIT,
            (a, b) if a.is_ascii_digit() && b.is_ascii_alphabetic() => DIGIT_LETTER,
            (a, b) if a.is_ascii_alphabetic() && b.is_ascii_digit() => LETTER_DIGIT,
            (a, b) if [a, b].iter().any(|byte| !byte.is_ascii_alphanumeric() && !b"-_./: ".contains(byte)) => SIGN,
            _ => SEPARATOR,
        })
        .sum();
    f64::from(sum) / (value.len().max(2) - 1) as f64
}

pub fn count(value: &[u8], is: fn(&u8) -> bool) -> usize {
    value.iter().filter(|byte| is(byte)).count()
}

pub fn distinct_bytes(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    value.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    seen.iter().filter(|seen| **seen).count()
}
