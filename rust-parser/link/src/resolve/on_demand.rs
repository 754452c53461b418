//! Results of functions and values of variables: those of this file inferred on demand during inference, all others as
//! published by the stage before.

use std::rc::Rc;

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::{Bound, is_open_scope};
use crate::project::names::{FILE_NODE, FileId, Sym, SymbolId};
use crate::project::query::{Query, Stage};
use crate::strategy::Strategy;
use atlas_facts::{BindingKind, DefId, ExprId};

/// Largest number of return statements of a function whose result is inferred.
const MAX_RETURNS: usize = 16;
/// Largest number of functions and variables of which one depends on the next.
const MAX_CHAIN: u32 = 10;

impl Query<'_> {
    /// Returns the possible results of a function. Those of this file are inferred on demand, so that chains of calls
    /// within a file have any length; those of other files come from the stage before.
    pub fn returns(&self, function: SymbolId) -> Values {
        let place = self.index.symbols.get(function);
        if !self.infers(place.file) {
            return self.published_returns(function).into();
        }
        if let Some(known) = self.results.borrow().get(&place.def) {
            return known.as_ref().clone();
        }
        // A function that depends on its own result adds no values.
        let Some(before) = self.enter_inference() else { return self.published_returns(function).into() };
        self.results.borrow_mut().insert(place.def, Rc::default());
        let values = self.infer_returns(place.def);
        self.leave_inference(before);
        self.results.borrow_mut().insert(place.def, Rc::new(values.clone()));
        values
    }

    /// Returns the possible values of a variable of a module or class, like [`Query::returns`].
    pub fn variable(&self, scope: SymbolId, name: Sym) -> Values {
        let place = self.index.symbols.get(scope);
        if !self.infers(place.file) || place.def == FILE_NODE || !is_open_scope(self.file.outline(place.def).kind) {
            let mut values: Values = self.published_variable(scope, name).into();
            // What functions store in an object that they receive is known only after the types.
            if self.stage == Stage::Edges
                && self.file.rules.stored_members
                && !values.is_empty()
                && !self.is_declared(scope, name)
            {
                merge(&mut values, self.stored(scope, name).into_iter().filter(|value| !value.is_unknown()).collect());
            }
            return values;
        }
        if let Some(known) = self.held.borrow().get(&(scope, name)) {
            return known.as_ref().clone();
        }
        let Some(before) = self.enter_inference() else { return self.published_variable(scope, name).into() };
        self.held.borrow_mut().insert((scope, name), Rc::default());
        let values = self.infer_variable(place.def, self.file.entries(place.def, name));
        self.leave_inference(before);
        self.held.borrow_mut().insert((scope, name), Rc::new(values.clone()));
        values
    }

    /// Returns whether the type of a variable is declared.
    fn is_declared(&self, scope: SymbolId, name: Sym) -> bool {
        let (file, entries) = self.entries(scope, name);
        entries.iter().any(|entry| match entry.bound {
            Bound::Definition(def) => file.def(def).declared_type.is_some(),
            Bound::Binding(binding) => file.facts().bindings[binding as usize].annotation.is_some(),
            Bound::Parameter(_) | Bound::Import(_) => true,
        })
    }

    fn infers(&self, file: FileId) -> bool {
        file == self.home && matches!(self.stage, Stage::FirstTypes | Stage::Types)
    }

    /// Begins to infer a function or variable that others wait for: evaluation starts at depth 0 again. Returns `None`
    /// if too many wait.
    fn enter_inference(&self) -> Option<u32> {
        let waiting = self.waiting.get();
        if waiting >= MAX_CHAIN {
            return None;
        }
        self.waiting.set(waiting + 1);
        Some(self.depth.replace(0))
    }

    fn leave_inference(&self, depth: u32) {
        self.waiting.set(self.waiting.get() - 1);
        self.depth.replace(depth);
    }

    /// Returns the elements that a generator yields, if they have classes of the project.
    pub(super) fn yielded(&self, function: DefId) -> Values {
        let facts = self.file.facts();
        let own = facts.bindings.iter().filter(|one| one.kind == BindingKind::Yield && one.scope == function);
        let mut values = Values::new();
        let mut others = Values::new();
        for binding in own.take(MAX_RETURNS) {
            for value in binding.value.map(|value| self.eval(value, function, binding.line)).unwrap_or_default() {
                match value.entity {
                    Entity::Instance(class) => {
                        merge(&mut values, smallvec![Value::new(Entity::Elements(class), Strategy::ReturnType)]);
                    }
                    _ => merge(&mut others, self.holdable(smallvec![value])),
                }
            }
        }
        if !others.is_empty() {
            merge(&mut values, self.container_with(others));
        }
        values
    }

    /// Returns value and line of a function's return statements; none if there are too many.
    pub(super) fn returned_values(&self, function: DefId) -> Vec<(ExprId, u32)> {
        let start = self.file.returns().partition_point(|known| known.0 < function);
        let own = self.file.returns()[start..].iter().take_while(|known| known.0 == function);
        let bindings = own.map(|&(_, binding)| &self.file.facts().bindings[binding as usize]);
        let values: Vec<(ExprId, u32)> = bindings.filter_map(|binding| Some((binding.value?, binding.line))).collect();
        if values.len() > MAX_RETURNS { Vec::new() } else { values }
    }
}
