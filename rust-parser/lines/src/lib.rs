//! Searches the files of a tree, as they are on disk, for lines with an exact text or a match of a regular expression.
//!
//! Matching is that of ripgrep (`grep-regex`, `grep-searcher`): line by line, in time linear in the text. Files are opened
//! like those of a scan, without following links. Secrets are masked before the lines of a file are matched, so neither
//! a line nor a count tells what they are. `pattern` compiles what is searched for, `search` reads the files. `finder` is
//! for texts in memory: it finds the lines at which an expression of Python has to be tried (`wider`).
//!
//! ```
//! use atlas_lines::{Limits, LineSearch, Pattern};
//!
//! let root = std::env::temp_dir().join(format!("atlas-lines-{}", std::process::id()));
//! std::fs::create_dir_all(&root).unwrap();
//! std::fs::write(root.join("a.py"), "x = 1\nraise Error('no x')\n").unwrap();
//! let pattern = Pattern::regex(r"raise \w+").unwrap();
//! let found = LineSearch::default().search(&root, &["a.py".to_owned()], &pattern, &Limits::default()).unwrap();
//! assert_eq!(found.files[0].lines, [(2, "raise Error('no x')".to_owned())]);
//! # std::fs::remove_dir_all(&root).unwrap();
//! ```

#![forbid(unsafe_code)]

mod finder;
mod pattern;
mod scored;
mod search;
mod wider;

pub use finder::{LineFinder, LineSpan, Lines, WiderPattern};
pub use pattern::{Pattern, PatternError};
pub use scored::{ScoredLine, ScoredText, ScoredWord, scored_lines};
pub use search::{FileLines, Found, Limits, LineSearch};
