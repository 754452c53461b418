//! What a scan is told and asks: its options, the languages, its errors.

use std::io;

/// The queries about languages that a scan needs.
pub trait LanguageNames: Sync {
    /// Returns the language of a file name.
    fn of_path(&self, path: &str) -> Option<&str>;
    /// Returns the largest size of an indexed file of a language, if it has one of its own.
    fn max_bytes(&self, _language: &str) -> Option<u64> {
        None
    }
    /// Returns whether files of a language may be data instead of a part of the program.
    fn may_be_data(&self, _language: &str) -> bool {
        false
    }
    /// Returns the folder of notes, or "". It is scanned although its name may begin with a dot.
    fn note_folder(&self) -> &str {
        ""
    }
    /// Returns the language of the interpreter in a `#!` line.
    fn of_first_line(&self, data: &[u8]) -> Option<&str>;
}

/// The options of a scan.
pub struct Options {
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub max_bytes: u64,
    pub git_rules: bool,
    /// Whether to index files whose names mark them as generated.
    pub generated: bool,
    /// Whether to index files without definitions as windows of lines.
    pub plain_text: bool,
    /// If set, limits the scan to these paths and everything below them.
    pub only: Option<Vec<String>>,
}

/// The errors of a scan.
#[derive(Debug)]
pub enum ScanError {
    /// The root is not a readable folder.
    Root(io::Error),
    /// An include or exclude glob is invalid.
    Glob(String),
}
