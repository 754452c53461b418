//! Resolves names that come from star imports.

use rustc_hash::FxHashSet;

use crate::entity::{Entity, Values, via};
use crate::project::names::{FileId, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{ImportKind, Kind};

impl Query<'_> {
    /// Returns the values of a name that the star imports of a module provide, directly or through those of the modules
    /// they import.
    pub(crate) fn starred_name(&self, file: FileId, module: SymbolId, name: Sym) -> Option<Values> {
        if self.stars(module).is_empty() || self.index.file(file).rules.is_skipped_by_stars(self.text(name)) {
            return None;
        }
        let key = (module, name, self.in_type.get());
        let find = || self.find_starred_name(file, module, name);
        let found = self.following.look_up(&self.following.stars, key, Some(Values::new()), find);
        (!found.is_empty()).then_some(found)
    }

    /// Visits each module behind the star imports once, those of one module in their order, each before the next.
    fn find_starred_name(&self, file: FileId, module: SymbolId, name: Sym) -> Values {
        let mut visited = FxHashSet::from_iter([Entity::Definition(module)]);
        let mut todo = self.star_steps(file, module);
        while let Some((place, is_included)) = todo.pop() {
            let import = &self.index.file(place.0).facts().imports[place.1 as usize];
            let Some(target) = self.following.enter(place, || self.module_of(place.0, import)) else { continue };
            if matches!(target, Entity::External(_)) || !visited.insert(target) {
                continue;
            }
            let found = self.following.enter(place, || self.starred_member(target, name)).unwrap_or_default();
            let found: Values = found.into_iter().filter(|value| value.entity != Entity::Missing).collect();
            if !found.is_empty() {
                return via(found, if is_included { Strategy::Include } else { Strategy::StarImport });
            }
            if let Entity::Definition(symbol) = target
                && self.kind(symbol) == Kind::Module
                && self.entries(symbol, name).1.is_empty()
            {
                let next = self.index.symbols.get(symbol).file;
                if !self.index.file(next).rules.is_skipped_by_stars(self.text(name)) {
                    // The rule is the one of the first import.
                    let steps = self.star_steps(next, symbol).into_iter();
                    todo.extend(steps.map(|(place, _)| (place, is_included)));
                }
            }
        }
        Values::new()
    }

    /// Returns a name of a star-imported module, without its own star imports.
    fn starred_member(&self, target: Entity, name: Sym) -> Values {
        let Entity::Definition(symbol) = target else { return self.member_of_module_like(target, name) };
        if self.kind(symbol) != Kind::Module {
            return self.member_of_module_like(target, name);
        }
        let own = self.bound_member(symbol, name);
        if own.is_empty() { self.member_below(self.definition(symbol).0, name) } else { own }
    }

    /// Returns the star imports of a module, last one first, and whether each is an inclusion.
    fn star_steps(&self, file: FileId, module: SymbolId) -> Vec<((FileId, u32), bool)> {
        let imports = &self.index.file(file).facts().imports;
        let is_included = |import: u32| imports[import as usize].kind == ImportKind::Include;
        self.stars(module).into_iter().rev().map(|import| ((file, import), is_included(import))).collect()
    }
}
