//! Assignments that reach a line: in a body that runs in order, the last certain one replaces those before it.

use std::rc::Rc;

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{Bound, NameEntry, is_class};
use crate::project::names::FILE_NODE;
use crate::project::query::Query;
use crate::resolve::variables::{MAX_ASSIGNMENTS, MAX_BOUND};
use atlas_facts::{Binding, DefId, Expr, ExprId, Kind};

/// A line of the body that a variable belongs to.
#[derive(Clone, Copy)]
pub struct Reached {
    pub line: u32,
    /// The line of the last certain assignment to the variable; 0 for none.
    pub since: u32,
}

impl Reached {
    /// Returns whether an assignment has run whenever the line is reached.
    pub fn is_certain(self, binding: &Binding) -> bool {
        (binding.replaces.0..binding.replaces.1).contains(&self.line)
    }
}

impl Query<'_> {
    /// Leaves out the assignments of a variable in its own body that another one has replaced when a line is reached.
    pub(super) fn reach(&self, bindings: &mut Vec<&Binding>, scope: DefId, line: u32) -> Reached {
        let mut reached = Reached { line, since: 0 };
        let last = bindings.iter().rposition(|binding| {
            binding.scope == scope && reached.is_certain(binding) && !self.may_return_target(binding)
        });
        if let Some(last) = last {
            reached.since = bindings[last].line;
            let mut at = 0..;
            bindings.retain(|binding| at.next().is_some_and(|at| at >= last) || binding.scope != scope);
        }
        reached
    }

    /// Returns whether a function that receives the old value may give it back: `value = adapted(value)`.
    fn may_return_target(&self, binding: &Binding) -> bool {
        let Some(Expr::Call { callee, args, .. }) = binding.value.map(|value| self.file.expr(value)) else {
            return false;
        };
        let is_class =
            |value: &Value| matches!(value.entity, Entity::Definition(symbol) if is_class(self.kind(symbol)));
        args.iter().any(|arg| arg.value == binding.target) && {
            let callees = self.eval(*callee, binding.scope, binding.line.saturating_sub(1));
            callees.is_empty() || !callees.iter().all(is_class)
        }
    }

    /// Returns what a variable of the module holds at a line of the module's own body; `None` if that is all that it
    /// ever holds. `by_element` considers elements that are replaced, too.
    pub fn held_at(&self, value: Value, scope: DefId, line: u32, by_element: bool) -> Option<Values> {
        let Entity::Definition(symbol) = value.entity else { return None };
        let place = self.index.symbols.get(symbol);
        if scope != 0 || place.file != self.home || place.def == FILE_NODE || !self.file.rules.stored_members {
            return None;
        }
        let outline = self.file.outline(place.def);
        if outline.kind != Kind::Constant || outline.parent != 0 || !(1..u32::MAX).contains(&line) {
            return None;
        }
        let entries = self.file.entries(0, outline.name);
        let has_stores = by_element && !self.file.stores(0, outline.name).is_empty();
        if entries.len() > MAX_BOUND || entries.len() < 3 && !has_stores {
            return None;
        }
        let mut bindings = self.plain_bindings(entries)?;
        let count = bindings.len();
        // Nothing runs the last statements of a module again.
        bindings.retain(|binding| binding.scope != 0 || binding.line <= line || binding.replaces.1 != u32::MAX);
        let reached = self.reach(&mut bindings, 0, line);
        if reached.since == 0 || bindings.len() == count && !has_stores {
            return None;
        }
        if !self.stored(self.file.symbols[0], outline.name).is_empty() {
            return None;
        }
        let key = (0, outline.name, line, u32::from(by_element));
        if let Some(known) = self.variables.borrow().get(&key) {
            return Some(known.as_ref().clone());
        }
        self.variables.borrow_mut().insert(key, Rc::default());
        let recent = bindings.len().saturating_sub(MAX_ASSIGNMENTS);
        let values = self.assigned_values(&bindings[recent..], 0);
        let values = self.with_stores(values, 0, outline.name, Some(reached));
        let values = self.held_in(0, values);
        self.variables.borrow_mut().insert(key, Rc::new(values.clone()));
        Some(values)
    }

    /// Returns whether code of a scope runs in the body of a variable's scope, in order: only functions without a name are
    /// between them.
    pub(super) fn runs_in_order(&self, scope: DefId, user: DefId) -> bool {
        let mut here = user;
        while here != scope && here != 0 && self.file.outline(here).kind == Kind::Lambda {
            here = self.file.outline(here).parent;
        }
        here == scope && self.file.rules.stored_members
    }

    /// Replaces the variables of the module among the values by what they hold at a line.
    pub(super) fn settled(&self, values: Values, scope: DefId, line: u32, by_element: bool) -> Values {
        if scope != 0 || !values.iter().any(|value| self.held_at(*value, scope, line, by_element).is_some()) {
            return values;
        }
        self.flat_map(values, |value| {
            self.held_at(value, scope, line, by_element).unwrap_or_else(|| smallvec::smallvec![value])
        })
    }

    /// Returns the values of an expression at a line; a variable stands for what it holds.
    pub fn eval_held(&self, expr: ExprId, scope: DefId, line: u32) -> Values {
        let values = self.settled(self.eval(expr, scope, line), scope, line, false);
        self.flat_map(values, |value| self.held(value))
    }

    /// Returns the assignments of a name that is nothing but a variable without a declared type.
    fn plain_bindings(&self, entries: &[NameEntry]) -> Option<Vec<&Binding>> {
        let mut bindings = Vec::new();
        for entry in entries {
            match entry.bound {
                Bound::Definition(def) => {
                    let definition = self.file.def(def);
                    if definition.kind != Kind::Constant || definition.declared_type.is_some() {
                        return None;
                    }
                }
                Bound::Binding(binding) => {
                    let binding = &self.file.facts().bindings[binding as usize];
                    if binding.annotation.is_some() {
                        return None;
                    }
                    bindings.push(binding);
                }
                _ => return None,
            }
        }
        bindings.sort_by_key(|binding| binding.line);
        Some(bindings)
    }
}
