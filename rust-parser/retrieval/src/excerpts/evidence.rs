//! How likely each piece of a body answers a question, by words, meaning and shape.
//!
//! The words of a question count by how rare they are among the pieces compared, in all their forms; meaning is the cosine
//! of the model of prose, if there is one. A question for a default, a limit or a condition is answered by lines of that
//! shape. The constants were chosen on comments of nine packages that were taken out of the code: each asks for the
//! statement below it (docs/measurements/search.md).

use std::sync::LazyLock;

use memchr::memmem::Finder;
use regex_automata::meta::Regex;

use super::text::lowered;
use crate::roots::root_of;
use crate::tokens::push_words;

/// Weight of the cosines, scaled from the least to the most similar piece; the words have 1.
const MEANING: f64 = 1.0;
/// Share of the better neighbour that a piece gains: a condition stands above what it decides.
const NEXT_TO: f64 = 0.3;
/// For a piece of the shape that is asked for.
const SHAPE: f64 = 0.25;
/// Difference of scores that makes a piece e times as likely.
const SPREAD: f64 = 0.2;

/// What a question asks for, and the shape of a piece that says it: a value that is given, a condition.
static SHAPES: LazyLock<[(Regex, Regex); 2]> = LazyLock::new(|| {
    let regex = |pattern| Regex::new(pattern).expect("a pattern of ours");
    [
        (
            regex(
                r"(?i)\bdefaults?\b|\bhow (?:many|much|long|often|big|deep|large|far)\b|\b(?:limits?|max\w*|min\w*|timeout|interval|threshold|value of)\b",
            ),
            regex(
                r#"(?i)[:=]\s*(?:[-+]?\d|["'`]|true\b|false\b|none\b|null\b|nil\b|[A-Z][A-Z_]{3,})|default|#\s*define\b|\?\?|\|\|"#,
            ),
        ),
        (
            regex(
                r"(?i)\b(?:when|if|unless|whether|only|conditions?|decide[sd]?|refuse[sd]?|reject(?:s|ed)?|allow(?:s|ed)?|accept(?:s|ed)?|check(?:s|ed)?)\b",
            ),
            regex(r"^\s*(?:\}\s*)?(?:el(?:se )?)?(?:if|unless|when|case|match|while|guard|assert)\b|\belse\b|\s\?\s"),
        ),
    ]
});

/// Returns how well each piece matches a question that has these words; `cosines` may be empty.
pub fn scores(question: &str, words: &[String], pieces: &[&str], cosines: &[f64]) -> Vec<f64> {
    let asked = Roots::of(words);
    let found: Vec<Vec<usize>> = pieces.iter().map(|piece| asked.within(piece)).collect();
    let mut frequent = vec![0; asked.sorted.len()];
    found.iter().flatten().for_each(|&root| frequent[root] += 1);
    let rarity: Vec<f64> =
        frequent.iter().map(|&count| (1.0 + pieces.len() as f64 / f64::from(1 + count)).ln()).collect();
    let sum: f64 = rarity.iter().sum();
    let total = if sum == 0.0 { 1.0 } else { sum };
    let shapes: Vec<&Regex> =
        SHAPES.iter().filter(|(asks, _)| asks.is_match(question)).map(|(_, shape)| shape).collect();
    let meaning = scaled(cosines, pieces.len());
    let score = |((piece, own), meaning): ((&&str, &Vec<usize>), f64)| {
        let words: f64 = own.iter().map(|&root| rarity[root]).sum();
        let shaped = shapes.iter().filter(|shape| shape.is_match(*piece)).count();
        words / total + MEANING * meaning + SHAPE * shaped as f64
    };
    pieces.iter().zip(&found).zip(meaning).map(score).collect()
}

/// Returns the cosines from 0 to 1; zeros without them.
fn scaled(cosines: &[f64], count: usize) -> Vec<f64> {
    let low = cosines.iter().copied().fold(f64::INFINITY, f64::min);
    let high = cosines.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high > low { cosines.iter().map(|each| (each - low) / (high - low)).collect() } else { vec![0.0; count] }
}

/// The roots of the words of a question, in order.
struct Roots {
    sorted: Vec<String>,
    finders: Vec<Finder<'static>>,
}

impl Roots {
    fn of(words: &[String]) -> Self {
        let mut sorted: Vec<String> = words.iter().map(|word| root_of(word).to_owned()).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let finders = sorted.iter().map(|root| Finder::new(root).into_owned()).collect();
        Self { sorted, finders }
    }

    /// Returns which roots a piece has, in order. Words begin with their roots, so most pieces need not be split.
    fn within(&self, piece: &str) -> Vec<usize> {
        let text = lowered(piece);
        let mut found: Vec<usize> =
            (0..self.sorted.len()).filter(|&root| self.finders[root].find(text.as_bytes()).is_some()).collect();
        if !found.is_empty() {
            let mut words = String::new();
            push_words(piece, &mut words);
            let is_form = |word: &str, root: &str| word.starts_with(root) && root_of(word) == root;
            found.retain(|&root| words.split_terminator(' ').any(|word| is_form(word, &self.sorted[root])));
        }
        found
    }
}

/// Returns for the pieces of one body, in order, how likely each one is that which answers; together 1.
pub fn shares(values: &[f64]) -> Vec<f64> {
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    let beside = |index: usize| f64::max(if index == 0 { 0.0 } else { at(index - 1) }, at(index + 1));
    let smooth: Vec<f64> = values.iter().enumerate().map(|(index, own)| own + NEXT_TO * beside(index)).collect();
    let best = smooth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = smooth.iter().map(|each| ((each - best) / SPREAD).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::split_words;

    /// Returns the piece that answers best, without vectors.
    fn best<'p>(question: &str, pieces: &[&'p str]) -> &'p str {
        let values = shares(&scores(question, &split_words(question), pieces, &[]));
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let place = (0..values.len()).max_by(|one, other| values[*one].total_cmp(&values[*other]));
        pieces[place.unwrap()]
    }

    #[test]
    fn words_in_other_forms_and_the_shape_that_is_asked_for_decide() {
        for (question, answer, other) in [
            ("default of the version option", "version: 0,", "setVersion(option.version)"),
            ("what is the default timeout", "DEFAULT_TIMEOUT = 30", "self.timeout(request)"),
            ("how many retries are made", "#define CONNECT_RETRIES 10", "count_retries(connect);"),
            ("when is a closed connection refused", "if connection.closed:", "connection.close()"),
            ("where are headers merged", "merge_headers(old, new)", "send(body)"),
        ] {
            assert_eq!(best(question, &[other, answer]), answer);
            assert_eq!(best(question, &[answer, other]), answer);
        }
    }

    #[test]
    fn a_rare_word_counts_more_than_one_that_all_pieces_have() {
        assert_eq!(best("load the cart index", &["load(cart)", "load(index)", "load(cart, user)"]), "load(index)");
    }

    #[test]
    fn meaning_decides_where_no_word_does() {
        let pieces = ["listeners.add(it)", "Object.is(next, state)"];
        let values = scores("same object again", &["again".into()], &pieces, &[0.1, 0.6]);
        assert!(values[1] > values[0]);
    }

    #[test]
    fn neighbours_of_the_answer_gain() {
        let values = shares(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        assert!(values[2] > values[1] && values[1] == values[3] && values[3] > values[0] && values[0] == values[5]);
        assert!(shares(&[]).is_empty());
    }
}
