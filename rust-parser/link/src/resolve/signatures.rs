//! Function types: what calling a value of such a type returns, and the types of its parameters. Aliases, interfaces with
//! call signatures, object types without a name, fields and functions publish both.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::{is_callable, is_class};
use crate::project::file_types::{ASSERTS, CALLED, GUARD, INDEXED, callback_part, overload_part, signature_part};
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::applied::is_parameter;
use crate::resolve::arguments::Arguments;
use crate::resolve::callbacks::MAX_CALLBACKS;
use crate::resolve::types::published;
use crate::strategy::Strategy;
use atlas_facts::{Arg, DefId, Expr, ExprId, Kind, LiteralType, ParamKind};

/// Largest number of overloads of a function type that are read.
const MAX_OVERLOADS: usize = 32;
/// Keyword of the argument that stands for a rest parameter in a function type.
const REST: &str = "...";
/// Stands for a type that every argument has.
const ANY: &str = "any";

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
            if let Some(declared) = definition.declared_type {
                add(&mut parts, GUARD, published(self.guarded_type(declared, def), None));
                if self.is_assertion(declared) {
                    add(&mut parts, ASSERTS, smallvec![Value::new(Entity::Nothing, Strategy::Annotation)]);
                }
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
        let overloads = self.overloads(def, &signatures);
        let is_overloaded = !overloads.is_empty();
        parts.extend(overloads);
        for &signature in &signatures {
            let Expr::Call { callee, args, .. } = self.file.expr(signature) else { continue };
            if !is_overloaded {
                let result = self.naming_parameters(|| self.eval_type(*callee, def, 0));
                add(&mut parts, 0, published(result, None));
            }
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

    /// Returns whether a result is `asserts x` or `asserts x is T`.
    fn is_assertion(&self, declared: ExprId) -> bool {
        match *self.file.expr(declared) {
            Expr::Generic { base, .. } => {
                matches!(*self.file.expr(base), Expr::Name(name) if self.file.text(name) == "asserts")
            }
            _ => false,
        }
    }

    /// Returns the parts of call signatures with different results, which the arguments of a call choose from.
    fn overloads(&self, def: DefId, signatures: &[ExprId]) -> Vec<(u16, Values)> {
        let definition = self.file.def(def);
        let results = signatures.iter().map(|&signature| match *self.file.expr(signature) {
            Expr::Call { callee, .. } => published(self.naming_parameters(|| self.eval_type(callee, def, 0)), None),
            _ => Values::new(),
        });
        let results: Vec<Values> = results.collect();
        let is_written = |signature: &ExprId| definition.bases.contains(signature);
        if results.windows(2).all(|pair| pair[0] == pair[1]) || !signatures.iter().all(is_written) {
            return Vec::new();
        }
        let mut parts = Vec::new();
        for (number, (&signature, results)) in (0..).zip(signatures.iter().zip(results)) {
            let Expr::Call { args, .. } = self.file.expr(signature) else { continue };
            let keyword = |arg: &Arg| arg.keyword.map(|word| self.file.text(word));
            let least = args.iter().filter(|arg| keyword(arg).is_none()).count() as u16;
            let is_open = args.iter().any(|arg| keyword(arg) == Some(REST));
            let most = if is_open { u16::MAX } else { args.len() as u16 };
            let counts = [least, most].map(|count| Value::new(Entity::Argument(count), Strategy::Annotation));
            parts.push((overload_part(number, 0), results));
            parts.push((overload_part(number, 1), Values::from(counts)));
            for (detail, arg) in (2..16).zip(args) {
                if let Some(name) = self.type_name(arg.value, def) {
                    let name = Value::new(Entity::Builtin(name), Strategy::Annotation);
                    parts.push((overload_part(number, detail), smallvec![name]));
                }
            }
        }
        parts
    }

    /// Returns the name of a type that arguments are compared with: of the language, or [`ANY`].
    fn type_name(&self, declared: ExprId, def: DefId) -> Option<Sym> {
        let name = match self.file.expr(declared) {
            Expr::Generic { base, .. } => return self.type_name(*base, def),
            Expr::Name(name) if !self.file.entries(def, self.file.sym(*name)).is_empty() => ANY,
            Expr::Name(name) if matches!(self.file.text(*name), "any" | "unknown") => ANY,
            Expr::Literal(kind) => shape_of(*kind)?,
            Expr::Call { .. } => "Function",
            &Expr::Name(name) if let Some(shape) = name_of_shape(self.file.text(name)) => shape,
            Expr::Name(_) | Expr::Attribute { .. } => match self.eval_type(declared, def, 0)[..] {
                [Value { entity: Entity::Instance(class), .. }] if self.called_type(class).is_none() => "object",
                _ => return None,
            },
            _ => return None,
        };
        Some(self.index.strings.intern(name))
    }

    /// Returns the results of the call signature that takes the arguments of a call: none if that depends on what is
    /// unknown of them.
    fn overload_results(&self, owner: SymbolId, arguments: &Arguments) -> Values {
        let Arguments::Written(args, ..) = *arguments else { return Values::new() };
        let mut possible: Option<&[Value]> = None;
        for number in 0..MAX_OVERLOADS as u16 {
            let &[Value { entity: Entity::Argument(least), .. }, Value { entity: Entity::Argument(most), .. }] =
                self.returned_as(owner, overload_part(number, 1))
            else {
                break;
            };
            let count = args.len() as u16;
            let is_spread = args.iter().any(|arg| arg.keyword.is_some());
            if !is_spread && !(least..=most).contains(&count) {
                continue;
            }
            let results = self.returned_as(owner, overload_part(number, 0));
            let fits = (2..16).zip(args).map(|(detail, arg)| self.fits_shape(owner, number, detail, arg));
            let fits: Vec<Option<bool>> = fits.collect();
            if fits.contains(&Some(false)) {
                continue;
            }
            if possible.is_some_and(|possible| possible != results) {
                return Values::new();
            }
            possible = Some(results);
            if !is_spread && fits.iter().all(|fit| fit.is_some()) {
                break;
            }
        }
        possible.unwrap_or_default().into()
    }

    /// Returns whether an argument is of the type of a parameter; `None` if either type is unknown.
    fn fits_shape(&self, owner: SymbolId, number: u16, detail: u16, arg: &Arg) -> Option<bool> {
        let &[Value { entity: Entity::Builtin(wanted), .. }] = self.returned_as(owner, overload_part(number, detail))
        else {
            return None;
        };
        if self.text(wanted) == ANY {
            return Some(true);
        }
        let shape = match self.file.expr(arg.value) {
            Expr::Literal(kind) | Expr::Elements { kind, .. } => shape_of(*kind),
            Expr::Key(_) => Some("string"),
            Expr::Lambda(_) => Some("Function"),
            &Expr::Call { callee, new: true, .. } => match *self.file.expr(callee) {
                Expr::Name(name) => name_of_shape(self.file.text(name)),
                _ => None,
            },
            _ => None,
        };
        Some(Some(shape?) == name_of_shape(self.text(wanted)))
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
    pub(super) fn signature_result(&self, callee: Value, class: SymbolId, arguments: &Arguments) -> Values {
        let Some(owner) = self.called_type(class) else { return Values::new() };
        let results = match self.returned_as(owner, overload_part(0, 1)) {
            [] => self.returned_as(owner, 0).into(),
            _ => self.overload_results(owner, arguments),
        };
        self.seen_from(&results, callee, class, owner)
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
            "asserts" if first != 0 => self.asserted(args, scope),
            "is" | "asserts" => smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Annotation)],
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
/// Returns the name by which a type of the language and its variants are compared.
fn name_of_shape(name: &str) -> Option<&'static str> {
    Some(match name {
        "Array" | "ReadonlyArray" => "Array",
        "Set" | "ReadonlySet" | "WeakSet" => "Set",
        "Map" | "ReadonlyMap" | "WeakMap" => "Map",
        "Function" => "Function",
        "object" => "object",
        "string" => "string",
        "number" => "number",
        "boolean" => "boolean",
        _ => return None,
    })
}

fn shape_of(kind: LiteralType) -> Option<&'static str> {
    match kind {
        LiteralType::List => Some("Array"),
        LiteralType::Dict => Some("object"),
        LiteralType::Str => Some("string"),
        LiteralType::Int | LiteralType::Float => Some("number"),
        LiteralType::Bool => Some("boolean"),
        _ => None,
    }
}

fn add(parts: &mut Vec<(u16, Values)>, part: u16, values: Values) {
    match parts.iter_mut().find(|known| known.0 == part) {
        Some((_, known)) => merge(known, values),
        None => parts.push((part, values)),
    }
}
