//! How well whole files match the words of a question: BM25 over files, from the counts of `Store.count_words`.
//!
//! A definition seldom contains every word of a question; its file does. The words of a file are the nodes that contain
//! them, so that one long function does not outweigh ten short ones, and its length is its number of nodes.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::roots::root_of;

/// The constants of FTS5's `bm25`.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// In which files words occur.
#[derive(Default)]
pub struct WordCounts<'p> {
    /// Nodes of each file that has one of the words.
    pub nodes: FxHashMap<&'p str, u64>,
    /// By word: files, and their nodes that contain it. Words that are too frequent are not counted.
    pub words: FxHashMap<String, Vec<(&'p str, u64)>>,
}

/// How well files match a question, and how rare its words are.
#[derive(Default)]
pub struct FileMatches<'p> {
    /// 0..1, 1 for the best file; files without any word are omitted.
    pub scores: FxHashMap<&'p str, f64>,
    /// Inverse document frequency by root of the question's words, in their order; 0 for words that are everywhere or
    /// nowhere.
    rarity: Vec<(String, f64)>,
    /// By file, which of the words that tell files apart it has; and how many there are.
    covered: FxHashMap<&'p str, FxHashSet<&'p str>>,
    telling: usize,
}

impl<'p> FileMatches<'p> {
    /// Matches all files with a question's words and their other forms.
    pub fn new(counts: &WordCounts<'p>, words: &[String], variants: &[String]) -> Self {
        let size = counts.nodes.len() as f64;
        let total: u64 = counts.nodes.values().sum();
        let mean = if counts.nodes.is_empty() { 1.0 } else { total as f64 / size };
        let length = |nodes: f64| K1 * (1.0 - B + B * (nodes / mean));
        let mut found =
            Self { scores: FxHashMap::default(), rarity: Vec::new(), covered: FxHashMap::default(), telling: 0 };
        for root in words.iter().map(|word| root_of(word)) {
            if found.rarity.iter().all(|(known, _)| known != root) {
                found.rarity.push((root.to_owned(), 0.0));
            }
        }
        let mut seen = FxHashSet::default();
        for word in words.iter().chain(variants).filter(|word| seen.insert(word.as_str())) {
            let Some(files) = counts.words.get(word).filter(|files| !files.is_empty()) else { continue };
            let weight = idf(size, files.len() as f64);
            if let Some((_, known)) = found.rarity.iter_mut().find(|(known, _)| known == root_of(word)) {
                *known = weight.max(*known);
            }
            for (path, count) in files {
                let usual = if mean == 0.0 { 0.0 } else { length(mean) };
                let length = counts.nodes.get(path).map_or(usual, |nodes| length(*nodes as f64));
                let count = *count as f64;
                *found.scores.entry(*path).or_insert(0.0) += weight * count * (K1 + 1.0) / (count + length);
            }
        }
        let best = found.scores.values().copied().fold(0.0, f64::max);
        if best > 0.0 {
            found.scores.values_mut().for_each(|score| *score /= best);
        } else {
            found.scores.clear();
        }
        found
    }

    /// Counts which words each of some files has together, of all words that were counted.
    pub fn cover(&mut self, counts: &'p WordCounts<'p>, among: &FxHashSet<&str>) {
        let telling: FxHashSet<&str> =
            self.rarity.iter().filter(|(_, weight)| *weight > 0.0).map(|(root, _)| root.as_str()).collect();
        self.telling = telling.len();
        for (word, files) in &counts.words {
            let root = root_of(word);
            for (path, _) in files.iter().filter(|(path, _)| telling.contains(root) && among.contains(path)) {
                self.covered.entry(*path).or_default().insert(root);
            }
        }
    }

    /// Returns the share of the words that tell files apart that a file has, whatever their rarity.
    pub fn coverage(&self, path: &str) -> f64 {
        let covered = self.covered.get(path).map_or(0, FxHashSet::len);
        if self.telling == 0 { 0.0 } else { covered as f64 / self.telling as f64 }
    }

    /// Returns the share of the question's rarity that these roots have, 0..1.
    pub fn share<'r>(&self, roots: impl IntoIterator<Item = &'r str>) -> f64 {
        let total: f64 = self.rarity.iter().map(|(_, weight)| weight).sum();
        if total == 0.0 {
            return 0.0;
        }
        let weight =
            |root: &str| self.rarity.iter().find(|(known, _)| known == root).map_or(0.0, |(_, weight)| *weight);
        exact_sum(roots.into_iter().collect::<FxHashSet<_>>().into_iter().map(weight)) / total
    }
}

/// Returns the inverse document frequency of a word that some of `size` files have, as BM25 defines it.
fn idf(size: f64, files: f64) -> f64 {
    (1.0 + (size - files + 0.5) / (files + 0.5)).ln()
}

/// Returns the sum as if computed without rounding, then rounded once, so that it does not depend on the order
/// (Shewchuk: Adaptive Precision Floating-Point Arithmetic, 1997; as Python's `math.fsum`). Of finite values.
fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for mut x in values {
        let mut kept = 0;
        for at in 0..partials.len() {
            let mut y = partials[at];
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        partials.truncate(kept);
        partials.push(x);
    }
    let Some(mut high) = partials.pop() else { return 0.0 };
    while let Some(y) = partials.pop() {
        let x = high;
        high = x + y;
        let low = y - (high - x);
        if low != 0.0 {
            // Half-way cases are rounded to even by the sign of what follows.
            if partials.last().is_some_and(|next| (low < 0.0) == (*next < 0.0) && *next != 0.0) {
                let twice = low * 2.0;
                let rounded = high + twice;
                if twice == rounded - high {
                    high = rounded;
                }
            }
            break;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(words: &[(&str, &[(&'static str, u64)])]) -> WordCounts<'static> {
        WordCounts {
            nodes: FxHashMap::from_iter([("a.py", 4), ("b.py", 2), ("c.py", 2)]),
            words: words.iter().map(|(word, files)| ((*word).to_owned(), files.to_vec())).collect(),
        }
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn coverage_counts_words_that_tell_files_apart_once_each() {
        let counts = counts(&[
            ("open", &[("a.py", 3)]),
            ("opens", &[("a.py", 1)]),
            ("hand", &[("a.py", 1), ("b.py", 1)]),
            ("again", &[("c.py", 1)]),
        ]);
        let mut found = FileMatches::new(&counts, &owned(&["open", "hand", "again", "unheard"]), &owned(&["opens"]));
        found.cover(&counts, &FxHashSet::from_iter(["a.py", "b.py"]));
        assert_eq!(["a.py", "b.py", "d.py"].map(|path| (found.coverage(path) * 3.0).round()), [2.0, 1.0, 0.0]);
        assert_eq!(FileMatches::default().coverage("a.py"), 0.0);
    }

    #[test]
    fn the_file_with_the_rarer_word_matches_better() {
        let counts = counts(&[("hash", &[("a.py", 1)]), ("value", &[("a.py", 1), ("b.py", 1)])]);
        let found = FileMatches::new(&counts, &owned(&["hash", "value"]), &[]);
        assert_eq!(found.scores["a.py"], 1.0);
        assert!(found.scores["b.py"] < 1.0);
        assert!(found.share(["hash"]) > found.share([root_of("value")]) && found.share(["other"]) == 0.0);
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(exact_sum([0.1; 10].into_iter()), 1.0);
        assert_eq!(exact_sum([1e100, 1.0, -1e100].into_iter()), 1.0);
        assert_eq!(exact_sum(std::iter::empty()), 0.0);
    }
}
