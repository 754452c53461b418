//! The snapshot of the linker beside the cache file. It belongs to the facts that the cache holds: when facts are added
//! or erased, the snapshot is removed.
//!
//! Layout: `MAGIC`, version (u32, little-endian), checksum (32 bytes) of the rest, the rest: compressed blocks behind their
//! lengths (u32).

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::FileExt;

use rayon::prelude::*;

use super::digest::ContentDigest;
use super::file::CacheFile;
use crate::FACTS_VERSION;

const MAGIC: &[u8; 8] = b"atlasln3";
const HEADER: usize = 44;
const SUFFIX: &str = ".links";
/// Most bytes of a block, before compression.
const BLOCK_BYTES: usize = 1 << 20;

impl CacheFile {
    /// Returns the snapshot, if there is an undamaged one of this version.
    pub fn read_snapshot(&self) -> Option<Vec<u8>> {
        let file = self.folder.as_ref()?.beside(SUFFIX).ok()?.read().ok()?;
        let mut left = file.metadata().ok()?.len().checked_sub(HEADER as u64)?;
        let (mut from, mut header, mut hasher) = (BufReader::new(file), [0; HEADER], blake3::Hasher::new());
        from.read_exact(&mut header).ok()?;
        let (mut bytes, mut block, mut plain) = (Vec::new(), Vec::new(), vec![0; BLOCK_BYTES]);
        let longest = lz4_flex::block::get_maximum_output_size(BLOCK_BYTES);
        let mut length = [0; 4];
        while left > 0 {
            from.read_exact(&mut length).ok()?;
            block.resize(usize::try_from(u32::from_le_bytes(length)).ok().filter(|&length| length <= longest)?, 0);
            from.read_exact(&mut block).ok()?;
            left = left.checked_sub((length.len() + block.len()) as u64)?;
            hasher.update(&length).update(&block);
            let count = lz4_flex::block::decompress_into(&block, &mut plain).ok()?;
            bytes.extend_from_slice(&plain[..count]);
        }
        (header == header_of(hasher.finalize())).then_some(bytes)
    }

    /// Replaces the snapshot by what a function writes; `None` from it means that there can be none. Returns whether
    /// that succeeded; otherwise there is none afterwards.
    pub fn write_snapshot(&self, write: impl FnOnce(&mut dyn Write) -> Option<()>) -> bool {
        let is_written = self.lock.is_some() && !self.full && self.replace_snapshot(write).is_ok();
        if !is_written {
            self.drop_snapshot();
        }
        is_written
    }

    fn replace_snapshot(&self, write: impl FnOnce(&mut dyn Write) -> Option<()>) -> io::Result<()> {
        let place = self.folder.as_ref().ok_or(io::ErrorKind::NotFound)?.beside(SUFFIX)?;
        let file = place.new_copy()?;
        write_file(&file, write).and_then(|()| place.replace()).inspect_err(|_| place.remove_copy())
    }

    /// Removes the snapshot, if this process may write.
    pub fn drop_snapshot(&self) {
        let place = self.folder.as_ref().filter(|_| self.lock.is_some()).map(|folder| folder.beside(SUFFIX));
        if let Some(Ok(place)) = place {
            place.remove();
            place.remove_copy();
        }
    }

    /// Returns the packed facts of each path and content, in order; `None` if one is missing, damaged, or must not
    /// be indexed.
    pub fn packed_facts(&self, wanted: &[(&str, ContentDigest)]) -> Option<Vec<Box<[u8]>>> {
        let packed = wanted.par_iter().map(|(path, digest)| {
            let mut payload = self.find(path, digest)?.payload(self.file.as_ref()?)?;
            // An entry is its reason to be skipped, empty here, and the facts.
            (payload.first() == Some(&0)).then(|| payload.split_off(1).into())
        });
        packed.collect()
    }
}

fn write_file(file: &File, write: impl FnOnce(&mut dyn Write) -> Option<()>) -> io::Result<()> {
    let mut body = Blocks { file, hasher: blake3::Hasher::new(), plain: Vec::with_capacity(BLOCK_BYTES) };
    body.file.write_all(&[0; HEADER])?;
    write(&mut body).ok_or(io::ErrorKind::InvalidData)?;
    body.flush()?;
    file.write_all_at(&header_of(body.hasher.finalize()), 0)
}

/// Compresses what is written, block by block, into a file, and hashes it.
struct Blocks<'a> {
    file: &'a File,
    hasher: blake3::Hasher,
    plain: Vec<u8>,
}

impl Write for Blocks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(BLOCK_BYTES - self.plain.len());
        self.plain.extend_from_slice(&bytes[..taken]);
        if self.plain.len() == BLOCK_BYTES {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.plain.is_empty() {
            return Ok(());
        }
        let block = lz4_flex::block::compress(&self.plain);
        self.plain.clear();
        for part in [&(block.len() as u32).to_le_bytes()[..], &block] {
            self.hasher.update(part);
            self.file.write_all(part)?;
        }
        Ok(())
    }
}

fn header_of(checksum: blake3::Hash) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&FACTS_VERSION.to_le_bytes());
    header[12..].copy_from_slice(checksum.as_bytes());
    header
}
