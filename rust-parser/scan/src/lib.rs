//! Selects the files of a tree to index and gives a reason for each file left out. Reads names, sizes and ignore files;
//! reads content only of manifests, and the first line of scripts.
//!
//! `walk` visits the folders, `ignore_rules` applies git's rules and those of `.atlasignore`, `file_names` knows names of
//! secrets, generated files and lock files, `content` looks at the bytes of one file, `text_encoding`
//! decodes UTF-16 and UTF-32, `notebook` finds the cells of notebooks. `files` opens files of an untrusted
//! tree: whoever reads one goes through it.
//!
//! ```
//! use atlas_scan::{LanguageNames, Options, scan};
//!
//! struct Python;
//! impl LanguageNames for Python {
//!     fn of_path(&self, path: &str) -> Option<&str> {
//!         path.ends_with(".py").then_some("python")
//!     }
//!     fn of_first_line(&self, _: &[u8]) -> Option<&str> {
//!         None
//!     }
//! }
//!
//! let root = std::env::temp_dir().join(format!("atlas-scan-{}", std::process::id()));
//! std::fs::create_dir_all(&root).unwrap();
//! for (name, text) in [("a.py", "x = 1\n"), ("b.py", "y = 2\n"), (".atlasignore", "b.py\n")] {
//!     std::fs::write(root.join(name), text).unwrap();
//! }
//! let options = Options {
//!     include: vec![],
//!     exclude: vec![],
//!     max_bytes: 1 << 20,
//!     git_rules: true,
//!     generated: false,
//!     plain_text: false,
//!     only: None,
//! };
//! let found = scan(&root, &Python, &options).unwrap();
//! assert_eq!(found.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a.py"]);
//! # std::fs::remove_dir_all(&root).unwrap();
//! ```

#![forbid(unsafe_code)]

mod content;
mod file_names;
pub mod files;
mod ignore_patterns;
mod ignore_rules;
mod manifests;
mod note_folder;
mod notebook;
mod options;
mod repository;
mod subset;
mod text_encoding;
mod tracked;
mod walk;

pub use content::{check_content, is_binary};
pub use ignore_rules::{changes_rules, globs};
pub use manifests::name_of as manifest_name;
pub use notebook::{Notebook, read_notebook};
pub use options::{LanguageNames, Options, ScanError};
pub use text_encoding::{decoded, searched};
pub use tracked::scan_tracked;
pub use walk::{ScanResult, ScannedFile, SubProject, scan};
