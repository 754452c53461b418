//! Possible callees of a call: members of its receiver, names in scope, extensions, and the only method with a name.

use smallvec::smallvec;

use crate::emit::collector::EdgeCollector;
use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::{Outline, is_callable};
use crate::project::names::{EMPTY, Sym};
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind, flags};

/// The position of a reference.
#[derive(Clone, Copy)]
pub struct Site {
    pub source: DefId,
    pub scope: DefId,
    pub line: u32,
    /// The referring expression.
    pub expr: ExprId,
}

impl EdgeCollector<'_, '_> {
    /// Returns the possible callees. A method that only one class of the project has is the last resort for an unknown
    /// receiver.
    pub(super) fn callee_values(&self, callee: ExprId, site: Site) -> Values {
        let query = self.query;
        match query.file.expr(callee) {
            &Expr::Attribute { base, name } => query.of_arity(self.member_callees(base, query.file.sym(name), site), 0),
            Expr::Name(name) => query.of_arity(self.named_callees(query.file.sym(*name), site), 0),
            Expr::Lambda(_) => smallvec![Value::new(Entity::Opaque, Strategy::Local)],
            Expr::Generic { base, args }
                if matches!(query.file.expr(*base), Expr::Name(_) | Expr::Attribute { .. })
                    && !query.is_cast(callee) =>
            {
                query.of_arity(self.callee_values(*base, site), args.len())
            }
            _ => query.eval(callee, site.scope, site.line),
        }
    }

    fn member_callees(&self, base: ExprId, name: Sym, site: Site) -> Values {
        let query = self.query;
        let bases = query.receivers(base, site.scope, site.line);
        if let Expr::Call { args, .. } = query.file.expr(site.expr)
            && !bases.iter().any(|value| matches!(value.entity, Entity::Definition(_) | Entity::Instance(_)))
            && let Some(function) = query.facade_function(base, name, args.len())
        {
            return smallvec![function];
        }
        let is_unknown = bases.iter().all(|value| value.entity == Entity::Opaque);
        if is_unknown && let Some(attached) = self.attached_member(base, name, site) {
            return smallvec![attached];
        }
        let is_foreign = is_unknown && query.is_foreign(base, site.scope, site.line);
        if is_foreign && matches!(query.file.expr(base), Expr::Name(_) | Expr::Scope(_)) {
            return Values::new();
        }
        if matches!(query.text(name), "call" | "apply") && bases.iter().any(|&value| query.is_called(value)) {
            return bases;
        }
        if !query.file.rules.function_types.is_empty() {
            let held = query.flat_map(bases.clone(), |value| query.held(value));
            if let Some(callees) = query.functional_callees(&held, name) {
                return callees;
            }
            let functions: Values = held.into_iter().filter(|&value| query.is_functional(value, name)).collect();
            if !functions.is_empty() {
                return functions;
            }
        }
        if let Expr::Call { args, .. } = query.file.expr(site.expr)
            && let [base] = bases[..]
            && let Some(reflected) = query.reflected(base, name, args, (site.scope, site.line))
        {
            return reflected;
        }
        if query.file.rules.extension_functions || query.file.rules.extension_methods {
            let held = query.flat_map(bases.clone(), |value| query.held(value));
            let held = if bases.is_empty() || !held.is_empty() { held } else { bases.clone() };
            let extension = self.called_extension(base, &held, name, site);
            if let Some(extension) = extension.or_else(|| self.extension_method(&held, name, site)) {
                return smallvec![extension];
            }
        }
        let bases = if bases.iter().all(Value::is_unknown) { Values::new() } else { bases };
        if bases.is_empty() && is_foreign {
            return Values::new();
        }
        if bases.is_empty() {
            let unique = self.unique_member(base, name, site).filter(|value| self.is_of_named(base, value, site));
            return unique.or_else(|| self.named_receiver(base, name)).into_iter().collect();
        }
        if query.file.rules.new_method == Some(name) {
            return bases;
        }
        let is_passed = bases.iter().any(|value| matches!(value.via, Strategy::Passed | Strategy::Element));
        let is_open = bases.iter().any(Value::is_unknown);
        let mut members = query.flat_map(bases, |value| query.called_attribute(value, name));
        let rules = &query.file.rules;
        // A text or number that is passed, too, is not among the values, and has the member.
        if rules.prototypes && is_of_every_object(query.text(name)) {
            members.retain(|member| member.via != Strategy::Passed);
            if members.is_empty() {
                return smallvec![Value::new(Entity::Opaque, Strategy::Local)];
            }
        }
        if !(members.is_empty() || rules.extension_functions || rules.extension_methods)
            && members.iter().all(|member| member.entity == Entity::Builtin(EMPTY))
            && let Some(added) = self.added_member(name)
        {
            return smallvec![added];
        }
        // There are other objects: a member that the known ones lack is not missing.
        let is_found = |value: &Value| !matches!(value.entity, Entity::Missing | Entity::Opaque);
        if is_open || is_passed && !members.iter().any(is_found) {
            members.retain(|value| is_found(value));
            let unique = self.unique_member(base, name, site);
            merge(&mut members, unique.or_else(|| self.named_receiver(base, name)).into_iter().collect());
        }
        members
    }

