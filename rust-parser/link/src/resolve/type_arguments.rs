//! Type parameters of classes, seen from outside: `held: T` of `Base<T>` is a `User` in `class Sub extends Base<User>` and
//! in a `Base<User>`. Classes publish the type arguments of their bases, fields and functions the positions of the type
//! parameters in their types.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{is_callable, is_class};
use crate::project::file_types::{FIELD_ARGUMENT, MAKING, base_part};
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::applied::{argument_text, is_parameter};
use crate::resolve::arguments::Arguments;
use crate::resolve::types::published;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind};

/// Largest number of bases, and of type arguments of a base, with published types.
pub const MAX_BASES: u16 = 4;
pub const MAX_TYPE_ARGUMENTS: u16 = 8;

impl Query<'_> {
    /// Returns the type arguments of the bases of a class, or the type parameter of a field, by part.
    pub(super) fn type_arguments(&self, def: DefId) -> Vec<(u16, Values)> {
        let definition = self.file.def(def);
        let mut parts = Vec::new();
        if definition.kind == Kind::Field {
            let declared = definition.declared_type.filter(|_| self.file.rules.generic_fields);
            let mut values = match declared {
                Some(declared) => self.naming_parameters(|| self.eval_type(declared, definition.parent, 0)),
                None => Values::new(),
            };
            values.retain(|value| is_parameter(value.entity));
            if !values.is_empty() {
                parts.push((FIELD_ARGUMENT, values));
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
                let values = published(self.naming_parameters(|| self.eval_type(arg, def, 0)), None);
                if !values.is_empty() {
                    parts.push((base_part(number, position + 1), values));
                }
            }
        }
        parts
    }

    /// Returns which type parameters of its class are the types of the parameters of a function that makes an object, or of
    /// a class with parameters.
    pub(super) fn making_types(&self, def: DefId) -> Vec<Value> {
        let definition = self.file.def(def);
        let parent = self.file.outline(definition.parent).kind;
        let is_making = match definition.kind {
            kind if is_class(kind) => true,
            Kind::Constructor => true,
            kind => {
                is_callable(kind)
                    && definition.declared_type.is_some()
                    && (is_class(parent) || parent == Kind::Extension)
            }
        };
        let mut making = Vec::new();
        if !is_making || definition.params.is_empty() {
            return making;
        }
        for (position, param) in (0..MAX_TYPE_ARGUMENTS).zip(&definition.params) {
            let Some(annotation) = param.annotation else { continue };
            if let Some(own) = self.class_parameter(annotation, def) {
                let own = Value::new(Entity::TypeArgument(own), Strategy::ReturnType);
                making.extend([Value::new(Entity::MadeBy(position), Strategy::ReturnType), own]);
                continue;
            }
            let is_plain = matches!(self.file.expr(annotation), Expr::Name(_) | Expr::Generic { .. });
            if !is_plain || !self.names_parameter(annotation, def) {
                continue;
            }
            let types = self.naming_parameters(|| self.eval_type(annotation, def, 0));
            if let Some(&own) = types.iter().find(|value| is_parameter(value.entity)) {
                making.extend([Value::new(Entity::Argument(position), Strategy::ReturnType), own]);
            }
        }
        making
    }

    /// Returns the type parameter of the class around whose class a parameter receives: `kind: type[T]`.
    fn class_parameter(&self, annotation: ExprId, scope: DefId) -> Option<u16> {
        match self.file.expr(annotation) {
            Expr::TypeUnion(options) => options.iter().find_map(|&option| self.class_parameter(option, scope)),
            Expr::Generic { base, args } => match (self.file.expr(*base), &args[..]) {
                (Expr::Name(base), [arg]) if self.file.rules.class_objects.contains(&self.file.sym(*base)) => {
                    let Expr::Name(name) = *self.file.expr(*arg) else { return None };
                    self.parameter_position(scope, self.file.sym(name))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether a type is a type parameter of the class around, or has one as an argument.
    fn names_parameter(&self, annotation: ExprId, scope: DefId) -> bool {
        match self.file.expr(annotation) {
            Expr::Name(name) => self.parameter_position(scope, self.file.sym(*name)).is_some(),
            Expr::Generic { args, .. } => args.iter().any(|&arg| self.names_parameter(arg, scope)),
            _ => false,
        }
    }

    /// Returns the type arguments of an object of a class that a call makes, as far as its arguments tell them.
    pub(super) fn making_arguments(&self, function: SymbolId, class: SymbolId, arguments: &Arguments) -> Sym {
        if !matches!(arguments, Arguments::Written(args, ..) if !args.is_empty()) {
            return EMPTY;
        }
        let (maker, owner) = match self.kind(function) {
            kind if is_class(kind) && self.returned_as(function, MAKING).is_empty() => {
                let Some(constructor) = self.constructor_of(function) else { return EMPTY };
                let (file, definition) = self.definition(constructor);
                (constructor, self.owner_of(file, definition.parent))
            }
            kind if is_class(kind) => (function, function),
            _ => {
                let (file, definition) = self.definition(function);
                (function, self.owner_of(file, definition.parent))
            }
        };
        let making = self.returned_as(maker, MAKING);
        if making.is_empty() || owner != class {
            return EMPTY;
        }
        let mut known: [Option<String>; MAX_TYPE_ARGUMENTS as usize] = Default::default();
        for pair in making.chunks_exact(2) {
            let &[Value { entity: from @ (Entity::Argument(place) | Entity::MadeBy(place)), .. }, own] = pair else {
                continue;
            };
            let mut given = self.argument(maker, place, arguments);
            if matches!(from, Entity::MadeBy(_)) {
                given = given.into_iter().filter_map(|value| self.made_of(value)).collect();
            }
            let (position, part) = match (own.entity, &given[..]) {
                (Entity::TypeArgument(position), &[value]) => (position, argument_text(value)),
                (
                    Entity::ArgumentElements(position) | Entity::ArgumentMapped(position),
                    &[Value { entity: Entity::Elements(symbol) | Entity::Mapped(symbol), .. }],
                ) => (position, argument_text(Value::new(Entity::Instance(symbol), Strategy::ReturnType))),
                _ => continue,
            };
            if let Some(place) = known.get_mut(position as usize) {
                *place = part.or(place.take());
            }
        }
        let Some(last) = known.iter().rposition(Option::is_some) else { return EMPTY };
        let text: String = known[..=last].iter().map(|part| format!("{},", part.as_deref().unwrap_or("-"))).collect();
        self.index.strings.intern(&text)
    }

    /// Returns an instance of the class that a value is.
    fn made_of(&self, value: Value) -> Option<Value> {
        match value.entity {
            Entity::Definition(class) if is_class(self.kind(class)) => {
                Some(Value { entity: Entity::Instance(class), ..value })
            }
            _ => None,
        }
    }

    /// Returns a member of a value. A field whose type is a type parameter has the argument's type.
    pub(super) fn seen_member(&self, receiver: Value, name: Sym) -> Values {
        let members = self.attribute(receiver, name);
        let Entity::Instance(class) = receiver.entity else { return members };
        self.flat_map(members, |member| {
            let given = self.given_type(class, receiver.args, member);
            if given.is_empty() { smallvec![member] } else { given }
        })
    }

    /// Returns the instances that a field holds in objects of a class, if its type depends on type parameters.
    fn given_type(&self, class: SymbolId, args: Sym, member: Value) -> Values {
        let Entity::Definition(field) = member.entity else { return Values::new() };
        let (file, definition) = self.definition(field);
        if definition.kind != Kind::Field {
            return Values::new();
        }
        let owner = self.first_part(file.symbols[definition.parent as usize]);
        let held = self.returned_as(field, FIELD_ARGUMENT);
        let given = held.iter().flat_map(|value| self.substituted(*value, class, args, owner));
        given.map(|value| Value { via: Strategy::AttributeType, ..value }).collect()
    }

    /// Returns the object that a constant or field holds, whose type arguments the results of its methods depend on.
    pub(super) fn seen_object(&self, receiver: Value) -> Value {
        let Entity::Definition(symbol) = receiver.entity else { return receiver };
        if !self.file.rules.generic_fields || !matches!(self.kind(symbol), Kind::Constant | Kind::Field) {
            return receiver;
        }
        match self.stored_values(symbol)[..] {
            [held @ Value { entity: Entity::Instance(class), .. }] if class != symbol => held,
            _ => receiver,
        }
    }

    /// Returns the values of an expression before a dot, with the type arguments of the object that it is a member of.
    pub fn receivers(&self, expr: ExprId, scope: DefId, line: u32) -> Values {
        let values = self.eval(expr, scope, line);
        let values = self.settled(values, scope, line, !self.file.rules.prototypes);
        if !self.file.rules.generic_fields {
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
