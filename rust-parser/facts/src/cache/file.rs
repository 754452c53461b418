//! The cache file: append-only, with checksummed records. A damaged record counts as missing, a damaged tail is
//! truncated, and a file of another version, or of another format, is recreated. After a disk error the cache forgets
//! entries instead of failing.
//! Removed entries are erased from the file: a record that is no longer wanted is overwritten with zeros, and the file
//! is copied without such records when they make up half of it.
//!
//! Layout: `MAGIC`, version (u32, little-endian), then records (`record.rs`) whose payload is the reason to skip the file
//! in Postcard format, and its packed facts.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use atlas_layers::LayeredFile;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::digest::ContentDigest;
use super::folder::CacheFolder;
use super::record::{self, Found, Record};
use crate::packed::{pack, unpack};
use crate::{FACTS_VERSION, FileFacts};

const MAGIC: &[u8; 8] = b"atlasfc2";
const FILE_HEADER: u64 = 12;
/// Number of files that are encoded and written in one batch.
const WRITE_FILES: usize = 128;

/// The cached data of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Why the content must not be indexed; the facts are then empty.
    pub skip_reason: String,
    pub facts: FileFacts,
}

/// Path and digest; `None` for text that is not a digest.
pub type Key = (String, Option<ContentDigest>);

/// An open cache. The process with the lock writes; all others only read what the file contained when they opened it.
pub struct CacheFile {
    /// `None` if the folder cannot be used.
    pub(super) folder: Option<CacheFolder>,
    pub(super) file: Option<LayeredFile>,
    /// The lock; held while this process may write.
    pub(super) lock: Option<File>,
    /// Set after a disk error: nothing is added, but entries can still be erased.
    pub(super) full: bool,
    length: u64,
    /// Total size of the records in `records`, in bytes.
    live: u64,
    records: FxHashMap<Box<str>, Vec<Record>>,
}

impl CacheFile {
    /// Opens or creates a cache. Never fails: without a usable file, the cache stays empty.
    pub fn open(path: &Path) -> Self {
        let folder = CacheFolder::open(path).ok();
        let lock = folder.as_ref().and_then(|folder| folder.lock().ok());
        let file = folder.as_ref().and_then(|folder| opened(folder, lock.is_some()).ok());
        let lock = lock.filter(|_| file.is_some());
        let mut cache = Self { folder, file, lock, full: false, length: 0, live: 0, records: FxHashMap::default() };
        if cache.read_index().is_err() {
            cache.clear();
        }
        if cache.lock.is_some() && cache.cut_tail().is_err() {
            cache.stop_adding();
        }
        cache
    }

    /// Decodes the entries of each `(path, digest)`, in parallel and in order.
    pub fn get(&self, wanted: &[Key]) -> Vec<Option<Entry>> {
        wanted.par_iter().map(|(path, digest)| self.load(path, &(*digest)?)).collect()
    }

    /// Appends entries that are missing or damaged.
    pub fn put(&mut self, entries: &[(&str, &FileFacts)]) {
        for batch in entries.chunks(WRITE_FILES) {
            let encoded: Vec<(&FileFacts, Vec<u8>)> = batch
                .par_iter()
                .filter_map(|(reason, facts)| Some((*facts, payload_of(reason, facts)?)))
                .filter(|(facts, payload)| !self.holds(facts, payload))
                .collect();
            if self.append(&encoded).is_err() {
                self.stop_adding();
            }
        }
    }

    /// Returns whether exactly these facts can be read back. Facts of the same content differ when it was parsed by
    /// other rules.
    fn holds(&self, facts: &FileFacts, payload: &[u8]) -> bool {
        self.find(&facts.path, &facts.digest).is_some_and(|record| record.is_of(payload))
            && self.load(&facts.path, &facts.digest).is_some()
    }

    /// Keeps, for each of these paths, only the record with the given digest; none where no digest is given.
    pub fn replace(&mut self, current: &[Key]) {
        let mut dead = Vec::new();
        for (path, digest) in current {
            let Some(records) = self.records.get(path.as_str()) else { continue };
            let kept = digest.and_then(|digest| self.find(path, &digest));
            dead.extend(records.iter().filter(|record| Some(record.offset) != kept.map(|kept| kept.offset)));
        }
        self.forget(dead);
    }

    /// Keeps only the given records.
    pub fn keep(&mut self, wanted: &[Key]) {
        let find = |(path, digest): &Key| Some(self.find(path, &(*digest)?)?.offset);
        let kept: FxHashSet<u64> = wanted.iter().filter_map(find).collect();
        let all = self.records.values().flatten();
        let dead = all.filter(|record| !kept.contains(&record.offset)).copied().collect();
        self.forget(dead);
    }

    /// Erases records: in place, or by copying the others if these take at most half of the file.
    fn forget(&mut self, mut dead: Vec<Record>) {
        if self.lock.is_none() {
            return;
        }
        let gone: FxHashSet<u64> = dead.iter().map(|record| record.offset).collect();
        if !gone.is_empty() {
            self.drop_snapshot();
            self.records.retain(|_, records| {
                records.retain(|record| !gone.contains(&record.offset));
                !records.is_empty()
            });
            self.live -= dead.iter().map(Record::length).sum::<u64>();
        }
        if (self.live + FILE_HEADER) * 2 <= self.length && self.length > FILE_HEADER {
            match self.rewrite() {
                Ok(()) => return,
                Err(_) => self.folder.iter().for_each(CacheFolder::remove_copy),
            }
        }
        dead.sort_unstable_by_key(|record| record.offset);
        for record in dead {
            let erased = self.file.as_ref().map_or(Ok(()), |file| record.erase(file));
            if erased.is_err() {
                // A record that cannot be overwritten is truncated, with everything after it.
                self.cut_at(record.offset);
                return;
            }
        }
    }

