//! Secrets in a text: where they are, which rule says so, and the text without them. Knows bytes, not languages.
//!
//! The rules are data (`secret-rules/`): those that Betterleaks publishes and our own. `scan` finds their keywords and runs
//! them, `assignment` looks at literals under names that hold secrets, `value_classes` says what is random and what a placeholder,
//! `private_key` knows armour. ADR 0015 has the decision and the measurement.

mod assignment;
mod placeholders;
mod private_key;
mod randomness;
mod rules;
mod scan;
mod value_classes;

use std::borrow::Cow;

pub use rules::RULE_FILES;
pub use scan::TooMuch;

/// What a byte of a secret becomes; line breaks stay, so that every line keeps its number.
const MASK: u8 = b'*';
const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// A literal that must not leave this module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    pub start: usize,
    pub end: usize,
    pub rule: &'static str,
    /// From 1.
    pub line: u32,
}

/// The secrets of a text, sorted, without overlaps.
pub fn find(data: &[u8]) -> Result<Vec<Secret>, TooMuch> {
    if !UTF16_MARKS.iter().any(|mark| data.starts_with(mark)) {
        return scan::find(data);
    }
    // Of UTF-16, one byte of two says what an ASCII character is.
    let narrow: Vec<u8> =
        data[2..].chunks(2).map(|pair| pair.iter().copied().find(|byte| *byte != 0).unwrap_or(0)).collect();
    let mut secrets = scan::find(&narrow)?;
    for secret in &mut secrets {
        (secret.start, secret.end) = (2 + 2 * secret.start, (2 + 2 * secret.end).min(data.len()));
    }
    Ok(secrets)
}

/// The text with every secret masked: as long as before, with the same lines.
pub fn mask<'a>(data: &'a [u8], secrets: &[Secret]) -> Cow<'a, [u8]> {
    if secrets.is_empty() {
        return Cow::Borrowed(data);
    }
    let mut masked = data.to_vec();
    for secret in secrets {
        for byte in &mut masked[secret.start..secret.end] {
            if !matches!(byte, b'\n' | b'\r' | 0) {
                *byte = MASK;
            }
        }
    }
    Cow::Owned(masked)
}
