//! A cache of facts on disk, by path and content digest, so that a restart need not parse again. Errors of the cache
//! cost time but never make results wrong.

mod digest;
mod file;
mod folder;
mod record;
mod snapshot;

pub use digest::{ContentDigest, parse_digest};
pub use file::{CacheFile, Entry, Key};
