//! What git itself knows of a work tree: where its folder is, its private exclude file, and which paths are tracked.
//! Ignore rules do not apply to tracked files, so a file added with `git add -f` is not ignored.

use std::fs::Metadata;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::files::{open_linked, read_linked};
use crate::string_table::StringTable;

/// Indexes that are remembered: a changed file is looked up without reading a large index again.
const INDEXES_KEPT: usize = 4;
/// A `.git` or `commondir` file holds one path.
const MAX_POINTER_BYTES: u64 = 64 << 10;
/// A larger index is not read: 3 million files have some 300 MB.
const MAX_INDEX_BYTES: u64 = 512 << 20;
/// Paths of an index that are kept, and the bytes of one: entries may share a prefix, so that a small file could name
/// terabytes of paths.
const MAX_TRACKED_BYTES: usize = 256 << 20;
const MAX_PATH_BYTES: usize = 4096;

static INDEXES: Mutex<Vec<Index>> = Mutex::new(Vec::new());

/// A work tree of git.
pub struct Repository {
    pub work_tree: PathBuf,
    git_folder: PathBuf,
    /// Read only when something is ignored.
    tracked: OnceLock<Arc<StringTable>>,
}

/// An index file that was read.
struct Index {
    path: PathBuf,
    stamp: Stamp,
    tracked: Arc<StringTable>,
}

/// Which state of a file it is: device, inode, size, seconds and nanoseconds of its last change. git replaces its index
/// whole.
type Stamp = (u64, u64, u64, i64, i64);

impl Repository {
    /// The repository whose work tree begins at a folder, if one does.
    pub fn at(work_tree: &Path) -> Option<Self> {
        let marker = work_tree.join(".git");
        let git_folder = if marker.is_dir() {
            marker
        } else {
            // A linked work tree or a submodule: a file that names the folder.
            let text = read_text(&marker)?;
            work_tree.join(text.strip_prefix("gitdir:")?.trim())
        };
        Some(Self { work_tree: work_tree.to_owned(), git_folder, tracked: OnceLock::new() })
    }

    /// The repository around a folder.
    pub fn around(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::at)
    }

    /// `info/exclude`, which linked work trees share.
    pub fn exclude_file(&self) -> PathBuf {
        let shared = read_text(&self.git_folder.join("commondir"));
        let folder = shared.map_or_else(|| self.git_folder.clone(), |text| self.git_folder.join(text.trim()));
        folder.join("info").join("exclude")
    }

    /// Is a path tracked, or does it hold something that is?
    pub fn tracks(&self, path: &Path, is_folder: bool) -> bool {
        let Some(relative) = path.strip_prefix(&self.work_tree).ok().and_then(Path::to_str) else { return false };
        let tracked = self.tracked.get_or_init(|| tracked_in(self.git_folder.join("index")));
        if !is_folder {
            let first = first_from(tracked, relative);
            return tracked.get(first).is_some_and(|other| other == relative);
        }
        let below = format!("{relative}/");
        tracked.get(first_from(tracked, &below)).is_some_and(|other| other.starts_with(&below))
    }
}

/// Text of a small file of git; None when it cannot be read or is not UTF-8.
fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_linked(path, MAX_POINTER_BYTES).ok()?).ok()
}

/// Number of the first of some sorted texts that is not before this one.
fn first_from(sorted: &StringTable, text: &str) -> usize {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = low.midpoint(high);
        if &sorted[middle] < text {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Sorted paths of an index file; none if it cannot be read.
fn tracked_in(path: PathBuf) -> Arc<StringTable> {
    let Ok(metadata) = open_linked(&path).and_then(|file| file.metadata()) else { return Arc::default() };
    let stamp = stamp_of(&metadata);
    let mut indexes = INDEXES.lock().unwrap_or_else(PoisonError::into_inner);
    // A file that is linked into many repositories is one index.
    if let Some(known) = indexes.iter().find(|known| known.stamp == stamp) {
        return known.tracked.clone();
    }
    // Object names have 20 bytes, or 32 in repositories made with sha256.
    let read = |object_name| read_index(BufReader::new(open_linked(&path)?.take(MAX_INDEX_BYTES)), object_name);
    let tracked = Arc::new(read(20).or_else(|_| read(32)).unwrap_or_default());
    indexes.retain(|known| known.path != path);
    indexes.truncate(INDEXES_KEPT - 1);
    indexes.insert(0, Index { path, stamp, tracked: tracked.clone() });
    let mut left = MAX_TRACKED_BYTES;
    indexes.retain(|known| {
        let size = known.tracked.bytes();
        let fits = size <= left;
        left -= if fits { size } else { 0 };
        fits
    });
    tracked
}

fn stamp_of(metadata: &Metadata) -> Stamp {
    (metadata.dev(), metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec())
}

/// Sorted paths of an index file, versions 2 to 4 (Documentation/gitformat-index.txt in git). Fails if it is damaged.
/// Memory is bounded by the paths that are kept, whatever the file claims.
fn read_index(mut data: impl BufRead, object_name: usize) -> io::Result<StringTable> {
    let mut header = [0; 12];
    data.read_exact(&mut header)?;
    let number = |at: usize| u32::from_be_bytes(std::array::from_fn(|index| header[at + index]));
    let version = number(4);
    if !header.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return Err(damaged());
    }
    let mut tracked = StringTable::default();
    let mut path: Vec<u8> = Vec::new();
    let mut previous: Vec<u8> = Vec::new();
    // Times, sizes, object name and flags.
    let mut fixed = vec![0; 42 + object_name];
    for _ in 0..number(8) {
        data.read_exact(&mut fixed)?;
        let extended = fixed[40 + object_name] & 0x40 != 0;
        let mut length = fixed.len();
        if extended {
            data.read_exact(&mut [0; 2])?;
            length += 2;
        }
        let kept = match version {
            4 => path.len().checked_sub(read_varint(&mut data)?).ok_or_else(damaged)?,
            _ => 0,
        };
        path.truncate(kept);
        let rest = data.by_ref().take((MAX_PATH_BYTES - kept) as u64).read_until(0, &mut path)?;
        if path.pop() != Some(0) || path.is_empty() {
            return Err(damaged());
        }
        length += rest;
        if version < 4 {
            // Entries end in 1 to 8 zeros, so that their length is a multiple of 8.
            data.read_exact(&mut [0; 8][..length.next_multiple_of(8) - length])?;
        }
        // A path in conflict is listed once for each side.
        if path < previous || tracked.bytes() > MAX_TRACKED_BYTES {
            return Err(damaged());
        }
        if path != previous
            && let Ok(text) = std::str::from_utf8(&path)
        {
            tracked.push(text);
        }
        previous.clone_from(&path);
    }
    tracked.shrink_to_fit();
    Ok(tracked)
}

fn damaged() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// The variable-length number of pack offsets.
fn read_varint(data: &mut impl Read) -> io::Result<usize> {
    let mut value = 0usize;
    loop {
        let mut byte = [0];
        data.read_exact(&mut byte)?;
        let next = value.checked_mul(128).and_then(|value| value.checked_add(usize::from(byte[0] & 127)));
        value = next.ok_or_else(damaged)?;
        if byte[0] & 128 == 0 {
            return Ok(value);
        }
        value = value.checked_add(1).ok_or_else(damaged)?;
    }
}
