//! Whether the bindings of a name in a scope are visible where the name is used.

use crate::project::file_entry::{Bound, NameEntry};
use crate::project::query::Query;
use crate::resolve::variables::MAX_BOUND;
use atlas_facts::{BindingKind, LOCAL_MARK};

impl Query<'_> {
    /// Returns whether a name that is used on a line means its bindings in this scope.
    pub(super) fn is_visible(&self, entries: &[NameEntry], line: u32) -> bool {
        !self.is_outer(entries) && !self.is_hidden(entries) && !self.is_declared_later(entries, line)
    }

    /// Returns whether a declaration binds a name to an outer scope: `global x`, `nonlocal x`.
    fn is_outer(&self, entries: &[NameEntry]) -> bool {
        entries.iter().take(MAX_BOUND).any(|entry| match entry.bound {
            Bound::Binding(binding) => self.file.facts().bindings[binding as usize].kind == BindingKind::Outer,
            _ => false,
        })
    }

    /// Returns whether a name in a type is bound to parameters only, which are values.
    fn is_hidden(&self, entries: &[NameEntry]) -> bool {
        self.file.rules.prototypes
            && self.in_type.get()
            && entries.iter().all(|entry| matches!(entry.bound, Bound::Parameter(_)))
    }

    /// Returns whether all variables with a name are declared after a line, where the language hides them until then.
    fn is_declared_later(&self, entries: &[NameEntry], line: u32) -> bool {
        // A variable with a name of its own is not that of an outer scope.
        let is_local = entries.first().is_some_and(|entry| self.text(entry.name).rfind(LOCAL_MARK) > Some(0));
        self.file.rules.visible_after_declaration
            && !is_local
            && entries.iter().take(MAX_BOUND).all(|entry| match entry.bound {
                Bound::Binding(binding) => self.file.facts().bindings[binding as usize].line > line,
                _ => false,
            })
    }
}
