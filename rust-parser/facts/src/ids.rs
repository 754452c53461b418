//! Indices by which the facts of a file name each other, and digests.

/// Index into `FileFacts::strings`.
pub type Name = u32;
/// Index into `FileFacts::exprs`.
pub type ExprId = u32;
/// Index into `FileFacts::definitions`; 0 is the file's top-level scope.
pub type DefId = u32;
/// The first 64 bits of a BLAKE3 hash.
pub type Digest = u64;
