//! Page checksums for SQLite's files: the VFS "atlas-pages" (`sys::sqlite::page_vfs`) verifies every page that it reads.
//!
//! `format` defines what is stored: a checksum at the end of every page of the database file, and on page 1 a record of
//! how far the write-ahead log was copied. `database` and `wal` are the two kinds of files that are checked. Only files whose
//! header reserves `format::RESERVED` bytes a page are checked; all others are passed through unchanged.
//!
//! A page that fails its check is an I/O error (`SQLITE_IOERR_DATA`), never data.

pub mod database;
mod format;
pub mod wal;
