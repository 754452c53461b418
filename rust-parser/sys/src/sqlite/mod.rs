//! The SQLite extension in this library: SQLite's interfaces (`api`) and the VFS that verifies pages (`page_vfs`,
//! `page_files`). The computations are in `page_checksums`.

pub mod api;
mod page_files;
mod page_vfs;
