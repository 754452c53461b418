//! The file below a verified one, as SQLite's default VFS has opened it, and SQLite's result codes.

use std::ffi::c_int;

pub const OK: c_int = 0;
pub const ERROR: c_int = 1;
pub const IOERR: c_int = 10;
pub const FULL: c_int = 13;
pub const IOERR_SHORT_READ: c_int = 10 | (2 << 8);
pub const IOERR_DATA: c_int = 10 | (32 << 8);

/// An open file. `sys` implements it over SQLite's interface.
pub trait PageFile: Copy {
    /// Reads from an offset. Returns an SQLite result code.
    fn read(self, bytes: &mut [u8], offset: u64) -> c_int;

    /// Writes at an offset. Returns an SQLite result code.
    fn write(self, bytes: &[u8], offset: u64) -> c_int;

    /// Returns the size in bytes, or 0 if it is unknown.
    fn size(self) -> u64;
}
