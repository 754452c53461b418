//! Page checksums for SQLite's files. The VFS "atlas-pages" (`sys::sqlite::page_vfs`) verifies every page that it
//! reads.
//!
//! `format` defines the stored data: a checksum at the end of every page of the database file, and on page 1 a record
//! of how far the write-ahead log was copied. `database` and `wal` handle the two kinds of verified files. Only files
//! whose header reserves `format::RESERVED` bytes per page are verified; all others pass through unchanged.
//!
//! A page that fails verification causes an I/O error (`SQLITE_IOERR_DATA`); its data is never returned.

pub mod database;
pub mod format;
pub mod page_file;
pub mod wal;
