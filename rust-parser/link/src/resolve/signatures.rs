//! Function types: what calling a value of such a type returns, and the types of its parameters. Aliases, interfaces with
//! call signatures, object types without a name, fields and functions publish both.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::{is_callable, is_class};
use crate::project::file_types::{CALLED, GUARD, INDEXED, callback_part, signature_part};
use crate::project::names::{EMPTY, SymbolId};
use crate::project::query::Query;
use crate::resolve::applied::is_parameter;
use crate::resolve::callbacks::MAX_CALLBACKS;
use crate::resolve::types::published;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind, ParamKind};

/// Largest number of overloads of a function type that are read.
const MAX_OVERLOADS: usize = 32;
/// Keyword of the argument that stands for a rest parameter in a function type.
const REST: &str = "...";

impl Query<'_> {
    /// Returns the function types that a type or field of this file declares: calls of their results.
    pub(super) fn signatures(&self, def: DefId) -> Vec<ExprId> {
        let definition = self.file.def(def);
        let bases = match definition.kind {
            Kind::Interface | Kind::TypeAlias => definition.bases.as_slice(),
            Kind::Extension | Kind::Field => &[],
            _ => return Vec::new(),
        };
        let mut found = Vec::new();
        for &part in definition.declared_type.iter().chain(bases) {
            match self.file.expr(part) {
                Expr::TypeUnion(options) => found.extend(options.iter().copied()),
                _ => found.push(part),
            }
        }
        found.retain(|&part| matches!(self.file.expr(part), Expr::Call { new: false, .. }));
        found.truncate(MAX_OVERLOADS);
        found
    }

    /// Returns the result and the types of parameters that a function or function type publishes, by part, and the type
    /// behind the index signature of an object type.
    pub(super) fn signature_types(&self, def: DefId) -> Vec<(u16, Values)> {
        let definition = self.file.def(def);
        let mut parts: Vec<(u16, Values)> = Vec::new();
        if is_callable(definition.kind) {
            if let Some(declared) = definition.declared_type
                && let Expr::Generic { base, args } = self.file.expr(declared)
                && args.len() == 2
                && matches!(*self.file.expr(*base), Expr::Name(name) if self.file.text(name) == "is")
            {
                add(&mut parts, GUARD, published(self.eval_type(args[1], def, 0), None));
                parts.retain(|(_, values)| !values.is_empty());
            }
            let params = definition.params.iter().filter(|param| param.kind != ParamKind::Receiver);
            for (position, param) in (0..MAX_CALLBACKS).zip(params) {
                if let Some(annotation) = param.annotation {
                    let is_rest = param.kind == ParamKind::Variadic;
                    self.add_parameter(annotation, def, (position, is_rest), &mut parts);
                }
            }
            parts.retain(|(_, values)| !values.is_empty());
            return parts;
        }
        let signatures = self.signatures(def);
        for &signature in &signatures {
            let Expr::Call { callee, args, .. } = self.file.expr(signature) else { continue };
            let result = self.naming_parameters(|| self.eval_type(*callee, def, 0));
            add(&mut parts, 0, published(result, None));
            for (position, arg) in (0..MAX_CALLBACKS).zip(args) {
                let is_rest = arg.keyword.is_some_and(|word| self.file.text(word) == REST);
                self.add_parameter(arg.value, def, (position, is_rest), &mut parts);
                let places = if is_rest { position..MAX_CALLBACKS } else { position..position + 1 };
                for place in places {
                    let mut given = Vec::new();
                    self.add_callback(self.item_of(arg.value, is_rest), def, Some(place), &mut given);
                    given.into_iter().for_each(|(part, values)| add(&mut parts, part, values));
                }
            }
        }
        if !signatures.is_empty() {
            parts.push((CALLED, smallvec![Value::new(Entity::Opaque, Strategy::Annotation)]));
        }
        for &base in definition.declared_type.iter().chain(&definition.bases) {
            if definition.kind != Kind::Field
                && let Expr::Generic { base: name, args } = self.file.expr(base)
                && args.len() == 1
                && matches!(*self.file.expr(*name), Expr::Name(name) if self.file.text(name) == "Record")
            {
                let values = published(self.naming_parameters(|| self.eval_type(args[0], def, 0)), None);
                add(&mut parts, INDEXED, values);
            }
        }
        parts.retain(|(_, values)| !values.is_empty());
        parts
    }

    /// `Handler` of `...handlers: Handler[]`, and the first type of `...handlers: [Handler, Handler]`.
    pub(super) fn item_of(&self, declared: ExprId, is_rest: bool) -> ExprId {
        match self.file.expr(declared) {
            Expr::Generic { args, .. } if is_rest && args.len() == 1 => args[0],
            Expr::Elements { items, .. } if is_rest && !items.is_empty() => items[0],
            _ => declared,
        }
    }

    fn add_parameter(
        &self,
        declared: ExprId,
        def: DefId,
        (position, is_rest): (u16, bool),
        parts: &mut Vec<(u16, Values)>,
    ) {
        let declared = self.item_of(declared, is_rest);
        let values = published(self.naming_parameters(|| self.eval_type(declared, def, 0)), None);
        let last = if is_rest { MAX_CALLBACKS } else { position + 1 };
        (position..last).for_each(|place| add(parts, signature_part(place), values.clone()));
    }

    /// Returns the type whose call signature a call of an object of a class runs: the class itself or an ancestor.
    pub fn called_type(&self, class: SymbolId) -> Option<SymbolId> {
        let ancestors = self.ancestors(class).iter().filter_map(|ancestor| match ancestor {
            Entity::Definition(symbol) => Some(*symbol),
            _ => None,
        });
        std::iter::once(class).chain(ancestors).find(|&class| !self.returned_as(class, CALLED).is_empty())
    }

    /// Returns the results of calling a value of a function type.
    pub(super) fn signature_result(&self, callee: Value, class: SymbolId) -> Values {
        let Some(owner) = self.called_type(class) else { return Values::new() };
        self.seen_from(self.returned_as(owner, 0), callee, class, owner)
    }

    /// Returns what published values of the type `owner` are for an object of a class.
    fn seen_from(&self, values: &[Value], object: Value, class: SymbolId, owner: SymbolId) -> Values {
        let seen = |&value: &Value| match value.entity {
            entity if is_parameter(entity) => self.substituted(value, class, object.args, owner),
            Entity::SelfType => smallvec![Value { entity: Entity::Instance(class), ..value }],
            _ => smallvec![value],
        };
        values.iter().flat_map(seen).collect()
    }

    /// Returns the values of a parameter of what a value of a function type calls.
    pub(super) fn parameter_of(&self, value: Value, position: u16) -> Values {
        match value.entity {
            Entity::Instance(class) => {
                let Some(owner) = self.called_type(class) else { return Values::new() };
                self.seen_from(self.returned_as(owner, signature_part(position)), value, class, owner)
            }
            Entity::Definition(symbol) => {
                let called = self.receiving(symbol).unwrap_or(symbol);
                let own = self.returned_as(called, signature_part(position));
                if !own.is_empty() || !matches!(self.kind(called), Kind::Field | Kind::Constant) {
                    let (file, definition) = self.definition(called);
                    let owner = file.symbols[definition.parent as usize];
                    return self.seen_from(own, value, owner, owner);
                }
                let held = self.held(value).into_iter().filter(|held| held.entity != value.entity).collect();
                self.with_depth(|| self.flat_map(held, |held| self.parameter_of(held, position)))
            }
            _ => Values::new(),
        }
    }

    /// Returns the values of a callback's parameter, where the callback is the argument of a call of a value.
    pub(super) fn callback_parameter_of(&self, callee: Value, argument: u16, position: u16) -> Values {
        let part = callback_part(argument, position);
        match callee.entity {
            Entity::Instance(class) => {
                let Some(owner) = self.called_type(class) else { return Values::new() };
                self.seen_from(self.returned_as(owner, part), callee, class, owner)
            }
            Entity::Definition(symbol) => {
                let called = self.receiving(symbol).unwrap_or(symbol);
                let given = self.returned_as(called, part);
                if !given.is_empty() {
                    return given.into();
                }
                if !matches!(self.kind(called), Kind::Field | Kind::Constant | Kind::Property) {
                    let mut all = Values::new();
                    for (_, overload) in self.overload_signatures(called) {
                        merge(&mut all, self.returned_as(overload, part).into());
                    }
                    return all;
                }
                let held = self.held(callee).into_iter().filter(|held| held.entity != callee.entity).collect();
                self.with_depth(|| self.flat_map(held, |held| self.callback_parameter_of(held, argument, position)))
            }
            _ => Values::new(),
        }
    }

    /// Returns the type of a member as a value: what a field holds, else the field or method itself, which can be called.
    pub(super) fn member_type(&self, member: Value) -> Values {
        let Entity::Definition(symbol) = member.entity else { return smallvec![member] };
        if is_callable(self.kind(symbol)) && self.kind(symbol) != Kind::Property {
            return smallvec![member];
        }
        let held = self.stored_values(symbol).into_iter();
        let held: Values = held.filter(|held| held.entity != member.entity && !is_function(held.entity)).collect();
        if held.is_empty() { smallvec![member] } else { held }
    }

    /// Returns the values of `Parameters<typeof f>["0"]`.
    pub(super) fn parameter_type(&self, callee: ExprId, scope: DefId, position: u16) -> Values {
        self.flat_map(self.callable_values(callee, scope), |callee| self.parameter_of(callee, position))
    }

    /// Returns the functions that a path in a type denotes: `typeof f`, `Handler`, the callee of a call.
    pub(super) fn callable_values(&self, expr: ExprId, scope: DefId) -> Values {
        let is_path = matches!(self.file.expr(expr), Expr::Name(_) | Expr::Attribute { .. } | Expr::Call { .. });
        let values = match is_path {
            true => self.naming_nothing(|| self.in_position(false, || self.eval(expr, scope, u32::MAX))),
            false => Values::new(),
        };
        let is_called = |value: &Value| match value.entity {
            Entity::Definition(symbol) => self.kind(symbol) != Kind::TypeAlias,
            entity => matches!(entity, Entity::Instance(_)),
        };
        if values.iter().any(is_called) { values } else { self.eval_type(expr, scope, 0) }
    }

    /// Returns the values of types that follow from others: `ReturnType<F>`, `typeof x`, `InstanceType<C>`.
    pub(super) fn utility_type(&self, name: &str, args: &[ExprId], scope: DefId, depth: u32) -> Option<Values> {
        let &first = args.first()?;
        let values = match name {
            "typeof" => self.naming_nothing(|| self.in_position(false, || self.eval(first, scope, u32::MAX))),
            "is" if args.len() == 1 => self.flat_map(self.callable_values(first, scope), |value| match value.entity {
                Entity::Definition(function) => self.returned_as(function, GUARD).into(),
                _ => Values::new(),
            }),
            "is" => smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Annotation)],
            "ReturnType" => {
                let functions = self.callable_values(first, scope);
                self.flat_map(functions, |function| self.call_result(function, None))
            }
            "InstanceType" => {
                let classes =
                    self.eval_type(first, scope, depth + 1).into_iter().filter_map(|value| match value.entity {
                        Entity::Definition(class) if is_class(self.kind(class)) => {
                            Some(Value { entity: Entity::Instance(class), ..value })
                        }
                        Entity::Instance(_) => Some(value),
                        _ => None,
                    });
                classes.collect()
            }
            _ => return None,
        };
        Some(values.into_iter().filter(|value| !matches!(value.entity, Entity::Missing | Entity::Nothing)).collect())
    }
}

fn is_function(entity: Entity) -> bool {
    matches!(entity, Entity::Returning(_))
}

/// Adds values to those of a part.
fn add(parts: &mut Vec<(u16, Values)>, part: u16, values: Values) {
    match parts.iter_mut().find(|known| known.0 == part) {
        Some((_, known)) => merge(known, values),
        None => parts.push((part, values)),
    }
}
