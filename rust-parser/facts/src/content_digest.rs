//! Content digests, which decide whether a file has changed since it was indexed.

use std::fmt::Debug;

/// Returns the first 16 bytes of the BLAKE3 hash of a file's content, which identify the content.
pub fn digest_of(data: &[u8]) -> [u8; 16] {
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::hash(data).as_bytes()[..16]);
    digest
}

/// Returns a hash of everything that a value's `Debug` text says.
pub fn hash_of(value: &impl Debug) -> u64 {
    u64::from_le_bytes(blake3::hash(format!("{value:?}").as_bytes()).as_bytes()[..8].try_into().expect("8 bytes"))
}

/// Returns lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_the_head_of_blake3() {
        // First 16 bytes of the official BLAKE3 test vector for the empty input.
        assert_eq!(hex(&digest_of(b"")), "af1349b9f5f9a1a6a0404dea36dcc949");
    }
}
