//! What runs inside SQLite: `bm25` ranks the rows of a full-text query, `page_checksums` seals and verifies the pages of
//! the database file and of its log. Both are computations over plain values; `atlas_sys` connects them with SQLite's
//! interfaces, which need unsafe code.
//!
//! ```
//! use atlas_sqlite::bm25::Ranking;
//!
//! // two rows with four tokens, one phrase that one row has, one column, the best row
//! let mut ranking = Ranking::new(2, 4, &[1], vec![1.0], 1);
//! ranking.frequencies[0] = 1.0;
//! let (short, long) = (ranking.score(1.0), ranking.score(3.0));
//! assert!(short > long);
//! ranking.keep(short);
//! assert!(ranking.cannot_rank(long));
//! ```

#![forbid(unsafe_code)]

pub mod bm25;
pub mod page_checksums;
