//! What a value alone says: random, chosen as a password, or a placeholder.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::rules::{BIGRAM_COSTS, RULES};

/// Parts of values that stand for a secret, wherever they occur.
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
/// And those of values that somebody made up for a test or a manual, where nothing but a name says that it is a secret.
const MADE_UP: &[&str] = &[
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
static MADE_UP_WORD: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| words(MADE_UP));

/// This many characters in the order of the alphabet, the digits or the keyboard are no chance.
const SEQUENCE: usize = 6;
/// Costs in half bits of characters of which not both are letters.
const LETTER_DIGIT: u32 = 10;
const DIGIT_LETTER: u32 = 12;
const DIGIT_DIGIT: u32 = 7;
const SEPARATOR: u32 = 4;
const SIGN: u32 = 12;
const CASE_UP: u32 = 3;
/// Half bits a character on average: words have about 8, random letters and digits about 13.
pub const RANDOM_COST: f64 = 10.1;
/// Without any digit.
const LETTERS_COST: f64 = 11.6;
/// And after a prefix that a provider gives its tokens, where less is left to prove.
pub const PREFIXED_COST: f64 = 9.2;
/// Fewer hexadecimal digits are no key.
const HEXADECIMAL: usize = 24;

/// Shannon entropy in bits a byte.
pub fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    value.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let length = value.len() as f64;
    counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length).map(|p| -p * p.log2()).sum()
}

fn words(listed: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(listed).ok()
}

fn is_made_up(value: &[u8]) -> bool {
    MADE_UP_WORD.as_ref().is_some_and(|words| words.is_match(value))
}

/// A random value that no word of it calls made up: for places where only a name says that it is a secret.
pub fn is_secret_literal(value: &[u8]) -> bool {
    is_random(value, 16, RANDOM_COST) && !is_made_up(value)
}

/// Does the value stand for a secret, as templates, examples and documentation write it?
pub fn is_placeholder(value: &[u8]) -> bool {
    PLACEHOLDER.as_ref().is_some_and(|words| words.is_match(value))
        || has_sequence(value)
        || is_password_hash(value)
        || RULES.is_example(value)
        || distinct(value) < (value.len() / 3).min(8)
}

/// A value that a machine made: enough of it, no words, no pattern.
pub fn is_random(value: &[u8], least: usize, limit: f64) -> bool {
    let body = value.trim_ascii_end();
    if body.len() < least || is_placeholder(body) || is_uuid(body) {
        return false;
    }
    let (digits, letters) = (count(body, u8::is_ascii_digit), count(body, u8::is_ascii_alphabetic));
    if let Some(text) = encoded_text(body) {
        let text = text.iter().position(|byte| *byte == b':').map_or(&text[..], |at| &text[at + 1..]);
        return is_password(text);
    }
    if is_hexadecimal(body) {
        return true;
    }
    if body.iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    let mixed = body.iter().any(u8::is_ascii_lowercase) && body.iter().any(u8::is_ascii_uppercase);
    let floor = if body.len() >= 24 { 3.4 } else { 3.0 };
    letters > 0
        && entropy(body) >= floor
        && cost(body) >= limit
        && (digits > 0 || (mixed && cost(body) >= LETTERS_COST))
}

