//! Instances of generic classes with their type arguments: `Repository<Order>`, whose `find` returns an `Order`.
//!
//! The arguments of a value are one interned text: for each `i` (instance), `e` (elements) or `m` (mapped) with the
//! number of the class, `-` if unknown, and the number of the text of its own arguments. What functions publish also has
//! `p` with the position of a type parameter.

use std::fmt::Write;

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{Bound, NameEntry, is_callable, is_class};
use crate::project::file_types::base_part;
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::type_arguments::{MAX_BASES, MAX_TYPE_ARGUMENTS};
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind};

/// Largest number of classes between an object's class and that of the member.
const MAX_LEVELS: u32 = 4;

/// Returns whether a value stands for what a type argument is.
pub fn is_parameter(entity: Entity) -> bool {
    matches!(entity, Entity::TypeArgument(_) | Entity::ArgumentElements(_) | Entity::ArgumentMapped(_))
}

/// Returns the text of a type argument; `None` for what is no instance or container of instances.
pub fn argument_text(value: Value) -> Option<String> {
    let (mark, symbol) = match value.entity {
        Entity::TypeArgument(position) => ('p', position.into()),
        Entity::Instance(symbol) => ('i', symbol),
        Entity::Elements(symbol) => ('e', symbol),
        Entity::Mapped(symbol) => ('m', symbol),
        _ => return None,
    };
    Some(format!("{mark}{symbol}:{}", value.args))
}

