//! Recognizes values that stand for a secret but are none: placeholders, examples, sequences of characters and password
//! hashes.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::randomness::{LETTERS_COST, average_cost, count, distinct_bytes, entropy};
use super::rules::RULES;

/// Words of placeholder values, valid for all rules.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "sample",
    "changeme",
    "change_me",
    "change-me",
    "placeholder",
    "your_",
    "your-",
    "yourpass",
    "yourtoken",
    "yoursecret",
    "yourkey",
    "xxxx",
    "dummy",
    "fake",
    "redacted",
    "replace",
    "notreal",
    "not_real",
    "not-real",
    "todo",
    "fixme",
    "lorem",
    "qwerty",
    "asdf",
    "00000",
    "11111",
    "deadbeef",
    "cafebabe",
];
/// Marks of templates, escapes and regular expressions: no value has them.
const MARKS: &[&str] = &[
    "****",
    "...",
    "____",
    "$(",
    "${",
    "{{",
    "#{",
    "%(",
    "%{",
    "\\u",
    "\\x",
    "process.env",
    "getenv",
    "\\0",
    "[a-",
    "[0-9",
    "]{",
    "(?",
];
/// Substrings of invented values in tests and manuals, checked only where the name alone indicates a secret.
const INVENTED: &[&str] = &[
    "password",
    "passw0rd",
    "p@ssw0rd",
    "mysecret",
    "my_secret",
    "my-secret",
    "s3cr3t",
    "secret_key",
    "test_",
    "_test",
    "test-",
    "-test",
    "testing",
    "foobar",
    "foo_",
    "foo%",
    "hunter2",
    "tiger",
    "letmein",
    "undefined",
    "environ",
    "encrypted",
    "secrets.",
    "config.",
    "settings.",
    "localhost",
    "null",
    "insecure",
    "some_",
    "some-",
    "unused",
    "invalid",
    "insert",
    "mock",
    "----",
    "====",
];
static PLACEHOLDER_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(PLACEHOLDERS));
static INVENTED_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(INVENTED));
static MARKED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(MARKS));

/// Length of a run in alphabetical, numerical or keyboard order that marks a placeholder.
const SEQUENCE: usize = 6;
/// Least length of what is left of a value without such words and runs for it to be a value of its own: a token does not
/// become a placeholder because `example` is somewhere in it.
const REMAINDER: usize = 16;
/// Least average cost of a character of it, in half bits: numbers in tokens cost less than letters.
const REMAINDER_COST: f64 = 8.4;

/// Returns whether the value as a whole is a placeholder, as templates, examples and documentation contain them.
pub fn is_placeholder(value: &[u8]) -> bool {
    MARKED.as_ref().is_some_and(|marks| marks.is_match(value))
        || value.first() == Some(&b'<')
        || value.iter().position(|byte| *byte == b'<').is_some_and(|at| value[at..].contains(&b'>'))
        || is_password_hash(value)
        || RULES.is_example(value)
        || distinct_bytes(value) < (value.len() / 3).min(8)
        || consists_of(value, PLACEHOLDER_WORDS.as_ref())
}

/// Returns whether a value consists of words that mark invented values, and little else.
pub fn is_invented(value: &[u8]) -> bool {
    consists_of(value, INVENTED_WORDS.as_ref())
}

/// Returns whether a value has one of these words or a sequence, and what is left without them is no random value.
fn consists_of(value: &[u8], words: Option<&AhoCorasick>) -> bool {
    let mut rest = Vec::with_capacity(value.len());
    let mut at = 0;
    for word in words.into_iter().flat_map(|words| words.find_iter(value)) {
        rest.extend_from_slice(&value[at..word.start()]);
        at = word.end();
    }
    rest.extend_from_slice(&value[at..]);
    let rest = without_sequences(&rest);
    if rest.len() == value.len() {
        return has_mixed_sequence(value);
    }
    let cost = average_cost(&rest);
    rest.len() < REMAINDER
        || entropy(&rest) < 3.0
        || cost < REMAINDER_COST
        || (count(&rest, u8::is_ascii_digit) < 2 && cost < LETTERS_COST)
        || has_mixed_sequence(&rest)
}

fn words(listed: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(listed).ok()
}

/// Returns whether the letters of a value alone have an ascending or descending run: `A1B2C3D4E5F6`.
fn has_mixed_sequence(value: &[u8]) -> bool {
    let letters: Vec<u8> = value.iter().filter(|byte| byte.is_ascii_alphabetic()).copied().collect();
    without_sequences(&letters).len() < letters.len()
}

/// Returns a value without ascending and descending runs such as `abcdef`, `123456` or `987654`.
fn without_sequences(value: &[u8]) -> Vec<u8> {
    let mut rest: Vec<u8> = Vec::with_capacity(value.len());
    let mut at = 0;
    while at < value.len() {
        let length = run(&value[at..], 1).max(run(&value[at..], -1));
        if length < SEQUENCE {
            rest.push(value[at]);
        }
        at += if length < SEQUENCE { 1 } else { length };
    }
    rest
}

/// Returns the number of bytes at the start that each are `step` above the one before, without case.
fn run(value: &[u8], step: i16) -> usize {
    let follows = |pair: &[u8]| {
        let (a, b) = (pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase());
        a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric() && i16::from(b) == i16::from(a) + step
    };
    1 + value.windows(2).take_while(|pair| follows(pair)).count()
}

/// Recognizes password hashes: `pbkdf2_sha256$...`, `$2b$...`, `{SSHA}...`.
fn is_password_hash(value: &[u8]) -> bool {
    let algorithm = value.iter().position(|byte| *byte == b'$').map(|at| &value[..at]);
    let named = algorithm.is_some_and(|name| {
        let known = [
            &b"pbkdf2"[..],
            b"argon2",
            b"bcrypt",
            b"scrypt",
            b"sha1",
            b"sha256",
            b"sha512",
            b"md5",
            b"crypt",
            b"SHA-",
            b"SCRAM",
        ];
        known.iter().any(|start| name.starts_with(start))
    });
    let crypt = value.len() > 20 && value[0] == b'$' && value[1..].iter().take(12).any(|byte| *byte == b'$');
    named || crypt || value.starts_with(b"{SSHA") || value.starts_with(b"{SHA") || value.starts_with(b"{CRYPT")
}
