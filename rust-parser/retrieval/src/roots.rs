//! Roots of words, which compare the words of a question with those of names and paths: `root_of` and `part_roots` of
//! `atlas/core/english/stems.py`, whose tests have the same cases.

use crate::tokens::split_words;

/// The first that leaves `MIN_ROOT` letters is cut off.
const ENDINGS: [&str; 22] = [
    "ization", "isation", "ations", "ation", "ings", "ing", "ers", "er", "ors", "or", "ies", "ied", "ed", "es", "s",
    "e", "y", "ion", "ions", "ment", "able", "al",
];
const MIN_ROOT: usize = 3;

/// Returns the root of a lower-case word; a doubled last letter counts once (`stopped`, `stop`).
pub fn root_of(word: &str) -> &str {
    let letters = word.chars().count();
    let cut = ENDINGS.iter().find_map(|ending| {
        let left = word.strip_suffix(ending)?;
        (letters - ending.len() >= MIN_ROOT).then_some(left)
    });
    let root = cut.unwrap_or(word);
    let mut last = root.chars().rev();
    let (Some(one), Some(two)) = (last.next(), last.next()) else { return root };
    if one == two && root.chars().nth(MIN_ROOT).is_some() { &root[..root.len() - one.len_utf8()] } else { root }
}

/// Returns the roots of the parts of a name; a name without parts is its only part.
pub fn part_roots(name: &str) -> Vec<String> {
    let words = split_words(name);
    let parts = if words.len() > 1 { &words[1..] } else { &words[..] };
    parts.iter().map(|word| root_of(word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{part_roots, root_of};

    #[test]
    fn forms_of_a_word_have_one_root() {
        assert_eq!(
            ["hashing", "hashed", "hasher", "stopped", "queries"].map(root_of),
            ["hash", "hash", "hash", "stop", "quer"]
        );
        assert_eq!(["sing", "url", "aa", "naïve", "ééé"].map(root_of), ["sing", "url", "aa", "naïv", "ééé"]);
        assert_eq!(part_roots("getUserNames"), ["get", "user", "nam"]);
    }
}
