//! What git itself knows of a work tree: where its folder is, its private exclude file, and which paths are tracked.
//! Ignore rules do not apply to tracked files, so a file added with `git add -f` is not ignored.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// So many indexes are remembered: a changed file is looked up without reading a large index again.
const INDEXES_KEPT: usize = 4;

static INDEXES: Mutex<Vec<Index>> = Mutex::new(Vec::new());

/// A work tree of git.
pub struct Repository {
    pub work_tree: PathBuf,
    git_folder: PathBuf,
    /// Read only when something is ignored.
    tracked: OnceLock<Arc<Vec<String>>>,
}

/// An index file that was read.
struct Index {
    path: PathBuf,
    stamp: Stamp,
    tracked: Arc<Vec<String>>,
}

/// Which state of a file it is: inode, size, seconds and nanoseconds of its last change. git replaces its index whole.
type Stamp = (u64, u64, i64, i64);

impl Repository {
    /// The repository whose work tree begins at a folder, if one does.
    pub fn at(work_tree: &Path) -> Option<Self> {
        let marker = work_tree.join(".git");
        let git_folder = if marker.is_dir() {
            marker
        } else {
            // A linked work tree or a submodule: a file that names the folder.
            let text = fs::read_to_string(&marker).ok()?;
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
        let shared = fs::read_to_string(self.git_folder.join("commondir"));
        let folder = shared.map_or(self.git_folder.clone(), |text| self.git_folder.join(text.trim()));
        folder.join("info").join("exclude")
    }

    /// Is a path tracked, or does it hold something that is?
    pub fn tracks(&self, path: &Path, is_folder: bool) -> bool {
        let Some(relative) = path.strip_prefix(&self.work_tree).ok().and_then(Path::to_str) else { return false };
        let tracked = self.tracked.get_or_init(|| tracked_in(self.git_folder.join("index")));
        if !is_folder {
            return tracked.binary_search_by(|other| other.as_str().cmp(relative)).is_ok();
        }
        let below = format!("{relative}/");
        let first = tracked.partition_point(|other| *other < below);
        tracked.get(first).is_some_and(|other| other.starts_with(&below))
    }
}

/// Sorted paths of an index file; none if it cannot be read.
fn tracked_in(path: PathBuf) -> Arc<Vec<String>> {
    let Ok(metadata) = fs::metadata(&path) else { return Arc::default() };
    let stamp = (metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec());
    let mut indexes = INDEXES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = indexes.iter().find(|known| known.path == path && known.stamp == stamp) {
        return known.tracked.clone();
    }
    let data = fs::read(&path).unwrap_or_default();
    // Object names have 20 bytes, or 32 in repositories made with sha256.
    let tracked = Arc::new(read_index(&data, 20).or_else(|| read_index(&data, 32)).unwrap_or_default());
    indexes.retain(|known| known.path != path);
    indexes.truncate(INDEXES_KEPT - 1);
    indexes.insert(0, Index { path, stamp, tracked: tracked.clone() });
    tracked
}

/// Sorted paths of an index file, versions 2 to 4 (Documentation/gitformat-index.txt in git); None if it is damaged.
fn read_index(data: &[u8], object_name: usize) -> Option<Vec<String>> {
    let number = |at: usize| Some(u32::from_be_bytes(*data.get(at..at + 4)?.first_chunk()?));
    let version = number(4)?;
    if !data.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut paths = Vec::new();
    let mut previous: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..number(8)? {
        let start = at;
        let flags = u16::from_be_bytes(*data.get(start + 40 + object_name..)?.first_chunk()?);
        at = start + 42 + object_name + if flags & 0x4000 != 0 { 2 } else { 0 };
        let kept = if version == 4 { previous.len().checked_sub(read_varint(data, &mut at)?)? } else { 0 };
        previous.truncate(kept);
        let length = data.get(at..)?.iter().position(|byte| *byte == 0)?;
        previous.extend_from_slice(&data[at..at + length]);
        at += length + 1;
        if version < 4 {
            // Entries end in 1 to 8 zeros, so that their length is a multiple of 8.
            at = start + (at - start).next_multiple_of(8);
        }
        if previous.is_empty() {
            return None;
        }
        paths.extend(std::str::from_utf8(&previous).ok().map(str::to_owned));
    }
    // A path in conflict is listed once for each side.
    paths.dedup();
    paths.is_sorted().then_some(paths)
}

/// The variable-length number of pack offsets.
fn read_varint(data: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0usize;
    loop {
        let byte = *data.get(*at)?;
        *at += 1;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}
