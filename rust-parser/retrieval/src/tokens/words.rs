//! Splits text into words for BM25.
//!
//! An identifier is a maximal run of letters, digits, combining marks and `_`. It gives its lower-case form, followed
//! by its parts (split at case changes, `_` and digits) unless the whole is its only part. Words of one character are
//! dropped, except characters of scripts without spaces (Han, Kana), each of which is a part.

/// Number of characters kept of a whole identifier. Longer ones are data (hashes, base64).
const MAX_WORD_CHARS: usize = 80;
/// Number of characters of an identifier that are split into parts.
const MAX_PARTS_CHARS: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Separates identifiers.
    Other,
    Lower,
    Upper,
    Digit,
    Underscore,
    /// A letter that is a word of its own.
    Ideograph,
}

const ASCII: [Class; 128] = {
    let mut table = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Underscore,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
};

/// Returns the words of `text` in order, identifiers before their parts.
pub fn split_words(text: &str) -> Vec<String> {
    let mut joined = String::new();
    push_words(text, &mut joined);
    joined.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Appends the words of `text` to `out`, each followed by a space.
pub fn push_words(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte < 128 && ASCII[byte as usize] == Class::Other {
            at += 1;
            continue;
        }
        let start = at;
        let mut plain = true;
        while at < bytes.len() {
            let byte = bytes[at];
            if byte >= 128 {
                let (class, length) = class_at(text, at);
                if class == Class::Other {
                    break;
                }
                plain = false;
                at += length;
                continue;
            }
            match ASCII[byte as usize] {
                Class::Other => break,
                Class::Lower => {}
                _ => plain = false,
            }
            at += 1;
        }
        if at == start {
            at += class_at(text, at).1;
        } else if plain && at - start <= MAX_WORD_CHARS {
            if at - start > 1 {
                out.push_str(&text[start..at]);
                out.push(' ');
            }
        } else {
            push_identifier(&text[start..at], out);
        }
    }
}

/// Returns class and byte length of the character at a character boundary.
fn class_at(text: &str, at: usize) -> (Class, usize) {
    let Some(character) = text[at..].chars().next() else {
        return (Class::Other, 1);
    };
    (class_of(character), character.len_utf8())
}

fn class_of(character: char) -> Class {
    if character.is_ascii() {
        return ASCII[character as usize];
    }
    match character {
        '\u{300}'..='\u{36f}' => Class::Lower,
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'
            if character.is_alphabetic() =>
        {
            Class::Ideograph
        }
        _ if character.is_uppercase() => Class::Upper,
        _ if character.is_alphabetic() => Class::Lower,
        _ if character.is_numeric() => Class::Digit,
        _ => Class::Other,
    }
}

/// Appends an identifier that does not consist of lower-case ASCII letters only.
fn push_identifier(identifier: &str, out: &mut String) {
    let whole = push_folded(cut(identifier, MAX_WORD_CHARS), out);
    let before_parts = out.len();
    let searched = cut(identifier, MAX_PARTS_CHARS);
    let mut parts = 0;
    for part in Parts::new(searched) {
        parts += usize::from(push_folded(cut(part, MAX_WORD_CHARS), out) && part.len() < searched.len());
    }
    if parts == 0 && whole {
        out.truncate(before_parts);
    }
}

/// Returns the first `characters` characters of a text.
pub fn cut(text: &str, characters: usize) -> &str {
    if text.len() <= characters {
        return text;
    }
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

/// Appends a word in lower case. Returns whether it is one: at least two characters or an ideograph, and not only
/// underscores.
fn push_folded(word: &str, out: &mut String) -> bool {
    let mut characters = word.chars();
    let keep = match (characters.next(), characters.next()) {
        (Some(only), None) => class_of(only) == Class::Ideograph,
        (None, _) => false,
        _ => word.bytes().any(|byte| byte != b'_'),
    };
    if !keep {
        return false;
    }
    if word.is_ascii() {
        out.extend(word.bytes().map(|byte| byte.to_ascii_lowercase() as char));
    } else {
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out.push(' ');
    true
}

/// Iterates over the parts of an identifier by the rule `[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+` over Unicode
/// letters.
struct Parts<'a> {
    rest: &'a str,
}

impl<'a> Parts<'a> {
    fn new(identifier: &'a str) -> Self {
        Self { rest: identifier }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_start_matches('_');
        let mut characters = self.rest.char_indices();
        let (_, first) = characters.next()?;
        let class = class_of(first);
        let mut end = self.rest.len();
        if class == Class::Ideograph {
            end = first.len_utf8();
        } else {
            // A part is a run of one class; a single upper-case letter may precede a run of lower-case letters.
            let mut previous = 0;
            let mut run = class;
            for (at, character) in characters {
                let next = class_of(character);
                if next == run {
                    previous = at;
                } else if run == Class::Upper && next == Class::Lower {
                    if previous > 0 {
                        end = previous;
                        break;
                    }
                    run = Class::Lower;
                } else {
                    end = at;
                    break;
                }
            }
        }
        let (part, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(part)
    }
}

/// Returns the longest beginning of at most `bytes` bytes that ends with a whole character.
pub fn cut_bytes(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns whether a character belongs to an identifier.
pub fn is_in_word(character: char) -> bool {
    class_of(character) != Class::Other
}

#[cfg(test)]
mod tests {
    use super::split_words;

    fn joined(text: &str) -> String {
        split_words(text).join(" ")
    }

    #[test]
    fn splits_identifiers_into_whole_and_parts() {
        assert_eq!(joined("getUserById"), "getuserbyid get user by id");
        assert_eq!(joined("XMLHttpRequest2"), "xmlhttprequest2 xml http request");
        assert_eq!(joined("__init__"), "__init__ init");
        assert_eq!(joined("snake_case MAX_SIZE"), "snake_case snake case max_size max size");
        assert_eq!(joined("sha256 utf8"), "sha256 sha 256 utf8 utf");
        assert_eq!(joined("HTML Table"), "html table");
    }

    #[test]
    fn leaves_out_single_characters_and_underscores() {
        assert_eq!(joined("a __ _ x = 1 + b_c; 42"), "b_c 42");
    }

    #[test]
    fn knows_other_scripts() {
        assert_eq!(joined("Straße naïveCafé"), "straße naïvecafé naïve café");
        assert_eq!(joined("数据库。база"), "数据库 数 据 库 база");
        assert_eq!(joined("数"), "数");
        assert_eq!(joined("“quoted”—text"), "quoted text");
    }

    #[test]
    fn cuts_long_identifiers() {
        let words = split_words(&"a".repeat(1_000_000));
        assert_eq!(words, vec!["a".repeat(80)]);
        let words = split_words(&"aB".repeat(1_000_000));
        assert_eq!(words[0].len(), 80);
        assert_eq!(words.len(), 1 + 127);
    }
}
