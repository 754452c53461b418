//! Safe reading of files in an untrusted tree. A file is examined before it is opened, opened without blocking, and
//! read only if it is regular, up to a size limit. Paths below a folder are resolved one component at a time without
//! following symbolic links, so nothing outside the folder is read even if the tree changes concurrently.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};

/// Without `NONBLOCK`, opening a pipe blocks until it has a writer; without `NOCTTY`, a terminal may become the
/// controlling one.
const READ_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
const FOLDER_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Bytes of a folder's listing that are read at once.
#[cfg(target_os = "linux")]
const LISTING_BYTES: usize = 32 << 10;

/// The bits of a mode that hold the type.
const KIND_BITS: u32 = 0o170_000;

/// An open folder.
pub struct Folder(OwnedFd);

/// The type of a folder entry. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Special,
    /// The entry no longer exists, or access is denied.
    Unknown,
}

/// A name in a folder. `Err` holds a lossy conversion of a name that is not UTF-8.
pub struct Entry {
    pub name: Result<String, String>,
    pub kind: EntryKind,
}

/// The metadata of a file that the scan uses.
#[derive(Debug, Clone, Copy)]
pub struct Status {
    pub size: u64,
    pub mtime_ns: i64,
    /// Hash of the inode number and its last change time: differs when the file was replaced or its metadata changed.
    pub identity: u64,
    pub is_program: bool,
}

/// What git's index says about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    pub size: i64,
    pub mtime_ns: i64,
    /// The bits of the mode that tell files from links and folders.
    pub kind: i64,
}

