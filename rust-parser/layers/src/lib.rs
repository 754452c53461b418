//! A file in two layers: its own blocks, and below them a file that several share and that none of them writes to. It is
//! what shared blocks of a file system are, for file systems that have none (ADR 0094).
//!
//! Beside the file lie `NAME-base`, the shared file, and `NAME-own`, one bit for each of its blocks: set if the block is
//! in the file itself, where all others are holes. A bit is set after its block was written and is never cleared, so a
//! reader in another process sees the old block or the new one. What lies behind the shared file's last whole block is
//! the file's own.
//!
//! ```
//! use atlas_layers::Layers;
//!
//! // a file without the other two has one layer
//! assert!(Layers::beside(std::path::Path::new("/no/such/file"), 0, true).unwrap().is_none());
//! ```

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::fs::OFlags;

/// Bytes of a block.
pub const BLOCK: u64 = 4096;
/// Suffix of the shared file.
pub const BASE_SUFFIX: &str = "-base";
/// Suffix of the file with the bits.
pub const OWN_SUFFIX: &str = "-own";
/// Start of the file with the bits. The inode of the file that they belong to follows (u64, little-endian).
pub const MAGIC: &[u8; 8] = b"atlasly1";
const HEADER: u64 = 16;

/// The layer below a file. The caller reads and writes the file itself.
#[derive(Debug)]
pub struct Layers {
    base: File,
    bits: File,
    /// Whole blocks of the shared file.
    blocks: u64,
    /// The bits, for the only process that sets them: it need not ask the file.
    known: Option<Vec<AtomicU8>>,
}

/// Reads or writes the file's own bytes at an offset.
pub trait Own<E> {
    /// Reads from the file itself.
    fn read(&mut self, bytes: &mut [u8], offset: u64) -> Result<(), E>;
    /// Writes to the file itself.
    fn write(&mut self, bytes: &[u8], offset: u64) -> Result<(), E>;
}

impl Layers {
    /// Opens what lies beside a file with this inode; `None` for a file with one layer. `writing`: no other process
    /// writes.
    pub fn beside(path: &Path, inode: u64, writing: bool) -> io::Result<Option<Self>> {
        let no_links = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();
        let open = |suffix, writing| {
            let mut name = OsString::from(path);
            name.push(suffix);
            OpenOptions::new().read(true).write(writing).custom_flags(no_links).open(name)
        };
        let bits = match open(OWN_SUFFIX, writing) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        Self::new(|| open(BASE_SUFFIX, false), bits, inode, writing)
    }

    /// As `beside`, of open files. Bits of a file with another inode count for nothing: they are left over.
    pub fn new(
        base: impl FnOnce() -> io::Result<File>,
        bits: File,
        inode: u64,
        writing: bool,
    ) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER as usize];
        if bits.read_exact_at(&mut header, 0).is_err() || header[..8] != *MAGIC || header[8..] != inode.to_le_bytes() {
            return Ok(None);
        }
        let base = base()?;
        let blocks = base.metadata()?.size() / BLOCK;
        let count = blocks.div_ceil(8);
        if bits.metadata()?.size() != HEADER + count {
            return Err(io::Error::other("the two layers do not fit"));
        }
        let known = if writing {
            let mut bytes = vec![0; usize::try_from(count).map_err(io::Error::other)?];
            bits.read_exact_at(&mut bytes, HEADER)?;
            Some(bytes.into_iter().map(AtomicU8::new).collect())
        } else {
            None
        };
        Ok(Some(Self { base, bits, blocks, known }))
    }

    /// Reads from the layer to which each block belongs.
    pub fn read<E: From<io::Error>>(&self, own: &mut impl Own<E>, mut bytes: &mut [u8], mut at: u64) -> Result<(), E> {
        while !bytes.is_empty() {
            let first = at / BLOCK;
            let is_own = self.is_own(first)?;
            let mut end = first + 1;
            while end * BLOCK < at + bytes.len() as u64 && self.is_own(end)? == is_own {
                end += 1;
            }
            let length = usize::try_from(end * BLOCK - at).unwrap_or(usize::MAX).min(bytes.len());
            let (part, rest) = bytes.split_at_mut(length);
            if is_own {
                own.read(part, at)?
            } else {
                self.base.read_exact_at(part, at)?
            }
            (bytes, at) = (rest, at + length as u64);
        }
        Ok(())
    }

    /// Writes to the file itself, to which the blocks belong afterwards.
    pub fn write<E: From<io::Error>>(&self, own: &mut impl Own<E>, bytes: &[u8], at: u64) -> Result<(), E> {
        let end = at + bytes.len() as u64;
        for edge in [at, end] {
            self.take(own, edge)?;
        }
        own.write(bytes, at)?;
        Ok(self.set(at / BLOCK, end.div_ceil(BLOCK))?)
    }

    /// Gives all blocks from an offset on to the file, which the caller then cuts there.
    pub fn cut<E: From<io::Error>>(&self, own: &mut impl Own<E>, at: u64) -> Result<(), E> {
        self.take(own, at)?;
        Ok(self.set(at.div_ceil(BLOCK), self.blocks)?)
    }

    /// Copies the block around an offset to the file, unless the offset is the start of one.
    fn take<E: From<io::Error>>(&self, own: &mut impl Own<E>, at: u64) -> Result<(), E> {
        let block = at / BLOCK;
        if at.is_multiple_of(BLOCK) || self.is_own(block)? {
            return Ok(());
        }
        let mut whole = [0; BLOCK as usize];
        self.base.read_exact_at(&mut whole, block * BLOCK)?;
        own.write(&whole, block * BLOCK)?;
        Ok(self.set(block, block + 1)?)
    }

    fn is_own(&self, block: u64) -> io::Result<bool> {
        if block >= self.blocks {
            return Ok(true);
        }
        let mut byte = [0];
        match &self.known {
            Some(known) => byte[0] = known[(block / 8) as usize].load(Ordering::Relaxed),
            None => self.bits.read_exact_at(&mut byte, HEADER + block / 8)?,
        }
        Ok(byte[0] >> (block % 8) & 1 == 1)
    }

    fn set(&self, first: u64, end: u64) -> io::Result<()> {
        let end = end.min(self.blocks);
        let Some(known) = &self.known else { return Err(io::ErrorKind::PermissionDenied.into()) };
        if first >= end {
            return Ok(());
        }
        let (from, to) = ((first / 8) as usize, end.div_ceil(8) as usize);
        let mut bytes: Vec<u8> = known[from..to].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        let before = bytes.clone();
        for block in first..end {
            bytes[(block / 8) as usize - from] |= 1 << (block % 8);
        }
        if bytes == before {
            return Ok(());
        }
        self.bits.write_all_at(&bytes, HEADER + from as u64)?;
        for (at, byte) in (from..).zip(bytes) {
            known[at].store(byte, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Makes the bits last; to be called after the file itself was.
    pub fn sync(&self) -> io::Result<()> {
        self.bits.sync_data()
    }
}

/// A file, in two layers or in one.
#[derive(Debug)]
pub struct LayeredFile {
    file: File,
    layers: Option<Layers>,
}

impl LayeredFile {
    /// A file, and the layer below it.
    pub fn new(file: File, layers: Option<Layers>) -> Self {
        Self { file, layers }
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Fills `bytes` from an offset on.
    pub fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        match &self.layers {
            Some(layers) => layers.read(&mut &self.file, bytes, at),
            None => self.file.read_exact_at(bytes, at),
        }
    }

    /// Writes `bytes` at an offset.
    pub fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        match &self.layers {
            Some(layers) => layers.write(&mut &self.file, bytes, at),
            None => self.file.write_all_at(bytes, at),
        }
    }

    /// Cuts the file, or lengthens it by zeros.
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        if let Some(layers) = &self.layers {
            layers.cut(&mut &self.file, length)?;
        }
        self.file.set_len(length)
    }
}

