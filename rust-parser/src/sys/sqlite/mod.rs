//! SQLite's side of this library, which SQLite loads as an extension: its interfaces (`api`), the VFS that verifies pages
//! (`page_vfs`, `page_files`) and the ranking function of full-text search (`fts5`). What they compute is in `page_checksums` and `bm25`.

pub mod api;
mod fts5;
mod page_files;
mod page_vfs;
