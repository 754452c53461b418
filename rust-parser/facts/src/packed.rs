//! Facts as compressed bytes: so the cache stores them, and a linker keeps them between updates.

use crate::FileFacts;

/// Bytes that one byte of an LZ4 block can stand for, at most.
const MAX_RATIO: usize = 255;

/// Returns the facts serialized and compressed, at a sixth of their size in memory.
pub fn pack(facts: &FileFacts) -> Vec<u8> {
    lz4_flex::block::compress_prepend_size(&postcard::to_stdvec(facts).expect("facts are plain values"))
}

/// Returns the facts that [`pack`] packed; `None` for other bytes. The bytes may come from a published index: the length
/// that they begin with is allocated only if so many bytes of LZ4 can have it.
pub fn unpack(packed: &[u8]) -> Option<FileFacts> {
    let (length, block) = lz4_flex::block::uncompressed_size(packed).ok()?;
    if length > block.len().saturating_mul(MAX_RATIO).saturating_add(MAX_RATIO) {
        return None;
    }
    postcard::from_bytes(&lz4_flex::block::decompress(block, length).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn a_length_that_the_bytes_cannot_have_is_refused_before_it_is_allocated() {
        let mut packed = u32::MAX.to_le_bytes().to_vec();
        packed.extend_from_slice(&[0x10, b'a']);
        assert!(unpack(&packed).is_none());
    }
}
