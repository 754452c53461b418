//! Types of one name that differ in the number of their type parameters: `Box` and `Box<T>`.

use crate::entity::{Entity, Values};
use crate::project::file_entry::{Bound, SharedScope, is_class};
use crate::project::names::{FILE_NODE, SymbolId};
use crate::project::query::Query;
use atlas_facts::Kind;

/// Largest number of classes around a class.
const MAX_OUTER: usize = 50;

impl Query<'_> {
    /// Returns values with each type in place of its namesake with another number of type parameters, where there is
    /// such a type.
    pub(crate) fn of_arity(&self, mut values: Values, arguments: usize) -> Values {
        if self.file.rules.classes_by_arity {
            for value in &mut values {
                if let Entity::Definition(symbol) = value.entity {
                    value.entity = Entity::Definition(self.namesake(symbol, arguments));
                }
            }
        }
        values
    }

    /// Returns the same for objects of types.
    pub(crate) fn objects_of_arity(&self, mut values: Values, arguments: usize) -> Values {
        if self.file.rules.classes_by_arity {
            for value in &mut values {
                if let Entity::Instance(symbol) = value.entity {
                    value.entity = Entity::Instance(self.namesake(symbol, arguments));
                }
            }
        }
        values
    }

    fn namesake(&self, symbol: SymbolId, arguments: usize) -> SymbolId {
        let (file, definition) = self.definition(symbol);
        let is_type = is_class(definition.kind) || definition.kind == Kind::TypeAlias;
        if !is_type || !file.rules.classes_by_arity {
            return symbol;
        }
        let arities = self.arities(symbol);
        if arities[0] == arguments {
            return symbol;
        }
        if let Some(&known) = self.namesakes.borrow().get(&(symbol, arguments)) {
            return known;
        }
        let is_meant = |other: &SymbolId| {
            let others = self.arities(*other);
            others[0] == arguments && others[1..] == arities[1..]
        };
        let found = self.of_nearest_project(self.namesakes_of(symbol).into_iter().filter(is_meant));
        let found = found.map_or(symbol, |found| self.canonical(found));
        self.namesakes.borrow_mut().insert((symbol, arguments), found);
        found
    }

    /// Returns the first part of a class among those with its name and its numbers of type parameters.
    pub(crate) fn first_of_arity(&self, class: SymbolId) -> SymbolId {
        let project = |symbol: SymbolId| self.project_of(self.index.symbols.get(symbol).file);
        let (own, arities) = (project(class), self.arities(class));
        let is_part = |&other: &SymbolId| {
            let other_project = project(other);
            let is_near = own.is_none() || other_project.is_none() || other_project == own;
            is_near && is_class(self.kind(other)) && self.arities(other) == arities
        };
        let parts = self.namesakes_of(class).into_iter().filter(is_part);
        parts.min_by_key(|&part| self.index.claim_order(part)).unwrap_or(class)
    }

    /// Returns the types with the name of one in its namespace or in the types of one name around it, in the order of
    /// their places.
    fn namesakes_of(&self, class: SymbolId) -> Vec<SymbolId> {
        let (file, definition) = self.definition(class);
        let def = self.index.symbols.get(class).def;
        let is_type = |kind: Kind| is_class(kind) || kind == Kind::TypeAlias;
        if let Some(SharedScope::Package(package)) = file.shared_scope(def) {
            let found = self.shared_in_package(package, definition.name);
            return found.filter(|&symbol| is_type(self.kind(symbol))).collect();
        }
        let parent = file.symbols[definition.parent as usize];
        let mut around = vec![parent];
        if is_class(file.outline(definition.parent).kind) {
            around.extend(self.namesakes_of(parent).into_iter().filter(|&outer| outer != parent));
        }
        let mut found = Vec::new();
        for scope in around {
            let (file, entries) = self.entries(scope, definition.name);
            let types = entries.iter().filter_map(|entry| match entry.bound {
                Bound::Definition(def) if is_type(file.outline(def).kind) => Some(file.symbols[def as usize]),
                _ => None,
            });
            found.extend(types);
        }
        found
    }

    /// Returns the numbers of type parameters of a type and of the classes around it.
    fn arities(&self, class: SymbolId) -> Vec<usize> {
        let (file, _) = self.definition(class);
        let mut here = self.index.symbols.get(class).def;
        let mut found = Vec::new();
        while here != 0 && here != FILE_NODE && found.len() < MAX_OUTER {
            let kind = file.outline(here).kind;
            if !is_class(kind) && !found.is_empty() {
                break;
            }
            found.push(file.type_parameters(file.def(here)));
            here = file.outline(here).parent;
        }
        found
    }
}
