//! What the supporting functions of one file of tests call, as the project keeps and publishes it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::link::project::dependencies::{Contributions, DependencyKind, add_differences, digest_of, key};
use crate::link::project::index::Index;
use crate::link::project::names::{FileId, Sym, SymbolId};
use crate::link::project::query::Query;

/// The supporting functions of one file of tests.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileSupport {
    pub(super) functions: FxHashMap<SymbolId, Support>,
    /// Fixtures by name, with the class in which they are, and whether every test of the scope uses them.
    pub fixtures: Vec<Fixture>,
}

/// What one function calls.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub struct Support {
    /// Outside of tests.
    pub code: Vec<SymbolId>,
    /// Other supporting functions.
    pub helpers: Vec<SymbolId>,
}

/// A function that provides an argument for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fixture {
    pub name: Sym,
    pub symbol: SymbolId,
    /// The class or module around it.
    pub scope: SymbolId,
    pub is_automatic: bool,
}

impl FileSupport {
    pub fn contributions(&self, file: FileId) -> Contributions {
        let functions = self.functions.iter();
        let fixtures = std::iter::once((fixtures_key(file), digest_of(&self.fixtures)));
        functions.map(|(&symbol, support)| (support_key(symbol), digest_of(support))).chain(fixtures).collect()
    }
}

fn support_key(symbol: SymbolId) -> u32 {
    key(DependencyKind::Support, symbol, 0)
}

fn fixtures_key(file: FileId) -> u32 {
    key(DependencyKind::Support, file, 1)
}

impl Index {
    /// Replaces what the supporting functions of a file call. Adds the keys of the queries whose answers change.
    pub fn put_support(&mut self, id: FileId, found: FileSupport, keys: &mut FxHashSet<u32>) {
        let known = &mut self.support[id as usize];
        let old = std::mem::replace(known, found);
        if old != *known {
            add_differences(old.contributions(id), known.contributions(id), keys);
        }
    }
}

impl<'a> Query<'a> {
    /// Returns what a supporting function calls.
    pub fn support_of(&self, symbol: SymbolId) -> Option<&'a Support> {
        self.record(support_key(symbol));
        let file = self.index.symbols.get(symbol).file;
        self.index.support[file as usize].functions.get(&symbol)
    }

    /// Returns the fixtures of a file.
    pub fn fixtures_of(&self, file: FileId) -> &'a [Fixture] {
        self.record(fixtures_key(file));
        &self.index.support[file as usize].fixtures
    }
}
