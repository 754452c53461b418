//! The patterns of ignore files, compiled, and how many of them a scan may hold at a time. Compiling costs far more memory
//! than the text (a kilobyte a wildcard), so a repository could exhaust memory with a few megabytes of patterns.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// An ignore file may have this many bytes.
pub const MAX_BYTES: u64 = 1 << 20;
/// Units that one ignore file may cost: 20,000 usual patterns, or some 50 MB of memory.
const MAX_FILE_COST: usize = 512 << 10;
/// Units that all ignore files which a scan needs at a time may cost.
const MAX_SCAN_COST: usize = 4 << 20;
/// Units of a wildcard; a byte of text is one.
const WILDCARD_COST: usize = 10;

/// An ignore file has too many patterns, or all of them together have. What it ignores is not known then, so nothing in
/// its folder may be indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyRules;

/// What the ignore files of one scan cost at the moment.
#[derive(Clone, Default)]
pub struct Budget(Arc<AtomicUsize>);

/// The compiled patterns of one ignore file; gives its cost back to the budget when dropped.
pub struct Patterns {
    set: Gitignore,
    cost: usize,
    budget: Budget,
}

impl Patterns {
    /// Compile an ignore file for paths below `folder`. A line that is no pattern, or not UTF-8, matches what can be made
    /// of it.
    pub fn compile(folder: &Path, text: &[u8], budget: &Budget) -> Result<Self, TooManyRules> {
        let cost = cost_of(text);
        if cost > MAX_FILE_COST || !budget.take(cost) {
            return Err(TooManyRules);
        }
        // From here on the cost is given back, whatever happens.
        let mut patterns = Self { set: Gitignore::empty(), cost, budget: budget.clone() };
        let mut builder = GitignoreBuilder::new(folder);
        let text = String::from_utf8_lossy(text);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // A pattern that is none matches nothing, as for git.
            let _ = builder.add_line(None, line);
        }
        patterns.set = builder.build().map_err(|_| TooManyRules)?;
        Ok(patterns)
    }

    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Whether the last pattern that matches ignores the path; None when no pattern matches.
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

/// As [`Patterns::decide`].
pub fn decide(set: &Gitignore, path: &Path, is_folder: bool) -> Option<bool> {
    match set.matched(path, is_folder) {
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
        Match::None => None,
    }
}

fn cost_of(text: &[u8]) -> usize {
    let wildcards = text.iter().filter(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{')).count();
    text.len() + WILDCARD_COST * wildcards
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_bounded_and_given_back() {
        let budget = Budget::default();
        let file = |count: usize| "*.generated.name\n".repeat(count).into_bytes();
        assert!(Patterns::compile(Path::new("/a"), &file(100_000), &budget).is_err());
        let mut kept = Vec::new();
        while let Ok(patterns) = Patterns::compile(Path::new("/a"), &file(10_000), &budget) {
            kept.push(patterns);
        }
        assert_eq!(kept.len(), MAX_SCAN_COST / cost_of(&file(10_000)));
        kept.pop();
        assert!(Patterns::compile(Path::new("/a"), &file(10_000), &budget).is_ok());
        drop(kept);
        assert_eq!(budget.0.load(Ordering::Relaxed), 0);
    }
}
