//! Which files of a tree are indexed, and why the others are not. Reads names, sizes and ignore files, not content, except
//! of manifests and of programs that say in their first line what they are.

mod content;
mod file_names;
mod ignore_patterns;
mod ignore_rules;
mod manifests;
mod repository;
mod subset;
mod walk;

pub use content::check_content;
pub use ignore_rules::changes_rules;
pub use manifests::name_of as manifest_name;
pub use walk::{LanguageNames, Options, ScanError, ScanResult, ScannedFile, SubProject, scan};
