//! The format of page checksums in a database file, and SQLite's own checksums of its write-ahead log. Pure functions.
//!
//! The last `RESERVED` bytes of every page contain, on page 1, the `Record`, elsewhere zeros (8 bytes), followed by the
//! checksum of everything before it (8 bytes, little-endian). The checksum includes the page number, so a page at the
//! position of another is detected. For the log, see "WAL File Format" in SQLite's documentation.

/// Bytes at the end of every page that are reserved for the checksum.
pub const RESERVED: usize = 16;
/// Length of the header of a write-ahead log in bytes.
pub const LOG_HEADER: usize = 32;
/// Length of the header of a frame in bytes.
pub const FRAME_HEADER: usize = 24;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const RESERVED_AT: usize = 20;
const SEEDS: [u64; 4] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const LOG_MAGIC: u32 = 0x377f_0682;
const UNFINISHED: u32 = 1 << 31;

/// Returns the checksum of a page's content. Every step is a bijection, so a change within one 8-byte word is always
/// detected.
pub fn checksum(page: u32, content: &[u8]) -> u64 {
    let mut lanes = SEEDS.map(|seed| seed ^ u64::from(page));
    let (chunks, rest) = content.as_chunks::<32>();
    for chunk in chunks {
        let (words, _) = chunk.as_chunks::<8>();
        // Unrolled, so that the four multiplication chains run in parallel: 0.2 us per page.
        lanes[0] = mixed(lanes[0], words[0]);
        lanes[1] = mixed(lanes[1], words[1]);
        lanes[2] = mixed(lanes[2], words[2]);
        lanes[3] = mixed(lanes[3], words[3]);
    }
    for (lane, word) in lanes.iter_mut().zip(rest.as_chunks::<8>().0) {
        *lane = mixed(*lane, *word);
    }
    lanes.into_iter().fold(u64::from(page), |sum, lane| {
        let both = (sum ^ lane).wrapping_mul(MULTIPLIER);
        both ^ (both >> 32)
    })
}

fn mixed(lane: u64, word: [u8; 8]) -> u64 {
    (lane ^ u64::from_le_bytes(word)).wrapping_mul(MULTIPLIER).rotate_left(29)
}

/// Writes the reserved bytes of a page.
pub fn seal(page: u32, bytes: &mut [u8], record: Record) {
    let Some(length) = bytes.len().checked_sub(RESERVED) else { return };
    let (content, tail) = bytes.split_at_mut(length);
    tail[..8].copy_from_slice(&if page == 1 { record.0 } else { [0; 8] });
    tail[8..].copy_from_slice(&checksum(page, content).to_le_bytes());
}

/// Returns whether a page has the bytes that `seal` wrote.
pub fn is_sealed(page: u32, bytes: &[u8]) -> bool {
    let Some(length) = bytes.len().checked_sub(RESERVED) else { return false };
    bytes[length + 8..] == checksum(page, &bytes[..length]).to_le_bytes()
}

/// Returns whether page 1 was sealed before its count of reserved bytes was damaged: such damage must not disable
/// verification.
pub fn is_sealed_but_for_its_mark(first: &[u8]) -> bool {
    let mut restored = first.to_vec();
    if let Some(mark) = restored.get_mut(RESERVED_AT) {
        *mark = RESERVED as u8;
    }
    is_sealed(1, &restored)
}

/// The relevant header fields of a database file: page size, and whether pages are sealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub page_size: usize,
    pub sealed: bool,
}

impl Header {
    /// Returns `None` for bytes that are not a header.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < 100 || !bytes.starts_with(MAGIC) {
            return None;
        }
        let page_size = match u16::from_be_bytes([bytes[16], bytes[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let valid = page_size.is_power_of_two() && page_size >= 512;
        valid.then_some(Self { page_size, sealed: usize::from(bytes[RESERVED_AT]) == RESERVED })
    }
}

/// The progress of copying the log into the database. A recovery must not ignore a log whose copied part is lost,
/// because older pages in the rest of it would hide newer ones in the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record(pub [u8; 8]);

impl Record {
    /// Frames up to `last` of the log with this salt are copied, or are being copied.
    pub fn new(salt: [u8; 4], last: u32, finished: bool) -> Self {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&salt);
        bytes[4..].copy_from_slice(&(last | if finished { 0 } else { UNFINISHED }).to_be_bytes());
        Self(bytes)
    }

    fn number(self) -> u32 {
        be32(&self.0[4..])
    }

    /// Returns how many frames of the log with this salt must be present.
    pub fn needed(self, salt: [u8; 4]) -> u32 {
        if self.0[..4] == salt { self.number() & !UNFINISHED } else { 0 }
    }

    /// Returns whether copying was interrupted: without the log, the database is a mix of old and new pages.
    pub fn is_unfinished(self) -> bool {
        self.number() & UNFINISHED != 0
    }
}

/// A valid header of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogHeader {
    big_endian: bool,
    salts: [u8; 8],
    sums: (u32, u32),
}

impl LogHeader {
    /// Returns `None` unless the bytes are a header with the right checksum.
    pub fn of(bytes: &[u8; LOG_HEADER]) -> Option<Self> {
        let magic = be32(&bytes[..4]);
        if magic & !1 != LOG_MAGIC {
            return None;
        }
        let big_endian = magic & 1 == 1;
        let sums = log_sums(big_endian, (0, 0), &bytes[..24]);
        let salts = bytes[16..24].try_into().ok()?;
        (sums == stored(&bytes[24..])).then_some(Self { big_endian, salts, sums })
    }

