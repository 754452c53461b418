//! The snapshot of the linker beside the cache file. It belongs to the facts that the cache holds: when facts are added
//! or erased, the snapshot is removed.
//!
//! Layout: `MAGIC`, version (u32, little-endian), checksum (32 bytes) of the rest, the rest.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;

use rayon::prelude::*;

use super::digest::ContentDigest;
use super::file::CacheFile;
use crate::FACTS_VERSION;

const MAGIC: &[u8; 8] = b"atlasln2";
const HEADER: usize = 44;
const SUFFIX: &str = ".links";
/// Bytes written at once.
const WRITE_BYTES: usize = 1 << 20;

impl CacheFile {
    /// Returns the snapshot, if there is an undamaged one of this version.
    pub fn read_snapshot(&self) -> Option<Vec<u8>> {
        let file = self.folder.as_ref()?.beside(SUFFIX).ok()?.read().ok()?;
        let length = file.metadata().ok()?.len().checked_sub(HEADER as u64)?;
        let (mut header, mut bytes) = ([0; HEADER], vec![0; usize::try_from(length).ok()?]);
        file.read_exact_at(&mut header, 0).ok()?;
        file.read_exact_at(&mut bytes, HEADER as u64).ok()?;
        (header == header_of(blake3::hash(&bytes))).then_some(bytes)
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

    /// Returns the serialized facts of each path and content, in order; `None` if one is missing, damaged, or must not
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
    let mut body = BufWriter::with_capacity(WRITE_BYTES, Hashed { file, hasher: blake3::Hasher::new() });
    body.write_all(&[0; HEADER])?;
    body.flush()?;
    body.get_mut().hasher.reset();
    write(&mut body).ok_or(io::ErrorKind::InvalidData)?;
    let hashed = body.into_inner()?;
    file.write_all_at(&header_of(hashed.hasher.finalize()), 0)
}

/// Writes to a file what it hashes.
struct Hashed<'a> {
    file: &'a File,
    hasher: blake3::Hasher,
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn header_of(checksum: blake3::Hash) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&FACTS_VERSION.to_le_bytes());
    header[12..].copy_from_slice(checksum.as_bytes());
    header
}