/// The text that a value is in base64; random bytes are no text.
fn encoded_text(value: &[u8]) -> Option<Vec<u8>> {
    let digits = value.strip_suffix(b"==").or_else(|| value.strip_suffix(b"=")).unwrap_or(value);
    let mut text = Vec::with_capacity(value.len());
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in digits {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            text.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    let is_text = text.len() >= 8 && text.iter().all(|byte| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n'));
    is_text.then_some(text)
}

/// Mostly one run of hexadecimal digits, random ones.
fn is_hexadecimal(body: &[u8]) -> bool {
    let longest = body.split(|byte| !byte.is_ascii_hexdigit()).max_by_key(|run| run.len()).unwrap_or_default();
    let digits = count(longest, u8::is_ascii_digit);
    longest.len() >= HEXADECIMAL
        && longest.len() * 2 >= body.len()
        && !body.starts_with(b"sha")
        && !body.starts_with(b"md5")
        && digits * 8 >= longest.len()
        && digits * 10 <= longest.len() * 9
        && entropy(longest) >= 2.9
}

/// A value that somebody chose as a password and did not mean as an example: several kinds of characters, not only words.
pub fn is_password(value: &[u8]) -> bool {
    if value.len() < 8
        || value.len() > 200
        || is_placeholder(value)
        || is_made_up(value)
        || value.iter().any(|byte| *byte <= b' ' || *byte == 127)
    {
        return false;
    }
    let digits = count(value, u8::is_ascii_digit);
    let letters = count(value, u8::is_ascii_alphabetic);
    let signs = value.len() - digits - letters;
    let kinds = usize::from(value.iter().any(u8::is_ascii_lowercase))
        + usize::from(value.iter().any(u8::is_ascii_uppercase))
        + usize::from(digits > 0)
        + usize::from(signs > 0);
    if letters == 0 || distinct(value) < 6 {
        return false;
    }
    if let Some(text) = encoded_text(value) {
        return is_password(&text);
    }
    if digits == 0 {
        return kinds >= 2 && value.len() >= 10 && cost(value) >= LETTERS_COST;
    }
    let words = longest_word(value);
    (kinds >= 3 && words * 2 <= value.len() && cost(value) >= 8.5) || is_random(value, 12, RANDOM_COST)
}

/// The longest run of letters that reads like a word.
fn longest_word(value: &[u8]) -> usize {
    value
        .split(|byte| !byte.is_ascii_alphabetic())
        .filter(|run| run.len() >= 4 && cost(run) < 10.0)
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}

/// Does a name consist of words? Base64 does not.
pub fn is_wordy(name: &[u8]) -> bool {
    name.len() >= 3 && cost(name) < RANDOM_COST
}

/// Average cost of each character after the one before it, in half bits.
fn cost(value: &[u8]) -> f64 {
    let table = &*BIGRAM_COSTS;
    let letter = |byte: u8| usize::from(byte.to_ascii_lowercase() - b'a');
    let sum: u32 = value
        .windows(2)
        .map(|pair| match (pair[0], pair[1]) {
            (a, b) if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                let up = a.is_ascii_lowercase() && b.is_ascii_uppercase();
                u32::from(table[letter(a)][letter(b)]) + if up { CASE_UP } else { 0 }
            }
            (a, b) if a.is_ascii_digit() && b.is_ascii_digit() => DIGIT_DIGIT,
            (a, b) if a.is_ascii_digit() && b.is_ascii_alphabetic() => DIGIT_LETTER,
            (a, b) if a.is_ascii_alphabetic() && b.is_ascii_digit() => LETTER_DIGIT,
            (a, b) if [a, b].iter().any(|byte| !byte.is_ascii_alphanumeric() && !b"-_./: ".contains(byte)) => SIGN,
            _ => SEPARATOR,
        })
        .sum();
    f64::from(sum) / (value.len().max(2) - 1) as f64
}

fn count(value: &[u8], is: fn(&u8) -> bool) -> usize {
    value.iter().filter(|byte| is(byte)).count()
}

fn distinct(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    value.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    seen.iter().filter(|seen| **seen).count()
}

/// `abcdef`, `123456`, `987654`: each byte is the next one, or the one before; also `A1B2C3D4E5F6`.
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

/// What is stored instead of a password: `pbkdf2_sha256$...`, `$2b$...`, `{SSHA}...`.
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

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_not_random() {
        for text in [
            "django_tests_secret_key",
            "TokenAuthentication",
            "pbkdf2_sha256",
            "application/vnd.github.v3",
            "next_page_token2",
            "sk-spinner-double-bounce-child1",
            "AKIAIOSFODNN7EXAMPLE",
            "0123456789abcdef0123456789abcdef",
            "com.example.app.v2.SecretProvider",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "oauth2/authorization_code",
            "csrfmiddlewaretoken",
            "aaaaaaaaaaaaaaaaaaaaaaaa1",
        ] {
            assert!(!is_random(text.as_bytes(), 16, RANDOM_COST), "{text} {}", cost(text.as_bytes()));
        }
    }

    #[test]
    fn made_values_are_random() {
        // Not secrets: the digests of "a", "b", ... in several alphabets.
        for text in
            ["Zk8Qm3vXr7Lp2TnW9sYb", "q7x2m9k4v8z3w6j1", "ca978112ca1bbdcafac231b39a23dc4d", "JBSWY3DPEHPK3PXPGQ4TSNBT"]
        {
            assert!(is_random(text.as_bytes(), 16, RANDOM_COST), "{text} {}", cost(text.as_bytes()));
        }
    }

    #[test]
    fn passwords_are_told_from_words() {
        for text in ["Xk9#mQ2v", "tR7!pLw2Zq", "9fGh-22xKq_7"] {
            assert!(is_password(text.as_bytes()), "{text}");
        }
        for text in [
            "password",
            "password1",
            "correcthorse",
            "secret123",
            "${DB_PASS}",
            "hunter2",
            "tiger",
            "p@ssw0rd!",
            "get_password2",
        ] {
            assert!(!is_password(text.as_bytes()), "{text}");
        }
    }
}
