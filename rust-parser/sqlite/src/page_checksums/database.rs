//! The database file: adds checksums to written pages ("seals" them), verifies pages that are read, and records
//! checkpoints.

use std::collections::HashSet;
use std::ffi::c_int;
use std::io;

use atlas_layers::{Layers, Own};

use super::format::{Header, RESERVED, Record, is_sealed, is_sealed_but_for_its_mark, seal};
use super::page_file::{ERROR, FULL, IOERR, IOERR_DATA, IOERR_SHORT_READ, OK, PageFile};
use super::wal::Log;

/// Offset of SQLite's lock bytes; the page that contains it is never used.
const LOCK_BYTE: u64 = 0x4000_0000;
const PAGES_AT_ONCE: usize = 32;

/// The state of an open database file.
pub struct Database<F> {
    raw: F,
    /// The layer below the file, of a file that has two.
    layers: Option<Layers>,
    pub header: Header,
    /// The connection's write-ahead log, if it is open.
    log: Option<Log<F>>,
    pub read_only: bool,
    /// Whether this connection reads without shared memory, because it cannot be created.
    pub without_shm: bool,
    checkpoint: Option<Checkpoint>,
    record: Record,
    scratch: Vec<u8>,
}

struct Checkpoint {
    salt: [u8; 4],
    last: u32,
    failed: bool,
}

/// An SQLite result code other than `OK`.
struct Code(c_int);

impl From<io::Error> for Code {
    fn from(error: io::Error) -> Self {
        Self(if error.kind() == io::ErrorKind::StorageFull { FULL } else { IOERR })
    }
}

/// The file itself.
struct Below<F>(F);

impl<F: PageFile> Own<Code> for Below<F> {
    fn read(&mut self, bytes: &mut [u8], offset: u64) -> Result<(), Code> {
        result_of(self.0.read(bytes, offset))
    }

    fn write(&mut self, bytes: &[u8], offset: u64) -> Result<(), Code> {
        result_of(self.0.write(bytes, offset))
    }
}

fn result_of(code: c_int) -> Result<(), Code> {
    if code == OK { Ok(()) } else { Err(Code(code)) }
}

fn code_of(result: Result<(), Code>) -> c_int {
    result.map_or_else(|code| code.0, |()| OK)
}

impl<F: PageFile> Database<F> {
    pub fn new(raw: F, read_only: bool, layers: Option<Layers>) -> Self {
        Self {
            raw,
            layers,
            header: Header::default(),
            log: None,
            read_only,
            without_shm: false,
            checkpoint: None,
            record: Record::default(),
            scratch: Vec::new(),
        }
    }

    /// Reads from the file and verifies the pages that it reads. Returns an SQLite result code.
    pub fn read(&mut self, bytes: &mut [u8], offset: u64) -> c_int {
        let size = self.header.page_size as u64;
        if self.header.sealed && offset >= size && !self.is_page(bytes, offset) {
            return self.read_part(bytes, offset);
        }
        let code = self.read_raw(bytes, offset);
        if offset == 0
            && code == OK
            && let Some(header) = Header::of(bytes)
        {
            self.header = header;
            if bytes.len() == header.page_size && !header.sealed && is_sealed_but_for_its_mark(bytes) {
                return IOERR_DATA;
            }
        }
        if !self.header.sealed || !self.is_page(bytes, offset) {
            return code;
        }
        match code {
            OK if is_sealed(self.page(offset), bytes) => OK,
            // SQLite reads zeros past the end of a file; a sealed page is never there.
            OK | IOERR_SHORT_READ => IOERR_DATA,
            failure => failure,
        }
    }