impl Folder {
    /// Opens a folder named by the user. Links in its path are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, path, FOLDER_FLAGS, Mode::empty())?))
    }

    /// Opens a folder below this one. Fails when a component is a link or `..`.
    pub fn below(&self, path: &str) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(folder) = self.below_at_once(path) {
            return Ok(Self(folder));
        }
        let mut folder: Option<OwnedFd> = None;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let around = folder.as_ref().unwrap_or(&self.0);
            folder = Some(openat(around, component(part)?, FOLDER_FLAGS | OFlags::NOFOLLOW, Mode::empty())?);
        }
        match folder {
            Some(folder) => Ok(Self(folder)),
            None => Ok(Self(self.0.try_clone()?)),
        }
    }

    /// Opens the folder in one system call (`openat2`). Returns `None` on failure, including kernels older than Linux
    /// 5.6.
    #[cfg(target_os = "linux")]
    fn below_at_once(&self, path: &str) -> Option<OwnedFd> {
        use rustix::fs::{ResolveFlags, openat2};

        let is_plain = path.split('/').all(|part| component(part).is_ok());
        let resolve = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
        is_plain.then(|| openat2(&self.0, path, FOLDER_FLAGS, Mode::empty(), resolve).ok())?
    }

    /// Opens a regular file below this folder. Fails when a component is a link or `..`.
    pub fn open_file(&self, path: &str) -> io::Result<File> {
        match path.rsplit_once('/') {
            Some((folders, name)) => self.below(folders)?.open_entry(name),
            None => self.open_entry(path),
        }
    }

    /// Reads a regular file below this folder, like `read_file`.
    pub fn read_file(&self, path: &str, max_bytes: u64) -> io::Result<Vec<u8>> {
        read_capped(self.open_file(path)?, max_bytes)
    }

    /// Reads at most `count` bytes from the start of a regular file.
    pub fn read_start(&self, path: &str, count: u64) -> io::Result<Vec<u8>> {
        let mut start = Vec::new();
        self.open_file(path)?.take(count).read_to_end(&mut start)?;
        Ok(start)
    }

    /// Returns the entries of this folder, in arbitrary order. Call it once: it reads on from the last position.
    #[cfg(target_os = "linux")]
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        use rustix::fs::RawDir;

        // `Dir` would open the folder a second time and read smaller parts: 6 system calls per folder instead of 4.
        let mut buffer = Vec::with_capacity(LISTING_BYTES);
        let mut listing = RawDir::new(&self.0, buffer.spare_capacity_mut());
        let mut entries = Vec::new();
        while let Some(entry) = listing.next() {
            let entry = entry?;
            entries.extend(self.entry(entry.file_name().to_bytes(), entry.file_type()));
        }
        Ok(entries)
    }

    /// Returns the entries of this folder, in arbitrary order.
    #[cfg(not(target_os = "linux"))]
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let entry = entry?;
            entries.extend(self.entry(entry.file_name().to_bytes(), entry.file_type()));
        }
        Ok(entries)
    }

    fn entry(&self, name: &[u8], kind: FileType) -> Option<Entry> {
        if matches!(name, b"." | b"..") {
            return None;
        }
        let kind = match kind {
            // Some file systems do not report the type.
            FileType::Unknown => statat(&self.0, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)
                .map_or(EntryKind::Unknown, |status| kind_of(type_of(&status))),
            known => kind_of(known),
        };
        let name = std::str::from_utf8(name).map(str::to_owned).map_err(|_| String::from_utf8_lossy(name).into_owned());
        Some(Entry { name, kind })
    }

    /// Returns the metadata of an entry of this folder; for a link, that of the link itself.
    pub fn status(&self, name: &str) -> io::Result<Status> {
        let status = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let (modified_ns, changed_ns) = times(&status);
        Ok(Status {
            size: u64::try_from(status.st_size).unwrap_or(0),
            mtime_ns: modified_ns,
            identity: identity_of(&status, changed_ns),
            is_program: status.st_mode & 0o111 != 0,
        })
    }

    /// Returns the identity of whatever has this path, without following links. `None` when nothing has it, when it
    /// leads out of the folder, and when it changed at or after `young_ns` (Unix time): it may change again within the
    /// same time stamp.
    ///
    /// Folders above it are not checked for links, because nothing is opened: a path beyond a link has another identity.
    pub fn stamp(&self, path: &str, young_ns: i64) -> Option<u64> {
        let place = if path.is_empty() { "." } else { path };
        if !path.is_empty() && !is_below(path) {
            return None;
        }
        let status = statat(&self.0, place, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let (_, changed_ns) = times(&status);
        (changed_ns < young_ns).then(|| identity_of(&status, changed_ns))
    }

    /// Returns whether something else than a recorded file has this path, or nothing, without following a link at its
    /// end.
    #[allow(clippy::unnecessary_cast)]
    pub fn differs(&self, path: &[u8], recorded: &Recorded) -> bool {
        let Ok(status) = statat(&self.0, OsStr::from_bytes(path), AtFlags::SYMLINK_NOFOLLOW) else { return true };
        let kind = i64::from(status.st_mode as u32 & KIND_BITS);
        let found = Recorded { size: status.st_size as i64, mtime_ns: times(&status).0, kind };
        found != *recorded
    }

    fn open_entry(&self, name: &str) -> io::Result<File> {
        let name = component(name)?;
        regular(&statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
        checked(openat(&self.0, name, READ_FLAGS | OFlags::NOFOLLOW, Mode::empty())?)
    }
}

/// Reads a regular file of at most `max_bytes`. Follows links, because tools that share object stores link git's own
/// files.
///
/// # Errors
/// The kind `FileTooLarge` for a larger file.
pub fn read_linked(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_capped(open_linked(path)?, max_bytes)
}

/// Opens a regular file. Follows links.
pub fn open_linked(path: &Path) -> io::Result<File> {
    regular(&statat(CWD, path, AtFlags::empty())?)?;
    checked(openat(CWD, path, READ_FLAGS, Mode::empty())?)
}

/// Returns the last change of content and of metadata in nanoseconds. The types of the fields differ between platforms.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
fn times(status: &Stat) -> (i64, i64) {
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    (
        nanoseconds(status.st_mtime as i64, status.st_mtime_nsec as i64),
        nanoseconds(status.st_ctime as i64, status.st_ctime_nsec as i64),
    )
}

/// Combines inode and time. The odd factor (2^64 divided by the golden ratio) spreads adjacent inode numbers.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
fn identity_of(status: &Stat, changed_ns: i64) -> u64 {
    (status.st_ino as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ changed_ns.cast_unsigned()
}

/// Returns the digest of a file, which is read in blocks.
pub fn digest_of_file(root: &Folder, path: &str, max_bytes: u64) -> io::Result<[u8; 16]> {
    let file = root.open_file(path)?;
    let size = file.metadata()?.len();
    if size > max_bytes {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut hasher = blake3::Hasher::new();
    // The file may grow during the read.
    hasher.update_reader(file.take(size.saturating_add(1)))?;
    let mut digest = [0; 16];
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Ok(digest)
}

/// Reads the rest of an open file, if it has at most `max_bytes`.
pub fn read_capped(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    // The size is only a hint: the file may grow, and files of `/proc` report 0.
    let expected = file.metadata()?.len();
    if expected > max_bytes {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut data = Vec::with_capacity(expected as usize + 1);
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut data)?;
    if data.len() as u64 > max_bytes { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(data) }
}

/// Checks the opened file again: it may have been replaced since it was examined.
fn checked(file: OwnedFd) -> io::Result<File> {
    regular(&fstat(&file)?)?;
    Ok(file.into())
}

fn regular(status: &Stat) -> io::Result<()> {
    match type_of(status) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(io::Error::other("a symbolic link")),
        _ => Err(io::Error::other("not a regular file")),
    }
}

fn type_of(status: &Stat) -> FileType {
    FileType::from_raw_mode(status.st_mode)
}

fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Special,
    }
}

