//! Word stems of English prose for BM25: "the painters were painting" and "painter paints" share their stems.
//!
//! Words are those of `words`, so that an identifier keeps its form and its parts. Stop words carry no meaning and are
//! dropped. Only words of ASCII letters are stemmed, by the Snowball algorithm for English (Porter 2).
//!
//! A stem begins with `0`, so that it is never equal to a word as written: "support" is a stem and a word, "releas" only
//! a stem, and an index of both forms would otherwise count "support" twice. The words of the names of entities begin with
//! `1`. Every store's tokenizer keeps a digit before letters.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;
use snowball_stemmers::{Algorithm, Stemmer};

use super::words::push_words;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Function words of English and the parts that contractions leave ("don't" gives "don"; "t" is too short for a word).
/// Negations are among them: they say nothing about the subject of a text.
static STOP_WORDS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
    "about above after again all also am an and any are aren as at be because been before being below between both but \
     by can couldn did didn do does doesn doing don down during each few for from further had hadn has hasn have haven \
     having he her here hers herself him himself his how if in into is isn it its itself just ll me more most mustn my \
     myself no nor not of off on once only or other our ours ourselves out over own re same shan she should shouldn so \
     some such than that the their theirs them themselves then there these they this those through to too under until \
     up us ve very was wasn we were weren what when where which while who whom why will with won would wouldn you your \
     yours yourself yourselves"
        .split_whitespace()
        .collect()
});

const STEM_MARK: char = '0';
const NAME_MARK: char = '1';

/// Appends the stems of the words of `text` to `out`, each with its mark, followed by a space.
pub fn push_stems(text: &str, out: &mut String) {
    let mut words = String::new();
    push_words(text, &mut words);
    for word in words.split_ascii_whitespace().filter(|word| !STOP_WORDS.contains(word)) {
        out.push(STEM_MARK);
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            out.push_str(&STEMMER.stem(word));
        } else {
            out.push_str(word);
        }
        out.push(' ');
    }
}

/// Appends the words of the name of an entity to `out`, each with its mark, followed by a space.
pub fn push_name(text: &str, out: &mut String) {
    let mut words = String::new();
    push_words(text, &mut words);
    for word in words.split_ascii_whitespace() {
        out.push(NAME_MARK);
        out.push_str(word);
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::push_stems;

    fn stems(text: &str) -> String {
        let mut out = String::new();
        push_stems(text, &mut out);
        out.trim_end().to_owned()
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        assert_eq!(stems("The releases were released, releasing!"), "0releas 0releas 0releas");
        assert_eq!(stems("Cities and a city"), "0citi 0citi");
    }

    #[test]
    fn stop_words_are_dropped() {
        assert_eq!(stems("Don't you think that it's about them?"), "0think");
        assert_eq!(stems("what is this"), "");
    }

    #[test]
    fn identifiers_and_other_scripts_keep_their_form() {
        assert_eq!(
            stems("getUserNames utf8 naïvely 数据"),
            "0getusernam 0get 0user 0name 0utf8 0utf 0naïvely 0数据 0数 0据"
        );
    }
}