    /// Writes to the file and seals the pages that it writes. Returns an SQLite result code.
    pub fn write(&mut self, bytes: &[u8], offset: u64) -> c_int {
        if offset == 0
            && let Some(header) = Header::of(bytes)
        {
            self.header = header;
        }
        let code = if self.header.sealed && self.is_page(bytes, offset) {
            let mut sealed = std::mem::take(&mut self.scratch);
            sealed.clear();
            sealed.extend_from_slice(bytes);
            seal(self.page(offset), &mut sealed, self.record);
            let code = self.write_raw(&sealed, offset);
            self.scratch = sealed;
            code
        } else {
            self.write_raw(bytes, offset)
        };
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.failed |= code != OK;
        }
        code
    }

    /// Prepares the file to be cut at a size. Returns an SQLite result code.
    pub fn cut(&self, size: u64) -> c_int {
        self.layers.as_ref().map_or(OK, |layers| code_of(layers.cut(&mut Below(self.raw), size)))
    }

    /// Makes what lies beside the file last. Returns an SQLite result code.
    pub fn sync(&self) -> c_int {
        self.layers.as_ref().map_or(OK, |layers| code_of(layers.sync().map_err(Code::from)))
    }

    fn read_raw(&self, bytes: &mut [u8], offset: u64) -> c_int {
        match &self.layers {
            Some(layers) => code_of(layers.read(&mut Below(self.raw), bytes, offset)),
            None => self.raw.read(bytes, offset),
        }
    }

    fn write_raw(&self, bytes: &[u8], offset: u64) -> c_int {
        match &self.layers {
            Some(layers) => code_of(layers.write(&mut Below(self.raw), bytes, offset)),
            None => self.raw.write(bytes, offset),
        }
    }

    /// Records that the connection opened its log. Returns false if it already has one.
    pub fn open_log(&mut self, raw: F) -> bool {
        let is_first = self.log.is_none();
        self.log.get_or_insert_with(|| Log::new(raw));
        is_first
    }

    /// Records that the connection closes its log.
    pub fn close_log(&mut self) {
        self.log = None;
    }

    /// Reads from the log.
    pub fn read_log(&mut self, bytes: &mut [u8], offset: u64) -> c_int {
        self.with_log(|log, database| log.read(database, bytes, offset))
    }

    /// Writes to the log.
    pub fn write_log(&mut self, bytes: &[u8], offset: u64) -> c_int {
        self.with_log(|log, database| log.write(database, bytes, offset))
    }

    fn with_log(&mut self, work: impl FnOnce(&mut Log<F>, &mut Self) -> c_int) -> c_int {
        let Some(mut log) = self.log.take() else { return ERROR };
        let code = work(&mut log, self);
        self.log = Some(log);
        code
    }

    /// Records that pages are about to be copied from the log. This is written first: from now on the database needs
    /// the log.
    pub fn checkpoint_starts(&mut self) {
        let Some(log) = self.log.as_ref().filter(|_| self.header.sealed) else { return };
        let Some(header) = log.header() else { return };
        let last_commit = log.last_commit(&header, self.header.page_size);
        let last = self.stored_record().needed(header.salt());
        self.checkpoint = Some(Checkpoint { salt: header.salt(), last, failed: false });
        self.put_record(Record::new(header.salt(), last_commit, false));
    }

    /// Records that pages were copied, or that copying failed.
    pub fn checkpoint_ends(&mut self) {
        if let Some(Checkpoint { salt, last, failed: false }) = self.checkpoint.take() {
            self.put_record(Record::new(salt, last, true));
        }
    }

    /// Handles a page that was read from the log.
    pub fn copied(&mut self, frame: u32, code: c_int) {
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.last = checkpoint.last.max(frame);
            checkpoint.failed |= code != OK;
        }
    }

    /// Returns the record in the file.
    pub fn stored_record(&self) -> Record {
        let mut record = Record::default();
        let sealed = self.header.sealed && self.read_raw(&mut record.0, self.record_place()) == OK;
        if sealed { record } else { Record::default() }
    }

    /// Verifies `count` pages from `first` on, as they are in the file. Skips pages that the log contains.
    ///
    /// Returns "ok" and the number of pages in the file, or the first error; with `count` 0, whether pages are sealed.
    /// No checkpoint may run concurrently.
    pub fn check(&self, first: u64, count: u64) -> String {
        if !self.header.sealed {
            return "unsealed".to_owned();
        }
        if count == 0 {
            return "sealed".to_owned();
        }
        let log = self.log.as_ref();
        let log_salt = log.and_then(Log::header).map(|header| header.salt());
        let record = self.stored_record();
        if record.is_unfinished() && log_salt.is_none_or(|salt| record.needed(salt) == 0) {
            return "log lost".to_owned();
        }
        let size = self.header.page_size;
        let pages = self.raw.size() / size as u64;
        let held: HashSet<u32> = log.map(|log| log.pages(size)).unwrap_or_default().into_iter().collect();
        let mut bytes = vec![0; size * PAGES_AT_ONCE];
        let (mut page, end) = (first.max(1), first.max(1).saturating_add(count).min(pages + 1));
        while page < end {
            let number = usize::try_from(end - page).unwrap_or(PAGES_AT_ONCE).min(PAGES_AT_ONCE);
            let part = &mut bytes[..number * size];
            if self.read_raw(part, (page - 1) * size as u64) != OK {
                return format!("page {page}");
            }
            for (next, content) in (page..).zip(part.chunks_exact(size)) {
                let next = u32::try_from(next).unwrap_or(0);
                let unused = u64::from(next) == LOCK_BYTE / size as u64 + 1;
                if !unused && !is_sealed(next, content) && !held.contains(&next) {
                    return format!("page {next}");
                }
            }
            page += number as u64;
        }
        format!("ok {pages}")
    }

    /// Seals every page in its current state, page 1 last: for a file that SQLite wrote before checksums were enabled
    /// for it.
    pub fn seal_all(&self) -> String {
        let size = self.header.page_size;
        if !self.header.sealed || self.log.is_some() {
            return "unsealed".to_owned();
        }
        let mut bytes = vec![0; size];
        for page in 1..=self.raw.size() / size as u64 {
            let (number, offset) = (u32::try_from(page).unwrap_or(0), (page - 1) * size as u64);
            if self.read_raw(&mut bytes, offset) != OK {
                return format!("page {page}");
            }
            seal(number, &mut bytes, Record::default());
            if self.write_raw(&bytes, offset) != OK {
                return format!("page {page}");
            }
        }
        self.check(1, u64::MAX)
    }

    fn is_page(&self, bytes: &[u8], offset: u64) -> bool {
        let size = self.header.page_size;
        bytes.len() == size && offset.is_multiple_of(size as u64)
    }

    fn page(&self, offset: u64) -> u32 {
        u32::try_from(offset / self.header.page_size as u64 + 1).unwrap_or(0)
    }

    /// Reads part of a page by reading and verifying the whole page.
    fn read_part(&mut self, bytes: &mut [u8], offset: u64) -> c_int {
        let size = self.header.page_size;
        let within = usize::try_from(offset % size as u64).unwrap_or(size);
        if within + bytes.len() > size {
            return self.read_raw(bytes, offset);
        }
        let mut page = std::mem::take(&mut self.scratch);
        page.resize(size, 0);
        let code = self.read(&mut page, offset - within as u64);
        bytes.copy_from_slice(&page[within..within + bytes.len()]);
        self.scratch = page;
        code
    }

    fn record_place(&self) -> u64 {
        self.header.page_size.saturating_sub(RESERVED) as u64
    }

    fn put_record(&mut self, record: Record) {
        self.record = record;
        if self.raw.size() >= self.header.page_size as u64 {
            // On failure, the only loss is that a damaged log may go undetected.
            let _ = self.write_raw(&record.0, self.record_place());
        }
    }
}
