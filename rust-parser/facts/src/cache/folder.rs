//! The folder of the cache and the three files in it. Each file is opened relative to the open folder, without
//! following links and without blocking, and must be a regular file of this user with a single name: anything else may
//! have been placed there to have another file overwritten.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use atlas_layers::{BASE_SUFFIX, Layers, OWN_SUFFIX};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fchmod, fstat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);
const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A file of the cache, by its name in an open folder.
pub struct CacheFolder {
    folder: OwnedFd,
    name: OsString,
}

impl CacheFolder {
    /// Opens the folder of a path and creates it if necessary. The folder itself must not be a link.
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

    /// Returns the place of another file in the same folder, by the suffix of its name.
    pub fn beside(&self, suffix: &str) -> io::Result<Self> {
        Ok(Self { folder: self.folder.try_clone()?, name: self.with(suffix) })
    }

    /// Opens the cache file for reading.
    pub fn read(&self) -> io::Result<File> {
        own(openat(&self.folder, &self.name, SAFE | OFlags::RDONLY, Mode::empty())?)
    }

    /// Opens the cache file for reading and writing, and creates it if necessary.
    pub fn write(&self) -> io::Result<File> {
        self.create_or_open(&self.name)
    }

    /// Opens the layer below the cache file (`atlas_layers`), if it has one.
    pub fn layers(&self, file: &File, writing: bool) -> io::Result<Option<Layers>> {
        let flags = SAFE | if writing { OFlags::RDWR } else { OFlags::RDONLY };
        let bits = match openat(&self.folder, self.with(OWN_SUFFIX), flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => own(opened?)?,
        };
        // several names: that is what it is for, and nobody writes to it
        let base = || Ok(openat(&self.folder, self.with(BASE_SUFFIX), SAFE | OFlags::RDONLY, Mode::empty())?.into());
        Layers::new(base, bits, file.metadata()?.ino(), writing)
    }

    /// Removes what lies beside a cache file that has one layer.
    pub fn remove_layers(&self) {
        for suffix in [OWN_SUFFIX, BASE_SUFFIX] {
            let _ = unlinkat(&self.folder, self.with(suffix), AtFlags::empty());
        }
    }

    /// Takes the lock of the single writer. Fails if another process holds it.
    pub fn lock(&self) -> io::Result<File> {
        let file = self.create_or_open(&self.with(".lock"))?;
        file.try_lock()?;
        Ok(file)
    }

    /// Creates an empty copy that will replace the file. Removes a copy that was left behind.
    pub fn new_copy(&self) -> io::Result<File> {
        let name = self.with(".new");
        self.remove_copy();
        let flags = SAFE | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        own(openat(&self.folder, name, flags, PRIVATE)?)
    }

    /// Removes the file, if there is one.
    pub fn remove(&self) {
        let _ = unlinkat(&self.folder, &self.name, AtFlags::empty());
    }

    /// Removes the copy, if there is one.
    pub fn remove_copy(&self) {
        let _ = unlinkat(&self.folder, self.with(".new"), AtFlags::empty());
    }

    /// Replaces the file by the copy.
    pub fn replace(&self) -> io::Result<()> {
        Ok(renameat(&self.folder, self.with(".new"), &self.folder, &self.name)?)
    }

    fn create_or_open(&self, name: &OsStr) -> io::Result<File> {
        let flags = SAFE | OFlags::RDWR | OFlags::CREATE;
        let file = own(openat(&self.folder, name, flags, PRIVATE)?)?;
        // A file of an earlier version may be readable for other users.
        fchmod(&file, PRIVATE)?;
        Ok(file)
    }

    fn with(&self, suffix: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(suffix);
        name
    }
}

/// Returns the file if it is a regular file of this user with a single name.
fn own(file: OwnedFd) -> io::Result<File> {
    let status = fstat(&file)?;
    let is_own = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile
        && status.st_uid == geteuid().as_raw()
        // No name: the writer has just replaced it.
        && status.st_nlink <= 1;
    if is_own { Ok(file.into()) } else { Err(io::Error::other("not a regular file of this user")) }
}
