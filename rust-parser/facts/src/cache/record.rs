//! Records of the cache file: header, path and payload, and how a record is erased in place.
//!
//! A record consists of payload length (u32), path length (u32), payload checksum (u64), content digest (16 bytes),
//! checksum of all this and the path (u64), path, payload; little-endian. An erased record keeps its lengths, so that
//! the next one can be found; everything else is zero except the checksum of its header.

use std::io;

use atlas_layers::LayeredFile;

use super::digest::ContentDigest;

/// Length of a record's header in bytes.
pub const HEADER: usize = 40;
/// Bytes read at once for a record's header; most paths fit into them.
const HEADER_READ: usize = 256;
/// Longest path in bytes; no file system allows longer ones.
const MAX_PATH: u32 = 16 << 10;
/// Size of the blocks of zeros that erase a record.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Position of a record in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub digest: ContentDigest,
    pub offset: u64,
    pub path_length: u32,
    pub payload_length: u32,
    pub payload_checksum: u64,
}

impl Record {
    /// Returns whether the record was written for this payload.
    pub fn is_of(&self, payload: &[u8]) -> bool {
        self.payload_checksum == checksum(&[payload])
    }

    /// Creates the record of a payload at an offset. Returns `None` if a part is too long.
    pub fn new(path: &str, digest: ContentDigest, payload: &[u8], offset: u64) -> Option<Self> {
        let path_length = u32::try_from(path.len()).ok().filter(|length| *length <= MAX_PATH)?;
        let payload_length = u32::try_from(payload.len()).ok()?;
        Some(Self { digest, offset, path_length, payload_length, payload_checksum: checksum(&[payload]) })
    }

    /// Returns the length of the whole record in bytes.
    pub fn length(&self) -> u64 {
        HEADER as u64 + u64::from(self.path_length) + u64::from(self.payload_length)
    }

    /// Returns the header of the record for a path.
    pub fn header(&self, path: &[u8]) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&self.payload_length.to_le_bytes());
        header[4..8].copy_from_slice(&self.path_length.to_le_bytes());
        header[8..16].copy_from_slice(&self.payload_checksum.to_le_bytes());
        header[16..32].copy_from_slice(&self.digest);
        let own = checksum(&[&header[..32], path]);
        header[32..].copy_from_slice(&own.to_le_bytes());
        header
    }

    /// Returns the payload if its checksum matches. Its length was checked against the file's when the record was
    /// found.
    pub fn payload(&self, file: &LayeredFile) -> Option<Vec<u8>> {
        let mut payload = vec![0; self.payload_length as usize];
        file.read_exact_at(&mut payload, self.payload_offset()).ok()?;
        (checksum(&[&payload]) == self.payload_checksum).then_some(payload)
    }

    /// Overwrites path, digest and payload with zeros. The payload goes first, so that an interrupted erasure leaves a
    /// record that can be found and erased again.
    pub fn erase(&self, file: &LayeredFile) -> io::Result<()> {
        let (mut at, end) = (self.payload_offset(), self.offset + self.length());
        while at < end {
            let piece = &ZEROS[..ZEROS.len().min((end - at) as usize)];
            file.write_all_at(piece, at)?;
            at += piece.len() as u64;
        }
        let path = vec![0; self.path_length as usize];
        let erased = Self { digest: [0; 16], payload_checksum: 0, ..*self };
        let mut head = erased.header(&path).to_vec();
        head.extend_from_slice(&path);
        file.write_all_at(&head, self.offset)
    }

    fn payload_offset(&self) -> u64 {
        self.offset + HEADER as u64 + u64::from(self.path_length)
    }
}

/// The content of the file at an offset.
pub enum Found {
    Record(Box<str>, Record),
    /// An erased record of this length.
    Erased(u64),
    /// The end of the file, or a damaged part.
    End,
}

/// Reads the record at an offset of a file that ends at `end`.
pub fn read(file: &LayeredFile, offset: u64, end: u64) -> io::Result<Found> {
    let left = end - offset;
    if left < HEADER as u64 {
        return Ok(Found::End);
    }
    let mut bytes = vec![0; left.min(HEADER_READ as u64) as usize];
    file.read_exact_at(&mut bytes, offset)?;
    let record = Record {
        digest: first(&bytes[16..]),
        offset,
        path_length: u32::from_le_bytes(first(&bytes[4..])),
        payload_length: u32::from_le_bytes(first(&bytes)),
        payload_checksum: u64::from_le_bytes(first(&bytes[8..])),
    };
    if record.length() > left || record.path_length > MAX_PATH {
        return Ok(Found::End);
    }
    let with_path = HEADER + record.path_length as usize;
    if with_path > bytes.len() {
        bytes.resize(with_path, 0);
        file.read_exact_at(&mut bytes, offset)?;
    }
    let path = &bytes[HEADER..with_path];
    if record.header(path) != bytes[..HEADER] {
        return Ok(Found::End);
    }
    if record.digest == [0; 16] && path.iter().all(|byte| *byte == 0) {
        return Ok(Found::Erased(record.length()));
    }
    let Ok(path) = std::str::from_utf8(path) else { return Ok(Found::End) };
    Ok(Found::Record(path.into(), record))
}

fn checksum(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    u64::from_le_bytes(first(hasher.finalize().as_bytes()))
}

/// Returns the first bytes of a slice, which must be long enough.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|index| bytes[index])
}
