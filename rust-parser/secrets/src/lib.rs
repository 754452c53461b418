//! Finds and masks secrets in text. Works on bytes and knows nothing about languages.
//!
//! The rules are data (`secret-rules/`): the published rules of Betterleaks and our own. `scan` finds their keywords
//! and runs them, `assignment` examines literals assigned to names that hold secrets, and `private_key` finds armoured
//! keys. `tokens` finds shapes that need no keyword and base64 text with a secret in it, `joined` secrets that are divided
//! over several literals. `stated` classifies what prose states as a password. `value_classes` classifies values as random or as passwords, with the help of `randomness` and `placeholders`.
//! ADR 0015 has the decision and the measurements.
//!
//! ```
//! let text = b"password = \"hU7!kQz92_vXe\"\nname = \"demo\"\n";
//! let found = atlas_secrets::find(text).unwrap();
//! assert_eq!((found.len(), found[0].line), (1, 1));
//! let masked = atlas_secrets::mask(text, &found);
//! assert_eq!(&masked[..], b"password = \"*************\"\nname = \"demo\"\n");
//! ```

#![forbid(unsafe_code)]

mod assignment;
mod found;
mod joined;
mod placeholders;
mod private_key;
mod randomness;
mod rules;
mod scan;
mod stated;
mod tokens;
mod value_classes;

use std::borrow::Cow;

pub use found::{Secret, TooMuch};
pub use rules::RULE_FILES;

/// Replaces each byte of a secret. Line breaks stay, so that line numbers do not change.
const MASK: u8 = b'*';
const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Returns the secrets of a text, sorted, without overlaps.
///
/// # Errors
/// [`TooMuch`] when matching the rules would cost more than the work limit.
pub fn find(data: &[u8]) -> Result<Vec<Secret>, TooMuch> {
    if !UTF16_MARKS.iter().any(|mark| data.starts_with(mark)) {
        return scan::find(data);
    }
    // In UTF-16, the non-zero byte of a pair holds the ASCII character.
    let narrow: Vec<u8> =
        data[2..].chunks(2).map(|pair| pair.iter().copied().find(|byte| *byte != 0).unwrap_or(0)).collect();
    let mut secrets = scan::find(&narrow)?;
    for secret in &mut secrets {
        (secret.start, secret.end) = (2 + 2 * secret.start, (2 + 2 * secret.end).min(data.len()));
    }
    Ok(secrets)
}

/// Returns the text with every secret masked. Length and lines do not change.
pub fn mask<'a>(data: &'a [u8], secrets: &[Secret]) -> Cow<'a, [u8]> {
    if secrets.is_empty() {
        return Cow::Borrowed(data);
    }
    let mut masked = data.to_vec();
    for secret in secrets {
        let body = &mut masked[secret.start..secret.end];
        if body.contains(&b'\n') && !body.contains(&0) {
            body.split_mut(|byte| *byte == b'\n').for_each(mask_line);
        } else {
            body.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r' | 0)).for_each(|byte| *byte = MASK);
        }
    }
    Cow::Owned(masked)
}

/// Masks a line of a secret of several lines, except what the language puts around it: comment signs, quotes, `\n`.
/// Without these the file would not parse.
fn mask_line(line: &mut [u8]) {
    let is_secret = |byte: &u8| byte.is_ascii_alphanumeric();
    let Some(mut first) = line.iter().position(is_secret) else { return };
    if let Some(quote) = line.iter().skip(first).take(3).position(|byte| matches!(byte, b'"' | b'\'')) {
        // the prefix of a literal: `b"...`
        let Some(inside) = line[first + quote..].iter().position(is_secret) else { return };
        first += quote + inside;
    }
    let escapes = first > 0 && line[first - 1] == b'\\';
    let mut end = line.iter().rposition(is_secret).map_or(line.len(), |last| last + 1);
    while end > first + 1 && line[end - 2] == b'\\' {
        end = line[..end - 2].iter().rposition(is_secret).map_or(first, |last| last + 1);
    }
    let start = first + usize::from(escapes);
    line[start..end.max(start)].fill(MASK);
}
