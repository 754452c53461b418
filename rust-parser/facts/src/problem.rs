//! Problems: what could not be read of a file.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    pub line: u32,
    /// `syntax`, `encoding`, `nul-bytes`, `too-deep`, `timeout`, `truncated`, `long-line`, ...
    pub code: String,
    pub message: String,
}
