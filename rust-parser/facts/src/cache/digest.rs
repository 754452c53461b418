//! The content digest of a file, by which its facts are looked up.

/// The first 16 bytes of the BLAKE3 hash of a file's content.
pub type ContentDigest = [u8; 16];

/// Parses a hexadecimal digest. Returns `None` for other text.
pub fn parse_digest(text: &str) -> Option<ContentDigest> {
    let mut digest = [0; 16];
    if text.len() != 2 * digest.len() {
        return None;
    }
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(digest)
}
