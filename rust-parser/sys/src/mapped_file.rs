//! Files of this package in memory that the processes of a machine share.

use std::io;
use std::ops::Deref;
use std::path::Path;

/// The content of a file, mapped for reading: only the pages that are used are in memory, and once for all processes.
///
/// For files that are replaced and not written to, such as those of an installed package: the content must not change
/// while it is mapped.
pub struct MappedFile {
    #[cfg(unix)]
    start: *const u8,
    #[cfg(unix)]
    length: usize,
    #[cfg(not(unix))]
    content: Vec<u8>,
}

// SAFETY: the memory is only read, and belongs to the value until it is dropped.
#[cfg(unix)]
unsafe impl Send for MappedFile {}
// SAFETY: as above.
#[cfg(unix)]
unsafe impl Sync for MappedFile {}

impl MappedFile {
    /// Maps a file.
    ///
    /// # Errors
    /// It cannot be opened or mapped.
    pub fn open(path: &Path) -> io::Result<Self> {
        #[cfg(not(unix))]
        return Ok(Self { content: std::fs::read(path)? });
        #[cfg(unix)]
        {
            use std::fs::File;
            use std::os::fd::AsRawFd;

            let file = File::open(path)?;
            let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
            if length == 0 {
                return Ok(Self { start: std::ptr::NonNull::dangling().as_ptr(), length });
            }
            // SAFETY: a new private mapping of an open file, which stays when the file is closed.
            let start = unsafe {
                libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
            };
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            Ok(Self { start: start.cast(), length })
        }
    }

    /// Returns the bytes as signed values.
    pub fn signed(&self) -> &[i8] {
        let bytes: &[u8] = self;
        // SAFETY: both types have the size and alignment of a byte, and every byte is a value of both.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        #[cfg(not(unix))]
        return &self.content;
        // SAFETY: the mapping has this length and lives as long as the value; an empty slice needs no memory.
        #[cfg(unix)]
        unsafe {
            std::slice::from_raw_parts(self.start, self.length)
        }
    }
}

#[cfg(unix)]
impl Drop for MappedFile {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: the mapping is this value's own, and no slice of it outlives the value.
            unsafe { libc::munmap(self.start.cast_mut().cast(), self.length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MappedFile;

    #[test]
    fn a_mapped_file_has_the_content_of_the_file() {
        let folder = std::env::temp_dir();
        for content in [&b""[..], b"\x01\xff\x80", &[7; 70_000]] {
            let path = folder.join(format!("mapped-{}-{}", std::process::id(), content.len()));
            std::fs::write(&path, content).unwrap();
            let mapped = MappedFile::open(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            assert_eq!(&*mapped, content);
            assert!(mapped.signed().iter().zip(content).all(|(signed, byte)| *signed == *byte as i8));
        }
        assert!(MappedFile::open(&folder.join("no-such-file")).is_err());
    }
}
