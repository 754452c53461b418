//! The SQLite extension in this library: SQLite's interfaces (`api`), the VFS that verifies pages (`page_vfs`,
//! `page_files`) and the ranking function of full-text search (`fts5`). The computations are in `page_checksums` and
//! `bm25`.

pub mod api;
mod fts5;
mod page_files;
mod page_vfs;
