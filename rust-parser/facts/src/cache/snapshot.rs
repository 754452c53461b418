//! The snapshot of the linker beside the cache file. It belongs to the facts that the cache holds: when facts are added
//! or erased, the snapshot is removed.
//!
//! Layout: `MAGIC`, version (u32, little-endian), checksum (32 bytes) of the rest, the rest.

use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use rayon::prelude::*;

use super::digest::ContentDigest;
use super::file::CacheFile;
use crate::FACTS_VERSION;

const MAGIC: &[u8; 8] = b"atlaslnk";
const HEADER: usize = 44;
const SUFFIX: &str = ".links";

impl CacheFile {
    /// Returns the snapshot, if there is an undamaged one of this version.
    pub fn read_snapshot(&self) -> Option<Vec<u8>> {
        let file = self.folder.as_ref()?.beside(SUFFIX).ok()?.read().ok()?;
        let length = file.metadata().ok()?.len().checked_sub(HEADER as u64)?;
        let (mut header, mut bytes) = ([0; HEADER], vec![0; usize::try_from(length).ok()?]);
        file.read_exact_at(&mut header, 0).ok()?;
        file.read_exact_at(&mut bytes, HEADER as u64).ok()?;
        (header == header_of(&bytes)).then_some(bytes)
    }

    /// Replaces the snapshot. Returns whether that succeeded; otherwise there is none afterwards.
    pub fn write_snapshot(&self, bytes: &[u8]) -> bool {
        let is_written = self.lock.is_some() && !self.full && self.replace_snapshot(bytes).is_ok();
        if !is_written {
            self.drop_snapshot();
        }
        is_written
    }

    fn replace_snapshot(&self, bytes: &[u8]) -> io::Result<()> {
        let place = self.folder.as_ref().ok_or(io::ErrorKind::NotFound)?.beside(SUFFIX)?;
        let mut file = place.new_copy()?;
        let written = file.write_all(&header_of(bytes)).and_then(|()| file.write_all(bytes));
        written.and_then(|()| place.replace()).inspect_err(|_| place.remove_copy())
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

fn header_of(bytes: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&FACTS_VERSION.to_le_bytes());
    header[12..].copy_from_slice(blake3::hash(bytes).as_bytes());
    header
}
