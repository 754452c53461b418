//! Supporting functions and fixtures as part of a project: the index replaces those of a file, queries read them.

use rustc_hash::FxHashSet;

use crate::project::dependencies::add_differences;
use crate::project::file_entry::FileEntry;
use crate::project::index::Index;
use crate::project::names::{FileId, SymbolId};
use crate::project::query::Query;
use crate::testing::file_support::{FileSupport, Fixture, Support, fixtures_key, support_key};

impl Index {
    /// Replaces what the supporting functions of a file call. Adds the keys of the queries whose answers change.
    pub fn put_support(&mut self, id: FileId, found: FileSupport, keys: &mut FxHashSet<u32>) {
        let known = &mut self.support[id as usize];
        let old = std::mem::replace(known, found);
        if old != *known {
            add_differences(old.contributions(), known.contributions(), keys);
        }
    }

    /// Replaces the fixtures of a file, which follow from its facts alone. Returns whether they differ.
    pub fn put_fixtures(&mut self, id: FileId) -> bool {
        let found = self.files[id as usize].as_ref().map(FileEntry::own_fixtures).unwrap_or_default();
        let known = &mut self.fixtures[id as usize];
        let is_same = *known == found;
        *known = found;
        !is_same
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
        &self.index.fixtures[file as usize]
    }
}
