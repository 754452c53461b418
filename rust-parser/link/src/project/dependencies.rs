//! Dependencies between files: hashes of the queries that the linking of a file made to the project.
//!
//! Every query has a key. Files publish pairs of a key and a digest of their contribution to the answer; every lookup
//! records its key, whether it finds something or not. After an update, the keys whose contributions differ determine
//! the files to link again. Keys have 32 bits: a collision costs an unnecessary re-link, never a wrong result.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

/// The kind of a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DependencyKind {
    /// Whether there is a file at a path.
    Path,
    /// Whether a folder contains files of a language family.
    Folder,
    /// Whether a package or namespace is declared.
    Package,
    /// The meanings of a name in a module, class or namespace of one file.
    Member,
    /// The star imports of a module.
    Star,
    /// Kind and flags of a symbol.
    Definition,
    /// The meanings of a name in a scope shared by several files.
    Shared,
    /// The symbols with a name.
    Name,
    /// The symbols with a qualified name.
    Uid,
    /// The modules directly inside a package folder.
    Children,
    /// The linearized ancestors of a class.
    Ancestors,
    /// The extensions (`impl`, receivers, partial classes) of a class.
    Extension,
    /// The possible values of a class or module variable.
    Variable,
    /// The possible results of a function.
    Returns,
    /// The values that calls pass for a parameter, and those that other files store in a variable.
    Passed,
    Stored,
    /// The mounts and prefixes of a router.
    Router,
    /// The registrations of a route.
    Route,
    /// The routes whose path has a last literal segment.
    RoutePath,
    /// The procedures with a method's name; of the empty name, whether there is any.
    Procedure,
    /// What a fixture or helper of tests calls, and the fixtures of a file.
    Support,
    /// The routes and events that other files register for handlers in a file.
    Handled,
    /// What configuration files say about a folder.
    Configuration,
    /// The imports of a language family that apply to all files of a project.
    GlobalImports,
}

/// Returns the key of a query about numbered entities.
pub fn key(kind: DependencyKind, first: u32, second: u32) -> u32 {
    let mut hasher = FxHasher::default();
    (kind, first, second).hash(&mut hasher);
    fold(hasher.finish())
}

/// Returns the key of a query about a string.
pub fn text_key(kind: DependencyKind, extra: u8, text: &str) -> u32 {
    let mut hasher = FxHasher::default();
    (kind, extra, text).hash(&mut hasher);
    fold(hasher.finish())
}

/// Returns the digest of one contribution to an answer.
pub fn digest_of(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    let mixed = hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

fn fold(hash: u64) -> u32 {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// The contributions of one file: pairs of key and digest, several per key allowed.
pub type Contributions = Vec<(u32, u64)>;

/// Adds the keys whose contributions differ between `old` and `new`.
pub fn add_differences(mut old: Contributions, mut new: Contributions, keys: &mut FxHashSet<u32>) {
    old.sort_unstable();
    new.sort_unstable();
    let (mut left, mut right) = (old.iter().peekable(), new.iter().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a == b => {
                left.next();
                right.next();
            }
            (Some(&a), Some(&b)) if a < b => keys.extend(left.next().map(|_| a.0)),
            (Some(_), Some(&b)) => keys.extend(right.next().map(|_| b.0)),
            (Some(&a), None) => keys.extend(left.next().map(|_| a.0)),
            (None, Some(&b)) => keys.extend(right.next().map(|_| b.0)),
            (None, None) => return,
        }
    }
}

/// Returns the keys sorted, without duplicates and without spare capacity: the list is kept per file and stage.
pub fn compact(mut keys: Vec<u32>) -> Box<[u32]> {
    keys.sort_unstable();
    keys.dedup();
    keys.into_boxed_slice()
}

/// A superset of the keys that any file has asked for: most keys that change with a file are not among them, and need
/// not be looked up in the lists of all files.
pub struct AskedKeys(Box<[u64]>);

/// Number of keys that the set tells apart, a power of two.
const ASKED_KEYS: usize = 1 << 24;

impl Default for AskedKeys {
    fn default() -> Self {
        AskedKeys(vec![0; ASKED_KEYS / 64].into())
    }
}

impl AskedKeys {
    fn place(key: u32) -> (usize, u64) {
        let number = key as usize % ASKED_KEYS;
        (number / 64, 1 << (number % 64))
    }

    pub fn add(&mut self, keys: &[u32]) {
        for &key in keys {
            let (at, bit) = Self::place(key);
            self.0[at] |= bit;
        }
    }

    /// Returns those of the keys that may have been asked for.
    pub fn among(&self, keys: &FxHashSet<u32>) -> FxHashSet<u32> {
        let is_asked = |key: u32| {
            let (at, bit) = Self::place(key);
            self.0[at] & bit != 0
        };
        keys.iter().copied().filter(|&key| is_asked(key)).collect()
    }
}

/// Returns whether a file that made the queries `asked` depends on any of the changed keys.
pub fn is_affected(dependencies: &[u32], changed: &FxHashSet<u32>) -> bool {
    if changed.len() * 8 < dependencies.len() {
        changed.iter().any(|key| dependencies.binary_search(key).is_ok())
    } else {
        dependencies.iter().any(|key| changed.contains(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_keys_whose_contributions_differ() {
        let old = vec![(1, 10), (2, 20), (2, 21), (3, 30)];
        let new = vec![(3, 30), (2, 21), (4, 40), (1, 11)];
        let mut keys = FxHashSet::default();
        add_differences(old, new, &mut keys);
        assert_eq!(keys, FxHashSet::from_iter([1, 2, 4]));
    }

    #[test]
    fn affected_by_any_changed_key() {
        let dependencies = compact(vec![9, 3, 3, 7]);
        assert_eq!(*dependencies, [3, 7, 9]);
        assert!(is_affected(&dependencies, &FxHashSet::from_iter([7])));
        assert!(!is_affected(&dependencies, &FxHashSet::from_iter([4, 5, 6])));
        let long: Vec<u32> = (0..100).collect();
        assert!(is_affected(&long, &FxHashSet::from_iter([99])));
        assert!(!is_affected(&long, &FxHashSet::from_iter([100])));
    }

    #[test]
    fn asked_keys_are_never_left_out() {
        let mut asked = AskedKeys::default();
        asked.add(&[7, u32::MAX, 1 << 24]);
        let changed = FxHashSet::from_iter([7, 8, u32::MAX, 1 << 24]);
        assert_eq!(asked.among(&changed), FxHashSet::from_iter([7, u32::MAX, 1 << 24]));
    }
}