impl Own<io::Error> for &File {
    fn read(&mut self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(bytes, offset)
    }

    fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// A file of one block of its own above ten, whose bytes are the numbers of their blocks.
    fn layered(name: &str) -> (PathBuf, File) {
        let path = std::env::temp_dir().join(format!("atlas-layers-{}-{name}", std::process::id()));
        let below: Vec<u8> = (0..10_u8).flat_map(|block| [block; BLOCK as usize]).collect();
        fs::write(path.with_file_name(format!("{}-base", path.file_name().unwrap().display())), below).unwrap();
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        file.set_len(10 * BLOCK).unwrap();
        file.write_all_at(&[77; BLOCK as usize], 3 * BLOCK).unwrap();
        let mut bits = MAGIC.to_vec();
        bits.extend(file.metadata().unwrap().ino().to_le_bytes());
        bits.extend([1 << 3, 0]);
        fs::write(path.with_file_name(format!("{}-own", path.file_name().unwrap().display())), bits).unwrap();
        (path, file)
    }

    fn opened(path: &Path, file: &File, writing: bool) -> LayeredFile {
        let layers = Layers::beside(path, file.metadata().unwrap().ino(), writing).unwrap();
        assert!(layers.is_some());
        LayeredFile::new(file.try_clone().unwrap(), layers)
    }

    fn whole(file: &LayeredFile) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(file.length().unwrap()).unwrap()];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    fn clean(path: &Path) {
        for suffix in ["", BASE_SUFFIX, OWN_SUFFIX] {
            fs::remove_file(format!("{}{suffix}", path.display())).unwrap();
        }
    }

    #[test]
    fn reads_and_writes_are_those_of_a_plain_file() {
        let (path, file) = layered("plain");
        let (writer, reader) = (opened(&path, &file, true), opened(&path, &file, false));
        let mut plain = whole(&writer);
        assert_eq!((plain[0], plain[2 * 4096], plain[3 * 4096], plain[9 * 4096]), (0, 2, 77, 9));
        let mut state = 7_u64;
        for round in 0..300_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (at, length) = ((state >> 33) % 45_000, (state >> 20) % 9_000);
            if round % 20 == 19 {
                writer.set_length(at).unwrap();
                plain.resize(at as usize, 0);
            } else {
                let bytes = vec![round as u8; length as usize];
                writer.write_all_at(&bytes, at).unwrap();
                plain.resize(plain.len().max((at + length) as usize), 0);
                plain[at as usize..(at + length) as usize].copy_from_slice(&bytes);
            }
            assert!(whole(&writer) == plain, "round {round}");
            assert!(whole(&reader) == plain, "round {round}, another process");
        }
        let mut below = fs::read(format!("{}{BASE_SUFFIX}", path.display())).unwrap();
        below.dedup();
        assert_eq!(below, (0..10).collect::<Vec<u8>>(), "nobody writes to the shared file");
        clean(&path);
    }

    #[test]
    fn a_reader_writes_nothing_and_bits_of_another_file_count_for_nothing() {
        let (path, file) = layered("reader");
        assert!(opened(&path, &file, false).write_all_at(&[1], 0).is_err());
        assert!(Layers::beside(&path, file.metadata().unwrap().ino() + 1, false).unwrap().is_none());
        fs::write(format!("{}{BASE_SUFFIX}", path.display()), [0; 4096]).unwrap();
        assert!(Layers::beside(&path, file.metadata().unwrap().ino(), false).is_err(), "another number of blocks");
        clean(&path);
    }
}
