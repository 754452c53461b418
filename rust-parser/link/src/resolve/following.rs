//! The chain of imports that are being followed, and what is known of imports, modules and star imports by then.
//!
//! Imports form cycles. A lookup that meets an import in progress is cut short there. What it found then holds only until
//! the outermost lookup ends; otherwise it holds for the file. So each import is followed and the star imports of
//! each module are searched once for a name, however many paths lead there.

use std::cell::{Cell, RefCell};
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::entity::{Entity, Values};
use crate::project::names::{FileId, Sym, SymbolId};

/// Largest number of nested imports that are followed.
const MAX_CHAIN: usize = 24;

/// The state of following imports from one file in one stage.
#[derive(Default)]
pub struct Following {
    /// Imports in progress.
    chain: RefCell<Vec<(FileId, u32)>>,
    /// Number of lookups that were cut short so far.
    cuts: Cell<usize>,
    /// Number of lookups in progress.
    nested: Cell<usize>,
    /// By file, import and whether a type is meant.
    pub(super) imports: Known<(FileId, u32, bool), Values>,
    /// Modules by (file, module as written, level, kind of import).
    pub(super) modules: Known<(FileId, Sym, u32, u8), Entity>,
    /// What the star imports of a module provide, by module, name and whether a type is meant.
    pub(super) stars: Known<(SymbolId, Sym, bool), Values>,
}

/// Results of one kind of lookup.
pub(super) struct Known<K, V> {
    lasting: RefCell<FxHashMap<K, V>>,
    /// Results of lookups that were cut short; `None` for one in progress.
    passing: RefCell<FxHashMap<K, Option<V>>>,
}

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Known { lasting: RefCell::default(), passing: RefCell::default() }
    }
}

impl Following {
    /// Runs `find` unless the import is in progress or too many are; returns nothing then.
    pub(super) fn enter<V>(&self, place: (FileId, u32), find: impl FnOnce() -> V) -> Option<V> {
        if self.chain.borrow().contains(&place) || self.chain.borrow().len() >= MAX_CHAIN {
            self.cuts.set(self.cuts.get() + 1);
            return None;
        }
        self.chain.borrow_mut().push(place);
        let found = find();
        self.chain.borrow_mut().pop();
        Some(found)
    }

    /// Returns the known result of a lookup, or that of `find`. A lookup that needs itself finds `nothing`; without that it
    /// runs again, and ends at the import in progress.
    pub(super) fn look_up<K: Copy + Eq + Hash, V: Clone>(
        &self,
        known: &Known<K, V>,
        key: K,
        nothing: Option<V>,
        find: impl FnOnce() -> V,
    ) -> V {
        if let Some(found) = known.lasting.borrow().get(&key) {
            return found.clone();
        }
        if let Some(found) = known.passing.borrow().get(&key) {
            // What depends on it holds no longer than this result.
            self.cuts.set(self.cuts.get() + 1);
            return found.clone().or(nothing).expect("only lookups with a `nothing` are marked as in progress");
        }
        if nothing.is_some() {
            known.passing.borrow_mut().insert(key, None);
        }
        let before = self.cuts.get();
        self.nested.set(self.nested.get() + 1);
        let found = find();
        self.nested.set(self.nested.get() - 1);
        // The outermost lookup is cut short only by itself.
        if self.cuts.get() == before || self.nested.get() == 0 {
            known.passing.borrow_mut().remove(&key);
            known.lasting.borrow_mut().insert(key, found.clone());
        } else {
            known.passing.borrow_mut().insert(key, Some(found.clone()));
        }
        if self.nested.get() == 0 {
            self.forget_passing();
        }
        found
    }

    fn forget_passing(&self) {
        self.imports.passing.borrow_mut().clear();
        self.modules.passing.borrow_mut().clear();
        self.stars.passing.borrow_mut().clear();
    }
}
