//! Compiled patterns of ignore files, and a budget for the patterns that a scan holds at a time. Compiling takes far
//! more memory than the text (a kilobyte per wildcard), so a repository could exhaust memory with a few megabytes of
//! patterns.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Largest ignore file in bytes.
pub const MAX_BYTES: u64 = 1 << 20;
/// Largest cost of one ignore file in units: 20,000 typical patterns, or some 50 MB of memory.
const MAX_FILE_COST: usize = 512 << 10;
/// Largest cost of all ignore files that a scan holds at a time, in units.
const MAX_SCAN_COST: usize = 4 << 20;
/// Cost of a wildcard in units. A byte of text costs one.
const WILDCARD_COST: usize = 10;

/// The file whose patterns exceed its limit or the budget. Because it is unknown what the file ignores, nothing in its
/// folder may be indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooManyRules {
    Gitignore,
    Atlasignore,
    /// `.git/info/exclude`.
    Exclude,
    /// A `.gitignore` in a folder above the root.
    Above,
}

impl TooManyRules {
    /// Returns the reason for the skipped folder. `atlas/core/model.py` knows these reasons.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Gitignore => "too-many-gitignore-rules",
            Self::Atlasignore => "too-many-atlasignore-rules",
            Self::Exclude => "too-many-exclude-rules",
            Self::Above => "too-many-rules-above",
        }
    }
}

/// The current cost of all ignore files of one scan.
#[derive(Clone, Default)]
pub struct Budget(Arc<AtomicUsize>);

/// The compiled patterns of one ignore file. Dropping them returns their cost to the budget.
pub struct Patterns {
    set: Gitignore,
    cost: usize,
    budget: Budget,
}

impl Patterns {
    /// Compiles an ignore file for paths below `folder`. Invalid patterns and lines that are not UTF-8 match as far as
    /// they can be interpreted.
    pub fn compile(folder: &Path, text: &[u8], budget: &Budget, file: TooManyRules) -> Result<Self, TooManyRules> {
        let cost = cost_of(text);
        if cost > MAX_FILE_COST || !budget.take(cost) {
            return Err(file);
        }
        // From here on, dropping `patterns` returns the cost on every path.
        let mut patterns = Self { set: Gitignore::empty(), cost, budget: budget.clone() };
        let mut builder = GitignoreBuilder::new(folder);
        let text = String::from_utf8_lossy(text);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // An invalid pattern matches nothing, as in git.
            let _ = builder.add_line(None, line);
        }
        patterns.set = builder.build().map_err(|_| file)?;
        Ok(patterns)
    }

    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns whether the last matching pattern ignores the path, or `None` if no pattern matches.
    pub fn decide(&self, path: &Path, is_folder: bool) -> Option<bool> {
        decide(&self.set, path, is_folder)
    }
}

impl Drop for Patterns {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.cost, Ordering::Relaxed);
    }
}

impl Budget {
    fn take(&self, cost: usize) -> bool {
        let taken = self.0.fetch_add(cost, Ordering::Relaxed);
        let fits = taken.saturating_add(cost) <= MAX_SCAN_COST;
        if !fits {
            self.0.fetch_sub(cost, Ordering::Relaxed);
        }
        fits
    }
}

/// Returns whether the last matching pattern of a set ignores the path, or `None` if no pattern matches.
pub fn decide(set: &Gitignore, path: &Path, is_folder: bool) -> Option<bool> {
    match set.matched(path, is_folder) {
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
        Match::None => None,
    }
}

/// Returns whether the patterns in a text are more than one file may have.
pub fn are_too_many(text: &[u8]) -> bool {
    cost_of(text) > MAX_FILE_COST
}

fn cost_of(text: &[u8]) -> usize {
    let wildcards = text.iter().filter(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{')).count();
    text.len() + WILDCARD_COST * wildcards
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_limited_and_returned() {
        let budget = Budget::default();
        // Comments cost what patterns of their length cost, and take no time to compile.
        let file = |count: usize| "# *.generated.name\n".repeat(count).into_bytes();
        assert!(Patterns::compile(Path::new("/a"), &file(100_000), &budget, TooManyRules::Gitignore).is_err());
        let mut kept = Vec::new();
        while let Ok(patterns) = Patterns::compile(Path::new("/a"), &file(10_000), &budget, TooManyRules::Gitignore) {
            kept.push(patterns);
        }
        assert_eq!(kept.len(), MAX_SCAN_COST / cost_of(&file(10_000)));
        kept.pop();
        assert!(Patterns::compile(Path::new("/a"), &file(10_000), &budget, TooManyRules::Gitignore).is_ok());
        drop(kept);
        assert_eq!(budget.0.load(Ordering::Relaxed), 0);
    }
}
