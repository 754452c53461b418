//! Lines of texts in memory that have words of a question, each with what these weigh by how rare they are.
//!
//! A word counts where a word or a part of an identifier begins with its stem; a name where it stands as a whole. The
//! weights are those of BM25 over the lines of all texts.

use std::collections::BTreeMap;

use memchr::memmem;

/// Places of one word in one text that are looked at.
const MAX_OCCURRENCES: usize = 400;
/// Characters of a line; longer ones are data.
const MAX_LINE: usize = 300;
/// Words of a question that a line has, if it has none that is rare.
const LEAST_WORDS: u32 = 4;
/// Lines and letters: a word is rare if at most so many lines have it, and it has at least so many letters.
const FEW_LINES: usize = 20;
const LONG_WORD: usize = 4;
/// Lines of a name: more are usages that an answer counts.
const FEW_OF_NAME: usize = 40;
/// What a line counts in documents, and in tests. Chosen on 180 questions of strangers on nine repositories.
const DOCUMENT: f64 = 0.7;
const TEST: f64 = 0.5;
/// More words than a set has bits are not looked for.
const MAX_WORDS: usize = 64;

/// A text that is searched.
pub struct ScoredText<'a> {
    pub text: &'a str,
    pub is_document: bool,
    /// It is a test, and none is asked for.
    pub is_test: bool,
}

/// What is looked for, in lower case.
pub struct ScoredWord {
    pub word: String,
    /// It stands as a whole; else it begins a word or a part of an identifier.
    pub is_name: bool,
    /// Few lines that have it are worth showing.
    pub tells: bool,
}

/// A line with words of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredLine {
    /// Number of its text.
    pub text: usize,
    /// From 1.
    pub line: usize,
    pub shown: String,
    pub score: f64,
}

/// Returns the lines that have a name or a rare word that tells something, or `LEAST_WORDS` words unless `only_rare`.
///
/// Of a document, a rare word is not enough. In no order.
pub fn scored_lines(texts: &[ScoredText<'_>], words: &[ScoredWord], only_rare: bool) -> Vec<ScoredLine> {
    let words = &words[..words.len().min(MAX_WORDS)];
    let mut found: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let mut starts: Vec<Vec<usize>> = Vec::with_capacity(texts.len());
    for (number, each) in texts.iter().enumerate() {
        let lowered = each.text.to_ascii_lowercase();
        let own: Vec<usize> =
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', each.text.as_bytes()).map(|at| at + 1)).collect();
        for (bit, word) in words.iter().enumerate() {
            for at in places(each.text, &lowered, word) {
                let line = own.partition_point(|&start| start <= at);
                *found.entry((number, line)).or_default() |= 1 << bit;
            }
        }
        starts.push(own);
    }
    let count: usize = starts.iter().map(Vec::len).sum();
    let mut lines_of = vec![0_usize; words.len()];
    for set in found.values() {
        for (bit, lines) in lines_of.iter_mut().enumerate() {
            *lines += (set >> bit & 1) as usize;
        }
    }
    let weights: Vec<f64> = lines_of.iter().map(|&lines| idf(count, lines)).collect();
    let rare = bits(words, |bit, word| word.tells && is_few(word, lines_of[bit]));
    let names = bits(words, |_, word| word.is_name);
    let line_of = |&(text, line): &(usize, usize)| {
        let end = starts[text].get(line).map_or(texts[text].text.len(), |&next| next - 1);
        texts[text].text[starts[text][line - 1]..end].trim()
    };
    let lengths: usize = found.keys().map(|place| line_of(place).chars().count()).sum();
    let mean = if lengths == 0 { 1.0 } else { lengths as f64 / found.len() as f64 };
    let mut scored = Vec::new();
    for (place, &set) in &found {
        let of = &texts[place.0];
        let telling = set & rare;
        let is_rare = telling != 0 && (!of.is_document || telling & names != 0);
        if !is_rare && (only_rare || set.count_ones() < LEAST_WORDS) {
            continue;
        }
        let shown = line_of(place);
        let length = shown.chars().count();
        if length > MAX_LINE {
            continue;
        }
        let sum: f64 = (0..words.len()).filter(|bit| set >> bit & 1 == 1).map(|bit| weights[bit]).sum();
        let kind = if of.is_document { DOCUMENT } else { 1.0 } * if of.is_test { TEST } else { 1.0 };
        let score = sum / (0.5 + 0.5 * length as f64 / mean) * kind;
        scored.push(ScoredLine { text: place.0, line: place.1, shown: shown.to_owned(), score });
    }
    scored
}

fn bits(words: &[ScoredWord], has: impl Fn(usize, &ScoredWord) -> bool) -> u64 {
    words.iter().enumerate().filter(|(bit, word)| has(*bit, word)).map(|(bit, _)| 1_u64 << bit).sum()
}

fn is_few(word: &ScoredWord, lines: usize) -> bool {
    if word.is_name { lines <= FEW_OF_NAME } else { lines <= FEW_LINES && word.word.chars().count() >= LONG_WORD }
}

/// The inverse document frequency of a word that some of `count` lines have, as BM25 defines it.
fn idf(count: usize, lines: usize) -> f64 {
    let (count, lines) = (count as f64, lines as f64);
    ((count - lines + 0.5) / (lines + 0.5)).ln_1p()
}

/// Returns where a word stands in a text, in order.
fn places<'a>(text: &'a str, lowered: &'a str, word: &'a ScoredWord) -> impl Iterator<Item = usize> + 'a {
    let length = word.word.len();
    memmem::find_iter(lowered.as_bytes(), word.word.as_bytes())
        .take(if length == 0 { 0 } else { MAX_OCCURRENCES })
        .filter(move |&at| if word.is_name { is_whole(text, at, length) } else { begins_part(text, at) })
}

