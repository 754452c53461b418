//! Resolves names that come from star imports.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, via};
use crate::packages::files::around;
use crate::project::dependencies::{DependencyKind, key};
use crate::project::file_entry::is_global;
use crate::project::names::{FileId, Sym, SymbolId};
use crate::project::paths::folder_of;
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{ImportKind, Kind};

impl Query<'_> {
    /// Returns the values of a name that the star imports of a module provide, directly or through those of the modules
    /// they import.
    pub(crate) fn starred_name(&self, file: FileId, module: SymbolId, name: Sym) -> Option<Values> {
        let rules = &self.index.file(file).rules;
        let is_global = rules.modules.global_imports && file == self.home;
        if (self.stars(module).is_empty() && !is_global) || rules.is_skipped_by_stars(self.text(name)) {
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
        let is_global = self.index.file(file).rules.modules.global_imports && file == self.home;
        let mut todo = if is_global { self.global_steps(name) } else { Vec::new() };
        todo.extend(self.star_steps(file, module));
        while let Some((place, is_included)) = todo.pop() {
            let import = &self.index.file(place.0).facts().imports[place.1 as usize];
            let Some(target) = self.following.enter(place, || self.module_of(place.0, import)) else { continue };
            if matches!(target, Entity::External(_)) || !visited.insert(target) {
                continue;
            }
            let found = match import.alias {
                // `global using Name = A.B;`
                Some(_) => smallvec![Value::new(target, Strategy::Import)],
                None => self.following.enter(place, || self.starred_member(target, name)).unwrap_or_default(),
            };
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
        if is_global { self.used_everywhere(name) } else { Values::new() }
    }

    /// Returns the imports of other files that apply to this one and may provide a name.
    fn global_steps(&self, name: Sym) -> Vec<((FileId, u32), bool)> {
        let all = self.global_imports.get_or_init(|| {
            self.record(key(DependencyKind::GlobalImports, u32::from(self.file.rules.family), 0));
            let own = self.project_of(self.home);
            let files = self.index.global_imports.values().copied();
            let files = files.filter(|&file| file != self.home && self.project_of(file) == own);
            let of = |file: FileId| {
                let imports = self.index.file(file).facts().imports.iter().zip(0..);
                imports
                    .filter(|(import, _)| is_global(import))
                    .map(move |(_, number)| (file, number))
                    .collect::<Vec<_>>()
            };
            files.flat_map(of).collect()
        });
        let may_provide = |&(file, number): &(FileId, u32)| {
            let entry = self.index.file(file);
            let alias = entry.facts().imports[number as usize].alias;
            alias.is_none_or(|alias| entry.sym(alias) == name)
        };
        all.iter().filter(|step| may_provide(step)).map(|&step| (step, false)).collect()
    }

    /// Returns the values of a name of the namespaces that the project file imports everywhere.
    fn used_everywhere(&self, name: Sym) -> Values {
        let known = self.used_namespaces.borrow().clone();
        let namespaces = known.unwrap_or_else(|| {
            let found = self.find_used_namespaces();
            self.used_namespaces.borrow_mut().insert(found).clone()
        });
        let mut found = namespaces.iter().map(|&target| {
            let found = self.starred_member(target, name).into_iter();
            found.filter(|value| value.entity != Entity::Missing).collect::<Values>()
        });
        via(found.find(|values| !values.is_empty()).unwrap_or_default(), Strategy::StarImport)
    }

    fn find_used_namespaces(&self) -> Rc<[Entity]> {
        let usings = &self.index.configuration.usings;
        let names = around(folder_of(&self.file.path)).filter_map(|folder| self.configured(usings, folder)).flatten();
        let targets = names.map(|namespace| self.declared_module(self.file, namespace));
        targets.filter(|target| !matches!(target, Entity::External(_) | Entity::Missing)).collect()
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
