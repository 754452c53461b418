//! Facts on disk by path and content digest, so that a restart does not parse again. It may cost time, never truth.

mod digest;
mod file;
mod folder;
mod record;

pub use digest::{ContentDigest, parse_digest};
pub use file::{CacheFile, Entry, Key};