impl Query<'_> {
    /// Evaluates a type in which type parameters of the class around are named by their position.
    pub(super) fn naming_parameters(&self, step: impl FnOnce() -> Values) -> Values {
        let before = self.names_parameters.replace(true);
        let values = step();
        self.names_parameters.set(before);
        values
    }

    /// Evaluates what is no part of such a type.
    pub(super) fn naming_nothing(&self, step: impl FnOnce() -> Values) -> Values {
        let before = self.names_parameters.replace(false);
        let values = step();
        self.names_parameters.set(before);
        values
    }

    /// Returns the position of the type parameter that a name in a type means, if that is asked for.
    pub(super) fn named_parameter(&self, expr: ExprId, scope: DefId) -> Values {
        let Expr::Name(name) = *self.file.expr(expr) else { return Values::new() };
        if !self.names_parameters.get() {
            return Values::new();
        }
        let name = self.file.sym(name);
        match self.parameter_position(scope, name).or_else(|| self.own_position(scope, name)) {
            Some(position) => smallvec![Value::new(Entity::TypeArgument(position), Strategy::Annotation)],
            None => Values::new(),
        }
    }

    /// Returns the position of a type parameter among those of the class around a scope.
    pub(super) fn parameter_position(&self, scope: DefId, name: Sym) -> Option<u16> {
        let mut here = scope;
        while here != 0 && self.names_own.get() && is_callable(self.file.outline(here).kind) {
            if !self.file.entries(here, name).is_empty() {
                return self.own_position(here, name);
            }
            here = self.file.outline(here).parent;
        }
        let class = self.generic_scope(scope)?;
        let definition = self.file.def(class);
        if definition.kind == Kind::Extension {
            let Expr::Generic { args, .. } = self.file.expr(*definition.bases.first()?) else { return None };
            return self.position_in(args, name);
        }
        let mut here = scope;
        while here != class {
            if !self.file.entries(here, name).is_empty() {
                return None;
            }
            here = self.file.outline(here).parent;
        }
        if !is_class(definition.kind) && definition.kind != Kind::TypeAlias {
            return None;
        }
        let own = self.file.entries(class, name);
        if own.is_empty() {
            // `class Box(Generic[T])`, where `T` is a variable.
            let mut generic = definition.bases.iter().filter_map(|&base| match self.file.expr(base) {
                Expr::Generic { base, args } if self.is_generic_marker(*base) => Some(args),
                _ => None,
            });
            return generic.find_map(|args| self.position_in(args, name));
        }
        let is_type_parameter = |entry: &&NameEntry| match entry.bound {
            Bound::Binding(binding) => {
                let binding = &self.file.facts().bindings[binding as usize];
                matches!(self.file.expr(binding.target), Expr::Name(_)) && binding.value.is_none()
            }
            _ => false,
        };
        if own.len() != 1 || !own.iter().all(|entry| is_type_parameter(&entry)) {
            return None;
        }
        let is_alone = |entry: &&NameEntry| self.file.entries(class, entry.name).len() == 1;
        let entries = self.file.scope_entries(class).iter();
        let mut parameters: Vec<_> = entries.filter(is_type_parameter).filter(is_alone).collect();
        parameters.sort_unstable_by_key(|entry| entry.bound);
        u16::try_from(parameters.iter().position(|entry| entry.name == name)?).ok()
    }

    /// Returns the nearest class, extension of one, or alias of a type around a scope.
    fn generic_scope(&self, mut scope: DefId) -> Option<DefId> {
        while scope != 0 {
            let definition = self.file.outline(scope);
            let is_generic = match definition.kind {
                Kind::Extension => !self.file.def(scope).bases.is_empty(),
                Kind::TypeAlias => self.file.rules.prototypes,
                kind => is_class(kind),
            };
            if is_generic {
                return Some(scope);
            }
            scope = definition.parent;
        }
        None
    }

    fn is_generic_marker(&self, base: ExprId) -> bool {
        let (Expr::Name(name) | Expr::Attribute { name, .. }) = *self.file.expr(base) else { return false };
        self.file.rules.generic_bases.contains(&self.file.sym(name))
    }

    fn position_in(&self, args: &[ExprId], name: Sym) -> Option<u16> {
        let is_name = |&arg: &ExprId| matches!(*self.file.expr(arg), Expr::Name(own) if self.file.sym(own) == name);
        u16::try_from(args.iter().position(is_name)?).ok()
    }

    /// Adds type arguments to instances of generic classes.
    pub(super) fn applied(&self, instances: Values, args: &[ExprId], scope: DefId, depth: u32) -> Values {
        let mut text = String::new();
        let mut is_known = false;
        for &arg in args.iter().take(MAX_TYPE_ARGUMENTS as usize) {
            let values = self.eval_type(arg, scope, depth + 1);
            let known = if let [value] = values[..] { argument_text(value) } else { None };
            is_known |= known.is_some();
            let _ = write!(text, "{},", known.as_deref().unwrap_or("-"));
        }
        if !is_known {
            return instances;
        }
        let args = self.index.strings.intern(&text);
        let applied = |value: Value| match value.entity {
            Entity::Instance(_) => Value { args, ..value },
            _ => value,
        };
        instances.into_iter().map(applied).collect()
    }

    /// Returns what a type argument of a value is.
    fn argument_at(&self, args: Sym, position: u16) -> Option<Value> {
        if args == EMPTY {
            return None;
        }
        let part = self.text(args).split(',').nth(position as usize)?;
        let (symbol, inner) = part.get(1..)?.split_once(':')?;
        let symbol: SymbolId = symbol.parse().ok()?;
        let entity = match part.as_bytes().first()? {
            b'i' => Entity::Instance(symbol),
            b'e' => Entity::Elements(symbol),
            b'm' => Entity::Mapped(symbol),
            _ => return None,
        };
        Some(Value { entity, via: Strategy::ReturnType, args: inner.parse().unwrap_or(EMPTY) })
    }

    /// Returns what a published value with type parameters of the class `owner` is for an object of a class with type
    /// arguments.
    pub(super) fn substituted(&self, value: Value, class: SymbolId, args: Sym, owner: SymbolId) -> Values {
        let (Entity::TypeArgument(position) | Entity::ArgumentElements(position) | Entity::ArgumentMapped(position)) =
            value.entity
        else {
            return Values::new();
        };
        let contained = |given: Value| {
            let entity = match (value.entity, given.entity) {
                (Entity::TypeArgument(_), entity) => entity,
                (Entity::ArgumentElements(_), Entity::Instance(symbol)) => Entity::Elements(symbol),
                (_, Entity::Instance(symbol)) => Entity::Mapped(symbol),
                _ => return None,
            };
            Some(Value { entity, ..given })
        };
        let given = self.argument_of(class, owner, position, 0).into_iter();
        let given = given.filter_map(|value| match value.entity {
            Entity::TypeArgument(own) => self.argument_at(args, own),
            entity if is_parameter(entity) => None,
            _ => Some(value),
        });
        given.filter_map(contained).collect()
    }

    /// Returns a type argument of the ancestor `owner` of a class, which may depend on type parameters of the class.
    fn argument_of(&self, class: SymbolId, owner: SymbolId, position: u16, level: u32) -> Values {
        if class == owner {
            return smallvec![Value::new(Entity::TypeArgument(position), Strategy::ReturnType)];
        }
        if level >= MAX_LEVELS {
            return Values::new();
        }
        for number in 0..MAX_BASES {
            let Some(&Value { entity: Entity::Definition(base), .. }) =
                self.returned_as(class, base_part(number, 0)).first()
            else {
                continue;
            };
            let found = self.flat_map(self.argument_of(base, owner, position, level + 1), |value| match value.entity {
                Entity::TypeArgument(own) => self.returned_as(class, base_part(number, own + 1)).into(),
                _ => smallvec![value],
            });
            if !found.is_empty() {
                return found;
            }
        }
        Values::new()
    }
}