/// Returns whether all components of a path are plain names. Dividing every path into its components would take a tenth
/// of the time of its `stat`, so that is done only where a component begins like one that is none.
fn is_below(path: &str) -> bool {
    let begins_badly = |byte: u8| byte == b'/' || byte == b'.';
    let bytes = path.as_bytes();
    let is_suspect = bytes.first().copied().is_none_or(begins_badly)
        || bytes.last() == Some(&b'/')
        || bytes.windows(2).any(|pair| pair[0] == b'/' && begins_badly(pair[1]));
    !is_suspect || path.split('/').all(|part| component(part).is_ok())
}

/// Checks that a path component is a plain name.
fn component(name: &str) -> io::Result<&str> {
    let is_name = !matches!(name, "" | "." | "..") && !name.contains('/');
    if is_name { Ok(name) } else { Err(io::Error::other("leads out of the project")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_below_the_folder_are_read() {
        let place = std::env::temp_dir().join(format!("atlas-files-{}", std::process::id()));
        fs::create_dir_all(place.join("root/a")).unwrap();
        fs::write(place.join("root/a/file"), "text").unwrap();
        fs::write(place.join("outside"), "secret").unwrap();
        symlink("a", place.join("root/folder")).unwrap();
        symlink("../outside", place.join("root/link")).unwrap();
        symlink("/dev/zero", place.join("root/zero")).unwrap();
        let root = Folder::open(&place.join("root")).unwrap();
        assert_eq!(root.read_file("a/file", 4).unwrap(), b"text");
        assert_eq!(root.read_file("a/file", 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        for path in ["folder/file", "link", "zero", "../outside", "a/../../outside", "/etc/hostname", "a", "", "."] {
            assert!(root.read_file(path, 100).is_err(), "{path}");
        }
        assert_eq!(root.stamp("a/file", i64::MAX), root.stamp("a/file", i64::MAX));
        assert_ne!(root.stamp("a/file", i64::MAX), root.stamp("a", i64::MAX));
        assert!(root.stamp("", i64::MAX).is_some());
        for (path, young) in [("a/file", 0), ("a/missing", i64::MAX), ("../outside", i64::MAX), ("a//file", i64::MAX)] {
            assert_eq!(root.stamp(path, young), None, "{path}");
        }
        for path in ["a/../a/file", "a/./file", "./a", "/", "/etc", "a/", "a/..", "..", "a/b/../../../outside"] {
            assert_eq!(root.stamp(path, i64::MAX), None, "{path}");
        }
        fs::write(place.join("root/a/.hidden"), "").unwrap();
        assert!(root.stamp("a/.hidden", i64::MAX).is_some());
        assert_eq!(read_linked(&place.join("root/link"), 100).unwrap(), b"secret");
        assert!(read_linked(&place.join("root/zero"), 100).is_err());
        fs::remove_dir_all(&place).unwrap();
    }
}
