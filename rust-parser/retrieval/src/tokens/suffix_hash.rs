//! The hash of tokens, from the last byte to the first: the hashes of all suffixes of a text come from one pass. The
//! build script, which writes the table of tokens, uses this file, too.

/// Slots of the table; 38 of 100 are used.
pub const SLOTS: usize = 1 << 18;
/// A slot without a token.
pub const EMPTY: u32 = u32::MAX;
/// Bits of a slot that hold the token; the others are part of its hash.
pub const TOKEN_BITS: u32 = 17;
/// Longest token in bytes.
pub const LONGEST: usize = 128;

/// The hash of the bytes so far.
#[derive(Clone, Copy, Default)]
pub struct SuffixHash(u64);

impl SuffixHash {
    /// Adds the byte before those so far.
    pub fn before(self, byte: u8) -> Self {
        Self((self.0.rotate_left(5) ^ (u64::from(byte) + 1)).wrapping_mul(0x517c_c1b7_2722_0a95))
    }

    /// Adds the bytes before those so far.
    pub fn before_all(self, bytes: &[u8]) -> Self {
        bytes.iter().rev().fold(self, |hash, byte| hash.before(*byte))
    }

    /// Returns the first slot to look at, and the bits that a slot's content must have above the token.
    pub fn slot(self) -> (usize, u32) {
        let mixed = self.0 ^ (self.0 >> 29);
        ((mixed >> 46) as usize, ((mixed >> 20) as u32) << TOKEN_BITS)
    }
}
