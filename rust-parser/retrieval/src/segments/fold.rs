//! Tokens of a text: maximal runs of letters, digits and `_`, in lower case and without the diacritics of Latin letters,
//! so that "naïve" is found by "naive". Texts of the store are words already (`tokens::words`). As in SQLite's
//! `unicode61`, the vowel signs of other scripts separate tokens; a word with such signs is a phrase.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::tokens::is_in_word;

/// Calls `each` with every token of a text, in order.
pub fn each_token(text: &str, mut each: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut folded = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && matches!(bytes[at], b'a'..=b'z' | b'0'..=b'9' | b'_') {
            at += 1;
        }
        let plain = at;
        at += text[at..].chars().take_while(|&character| is_in_token(character)).map(char::len_utf8).sum::<usize>();
        if at == plain {
            if plain > start {
                each(&text[start..plain]);
            }
            at += text[at..].chars().next().map_or(0, char::len_utf8);
            continue;
        }
        folded.clear();
        text[start..at].chars().for_each(|character| push_folded(character, &mut folded));
        if !folded.is_empty() {
            each(&folded);
        }
    }
}

/// Returns the tokens of a text.
pub fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_token(text, |token| found.push(token.to_owned()));
    found
}

fn is_in_token(character: char) -> bool {
    is_in_word(character) && (character <= '\u{36f}' || !is_combining_mark(character))
}

fn push_folded(character: char, out: &mut String) {
    match character {
        '\u{300}'..='\u{36f}' => {}
        'ς' => out.push('σ'),
        'µ' => out.push('μ'),
        'ſ' => out.push('s'),
        _ if character.is_ascii() => out.push(character.to_ascii_lowercase()),
        _ => match std::iter::once(character).nfd().next() {
            Some(letter) if letter.is_ascii() => out.push(letter.to_ascii_lowercase()),
            _ => out.extend(character.to_lowercase()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn tokens_are_folded() {
        assert_eq!(tokens("  get_user, HTTPServer\u{301}x -- 42"), ["get_user", "httpserverx", "42"]);
        assert_eq!(
            tokens("Straße NAÏVE naïve Ǡ й ΛΌΓΟΣ λόγος"),
            ["straße", "naive", "naive", "a", "й", "λόγοσ", "λόγοσ"]
        );
        assert_eq!(tokens("数 据…\u{300} अधिक"), ["数", "据", "अध", "क"]);
    }
}