    pub(super) fn find(&self, path: &str, digest: &ContentDigest) -> Option<Record> {
        // The newest record counts: it may have replaced a damaged one.
        self.records.get(path)?.iter().rev().find(|record| record.digest == *digest).copied()
    }

    fn load(&self, path: &str, digest: &ContentDigest) -> Option<Entry> {
        let payload = self.find(path, digest)?.payload(self.file.as_ref()?)?;
        let (skip_reason, packed) = postcard::take_from_bytes(&payload).ok()?;
        let facts = unpack(packed)?;
        (facts.path == path && facts.digest == *digest).then_some(Entry { skip_reason, facts })
    }

    /// Reads the positions of all records. Afterwards, `length` is the end of the valid part of the file.
    fn read_index(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let end = file.length()?;
        let mut header = [0; FILE_HEADER as usize];
        if end < FILE_HEADER {
            return Ok(());
        }
        file.read_exact_at(&mut header, 0)?;
        if header != file_header() {
            return Ok(());
        }
        self.length = FILE_HEADER;
        loop {
            match record::read(file, self.length, end)? {
                Found::Record(path, record) => {
                    self.length += record.length();
                    self.live += record.length();
                    self.records.entry(path).or_default().push(record);
                }
                Found::Erased(length) => self.length += length,
                Found::End => return Ok(()),
            }
        }
    }

    /// Truncates the file to its valid part.
    fn cut_tail(&mut self) -> io::Result<()> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        file.set_length(self.length)?;
        if self.length == 0 {
            file.write_all_at(&file_header(), 0)?;
            self.length = FILE_HEADER;
        }
        Ok(())
    }

    fn append(&mut self, encoded: &[(&FileFacts, Vec<u8>)]) -> io::Result<()> {
        if self.lock.is_none() || self.full || encoded.is_empty() {
            return Ok(());
        }
        // It was made from the facts that the cache held: others of the same content may have been made by other rules.
        self.drop_snapshot();
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut buffer = Vec::new();
        let mut added = Vec::new();
        for (facts, payload) in encoded {
            let path = facts.path.as_str();
            let offset = self.length + buffer.len() as u64;
            let Some(record) = Record::new(path, facts.digest, payload, offset) else { continue };
            for part in [&record.header(path.as_bytes())[..], path.as_bytes(), payload] {
                buffer.extend_from_slice(part);
            }
            added.push((Box::<str>::from(path), record));
        }
        file.write_all_at(&buffer, self.length)?;
        self.length += buffer.len() as u64;
        self.live += buffer.len() as u64;
        for (path, record) in added {
            self.records.entry(path).or_default().push(record);
        }
        Ok(())
    }

    /// Copies the records into a new file that replaces the old one atomically.
    fn rewrite(&mut self) -> io::Result<()> {
        let (Some(old), Some(place)) = (&self.file, &self.folder) else { return Ok(()) };
        let file = place.new_copy()?;
        let mut new = io::BufWriter::new(&file);
        new.write_all(&file_header())?;
        let mut length = FILE_HEADER;
        let mut order: Vec<(&str, Record)> =
            self.records.iter().flat_map(|(path, records)| records.iter().map(|record| (&**path, *record))).collect();
        order.sort_unstable_by_key(|(_, record)| record.offset);
        let mut moved: FxHashMap<Box<str>, Vec<Record>> = FxHashMap::default();
        let mut bytes = Vec::new();
        for (path, record) in order {
            bytes.resize(record.length() as usize, 0);
            old.read_exact_at(&mut bytes, record.offset)?;
            new.write_all(&bytes)?;
            moved.entry(path.into()).or_default().push(Record { offset: length, ..record });
            length += record.length();
        }
        new.flush()?;
        drop(new);
        place.replace()?;
        place.remove_layers();
        let file = LayeredFile::new(file, None);
        (self.file, self.length, self.live, self.records) = (Some(file), length, length - FILE_HEADER, moved);
        Ok(())
    }

    /// Truncates the file at an offset, or completely if that fails.
    fn cut_at(&mut self, end: u64) {
        self.stop_adding();
        let Some(file) = &self.file else { return };
        if file.set_length(end).is_err() {
            self.clear();
            return;
        }
        self.length = end;
        self.live = 0;
        self.records.retain(|_, records| {
            records.retain(|record| record.offset < end);
            self.live += records.iter().map(Record::length).sum::<u64>();
            !records.is_empty()
        });
    }

    /// Handles a disk error: truncates what may be incomplete and stops adding entries.
    fn stop_adding(&mut self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.lock.is_some()) {
            let _ = file.set_length(self.length);
        }
        self.full = true;
    }

    fn clear(&mut self) {
        self.records.clear();
        (self.length, self.live) = (0, 0);
    }
}

/// Opens the file, as the only writer or for reading, with the layer below it.
fn opened(folder: &CacheFolder, writing: bool) -> io::Result<LayeredFile> {
    let file = if writing { folder.write() } else { folder.read() }?;
    if writing && file.metadata()?.len() == 0 {
        folder.remove_layers();
    }
    let layers = folder.layers(&file, writing)?;
    Ok(LayeredFile::new(file, layers))
}

fn payload_of(skip_reason: &str, facts: &FileFacts) -> Option<Vec<u8>> {
    let mut payload = postcard::to_stdvec(skip_reason).ok()?;
    payload.extend_from_slice(&pack(facts));
    Some(payload)
}

fn file_header() -> [u8; FILE_HEADER as usize] {
    let mut header = [0; FILE_HEADER as usize];
    header[..8].copy_from_slice(MAGIC);
    header[8..].copy_from_slice(&FACTS_VERSION.to_le_bytes());
    header
}
