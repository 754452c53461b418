//! Recognizes values that stand for a secret but are none: placeholders, examples, sequences of characters and password
//! hashes.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::randomness::distinct_bytes;
use super::rules::RULES;

/// Substrings of placeholder values, valid for all rules.
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
    "****",
    "...",
    "____",
    "$(",
    "${",
    "{{",
    "#{",
    "%(",
    "%{",
    "<",
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
static PLACEHOLDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(PLACEHOLDERS));
static INVENTED_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(INVENTED));

/// Length of a run in alphabetical, numerical or keyboard order that marks a placeholder.
const SEQUENCE: usize = 6;

/// Returns whether the value is a placeholder, as templates, examples and documentation contain them.
pub fn is_placeholder(value: &[u8]) -> bool {
    PLACEHOLDER.as_ref().is_some_and(|words| words.is_match(value))
        || has_sequence(value)
        || is_password_hash(value)
        || RULES.is_example(value)
        || distinct_bytes(value) < (value.len() / 3).min(8)
}

/// Returns whether a value contains a word that marks invented values.
pub fn is_invented(value: &[u8]) -> bool {
    INVENTED_WORDS.as_ref().is_some_and(|words| words.is_match(value))
}

fn words(listed: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(listed).ok()
}

/// Returns whether a value has an ascending or descending run such as `abcdef`, `123456` or `987654`, also with
/// alternating letters and digits (`A1B2C3D4E5F6`).
fn has_sequence(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let letters: Vec<u8> = lower.iter().filter(|byte| byte.is_ascii_alphabetic()).copied().collect();
    runs(&lower) || runs(&letters)
}

fn runs(value: &[u8]) -> bool {
    let (mut up, mut down) = (1, 1);
    value.windows(2).any(|pair| {
        let (a, b) = (pair[0], pair[1]);
        let plain = a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric();
        up = if plain && b == a + 1 { up + 1 } else { 1 };
        down = if plain && a == b + 1 { down + 1 } else { 1 };
        up >= SEQUENCE || down >= SEQUENCE
    })
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
