//! One append-only file of checksummed records. A damaged record is a missing one; a damaged tail is cut off; a file of
//! another version, or no cache at all, is started anew. Errors of the disk make the cache forget, not fail.
//!
//! Layout: `MAGIC`, version (u32), then records: payload length (u32), path length (u32), payload checksum (u64), content
//! digest (16 bytes), checksum of all this and the path (u64), path, payload (postcard of [`Entry`]). Little-endian.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::facts::{FACTS_VERSION, FileFacts};

const MAGIC: &[u8; 8] = b"atlasfct";
const FILE_HEADER: u64 = 12;
const RECORD_HEADER: usize = 40;
/// Most paths fit into what is read together with a record's header.
const HEADER_READ: usize = 256;
/// Files are encoded and written in batches of this many.
const WRITE_FILES: usize = 128;

pub type ContentDigest = [u8; 16];

/// What is kept of one file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Entry {
    /// Why the content must not be indexed; the facts are empty then.
    pub skip_reason: String,
    pub facts: FileFacts,
}

/// Place of a record in the file.
#[derive(Clone, Copy)]
struct Record {
    digest: ContentDigest,
    offset: u64,
    path_length: u32,
    payload_length: u32,
    payload_checksum: u64,
}

impl Record {
    fn length(&self) -> u64 {
        RECORD_HEADER as u64 + u64::from(self.path_length) + u64::from(self.payload_length)
    }
}

/// An open cache. The process that holds the lock writes; every other one only reads what was there when it opened.
pub struct CacheFile {
    path: PathBuf,
    file: Option<File>,
    /// Held while writing is allowed.
    lock: Option<File>,
    length: u64,
    records: FxHashMap<Box<str>, Vec<Record>>,
}

impl CacheFile {
    /// Open or create. Never fails: without a usable file the cache is empty and stays empty.
    pub fn open(path: &Path) -> Self {
        let lock = lock(path);
        let file =
            OpenOptions::new().read(true).write(lock.is_some()).create(lock.is_some()).truncate(false).open(path);
        let mut cache = Self { path: path.to_owned(), file: file.ok(), lock, length: 0, records: FxHashMap::default() };
        if cache.read_index().is_err() {
            cache.records.clear();
            cache.length = 0;
        }
        if cache.lock.is_some() && cache.cut_tail().is_err() {
            cache.give_up();
        }
        cache
    }

    /// Decode the entries of `(path, digest)`, in parallel and in order.
    pub fn get(&self, wanted: &[(String, Option<ContentDigest>)]) -> Vec<Option<Entry>> {
        wanted.par_iter().map(|(path, digest)| self.load(path, &(*digest)?)).collect()
    }

    /// Append (skip reason, facts) that are not there yet, or damaged.
    pub fn put(&mut self, entries: &[(&str, &FileFacts)]) {
        for batch in entries.chunks(WRITE_FILES) {
            let missing: Vec<&(&str, &FileFacts)> =
                batch.iter().filter(|(_, facts)| self.load(&facts.path, &facts.digest).is_none()).collect();
            let encoded: Vec<(&FileFacts, Vec<u8>)> = missing
                .par_iter()
                .filter_map(|entry| postcard::to_stdvec(entry).ok().map(|payload| (entry.1, payload)))
                .collect();
            if self.append(&encoded).is_err() {
                self.give_up();
            }
        }
    }

    /// Forget all but the wanted records, if that at least halves the file.
    pub fn keep(&mut self, wanted: &[(String, Option<ContentDigest>)]) {
        let mut kept: FxHashMap<Box<str>, Vec<Record>> = FxHashMap::default();
        let mut live = FILE_HEADER;
        for (path, digest) in wanted {
            if let Some(record) = digest.and_then(|digest| self.find(path, &digest)) {
                let records = kept.entry(path.as_str().into()).or_default();
                if !records.iter().any(|other| other.digest == record.digest) {
                    live += record.length();
                    records.push(record);
                }
            }
        }
        if self.lock.is_none() || live * 2 > self.length {
            return;
        }
        let copy = with_suffix(&self.path, ".new");
        if self.rewrite(kept, &copy).is_err() {
            // The old file is as it was.
            let _ = fs::remove_file(copy);
        }
    }

    fn find(&self, path: &str, digest: &ContentDigest) -> Option<Record> {
        // The newest one: it may have been written because an older one is damaged.
        self.records.get(path)?.iter().rev().find(|record| record.digest == *digest).copied()
    }

