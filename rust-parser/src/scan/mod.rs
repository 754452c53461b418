//! Selects the files of a tree to index and gives a reason for each file left out. Reads names, sizes and ignore files;
//! reads content only of manifests, and the first line of scripts.

mod content;
mod file_names;
mod ignore_patterns;
mod ignore_rules;
mod manifests;
mod note_folder;
mod options;
mod repository;
mod subset;
mod tracked;
mod walk;

pub use content::check_content;
pub use ignore_rules::{changes_rules, globs};
pub use manifests::name_of as manifest_name;
pub use options::{LanguageNames, Options, ScanError};
pub use tracked::scan_tracked;
pub use walk::{ScanResult, ScannedFile, SubProject, scan};
