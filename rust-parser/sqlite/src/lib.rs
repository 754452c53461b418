//! What runs inside SQLite: `page_checksums` seals and verifies the pages of the database file and of its log. These are
//! computations over plain values; `atlas_sys` connects them with SQLite's interfaces, which need unsafe code.
//!
//! ```
//! use atlas_sqlite::page_checksums::format::checksum;
//!
//! // a page is damaged if it changes, and if it stands in the place of another
//! assert_ne!(checksum(1, b"contents"), checksum(1, b"Contents"));
//! assert_ne!(checksum(1, b"contents"), checksum(2, b"contents"));
//! ```

#![forbid(unsafe_code)]

pub mod page_checksums;
