//! Where the cache lies: its folder, and the three files in it. Each is opened in the open folder, without following links
//! and without waiting, and must be a regular file of this user without a second name: anything else may have been put there to
//! have another file overwritten.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fchmod, fstat, openat, renameat, unlinkat};
use rustix::process::geteuid;

const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);
const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A file name in an open folder.
pub struct CacheFolder {
    folder: OwnedFd,
    name: OsString,
}

impl CacheFolder {
    /// Open the folder of a path; create it if it is not there. The folder itself must not be a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { folder: openat(CWD, folder, flags, Mode::empty())?, name })
    }

    /// The file itself, for reading.
    pub fn read(&self) -> io::Result<File> {
        own(openat(&self.folder, &self.name, SAFE | OFlags::RDONLY, Mode::empty())?)
    }

    /// The file itself, for reading and writing; created if it is not there.
    pub fn write(&self) -> io::Result<File> {
        self.create_or_open(&self.name)
    }

    /// The lock of the one process that may write, or an error when another one has it.
    pub fn lock(&self) -> io::Result<File> {
        let file = self.create_or_open(&self.with(".lock"))?;
        file.try_lock()?;
        Ok(file)
    }

    /// A new, empty copy that will replace the file; one that was left behind is removed.
    pub fn new_copy(&self) -> io::Result<File> {
        let name = self.with(".new");
        self.remove_copy();
        let flags = SAFE | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        own(openat(&self.folder, name, flags, PRIVATE)?)
    }

    pub fn remove_copy(&self) {
        let _ = unlinkat(&self.folder, self.with(".new"), AtFlags::empty());
    }

    /// Put the copy in the place of the file.
    pub fn replace(&self) -> io::Result<()> {
        Ok(renameat(&self.folder, self.with(".new"), &self.folder, &self.name)?)
    }

    fn create_or_open(&self, name: &OsStr) -> io::Result<File> {
        let flags = SAFE | OFlags::RDWR | OFlags::CREATE;
        let file = own(openat(&self.folder, name, flags, PRIVATE)?)?;
        // One that an earlier version made may be readable for others.
        fchmod(&file, PRIVATE)?;
        Ok(file)
    }

    fn with(&self, suffix: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(suffix);
        name
    }
}

/// The file, if it is a regular one of this user that has no other name.
fn own(file: OwnedFd) -> io::Result<File> {
    let status = fstat(&file)?;
    let is_own = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile
        && status.st_uid == geteuid().as_raw()
        // None: the writer has just replaced it.
        && status.st_nlink <= 1;
    if is_own { Ok(file.into()) } else { Err(io::Error::other("not a regular file of this user")) }
}
