//! Classifies what prose states as a password, which may be weak, by its characters alone.

use super::placeholders::is_placeholder;
use super::randomness::{RANDOM_COST, count, distinct_bytes, longest_word};
use super::rules::RULES;
use super::value_classes::{is_password, is_random};

/// Returns whether a value that may be code is a strong password.
pub fn is_strong(value: &[u8]) -> bool {
    let value = stripped(value);
    let is_signed = value.len() >= 8
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && value[..value.len() - 1].iter().any(|byte| b"!#$@".contains(byte))
        && distinct_bytes(value) >= 6
        && !is_placeholder(value);
    !is_code(value) && !is_technical(value) && (is_signed || is_password(value))
}

/// Returns a value without what ends a sentence, a quotation or a cell behind it.
fn stripped(value: &[u8]) -> &[u8] {
    let last = value.iter().rposition(|byte| !b".,;:)]}|*_".contains(byte));
    &value[..last.map_or(0, |last| last + 1)]
}

/// Returns whether a value that prose states as a password is one. There, a word with digits counts, too; the names of
/// algorithms, versions, numbers, paths and code do not.
pub fn is_stated(value: &[u8]) -> bool {
    let value = stripped(value);
    if !(6..=128).contains(&value.len()) || is_placeholder(value) || is_code(value) || is_technical(value) {
        return false;
    }
    let (digits, letters) = (count(value, u8::is_ascii_digit), count(value, u8::is_ascii_alphabetic));
    // A sign at the end may be that of the sentence.
    let (inner, last) = (count(&value[..value.len() - 1], is_sign), is_sign(&value[value.len() - 1]));
    if letters == 0 || distinct_bytes(value) < 5 {
        return false;
    }
    if digits == 0 {
        let mixed = value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
        return inner > 0 && mixed && value.len() >= 8 && longest_word(value) * 2 <= value.len();
    }
    let mixed = value[1..].iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    let groups = value.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).filter(|run| run[0].is_ascii_digit());
    let plain = value.iter().all(u8::is_ascii_alphanumeric);
    inner > 0
        || last
        || is_password(value)
        || plain && (groups.count() >= 2 || mixed && longest_word(value) * 2 <= value.len())
        || plain && value[0].is_ascii_alphabetic() && value.len() - digits >= 4
}

fn is_sign(byte: &u8) -> bool {
    b"!#$%^&*+?~@=:;|<>".contains(byte)
}

/// Returns whether a value is `$NAME` or `%NAME%`.
fn is_variable(value: &[u8]) -> bool {
    let name = value.strip_prefix(b"$").or_else(|| value.strip_prefix(b"%")?.strip_suffix(b"%"));
    name.is_some_and(|name| name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_'))
}

/// Returns whether a value has the form of code, a path, an address or a number with a unit.
fn is_code(value: &[u8]) -> bool {
    let has = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    let signs = count(value, is_sign);
    value.iter().any(|byte| b"()[]{}\\".contains(byte))
        || has(b"==")
        || has(b"&&")
        || has(b"&#")
        || has(b"::")
        || has(b"||")
        || value.starts_with(b"/")
        || value.starts_with(b"--")
        || is_variable(value)
        || has(b"://")
        || has(b"/") && !is_random(value, 16, RANDOM_COST)
        || signs == 0 && (value.starts_with(b"-") || has(b"_") && longest_word(value) > 0)
        || value.iter().position(|byte| *byte == b'@').is_some_and(|at| value[at..].contains(&b'.'))
        || value.iter().position(|byte| *byte == b'=').is_some_and(|at| value[..at].iter().all(u8::is_ascii_alphabetic))
        || has(b".") && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-+".contains(byte))
        || value.iter().all(|byte| byte.is_ascii_digit() || !byte.is_ascii_alphanumeric())
}

/// Returns whether a value is the name of an algorithm, encoding, standard or type with digits behind it, such as `SHA256`
/// or `UTF-8`.
fn is_technical(value: &[u8]) -> bool {
    let word = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let rest_is_plain = value[word..].iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:".contains(byte));
    let named = RULES.names.technical.iter().any(|name| value[..word].eq_ignore_ascii_case(name.as_bytes()));
    let is_compound = value.contains(&b'-')
        && value
            .split(|byte| *byte == b'-')
            .all(|part| part.len() <= 1 || longest_word(part) > 0 || part.iter().all(u8::is_ascii_digit));
    let is_acronym = value.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    rest_is_plain && (named || is_compound || is_acronym && !is_random(value, 12, RANDOM_COST))
}
