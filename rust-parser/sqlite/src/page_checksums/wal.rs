//! The write-ahead log: every page read from it is verified by SQLite's own checksums, which SQLite itself checks only
//! during recovery.
//!
//! During recovery, SQLite treats the first invalid frame as the end of the log. That is right for a torn tail, but an
//! error if the database's `Record` shows that the frame had already been copied.

use std::ffi::c_int;

use super::database::Database;
use super::format::{FRAME_HEADER, LOG_HEADER, LogHeader, frame_page, frame_sums};
use super::page_file::{IOERR_DATA, OK, PageFile};

const NEVER: u32 = u32::MAX;

/// The state of an open write-ahead log.
pub struct Log<F> {
    raw: F,
    /// First frame that was overwritten within a transaction: from there on, SQLite computes the checksums when it
    /// commits.
    unsummed: u32,
    /// Frame whose header was written last; 0 once its page is written, too.
    begun: u32,
    scratch: Vec<u8>,
}

impl<F: PageFile> Log<F> {
    pub fn new(raw: F) -> Self {
        Self { raw, unsummed: NEVER, begun: 0, scratch: Vec::new() }
    }

    /// Reads from the log of a database.
    pub fn read(&mut self, database: &mut Database<F>, bytes: &mut [u8], offset: u64) -> c_int {
        let Some(page_size) = page_size_of(database) else { return self.raw.read(bytes, offset) };
        if offset == 0 && bytes.len() == LOG_HEADER {
            return self.read_header(database, bytes, page_size);
        }
        match (frame_at(offset, page_size), frame_of_page_at(offset, page_size)) {
            (Some(frame), _) if bytes.len() == FRAME_HEADER + page_size => {
                self.recover(database, bytes, frame, page_size)
            }
            (_, Some(frame)) if bytes.len() == page_size => self.read_page(database, bytes, frame, page_size),
            _ => self.raw.read(bytes, offset),
        }
    }

    /// Writes to the log of a database.
    pub fn write(&mut self, database: &Database<F>, bytes: &[u8], offset: u64) -> c_int {
        if let Some(page_size) = page_size_of(database) {
            if let Some(frame) = frame_at(offset, page_size).filter(|_| bytes.len() == FRAME_HEADER) {
                self.begun = frame;
                // Within a transaction that overwrote frames, headers have no checksums until the commit.
                if frame >= self.unsummed && bytes[8..].iter().any(|&byte| byte != 0) {
                    self.unsummed = frame + 1;
                }
            } else if let Some(frame) = frame_of_page_at(offset, page_size).filter(|_| bytes.len() == page_size) {
                if self.begun != frame {
                    self.unsummed = self.unsummed.min(frame);
                }
                self.begun = 0;
            }
        }
        self.raw.write(bytes, offset)
    }

    /// Returns the log's header, if it is valid.
    pub fn header(&self) -> Option<LogHeader> {
        let mut bytes = [0; LOG_HEADER];
        if self.raw.size() <= LOG_HEADER as u64 || self.raw.read(&mut bytes, 0) != OK {
            return None;
        }
        LogHeader::of(&bytes)
    }

    /// Returns the last frame that ends a transaction.
    pub fn last_commit(&self, header: &LogHeader, page_size: usize) -> u32 {
        (1..=self.frames(page_size)).rev().find(|&frame| self.is_own(header, frame, page_size, true)).unwrap_or(0)
    }

    /// Returns the numbers of the pages that the log may contain.
    pub fn pages(&self, page_size: usize) -> Vec<u32> {
        let Some(header) = self.header() else { return Vec::new() };
        let own = (1..=self.frames(page_size)).filter(|&frame| self.is_own(&header, frame, page_size, false));
        own.map(|frame| frame_page(&self.frame_header(frame, page_size)).0).collect()
    }

    fn frames(&self, page_size: usize) -> u32 {
        let bytes = self.raw.size().saturating_sub(LOG_HEADER as u64);
        u32::try_from(bytes / (FRAME_HEADER + page_size) as u64).unwrap_or(0)
    }

    fn is_own(&self, header: &LogHeader, frame: u32, page_size: usize, commit: bool) -> bool {
        let bytes = self.frame_header(frame, page_size);
        header.owns(&bytes) && (!commit || frame_page(&bytes).1)
    }

    fn frame_header(&self, frame: u32, page_size: usize) -> [u8; FRAME_HEADER] {
        let mut bytes = [0; FRAME_HEADER];
        match self.raw.read(&mut bytes, place(frame, page_size)) {
            OK => bytes,
            _ => [0; FRAME_HEADER],
        }
    }

    fn read_header(&self, database: &Database<F>, bytes: &mut [u8], page_size: usize) -> c_int {
        let code = self.raw.read(bytes, 0);
        if code != OK {
            return code;
        }
        let record = database.stored_record();
        let whole = match <&[u8; LOG_HEADER]>::try_from(&*bytes).ok().and_then(LogHeader::of) {
            Some(header) => record.needed(header.salt()) <= self.frames(page_size),
            None => !record.is_unfinished(),
        };
        if whole { OK } else { IOERR_DATA }
    }

    fn recover(&self, database: &Database<F>, bytes: &mut [u8], frame: u32, page_size: usize) -> c_int {
        let code = self.raw.read(bytes, place(frame, page_size));
        if code != OK || frame >= self.unsummed {
            return code;
        }
        let Some(header) = self.header() else { return OK };
        let lost =
            frame <= database.stored_record().needed(header.salt()) && !self.is_valid(&header, bytes, frame, page_size);
        if lost { IOERR_DATA } else { OK }
    }

    fn read_page(&mut self, database: &mut Database<F>, bytes: &mut [u8], frame: u32, page_size: usize) -> c_int {
        if frame >= self.unsummed {
            return self.raw.read(bytes, place(frame, page_size) + FRAME_HEADER as u64);
        }
        let mut whole = std::mem::take(&mut self.scratch);
        whole.resize(FRAME_HEADER + page_size, 0);
        let mut code = self.raw.read(&mut whole, place(frame, page_size));
        if code == OK {
            bytes.copy_from_slice(&whole[FRAME_HEADER..]);
            let valid = self.header().is_some_and(|header| self.is_valid(&header, &whole, frame, page_size));
            code = if valid { OK } else { IOERR_DATA };
        }
        self.scratch = whole;
        database.copied(frame, code);
        code
    }

    fn is_valid(&self, header: &LogHeader, whole: &[u8], frame: u32, page_size: usize) -> bool {
        let before = match frame {
            1 => header.sums(),
            _ => frame_sums(&self.frame_header(frame - 1, page_size)),
        };
        header.follows(before, whole)
    }
}

/// Returns the page size of a database with sealed pages.
fn page_size_of<F: PageFile>(database: &Database<F>) -> Option<usize> {
    database.header.sealed.then_some(database.header.page_size)
}

/// Returns the offset of a frame; the first is 1.
fn place(frame: u32, page_size: usize) -> u64 {
    LOG_HEADER as u64 + u64::from(frame.saturating_sub(1)) * (FRAME_HEADER + page_size) as u64
}

/// Returns the frame that begins at an offset.
fn frame_at(offset: u64, page_size: usize) -> Option<u32> {
    let (after, frame) = (offset.checked_sub(LOG_HEADER as u64)?, (FRAME_HEADER + page_size) as u64);
    (after % frame == 0).then(|| u32::try_from(after / frame + 1).ok())?
}

/// Returns the frame whose page begins at an offset.
fn frame_of_page_at(offset: u64, page_size: usize) -> Option<u32> {
    frame_at(offset.checked_sub(FRAME_HEADER as u64)?, page_size)
}
