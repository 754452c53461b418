//! Classifies a value by its characters alone: random, or chosen as a password.

use super::placeholders::{is_invented, is_placeholder};
use super::randomness::{LETTERS_COST, RANDOM_COST, average_cost, count, distinct_bytes, entropy, longest_word};

/// Least number of hexadecimal digits in a key.
const HEXADECIMAL: usize = 24;

/// Returns whether a value is random and contains no word that marks invented values. Used where only a name indicates
/// a secret.
pub fn is_secret_literal(value: &[u8]) -> bool {
    is_random(value, 16, RANDOM_COST) && !is_invented(value)
}

/// Returns whether a value is random: at least `least` bytes, no words and no pattern. `limit` is the least average
/// cost in half bits per character.
pub fn is_random(value: &[u8], least: usize, limit: f64) -> bool {
    let body = value.trim_ascii_end();
    if body.len() < least || is_placeholder(body) || is_uuid(body) {
        return false;
    }
    let (digits, letters) = (count(body, u8::is_ascii_digit), count(body, u8::is_ascii_alphabetic));
    if let Some(text) = encoded_text(body) {
        let text = text.iter().position(|byte| *byte == b':').map_or(&text[..], |at| &text[at + 1..]);
        return is_password_text(text);
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
        && average_cost(body) >= limit
        && (digits > 0 || (mixed && average_cost(body) >= LETTERS_COST))
}

/// Returns whether a value is a password in base64 with padding, as manifests of Kubernetes have it.
pub fn is_encoded_password(value: &[u8]) -> bool {
    value.ends_with(b"=") && encoded_text(value).is_some_and(|text| is_password_text(&text))
}

fn is_password_text(text: &[u8]) -> bool {
    is_password(text) || is_chosen(text)
}

/// Returns the text that a base64 value encodes, or `None` if it encodes random bytes.
fn encoded_text(value: &[u8]) -> Option<Vec<u8>> {
    decoded_text(value).filter(|text| text.len() >= 8)
}

/// Returns the text that base64 digits encode, with the padding or without, or `None` at the first byte that is no text.
pub fn decoded_text(value: &[u8]) -> Option<Vec<u8>> {
    let digits = value.strip_suffix(b"==").or_else(|| value.strip_suffix(b"=")).unwrap_or(value);
    let mut text = Vec::new();
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
            let byte = (bits >> held) as u8;
            bits &= (1 << held) - 1;
            if !byte.is_ascii_graphic() && !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return None;
            }
            text.push(byte);
        }
    }
    Some(text)
}

/// Returns whether a value is mostly one run of random hexadecimal digits.
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

/// Returns whether a literal under the name of a password is one that somebody chose, though it has words of invented
/// values in it (`J4vaPassw0rd!`): long, with a digit and a sign, and no placeholder.
pub fn is_chosen(value: &[u8]) -> bool {
    let has_sign = value.iter().any(|byte| b"!#$%^&*+?~@".contains(byte));
    let is_code = value.iter().any(|byte| b"()[]{}<>/\\".contains(byte));
    (10..=128).contains(&value.len())
        && has_sign
        && !is_code
        && value.iter().any(u8::is_ascii_digit)
        && count(value, u8::is_ascii_alphabetic) >= 4
        && distinct_bytes(value) >= 7
        && !is_placeholder(value)
}

/// Returns whether a value resembles a password that is not an example: several kinds of characters, and not only
/// words.
pub fn is_password(value: &[u8]) -> bool {
    if value.len() < 8
        || value.len() > 200
        || is_placeholder(value)
        || is_invented(value)
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
    if letters == 0 || distinct_bytes(value) < 6 {
        return false;
    }
    if let Some(text) = encoded_text(value) {
        return is_password_text(&text);
    }
    if digits == 0 {
        return kinds >= 2 && value.len() >= 10 && average_cost(value) >= LETTERS_COST;
    }
    let words = longest_word(value);
    (kinds >= 3 && words * 2 <= value.len() && average_cost(value) >= 8.5) || is_random(value, 12, RANDOM_COST)
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
            assert!(!is_random(text.as_bytes(), 16, RANDOM_COST), "{text} {}", average_cost(text.as_bytes()));
        }
    }

    #[test]
    fn generated_values_are_random() {
        // Not secrets: the digests of "a", "b", ... in several alphabets.
        for text in
            ["Zk8Qm3vXr7Lp2TnW9sYb", "q7x2m9k4v8z3w6j1", "ca978112ca1bbdcafac231b39a23dc4d", "JBSWY3DPEHPK3PXPGQ4TSNBT"]
        {
            assert!(is_random(text.as_bytes(), 16, RANDOM_COST), "{text} {}", average_cost(text.as_bytes()));
        }
    }

    #[test]
    fn passwords_are_distinguished_from_words() {
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
