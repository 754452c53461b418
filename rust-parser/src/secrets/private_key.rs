//! Private keys in PEM, OpenSSH and PGP armour: where the body of a key lies, also inside string literals.

const KEY_BEGIN: &[u8] = b"-----BEGIN ";
/// A private key has at least this many base64 characters (Ed25519: 64).
const KEY_CHARACTERS: usize = 60;
/// One for RSA, DSA or PGP is never that short; manuals cut them off like that.
const LONG_KEY_CHARACTERS: usize = 200;
/// Its lines have 64, only the last one fewer.
const KEY_LINE: usize = 40;
/// The end of a key is looked for within this many bytes.
const KEY_BYTES: usize = 32 << 10;
/// Fewer different characters make a body a placeholder.
const VARIETY: usize = 20;

/// The keyword that leads here.
pub const KEYWORD: &str = "-----begin ";

/// The span of the body of the key that begins at `at` with `-----BEGIN `, if there is one, and the bytes looked at.
///
/// A body is all between the two lines of armour. Without an end it is the base64 that follows.
pub fn body_at(data: &[u8], at: usize) -> (Option<(usize, usize)>, usize) {
    let Some((kind, start)) = label_at(data, at) else { return (None, KEY_BEGIN.len()) };
    let rest = &data[start..data.len().min(start + KEY_BYTES)];
    let end = rest.windows(5).position(|window| window == b"-----").unwrap_or_else(|| base64_end(rest));
    let body = &rest[..end];
    // Code between the marks has letters, too, but not in lines of this length.
    let has_line = body.split(|byte| !is_base64(byte)).any(|run| run.len() >= KEY_LINE);
    let is_long = kind.starts_with(b"RSA") || kind.starts_with(b"DSA") || kind.ends_with(b"BLOCK");
    let least = if is_long { LONG_KEY_CHARACTERS } else { KEY_CHARACTERS };
    let enough = body.iter().filter(|byte| is_base64(byte)).count() >= least;
    ((has_line && enough && is_varied(body)).then_some((start, start + end)), end)
}

/// The label of a private key's armour, and where its line ends.
fn label_at(data: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = data[at..].strip_prefix(KEY_BEGIN)?;
    let is_label = |byte: &&u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ';
    let length = rest.iter().take(100).take_while(is_label).count();
    let label = &rest[..length];
    let is_private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    (is_private && rest[length..].starts_with(b"-----")).then_some((label, at + KEY_BEGIN.len() + length + 5))
}

/// Where lines of base64 stop, with what string literals put between them.
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
