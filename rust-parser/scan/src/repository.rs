//! Reads git's metadata of a work tree: its git folder, its `info/exclude` file, and the tracked paths. Ignore rules do
//! not apply to tracked files, such as files added with `git add -f`.

use std::fs::{self, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::files::{open_linked, read_linked};
use atlas_facts::string_table::StringTable;

/// Number of cached indexes: a changed file is looked up without reading a large index again.
const INDEXES_KEPT: usize = 4;
/// Largest `.git` or `commondir` file in bytes; it contains one path.
const MAX_POINTER_BYTES: u64 = 64 << 10;
/// Largest index that is read, in bytes: 3 million files take some 300 MB.
const MAX_INDEX_BYTES: u64 = 512 << 20;
/// Limits for the paths of an index, in number and in bytes per path: entries may share a prefix, so a small file could
/// expand to terabytes of paths.
const MAX_TRACKED_BYTES: usize = 256 << 20;
const MAX_PATH_BYTES: usize = 4096;

static INDEXES: Mutex<Vec<Index>> = Mutex::new(Vec::new());

/// A git work tree.
pub struct Repository {
    pub work_tree: PathBuf,
    git_folder: PathBuf,
    /// The tracked paths, read on demand when something is ignored.
    tracked: OnceLock<Arc<StringTable>>,
}

/// A cached index file.
struct Index {
    path: PathBuf,
    stamp: Stamp,
    tracked: Arc<StringTable>,
}

/// Identifies the state of a file: device, inode, size, and seconds and nanoseconds of its last change. git replaces
/// its index as a whole.
type Stamp = (u64, u64, u64, i64, i64);

impl Repository {
    /// Returns the repository whose work tree begins at a folder, if any.
    pub fn at(work_tree: &Path) -> Option<Self> {
        let marker = work_tree.join(".git");
        let git_folder = if marker.is_dir() {
            marker
        } else {
            // A linked work tree or a submodule has a file that names the git folder.
            let text = read_text(&marker)?;
            work_tree.join(text.strip_prefix("gitdir:")?.trim())
        };
        Some(Self { work_tree: work_tree.to_owned(), git_folder, tracked: OnceLock::new() })
    }

    /// Returns the repository that contains a folder. A folder above it that all users share, such as `/tmp`, ends the
    /// search: any user may have put a `.git` there, whose rules would hide files.
    pub fn around(folder: &Path) -> Option<Self> {
        let above = folder.ancestors().skip(1).take_while(|folder| !is_shared(folder));
        std::iter::once(folder).chain(above).find_map(Self::at)
    }

    /// Returns the path of `info/exclude`, which linked work trees share.
    pub fn exclude_file(&self) -> PathBuf {
        self.shared_folder().join("info").join("exclude")
    }

    /// Returns the git folder of the repository, which linked work trees share.
    fn shared_folder(&self) -> PathBuf {
        let shared = read_text(&self.git_folder.join("commondir"));
        shared.map_or_else(|| self.git_folder.clone(), |text| self.git_folder.join(text.trim()))
    }

    /// Returns whether a path is tracked or contains a tracked path.
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

/// Returns whether a folder is a linked work tree of the repository around it, whose files are there already. A bare
/// repository has no files of its own.
pub fn is_second_work_tree(folder: &Path) -> bool {
    let (Some(own), Some(outer)) = (Repository::at(folder), folder.parent().and_then(Repository::around)) else {
        return false;
    };
    let same = |one: PathBuf, other: PathBuf| matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other);
    own.git_folder != outer.git_folder
        && outer.git_folder.join("index").is_file()
        && same(own.shared_folder(), outer.shared_folder())
}

/// Returns whether every user may create entries in a folder that is not this user's, or is kept for all.
fn is_shared(folder: &Path) -> bool {
    let is_own = |metadata: &Metadata| metadata.uid() == rustix::process::geteuid().as_raw();
    fs::metadata(folder)
        .is_ok_and(|metadata| metadata.mode() & 0o002 != 0 && (!is_own(&metadata) || metadata.mode() & 0o1000 != 0))
}

/// Returns the text of a small file of git, or `None` if it is unreadable or not UTF-8.
fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_linked(path, MAX_POINTER_BYTES).ok()?).ok()
}

/// Returns the index of the first sorted path that is not before this one.
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

/// Returns the sorted paths of an index file; an empty list if it is unreadable.
fn tracked_in(path: PathBuf) -> Arc<StringTable> {
    let Ok(metadata) = open_linked(&path).and_then(|file| file.metadata()) else { return Arc::default() };
    let stamp = stamp_of(&metadata);
    let mut indexes = INDEXES.lock().unwrap_or_else(PoisonError::into_inner);
    // A file linked into many repositories is cached once.
    if let Some(known) = indexes.iter().find(|known| known.stamp == stamp) {
        return known.tracked.clone();
    }
    // Object names have 20 bytes (SHA-1) or 32 (SHA-256).
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

/// Parses an index file, versions 2 to 4 (Documentation/gitformat-index.txt in git), into sorted paths. Fails if it is
/// damaged.
/// Memory is limited by the paths that are kept, not by the entry count in the header.
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
    // Skips times, sizes, object name and flags.
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
            // Entries are padded by 1 to 8 zeros to a multiple of 8 bytes.
            data.read_exact(&mut [0; 8][..length.next_multiple_of(8) - length])?;
        }
        // A path in conflict has one entry for each side.
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

/// Reads a variable-length integer in the encoding of pack offsets.
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