    /// Returns whether a method may be one of the class that a capitalised receiver names.
    fn is_of_named(&self, base: ExprId, method: &Value, site: Site) -> bool {
        let query = self.query;
        let (Expr::Name(name), Entity::Definition(symbol)) = (query.file.expr(base), method.entity) else {
            return true;
        };
        let is_class_name = query.file.rules.capitalised_classes
            && query.file.text(*name).starts_with(char::is_uppercase)
            && query.resolve_name(site.scope, query.file.sym(*name), site.line).is_none();
        let owner = || self.owner_class(symbol).map(|owner| query.definition(owner).1.name);
        !is_class_name || owner() == Some(query.file.sym(*name))
    }

    fn named_callees(&self, name: Sym, site: Site) -> Values {
        let query = self.query;
        let rules = &query.file.rules;
        let found = query.resolve_called_name(site.scope, name, site.line);
        if rules.extension_functions
            && found.as_ref().is_none_or(|values| values.iter().any(|value| self.is_extension(value)))
        {
            let receiver = query.implied_receiver(site.scope);
            let takes = |file: &_, def| self.takes(file, def, site.expr);
            if let Some(extension) = query.extension_of(&receiver, name, site.scope, takes) {
                return smallvec![extension];
            }
        }
        match found {
            // It has the name of a built-in function but different parameters.
            Some(values)
                if rules.builtins.contains(&name) && values.iter().all(|value| self.takes_others(value, site)) =>
            {
                smallvec![Value::new(Entity::Builtin(name), Strategy::Local)]
            }
            Some(values) => values,
            None if rules.global_functions => {
                let is_global =
                    |definition: &Outline| definition.kind == Kind::Function && definition.flags & flags::EXPORTED != 0;
                self.unique_function(name, is_global).into_iter().collect()
            }
            None => Values::new(),
        }
    }

    fn is_extension(&self, value: &Value) -> bool {
        let Entity::Definition(symbol) = value.entity else { return false };
        let (file, definition) = self.query.definition(symbol);
        is_callable(definition.kind) && file.outline(definition.parent).kind == Kind::Extension
    }

    /// Returns whether a function cannot be the callee with these arguments, or is one of several indistinguishable
    /// candidates.
    fn takes_others(&self, value: &Value, site: Site) -> bool {
        self.overloads_of(value, site).is_some_and(|count| count != 1)
    }

    /// Returns the number of a function's overloads that take the arguments of a call; None for what has no overloads.
    fn overloads_of(&self, value: &Value, site: Site) -> Option<usize> {
        let Entity::Definition(symbol) = value.entity else { return None };
        let (file, definition) = self.query.definition(symbol);
        let is_overloaded = file.rules.overloads && is_callable(definition.kind);
        is_overloaded.then(|| self.overloads_for(symbol, site.expr).len())
    }

    /// Returns whether a function, like all its overloads, takes other arguments.
    fn takes_none(&self, value: &Value, site: Site) -> bool {
        self.overloads_of(value, site).is_some_and(|count| count == 0)
    }

    /// Returns the extension for a call on a receiver without such a member for its arguments.
    fn called_extension(&self, base: ExprId, bases: &Values, name: Sym, site: Site) -> Option<Value> {
        let query = self.query;
        if !query.file.rules.extension_functions {
            return None;
        }
        let has_member = |value: &Value| {
            let members = query.called_attribute(*value, name);
            members
                .iter()
                .any(|member| matches!(member.entity, Entity::Definition(_)) && !self.takes_none(member, site))
        };
        if bases.iter().any(has_member) {
            return None;
        }
        let receiver = match query.file.expr(base) {
            Expr::This { .. } => query.implied_receiver(site.scope),
            _ => query.receiver(bases),
        };
        query.extension_of(&receiver, name, site.scope, |file, def| self.takes(file, def, site.expr))
    }
}

/// Returns whether every object has a member of a name, in languages with prototypes.
fn is_of_every_object(name: &str) -> bool {
    matches!(name, "toString" | "toLocaleString" | "valueOf" | "hasOwnProperty" | "isPrototypeOf" | "constructor")
}
