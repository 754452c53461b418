//! Type parameters of classes, seen from subclasses: `held: T` of `Base<T>` is a `User` in `class Sub extends Base<User>`.
//! Classes publish the type arguments of their bases, fields the position of the type parameter that is their type.

use smallvec::smallvec;

use crate::facts::{DefId, Expr, ExprId, Kind};
use crate::link::entity::{Entity, Value, Values, merge};
use crate::link::project::file_entry::{Bound, NameEntry, is_class};
use crate::link::project::file_types::{FIELD_ARGUMENT, base_part};
use crate::link::project::names::{Sym, SymbolId};
use crate::link::project::query::Query;
use crate::link::resolve::types::published;
use crate::link::strategy::Strategy;

/// Largest number of bases, and of type arguments of a base, with published types.
pub const MAX_BASES: u16 = 4;
pub const MAX_TYPE_ARGUMENTS: u16 = 8;
/// Largest number of classes between an object's class and that of the field.
const MAX_LEVELS: u32 = 4;

impl Query<'_> {
    /// Returns the type arguments of the bases of a class, or the type parameter of a field, by part.
    pub(super) fn type_arguments(&self, def: DefId) -> Vec<(u16, Values)> {
        let definition = self.file.def(def);
        let mut parts = Vec::new();
        if definition.kind == Kind::Field {
            let Some(&Expr::Name(name)) = definition.declared_type.map(|declared| self.file.expr(declared)) else {
                return parts;
            };
            if let Some(position) = self.type_parameter(definition.parent, self.file.sym(name)) {
                let value = Value::new(Entity::TypeArgument(position), Strategy::Annotation);
                parts.push((FIELD_ARGUMENT, smallvec![value]));
            }
            return parts;
        }
        for (number, &base) in (0..MAX_BASES).zip(&definition.bases) {
            let Expr::Generic { base, args } = self.file.expr(base) else { continue };
            let named = self.in_position(true, || self.eval(*base, definition.parent, definition.start_line));
            let named: Values =
                named.into_iter().filter(|value| matches!(value.entity, Entity::Definition(_))).collect();
            if named.len() != 1 {
                continue;
            }
            parts.push((base_part(number, 0), named));
            for (position, &arg) in (0..MAX_TYPE_ARGUMENTS).zip(args) {
                let values = published(self.eval_type(arg, def, 0), None);
                if !values.is_empty() {
                    parts.push((base_part(number, position + 1), values));
                }
            }
        }
        parts
    }

    /// Returns the position of a type parameter among those of a class.
    fn type_parameter(&self, class: DefId, name: Sym) -> Option<u16> {
        let is_parameter = |entry: &&NameEntry| match entry.bound {
            Bound::Binding(binding) => {
                let binding = &self.file.facts().bindings[binding as usize];
                let is_name = matches!(self.file.expr(binding.target), Expr::Name(_)) && binding.value.is_none();
                is_name && self.file.entries(class, entry.name).len() == 1
            }
            _ => false,
        };
        if !self.file.rules.prototypes || !is_class(self.file.outline(class).kind) {
            return None;
        }
        let mut own: Vec<_> = self.file.scope_entries(class).iter().filter(is_parameter).collect();
        own.sort_unstable_by_key(|entry| entry.bound);
        let position = own.iter().position(|entry| entry.name == name)?;
        u16::try_from(position).ok()
    }

    /// Returns a member of a value. A field whose type is a type parameter has the argument's type.
    pub(super) fn seen_member(&self, receiver: Value, name: Sym) -> Values {
        let members = self.attribute(receiver, name);
        let Entity::Instance(class) = receiver.entity else { return members };
        self.flat_map(members, |member| {
            let given = self.given_type(class, member);
            if given.is_empty() { smallvec![member] } else { given }
        })
    }

    /// Returns the instances that a field of an ancestor holds in objects of a class, if its type is a type parameter.
    fn given_type(&self, class: SymbolId, member: Value) -> Values {
        let Entity::Definition(field) = member.entity else { return Values::new() };
        let (file, definition) = self.definition(field);
        let owner = file.symbols[definition.parent as usize];
        if definition.kind != Kind::Field || owner == class {
            return Values::new();
        }
        match self.returned_as(field, FIELD_ARGUMENT).first().map(|value| value.entity) {
            Some(Entity::TypeArgument(position)) => self.argument_of(class, owner, position, 0),
            _ => Values::new(),
        }
    }

    fn argument_of(&self, class: SymbolId, owner: SymbolId, position: u16, level: u32) -> Values {
        let mut values = Values::new();
        for number in 0..MAX_BASES {
            let Some(&Value { entity: Entity::Definition(base), .. }) =
                self.returned_as(class, base_part(number, 0)).first()
            else {
                continue;
            };
            if base == owner {
                let given = self.returned_as(class, base_part(number, position + 1));
                return given.iter().map(|value| Value { via: Strategy::AttributeType, ..*value }).collect();
            }
            if level < MAX_LEVELS {
                merge(&mut values, self.argument_of(base, owner, position, level + 1));
            }
        }
        values
    }

    /// Returns the values of an expression before a dot, with the type arguments of the object that it is a member of.
    pub fn receivers(&self, expr: ExprId, scope: DefId, line: u32) -> Values {
        let values = self.eval(expr, scope, line);
        if !self.file.rules.prototypes {
            return values;
        }
        let Expr::Attribute { base, name } = *self.file.expr(expr) else { return values };
        let is_generic = |value: &Value| match value.entity {
            Entity::Definition(symbol) => {
                self.kind(symbol) == Kind::Field && !self.returned_as(symbol, FIELD_ARGUMENT).is_empty()
            }
            _ => false,
        };
        if !values.iter().any(is_generic) {
            return values;
        }
        let name = self.file.sym(name);
        let seen = self.with_depth(|| {
            let receivers = self.receivers(base, scope, line);
            self.flat_map(receivers, |receiver| self.seen_member(receiver, name))
        });
        if seen.is_empty() { values } else { seen }
    }
}
