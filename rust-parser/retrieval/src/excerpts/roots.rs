//! Roots of words, as `atlas.core.english.stems.root_of` cuts them.

/// In this order: the first that leaves `MIN_ROOT` letters is cut off.
const ENDINGS: [&str; 22] = [
    "ization", "isation", "ations", "ation", "ings", "ing", "ers", "er", "ors", "or", "ies", "ied", "ed", "es", "s",
    "e", "y", "ion", "ions", "ment", "able", "al",
];
const MIN_ROOT: usize = 3;

/// Returns the root of a lower-case word, with which it begins; a doubled last letter counts once.
pub fn root_of(word: &str) -> &str {
    let cut =
        ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| has_more_than(rest, MIN_ROOT - 1)));
    let root = cut.unwrap_or(word);
    let mut last = root.chars().rev();
    match (last.next(), last.next()) {
        (Some(one), Some(other)) if one == other && has_more_than(root, MIN_ROOT) => {
            &root[..root.len() - one.len_utf8()]
        }
        _ => root,
    }
}

fn has_more_than(word: &str, characters: usize) -> bool {
    word.chars().nth(characters).is_some()
}

#[cfg(test)]
mod tests {
    use super::root_of;

    #[test]
    fn forms_of_a_word_have_one_root() {
        for forms in
            [["hashing", "hashed", "hasher"], ["stopped", "stop", "stops"], ["migrations", "migrate", "migration"]]
        {
            assert_eq!(forms.map(root_of), [root_of(forms[0]); 3]);
        }
        assert_eq!(["ions", "as", "ééé", "éééé", ""].map(root_of), ["ions", "as", "ééé", "ééé", ""]);
    }
}