    fn load(&self, path: &str, digest: &ContentDigest) -> Option<Entry> {
        let record = self.find(path, digest)?;
        let mut payload = vec![0; record.payload_length as usize];
        let start = record.offset + RECORD_HEADER as u64 + u64::from(record.path_length);
        self.file.as_ref()?.read_exact_at(&mut payload, start).ok()?;
        if checksum(&[&payload]) != record.payload_checksum {
            return None;
        }
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
        while let Some((path, record)) = read_record(file, self.length, end)? {
            self.length += record.length();
            self.records.entry(path).or_default().push(record);
        }
        Ok(())
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
        if self.lock.is_none() {
            return Ok(());
        }
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut buffer = Vec::new();
        let mut added = Vec::new();
        for (facts, payload) in encoded {
            let path = facts.path.as_str();
            let (Ok(path_length), Ok(payload_length)) = (u32::try_from(path.len()), u32::try_from(payload.len()))
            else {
                continue;
            };
            let record = Record {
                digest: facts.digest,
                offset: self.length + buffer.len() as u64,
                path_length,
                payload_length,
                payload_checksum: checksum(&[payload]),
            };
            for part in [&record_header(&record, path)[..], path.as_bytes(), payload] {
                buffer.extend_from_slice(part);
            }
            added.push((Box::<str>::from(path), record));
        }
        file.write_all_at(&buffer, self.length)?;
        self.length += buffer.len() as u64;
        for (path, record) in added {
            self.records.entry(path).or_default().push(record);
        }
        Ok(())
    }

    /// Copy the records into a new file that replaces the old one in one step.
    fn rewrite(&mut self, mut kept: FxHashMap<Box<str>, Vec<Record>>, copy: &Path) -> io::Result<()> {
        let old = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut new = io::BufWriter::new(File::create(copy)?);
        new.write_all(&file_header())?;
        let mut length = FILE_HEADER;
        let mut order: Vec<&mut Record> = kept.values_mut().flatten().collect();
        order.sort_unstable_by_key(|record| record.offset);
        let mut bytes = Vec::new();
        for record in order {
            bytes.resize(record.length() as usize, 0);
            old.read_exact_at(&mut bytes, record.offset)?;
            new.write_all(&bytes)?;
            record.offset = length;
            length += record.length();
        }
        drop(new.into_inner().map_err(|error| error.into_error())?);
        let file = OpenOptions::new().read(true).write(true).open(copy)?;
        fs::rename(copy, &self.path)?;
        (self.file, self.length, self.records) = (Some(file), length, kept);
        Ok(())
    }

    /// After an error of the disk: cut off what may be half written and write no more.
    fn give_up(&mut self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.lock.is_some()) {
            let _ = file.set_len(self.length);
        }
        self.lock = None;
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The lock of the one process that may write, or None when another one has it or the folder cannot be written.
fn lock(path: &Path) -> Option<File> {
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(with_suffix(path, ".lock")).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

fn file_header() -> [u8; FILE_HEADER as usize] {
    let mut header = [0; FILE_HEADER as usize];
    header[..8].copy_from_slice(MAGIC);
    header[8..].copy_from_slice(&FACTS_VERSION.to_le_bytes());
    header
}

fn checksum(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    u64::from_le_bytes(first(hasher.finalize().as_bytes()))
}

/// The first bytes of a slice that is long enough.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|index| bytes[index])
}

fn record_header(record: &Record, path: &str) -> [u8; RECORD_HEADER] {
    let mut header = [0; RECORD_HEADER];
    header[..4].copy_from_slice(&record.payload_length.to_le_bytes());
    header[4..8].copy_from_slice(&record.path_length.to_le_bytes());
    header[8..16].copy_from_slice(&record.payload_checksum.to_le_bytes());
    header[16..32].copy_from_slice(&record.digest);
    let own = checksum(&[&header[..32], path.as_bytes()]);
    header[32..].copy_from_slice(&own.to_le_bytes());
    header
}

/// The record at an offset; None at the end of the file or where it is damaged.
fn read_record(file: &File, offset: u64, end: u64) -> io::Result<Option<(Box<str>, Record)>> {
    let left = end - offset;
    if left < RECORD_HEADER as u64 {
        return Ok(None);
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
    if record.length() > left {
        return Ok(None);
    }
    let with_path = RECORD_HEADER + record.path_length as usize;
    if with_path > bytes.len() {
        bytes.resize(with_path, 0);
        file.read_exact_at(&mut bytes, offset)?;
    }
    let Ok(path) = std::str::from_utf8(&bytes[RECORD_HEADER..with_path]) else { return Ok(None) };
    let good = record_header(&record, path) == bytes[..RECORD_HEADER];
    Ok(good.then(|| (path.into(), record)))
}