/// Whether a place begins a word, or a part of an identifier: behind a digit or a sign, or at a capital.
fn begins_part(text: &str, at: usize) -> bool {
    let Some(first) = text[at..].chars().next() else { return false };
    let Some(before) = text[..at].chars().next_back() else { return true };
    (first.is_uppercase() && before.is_lowercase())
        || !before.is_alphanumeric()
        || before.is_ascii_digit() != first.is_ascii_digit()
}

/// Whether a name stands as a whole, and not as a plain word in lower case.
fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let goes_on = |each: Option<char>| each.is_some_and(|each| each.is_alphanumeric() || each == '_');
    let word = &text[at..at + length];
    !goes_on(text[..at].chars().next_back())
        && !goes_on(text[at + length..].chars().next())
        && !word.chars().all(|each| each.is_alphabetic() && !each.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(stems: &[&str], names: &[&str]) -> Vec<ScoredWord> {
        let of = |is_name| move |word: &&str| ScoredWord { word: (*word).to_owned(), is_name, tells: true };
        stems.iter().map(of(false)).chain(names.iter().map(of(true))).collect()
    }

    fn lines(text: &str, words: &[ScoredWord], only_rare: bool) -> Vec<usize> {
        let texts = [ScoredText { text, is_document: false, is_test: false }];
        scored_lines(&texts, words, only_rare).iter().map(|each| each.line).collect()
    }

    #[test]
    fn a_stem_begins_a_word_or_a_part_of_an_identifier() {
        let text = "x.retryCount\nmax_retries = 3\npretry\nRETRY2\nnothing";
        assert_eq!(lines(text, &words(&["retr"], &[]), true), [1, 2, 4]);
    }

    #[test]
    fn a_name_stands_as_a_whole_and_is_no_plain_word() {
        let text = "HTTP\nhttp\nHTTPS\nmy_HTTP\nuse HTTP, now";
        assert_eq!(lines(text, &words(&[], &["http"]), true), [1, 5]);
    }

    #[test]
    fn four_common_words_are_enough_unless_only_rare_ones_count() {
        let mut wanted = words(&["one", "two", "six", "ten"], &[]);
        let text = "one two six ten\none two six\n";
        assert_eq!(lines(text, &wanted, false), [1]);
        assert!(lines(text, &wanted, true).is_empty(), "words of three letters are not rare");
        wanted[0].word = "ones".to_owned();
        assert!(lines(text, &wanted, false).is_empty());
    }

    #[test]
    fn letters_of_several_bytes_shift_no_place() {
        let text = "é K retryé\nürétry\nünretry\n\u{212a} é_retry";
        assert_eq!(lines(text, &words(&["retry"], &[]), true), [1, 4]);
    }

    #[test]
    fn documents_and_tests_count_less_and_a_rare_word_alone_shows_no_line_of_a_document() {
        let of = |is_document, is_test| ScoredText { text: "pickle Pickle_X", is_document, is_test };
        let both = words(&["pickl"], &["pickle_x"]);
        let scores: Vec<f64> = scored_lines(&[of(false, false), of(true, false), of(false, true)], &both, true)
            .iter()
            .map(|each| each.score)
            .collect();
        assert!((scores[1] / scores[0] - DOCUMENT).abs() < 1e-9 && (scores[2] / scores[0] - TEST).abs() < 1e-9);
        assert!(scored_lines(&[of(true, false)], &words(&["pickl"], &[]), true).is_empty());
    }
}