    /// Returns the random part of the salts.
    pub fn salt(&self) -> [u8; 4] {
        [self.salts[4], self.salts[5], self.salts[6], self.salts[7]]
    }

    /// Returns the checksums before the first frame.
    pub fn sums(&self) -> (u32, u32) {
        self.sums
    }

    /// Returns whether a frame belongs to this log, rather than being left from before the log restarted.
    pub fn owns(&self, frame: &[u8]) -> bool {
        frame.get(8..16) == Some(&self.salts[..])
    }

    /// Returns whether a frame (header and page) follows one with these checksums.
    pub fn follows(&self, before: (u32, u32), frame: &[u8]) -> bool {
        let Some((header, page)) = frame.split_at_checked(FRAME_HEADER) else { return false };
        let sums = log_sums(self.big_endian, before, &header[..8]);
        self.owns(header) && log_sums(self.big_endian, sums, page) == frame_sums(header)
    }
}

/// Returns the checksums in a frame's header.
pub fn frame_sums(header: &[u8]) -> (u32, u32) {
    header.get(16..24).map_or((0, 0), stored)
}

/// Returns the page number of a frame, and whether the frame ends a transaction.
pub fn frame_page(header: &[u8]) -> (u32, bool) {
    if header.len() < 8 { (0, false) } else { (be32(&header[..4]), be32(&header[4..8]) != 0) }
}

fn log_sums(big_endian: bool, start: (u32, u32), data: &[u8]) -> (u32, u32) {
    let word = |bytes: &[u8]| {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    data.chunks_exact(8).fold(start, |(first, second), pair| {
        let first = first.wrapping_add(word(&pair[..4])).wrapping_add(second);
        (first, second.wrapping_add(word(&pair[4..])).wrapping_add(first))
    })
}

fn stored(bytes: &[u8]) -> (u32, u32) {
    (be32(&bytes[..4]), be32(&bytes[4..8]))
}

fn be32(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..4096_u32).map(|at| (at * 7 % 251) as u8).collect();
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16..18].copy_from_slice(&4096_u16.to_be_bytes());
        bytes[RESERVED_AT] = RESERVED as u8;
        bytes
    }

    #[test]
    fn every_changed_byte_and_every_other_place_is_found() {
        let mut bytes = page();
        seal(7, &mut bytes, Record::default());
        assert!(is_sealed(7, &bytes) && !is_sealed(8, &bytes));
        for at in (0..4080).chain(4088..4096) {
            bytes[at] ^= 0x10;
            assert!(!is_sealed(7, &bytes), "byte {at}");
            bytes[at] ^= 0x10;
        }
        assert!(!is_sealed(7, &[0; 4096]) && !is_sealed(7, &[]));
    }

    #[test]
    fn a_damaged_marker_does_not_disable_verification() {
        let mut bytes = page();
        seal(1, &mut bytes, Record::new([1, 2, 3, 4], 9, true));
        assert_eq!(Header::of(&bytes), Some(Header { page_size: 4096, sealed: true }));
        bytes[RESERVED_AT] = 0;
        assert_eq!(Header::of(&bytes), Some(Header { page_size: 4096, sealed: false }));
        assert!(is_sealed_but_for_its_mark(&bytes));
        bytes[3000] ^= 1;
        assert!(!is_sealed_but_for_its_mark(&bytes));
    }

    #[test]
    fn a_record_applies_to_its_own_log_only() {
        let record = Record::new([1, 2, 3, 4], 9, false);
        assert!(record.is_unfinished() && !Record::new([1, 2, 3, 4], 9, true).is_unfinished());
        assert_eq!((record.needed([1, 2, 3, 4]), record.needed([1, 2, 3, 5])), (9, 0));
        assert_eq!(Record::default().needed([0; 4]), 0);
    }

    #[test]
    fn frames_follow_each_other() {
        let mut bytes = [0; LOG_HEADER];
        bytes[..4].copy_from_slice(&LOG_MAGIC.to_be_bytes());
        bytes[16..24].copy_from_slice(b"saltpepr");
        let sums = log_sums(false, (0, 0), &bytes[..24]);
        bytes[24..28].copy_from_slice(&sums.0.to_be_bytes());
        bytes[28..].copy_from_slice(&sums.1.to_be_bytes());
        let header = LogHeader::of(&bytes).expect("valid");
        assert_eq!(header.salt(), *b"pepr");
        let mut frame = vec![0; FRAME_HEADER];
        frame[3] = 5;
        frame[7] = 1;
        frame[8..16].copy_from_slice(b"saltpepr");
        frame.extend(page());
        let sums = log_sums(false, log_sums(false, header.sums(), &frame[..8]), &frame[FRAME_HEADER..]);
        frame[16..20].copy_from_slice(&sums.0.to_be_bytes());
        frame[20..24].copy_from_slice(&sums.1.to_be_bytes());
        assert!(header.follows(header.sums(), &frame));
        assert_eq!((frame_page(&frame), frame_sums(&frame)), ((5, true), sums));
        for at in (0..16).chain(16..24).chain([24, 2000, frame.len() - 1]) {
            frame[at] ^= 1;
            assert!(!header.follows(header.sums(), &frame), "byte {at}");
            frame[at] ^= 1;
        }
        bytes[17] ^= 1;
        assert_eq!(LogHeader::of(&bytes), None);
    }
}
