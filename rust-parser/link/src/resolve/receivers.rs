//! Functions with receivers: bare names in `with(printer) { line("a") }` and in a function that is passed for a parameter
//! `Printer.() -> Unit` may be members of the printer.

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::is_callable;
use crate::project::names::Sym;
use crate::project::query::Query;
use crate::resolve::callbacks::RECEIVER;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr};

impl Query<'_> {
    /// Returns the member of an anonymous function's receiver that a bare name in it means.
    pub(super) fn member_of_receiver(&self, function: DefId, name: Sym, is_called: bool) -> Option<Values> {
        let before = self.calling.replace(is_called);
        let receivers = self.with_depth(|| self.receiver_of_function(function)).into_iter();
        let found = receivers.filter_map(|value| match value.entity {
            Entity::Instance(class) => {
                let members = self.class_member(class, name, Strategy::Annotation);
                let is_found = |member: &Value| match member.entity {
                    Entity::Definition(symbol) => !is_called || is_callable(self.kind(symbol)),
                    _ => false,
                };
                members.iter().any(is_found).then_some(members)
            }
            _ => None,
        });
        let found = found.into_iter().next();
        self.calling.set(before);
        found
    }

    fn receiver_of_function(&self, function: DefId) -> Values {
        let Some((call, argument)) = self.file.callback(function) else { return Values::new() };
        let Expr::Call { callee, args, .. } = self.file.expr(call) else { return Values::new() };
        let definition = self.file.def(function);
        let (scope, line) = (definition.parent, definition.start_line);
        let rules = &self.file.rules;
        match *self.file.expr(*callee) {
            Expr::Attribute { base, name } if rules.scope_callbacks.contains(&self.file.sym(name)) => {
                self.flat_map(self.receivers(base, scope, line), |value| self.held(value))
            }
            Expr::Name(name) if rules.scope_callbacks.contains(&self.file.sym(name)) && argument == 1 => {
                self.flat_map(self.receivers(args[0].value, scope, line), |value| self.held(value))
            }
            _ => self.passed_values(function, call, (argument, RECEIVER)),
        }
    }
}
