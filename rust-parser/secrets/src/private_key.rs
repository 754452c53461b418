//! Finds the bodies of private keys in PEM, OpenSSH and PGP armour, also inside string literals.

const KEY_BEGIN: &[u8] = b"-----BEGIN ";
/// Least number of base64 characters in a private key (Ed25519 has 64).
const KEY_CHARACTERS: usize = 60;
/// Least number for RSA, DSA and PGP keys. Shorter ones are truncated examples in manuals.
const LONG_KEY_CHARACTERS: usize = 200;
/// Least length of a full line. Lines have 64 characters; only the last one is shorter.
const KEY_LINE: usize = 40;
/// Bytes after the start within which the end of a key is searched for.
const KEY_BYTES: usize = 32 << 10;
/// Least number of distinct characters; a body with fewer is a placeholder.
const VARIETY: usize = 20;

/// The keyword that triggers this check.
pub const KEYWORD: &str = "-----begin ";

/// Returns the span of the body of the key whose `-----BEGIN ` starts at `at`, if there is one, and the number of bytes
/// examined.
///
/// The body is everything between the two lines of armour. Without an end line it is the base64 text that follows.
pub fn body_at(data: &[u8], at: usize) -> (Option<(usize, usize)>, usize) {
    let Some((kind, start)) = label_at(data, at) else { return (None, KEY_BEGIN.len()) };
    let rest = &data[start..data.len().min(start + KEY_BYTES)];
    let end = rest.windows(5).position(|window| window == b"-----").unwrap_or_else(|| base64_end(rest));
    let body = &rest[..end];
    // Code between the markers contains letters, too, but no base64 lines of this length.
    let has_line = body.split(|byte| !is_base64(byte)).any(|run| run.len() >= KEY_LINE);
    let is_long = kind.starts_with(b"RSA") || kind.starts_with(b"DSA") || kind.ends_with(b"BLOCK");
    let least = if is_long { LONG_KEY_CHARACTERS } else { KEY_CHARACTERS };
    let enough = body.iter().filter(|byte| is_base64(byte)).count() >= least;
    ((has_line && enough && is_varied(body)).then_some((start, start + end)), end)
}

/// Returns the label of a private key's armour and the end of its line.
fn label_at(data: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = data[at..].strip_prefix(KEY_BEGIN)?;
    let is_label = |byte: &&u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ';
    let length = rest.iter().take(100).take_while(is_label).count();
    let label = &rest[..length];
    let is_private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    (is_private && rest[length..].starts_with(b"-----")).then_some((label, at + KEY_BEGIN.len() + length + 5))
}

/// Returns the end of the base64 lines, including the punctuation that string literals put between them.
fn base64_end(body: &[u8]) -> usize {
    let belongs =
        |byte: &u8| is_base64(byte) || matches!(byte, b'\r' | b'\n' | b' ' | b'\t' | b'\\' | b'"' | b'\'' | b',');
    body.iter().position(|byte| !belongs(byte)).unwrap_or(body.len())
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn is_varied(bytes: &[u8]) -> bool {
    let mut seen = [false; 256];
    bytes.iter().filter(|byte| is_base64(byte)).for_each(|byte| seen[usize::from(*byte)] = true);
    seen.iter().filter(|seen| **seen).count() >= VARIETY
}
