//! Page checksums for SQLite: a VFS that verifies every page it reads. SQLite loads this library as an extension.
//!
//! `format` defines what is stored: a checksum at the end of every page of the database file, and on page 1 a record of
//! how far the write-ahead log was copied. `database` and `log` are the two kinds of files that are checked, `vfs` opens
//! them, and `sqlite` declares SQLite's interfaces. Only files whose header reserves `format::RESERVED` bytes a page are
//! checked; all others are passed through unchanged.
//!
//! A page that fails its check is an I/O error (`SQLITE_IOERR_DATA`), never data.

mod database;
mod format;
mod log;
mod sqlite;
mod vfs;
