//! One append-only file of checksummed records. A damaged record is a missing one; a damaged tail is cut off; a file of
//! another version, or no cache at all, is started again. Errors of the disk make the cache forget, not fail.
//!
//! What is forgotten leaves the bytes of the file: a record that is no longer wanted is overwritten with zeros, and the file
//! is copied without such records when they are half of it.
//!
//! Layout: `MAGIC`, version (u32, little-endian), then records (`record.rs`) whose payload is the postcard of [`Entry`].

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use super::digest::ContentDigest;
use super::folder::CacheFolder;
use super::record::{self, Found, Record};
use crate::facts::{FACTS_VERSION, FileFacts};

const MAGIC: &[u8; 8] = b"atlasfct";
const FILE_HEADER: u64 = 12;
/// Files are encoded and written in batches of this many.
const WRITE_FILES: usize = 128;

/// What is kept of one file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Entry {
    /// Why the content must not be indexed; the facts are empty then.
    pub skip_reason: String,
    pub facts: FileFacts,
}

/// Path and digest; None for a text that is not a digest.
pub type Key = (String, Option<ContentDigest>);

/// An open cache. The process that holds the lock writes; every other one only reads what was there when it opened.
pub struct CacheFile {
    /// None when there is no folder to work in.
    folder: Option<CacheFolder>,
    file: Option<File>,
    /// Held while writing is allowed.
    lock: Option<File>,
    /// The disk failed: nothing is added any more, but what must go can still be overwritten.
    full: bool,
    length: u64,
    /// Bytes of the records in `records`.
    live: u64,
    records: FxHashMap<Box<str>, Vec<Record>>,
}

impl CacheFile {
    /// Open or create. Never fails: without a usable file the cache is empty and stays empty.
    pub fn open(path: &Path) -> Self {
        let folder = CacheFolder::open(path).ok();
        let lock = folder.as_ref().and_then(|folder| folder.lock().ok());
        let file = folder.as_ref().and_then(|folder| if lock.is_some() { folder.write() } else { folder.read() }.ok());
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

    /// Decode the entries of `(path, digest)`, in parallel and in order.
    pub fn get(&self, wanted: &[Key]) -> Vec<Option<Entry>> {
        wanted.par_iter().map(|(path, digest)| self.load(path, &(*digest)?)).collect()
    }

    /// Append (skip reason, facts) that are not there yet, or damaged.
    pub fn put(&mut self, entries: &[(&str, &FileFacts)]) {
        for batch in entries.chunks(WRITE_FILES) {
            let encoded: Vec<(&FileFacts, Vec<u8>)> = batch
                .par_iter()
                .filter_map(|entry| postcard::to_stdvec(entry).ok().map(|payload| (entry.1, payload)))
                .filter(|(facts, payload)| !self.holds(facts, payload))
                .collect();
            if self.append(&encoded).is_err() {
                self.stop_adding();
            }
        }
    }

    /// Whether these very facts can be read back; the same content parsed with other rules has others.
    fn holds(&self, facts: &FileFacts, payload: &[u8]) -> bool {
        self.find(&facts.path, &facts.digest).is_some_and(|record| record.is_of(payload))
            && self.load(&facts.path, &facts.digest).is_some()
    }

    /// Of these paths, keep only the record with the digest; none where there is no digest.
    pub fn replace(&mut self, current: &[Key]) {
        let mut dead = Vec::new();
        for (path, digest) in current {
            let Some(records) = self.records.get(path.as_str()) else { continue };
            let kept = digest.and_then(|digest| self.find(path, &digest));
            dead.extend(records.iter().filter(|record| Some(record.offset) != kept.map(|kept| kept.offset)));
        }
        self.forget(dead);
    }

    /// Keep only the wanted records.
    pub fn keep(&mut self, wanted: &[Key]) {
        let find = |(path, digest): &Key| Some(self.find(path, &(*digest)?)?.offset);
        let kept: FxHashSet<u64> = wanted.iter().filter_map(find).collect();
        let all = self.records.values().flatten();
        let dead = all.filter(|record| !kept.contains(&record.offset)).copied().collect();
        self.forget(dead);
    }

    /// Erase records: in their places, or by copying the others when those are at most half of the file.
    fn forget(&mut self, mut dead: Vec<Record>) {
        if self.lock.is_none() {
            return;
        }
        let gone: FxHashSet<u64> = dead.iter().map(|record| record.offset).collect();
        if !gone.is_empty() {
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
                // What cannot be overwritten is cut off, with everything behind it.
                self.cut_at(record.offset);
                return;
            }
        }
    }

    fn find(&self, path: &str, digest: &ContentDigest) -> Option<Record> {
        // The newest one: it may have been written because an older one is damaged.
        self.records.get(path)?.iter().rev().find(|record| record.digest == *digest).copied()
    }

    fn load(&self, path: &str, digest: &ContentDigest) -> Option<Entry> {
        let payload = self.find(path, digest)?.payload(self.file.as_ref()?)?;
        let entry: Entry = postcard::from_bytes(&payload).ok()?;
        (entry.facts.path == path && entry.facts.digest == *digest).then_some(entry)
    }

    /// Find the records; `length` is then where the good part of the file ends.
    fn read_index(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let end = file.metadata()?.len();
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

    /// Make the file end where its good part ends.
    fn cut_tail(&mut self) -> io::Result<()> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        file.set_len(self.length)?;
        if self.length == 0 {
            file.write_all_at(&file_header(), 0)?;
            self.length = FILE_HEADER;
        }
        Ok(())
    }

    fn append(&mut self, encoded: &[(&FileFacts, Vec<u8>)]) -> io::Result<()> {
        if self.lock.is_none() || self.full {
            return Ok(());
        }
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

    /// Copy the records into a new file that replaces the old one in one step.
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
        (self.file, self.length, self.live, self.records) = (Some(file), length, length - FILE_HEADER, moved);
        Ok(())
    }

    /// Let the file end at an offset, or hold nothing if even that fails.
    fn cut_at(&mut self, end: u64) {
        self.stop_adding();
        let Some(file) = &self.file else { return };
        if file.set_len(end).is_err() {
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

    /// After an error of the disk: cut off what may be half written and add no more.
    fn stop_adding(&mut self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.lock.is_some()) {
            let _ = file.set_len(self.length);
        }
        self.full = true;
    }

    fn clear(&mut self) {
        self.records.clear();
        (self.length, self.live) = (0, 0);
    }
}

fn file_header() -> [u8; FILE_HEADER as usize] {
    let mut header = [0; FILE_HEADER as usize];
    header[..8].copy_from_slice(MAGIC);
    header[8..].copy_from_slice(&FACTS_VERSION.to_le_bytes());
    header
}
