//! The tracked files of a git work tree that the rules of a scan allow, whatever their language.

use std::fs;
use std::path::Path;

use super::options::{LanguageNames, Options, ScanError};
use super::repository::Repository;
use super::walk::{ScanResult, scan};

/// Claims every file.
struct AnyFile;

impl LanguageNames for AnyFile {
    fn of_path(&self, _path: &str) -> Option<&str> {
        Some("any")
    }

    fn of_first_line(&self, _data: &[u8]) -> Option<&str> {
        None
    }
}

/// Returns the tracked files below the root of a work tree; `.atlasignore`, links and names of secrets stay out, as in
/// any scan.
pub fn scan_tracked(root: &Path, max_bytes: u64) -> Result<ScanResult, ScanError> {
    let root = fs::canonicalize(root).map_err(ScanError::Root)?;
    let options = Options {
        include: Vec::new(),
        exclude: Vec::new(),
        max_bytes,
        git_rules: true,
        generated: true,
        plain_text: true,
        only: None,
    };
    let mut result = scan(&root, &AnyFile, &options)?;
    let repository = Repository::at(&root);
    result.files.retain(|file| repository.as_ref().is_some_and(|one| one.tracks(&root.join(&file.path), false)));
    Ok(result)
}
