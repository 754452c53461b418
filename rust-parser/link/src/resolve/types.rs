//! Static types: annotations, and the possible values of variables and function results.
//! Inference runs in two rounds: the first uses only this file's annotations and constructor calls, the second also the
//! results of the first in other files. Results are published, so that a change of one function's result re-links
//! exactly the files that use it.

use smallvec::smallvec;

use crate::entity::{Entity, MAX_VALUES, Value, Values, merge, via};
use crate::project::file_entry::{Bound, NameEntry, is_callable, is_class, is_open_scope};
use crate::project::file_types::{DECORATED, FileTypes, MAKING};
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::variables::aliased;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind, LiteralType, Name, flags};

/// Largest nesting depth of type expressions.
const MAX_TYPE_DEPTH: u32 = 6;

/// Infers the types of a file as far as the query's stage allows.
pub fn infer(query: &Query) -> FileTypes {
    let mut types = FileTypes::default();
    let groups = query.file.names().chunk_by(|a, b| (a.scope, a.name) == (b.scope, b.name));
    for group in groups {
        let NameEntry { scope, name, .. } = group[0];
        if is_open_scope(query.file.outline(scope).kind) {
            let _ = group;
            let values = query.variable(query.file.symbols[scope as usize], name);
            if !values.is_empty() {
                types.variables.push((query.file.symbols[scope as usize], name, values.into_boxed_slice()));
            }
        }
    }
    for (function, definition) in query.file.facts().definitions.iter().enumerate() {
        if is_callable(definition.kind) {
            let symbol = query.file.symbols[function];
            let whole = query.returns(symbol);
            let parts = query.infer_parts(function as DefId);
            let results = (0..).zip(std::iter::once(whole.clone()).chain(parts));
            let paths =
                if definition.declared_type.is_some() { query.own_paths(function as DefId, &whole) } else { vec![] };
            for (part, values) in results.chain([(DECORATED, query.decorated(symbol))]).chain(paths) {
                if !values.is_empty() {
                    types.returns.push((symbol, part, values.into_boxed_slice()));
                }
            }
        }
        let symbol = query.file.symbols[function];
        let making = query.making_types(function as DefId);
        if !making.is_empty() {
            types.returns.push((symbol, MAKING, making.into_boxed_slice()));
        }
        let mut parts = match definition.kind {
            Kind::Constant => query.alias_types(function as DefId),
            kind if is_callable(kind) => query.callback_types(function as DefId),
            Kind::TypeAlias => {
                let mut parts = query.callback_types(function as DefId);
                parts.extend(query.type_arguments(function as DefId));
                parts
            }
            kind if is_class(kind) || kind == Kind::Field => {
                let mut parts = query.held_parts(function as DefId);
                parts.extend(query.type_arguments(function as DefId));
                parts.extend(query.functional_types(function as DefId));
                parts
            }
            Kind::Extension => Vec::new(),
            _ => continue,
        };
        if query.file.rules.prototypes {
            parts.extend(query.signature_types(function as DefId));
        }
        types.returns.extend(parts.into_iter().map(|(part, values)| (symbol, part, values.into_boxed_slice())));
    }
    types.variables.sort_by_key(|known| (known.0, known.1));
    types.returns.sort_by_key(|known| (known.0, known.1));
    types
}

impl Query<'_> {
    /// Returns the possible values of a variable of a module or class; functions and classes of that name need no
    /// inference.
    pub(super) fn infer_variable(&self, scope: DefId, group: &[NameEntry]) -> Values {
        let mut bindings = Vec::new();
        let mut parameter = Values::new();
        let mut opaque = Values::new();
        let is_kind = |entry: &NameEntry, kind: Kind| match entry.bound {
            Bound::Definition(def) => self.file.outline(def).kind == kind,
            _ => false,
        };
        let has_constant = group.iter().any(|entry| is_kind(entry, Kind::Constant));
        for entry in group {
            match entry.bound {
                // The type of the same name.
                Bound::Definition(_) if has_constant && is_kind(entry, Kind::Interface) => {}
                Bound::Definition(def) => {
                    let definition = self.file.def(def);
                    if !matches!(definition.kind, Kind::Constant | Kind::Field | Kind::TypeAlias) {
                        return Values::new();
                    }
                    if let Some(declared) = definition.declared_type {
                        let values = self.annotated(declared, definition.parent);
                        if let Some(table) = self.table_of_functions(&values, group) {
                            return self.held_in(scope, table);
                        }
                        if let Some(functions) = self.held_functions(declared, &values, scope, group) {
                            return self.held_in(scope, functions);
                        }
                        if is_known(&values) {
                            return self.held_in(scope, values);
                        }
                        opaque = values;
                    } else if group.len() == 1 && self.is_enum_member(def) {
                        let owner = self.file.symbols[definition.parent as usize];
                        return self
                            .held_in(scope, smallvec![Value::new(Entity::Instance(owner), Strategy::LocalType)]);
                    }
                }
                Bound::Binding(binding) => bindings.push(&self.file.facts().bindings[binding as usize]),
                Bound::Import(_) => return Values::new(),
                // Of a class: its primary constructor's, which a property of that name hides.
                Bound::Parameter(position) => {
                    let annotation = self.file.def(scope).params[position as usize].annotation;
                    parameter = annotation.map(|annotation| self.annotated(annotation, scope)).unwrap_or_default();
                }
            }
        }
        let annotated = bindings.iter().find_map(|binding| {
            let values = self.annotated(binding.annotation?, binding.scope);
            is_known(&values).then_some(values)
        });
        if let Some(values) = annotated {
            return self.held_in(scope, values);
        }
        let mut values = Values::new();
        for binding in bindings {
            merge(&mut values, self.binding_values(binding, binding.scope));
        }
        if values.is_empty() {
            values = parameter;
        }
        if values.is_empty() {
            values = opaque;
        }
        if values.len() > 1 {
            values.retain(|value| value.entity != Entity::Nothing);
        }
        let symbol = self.file.symbols[scope as usize];
        if let Some(NameEntry { name, .. }) = group.first() {
            values = self.with_stores(values, scope, *name, None);
            let stored = self.stored(symbol, *name);
            if !stored.is_empty() {
                merge(&mut values, stored);
                values = self.combined(values, false, Vec::new(), &[]);
                values.retain(|value| value.entity != Entity::Builtin(EMPTY));
            }
        }
        if values.len() > MAX_VALUES { Values::new() } else { self.held_in(scope, values) }
    }

    /// Returns the functions that a constant holds whose type says no more than that they are functions:
    /// `const handlers: Record<string, () => void> = { open }`.
    fn table_of_functions(&self, declared: &Values, group: &[NameEntry]) -> Option<Values> {
        let &[value] = &declared[..] else { return None };
        let is_open = match value.entity {
            Entity::Mapped(function) | Entity::Elements(function) => self.called_type(function).is_some(),
            Entity::Builtin(name) => name == EMPTY,
            Entity::Opaque => !self.file.rules.prototypes,
            _ => false,
        };
        if !is_open {
            return None;
        }
        let mut bindings = group.iter().filter_map(|entry| match entry.bound {
            Bound::Binding(binding) => Some(&self.file.facts().bindings[binding as usize]),
            _ => None,
        });
        let (binding, None) = (bindings.next()?, bindings.next()) else { return None };
        let values = self.binding_values(binding, binding.scope);
        let values = match self.file.rules.prototypes {
            true => values,
            false => {
                let is_table = matches!(values[..], [Value { entity: Entity::Table(_), .. }]);
                let empty = || smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Annotation)];
                let values = if is_table { values } else { empty() };
                self.with_stores(values, binding.scope, group[0].name, None)
            }
        };
        matches!(values[..], [Value { entity: Entity::Table(_), .. }]).then_some(values)
    }

    /// Returns the functions that a variable holds whose type says no more than that it is a function.
    fn held_functions(&self, declared: ExprId, objects: &Values, scope: DefId, group: &[NameEntry]) -> Option<Values> {
        if !self.is_function_type(self.file, declared) {
            return None;
        }
        let mut found = Values::new();
        for entry in group {
            if let Bound::Binding(binding) = entry.bound {
                let binding = &self.file.facts().bindings[binding as usize];
                if binding.value.is_some() {
                    let values = self.binding_values(binding, binding.scope);
                    merge(&mut found, if values.is_empty() { smallvec![Value::unknown()] } else { values });
                }
            }
        }
        merge(&mut found, self.stored(self.file.symbols[scope as usize], group[0].name));
        found.retain(|value| !matches!(value.entity, Entity::Nothing | Entity::Builtin(_)));
        if let Some(values) = self.with_functions(objects, &found) {
            return (values.len() <= MAX_VALUES).then_some(values);
        }
        let is_function =
            |value: &Value| matches!(value.entity, Entity::Definition(symbol) if is_callable(self.kind(symbol)));
        (!found.is_empty() && found.len() <= MAX_VALUES && found.iter().all(is_function)).then_some(found)
    }

    /// Returns the values of a variable of this scope from the view of other files.
    pub(super) fn held_in(&self, scope: DefId, values: Values) -> Values {
        let is_module = scope == 0;
        let held = values.into_iter().filter(|value| !matches!(value.entity, Entity::Missing | Entity::SelfType));
        held.map(|value| {
            let rule = match value.entity {
                Entity::Definition(_) => aliased(value.via),
                _ if value.is_unknown() => value.via,
                _ if is_module => Strategy::LocalType,
                _ => Strategy::AttributeType,
            };
            Value { via: rule, ..value }
        })
        .collect()
    }

    pub(super) fn infer_returns(&self, function: DefId) -> Values {
        let definition = self.file.def(function);
        if let Some(declared) = definition.declared_type {
            let results = self.generic_results(function, declared);
            let is_told = results.is_empty();
            let is_given = results.iter().any(|value| matches!(value.entity, Entity::Argument(_)));
            // The caller's argument, which comes first, says more than the bound of its type.
            let result = || self.eval_type(declared, function, 0);
            let bound = if is_told { self.naming_own(result) } else { self.naming_parameters(result) };
            let mut values = if is_given { results.clone() } else { Values::new() };
            merge(&mut values, bound);
            merge(&mut values, results);
            // `array` says less than the display that is returned.
            if let Expr::Literal(LiteralType::List) = self.file.expr(declared)
                && let [(value, line)] = self.returned_values(function)[..]
                && let Expr::Elements { kind: LiteralType::Dict, .. } = self.file.expr(value)
            {
                return published(self.eval(value, function, line), None);
            }
            return published(values, None);
        }
        if definition.flags & flags::GENERATOR != 0 && !self.file.rules.block_yields {
            return self.yielded(function);
        }
        let class = self.class_of(function);
        let mut values = Values::new();
        for (value, line) in self.returned_values(function) {
            match self.returned_parameter(function, value) {
                Some(parameter) => merge(&mut values, smallvec![parameter]),
                None => {
                    let object = self.returned_object(value, function);
                    merge(&mut values, object.unwrap_or_else(|| self.eval(value, function, line)));
                }
            }
        }
        published(values, class)
    }

    /// Returns the instances that a type expression denotes; empty if unknown.
    pub fn eval_type(&self, expr: ExprId, scope: DefId, depth: u32) -> Values {
        if depth > MAX_TYPE_DEPTH {
            return Values::new();
        }
        match self.file.expr(expr) {
            Expr::Name(name) if self.file.rules.self_types.contains(&self.file.sym(*name)) => self_type(),
            Expr::This { .. } => self_type(),
            &Expr::Attribute { name, .. } if self.is_own_type(name, expr, scope) => self_type(),
            &Expr::Attribute { base, name } if self.file.rules.prototypes && self.is_made_type(base) => {
                self.type_member(base, self.file.sym(name), scope, depth)
            }
            Expr::Name(_) | Expr::Attribute { .. } => {
                let mut found = self.named_parameter(expr, scope);
                let named = || self.in_position(true, || self.eval(expr, scope, u32::MAX));
                let values = self.naming_nothing(named);
                merge(&mut found, self.flat_map(values, |value| self.instance_of(value)));
                if let Expr::Attribute { base, name } = *self.file.expr(expr)
                    && found.is_empty()
                    && self.file.rules.prototypes
                {
                    return self.type_member(base, self.file.sym(name), scope, depth);
                }
                found
            }
            Expr::TypeUnion(options) | Expr::OneOf(options) => {
                let mut values = Values::new();
                for &option in options.iter().take(MAX_VALUES * 2) {
                    merge(&mut values, self.eval_type(option, scope, depth + 1));
                }
                values.retain(|value| value.entity != Entity::Nothing);
                values
            }
            Expr::Generic { base, args } => self.eval_generic(*base, args, scope, depth),
            Expr::Literal(LiteralType::None) => smallvec![Value::new(Entity::Nothing, Strategy::Annotation)],
            Expr::Literal(_) => smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Annotation)],
            Expr::Call { new: false, .. } if self.file.rules.callables.is_empty() => {
                self.eval_shaped_type(expr, scope, depth)
            }
            _ if self.file.rules.prototypes => self.eval_shaped_type(expr, scope, depth),
            Expr::Elements { kind: LiteralType::Tuple, items, .. }
                if items.len() > 1 && !self.file.rules.tuple_members.is_empty() =>
            {
                let positions = items.iter().map(|&item| self.eval_type(item, scope, depth + 1)).collect();
                via(self.tuple_of(positions), Strategy::Annotation)
            }
            _ => Values::new(),
        }
    }

    /// Returns whether a path in a type means the class around it: `typing.Self`.
    fn is_own_type(&self, name: Name, path: ExprId, scope: DefId) -> bool {
        self.file.rules.self_types.contains(&self.file.sym(name))
            && matches!(self.eval(path, scope, u32::MAX)[..], [Value { entity: Entity::External(_), .. }])
    }

    /// Returns whether a path in a type begins with more than a name.
    fn is_made_type(&self, expr: ExprId) -> bool {
        match *self.file.expr(expr) {
            Expr::Name(_) => false,
            Expr::Attribute { base, .. } => self.is_made_type(base),
            _ => true,
        }
    }

    /// Returns the values of `T["member"]`, and of `Parameters<typeof f>["0"]`.
    fn type_member(&self, base: ExprId, name: Sym, scope: DefId, depth: u32) -> Values {
        if let Expr::Generic { base, args } = self.file.expr(base)
            && let (Expr::Name(own), Ok(position)) = (self.file.expr(*base), self.text(name).parse())
            && matches!(self.file.text(*own), "Parameters" | "ConstructorParameters")
        {
            return self.parameter_type(args[0], scope, position);
        }
        let bases = self.eval_type(base, scope, depth + 1);
        self.flat_map(bases, |value| {
            let members = self.seen_member(value, name);
            self.flat_map(members, |member| self.member_type(member))
        })
    }

    /// Returns the values of types with a form of their own: `T[number]`, `{ a: A }`, `(a: A) => B`, `[A, A]`.
    fn eval_shaped_type(&self, expr: ExprId, scope: DefId, depth: u32) -> Values {
        match self.file.expr(expr) {
            Expr::Index { base, .. } => {
                let bases = self.eval_type(*base, scope, depth + 1);
                self.flat_map(bases, |value| self.element(value, false))
            }
            Expr::Lambda(def) if self.file.outline(*def).kind == Kind::Extension => {
                let symbol = self.file.symbols[*def as usize];
                smallvec![Value::new(Entity::Instance(symbol), Strategy::Annotation)]
            }
            Expr::Call { callee, new: false, .. } => {
                let results = self.eval_type(*callee, scope, depth + 1).into_iter();
                let results = results.filter_map(|value| match value.entity {
                    Entity::Instance(class) => Some(Value { entity: Entity::Returning(class), ..value }),
                    _ => None,
                });
                results.collect()
            }
            Expr::Elements { items, .. } => {
                let mut values = Values::new();
                for &item in items.iter().take(MAX_VALUES) {
                    merge(&mut values, self.eval_type(item, scope, depth + 1));
                }
                match values[..] {
                    [Value { entity: Entity::Instance(class), .. }] => {
                        smallvec![Value { entity: Entity::Elements(class), ..values[0] }]
                    }
                    _ if items.len() > 1 => {
                        let positions = items.iter().take(MAX_VALUES);
                        let positions = positions.map(|&item| self.eval_type(item, scope, depth + 1)).collect();
                        via(self.tuple_of(positions), Strategy::Annotation)
                    }
                    _ => Values::new(),
                }
            }
            _ => Values::new(),
        }
    }

    pub(super) fn eval_generic(&self, base: ExprId, args: &[ExprId], scope: DefId, depth: u32) -> Values {
        let rules = &self.file.rules;
        let name = match *self.file.expr(base) {
            Expr::Name(name) | Expr::Attribute { name, .. } => self.file.sym(name),
            _ => return Values::new(),
        };
        if rules.prototypes
            && let Some(values) = self.utility_type(self.text(name), args, scope, depth)
        {
            return values;
        }
        let own = self.objects_of_arity(self.eval_type(base, scope, depth + 1), args.len());
        if own.iter().any(|value| matches!(value.entity, Entity::Instance(_))) {
            return self.applied(own, args, scope, depth);
        }
        let arguments = |select: &[ExprId]| {
            let mut values = Values::new();
            for &arg in select.iter().take(MAX_VALUES * 2) {
                merge(&mut values, self.eval_type(arg, scope, depth + 1));
            }
            values.retain(|value| value.entity != Entity::Nothing);
            values
        };
        let (first, last) = (args.len().min(1), args.len().saturating_sub(1));
        if rules.wrappers.contains(&name) {
            return arguments(args);
        }
        // The other arguments are errors (`Result<T, E>`) or sent values (`Coroutine[Y, S, R]`).
        if rules.first_wrappers.contains(&name) {
            return arguments(&args[..first]);
        }
        if rules.last_wrappers.contains(&name) {
            return arguments(&args[last..]);
        }
        let contained = |container: fn(u32) -> Entity, select: &[ExprId]| {
            // A container of unknown elements is still a container; its elements are outside the project if the
            // argument is.
            let elements = arguments(select);
            if elements.iter().all(|value| matches!(value.entity, Entity::Builtin(_))) {
                return smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Annotation)];
            }
            let is_nested = |value: &Value| {
                matches!(
                    value.entity,
                    Entity::Elements(_) | Entity::Mapped(_) | Entity::Table(_) | Entity::Returning(_)
                )
            };
            if elements.iter().any(is_nested) {
                return via(self.container_of_kind(container(0) == Entity::Mapped(0), elements), Strategy::Annotation);
            }
            let values = elements.into_iter().map(|value| match value.entity {
                Entity::Instance(symbol) => Value { entity: container(symbol), ..value },
                Entity::TypeArgument(position) if container(0) == Entity::Elements(0) => {
                    Value { entity: Entity::ArgumentElements(position), ..value }
                }
                Entity::TypeArgument(position) => Value { entity: Entity::ArgumentMapped(position), ..value },
                _ => Value { entity: Entity::Opaque, ..value },
            });
            values.collect::<Values>()
        };
        if rules.tuples.contains(&name) && args.len() > 1 && args.iter().all(|&arg| arg != 0) {
            let positions: Vec<Values> = args.iter().map(|&arg| arguments(&[arg])).collect();
            return via(self.tuple_of(positions), Strategy::Annotation);
        }
        if rules.sequences.contains(&name) {
            return contained(Entity::Elements, &args[..first]);
        }
        if rules.mappings.contains(&name) {
            return contained(Entity::Mapped, &args[last..]);
        }
        if rules.callables.contains(&name) {
            let results = arguments(&args[last..]).into_iter().filter_map(|value| match value.entity {
                Entity::Instance(class) => Some(Value { entity: Entity::Returning(class), ..value }),
                _ => None,
            });
            let results: Values = results.collect();
            return if results.is_empty() { own } else { results };
        }
        if rules.class_objects.contains(&name) {
            let classes = arguments(args).into_iter().filter_map(|value| match value.entity {
                Entity::Instance(symbol) => Some(Value { entity: Entity::Definition(symbol), ..value }),
                _ => None,
            });
            let classes: Values = classes.collect();
            return if classes.is_empty() { own } else { classes };
        }
        own
    }

    /// Returns the value of an annotated name, given the value of the annotation.
    fn instance_of(&self, value: Value) -> Values {
        let entity = match value.entity {
            Entity::Definition(symbol) => match self.kind(symbol) {
                kind if is_class(kind) => Entity::Instance(symbol),
                Kind::TypeAlias if self.is_shaped_alias(symbol) => Entity::Instance(symbol),
                Kind::Field | Kind::Method if self.file.rules.prototypes => return self.member_type(value),
                Kind::Function if self.is_function(value) && !self.extensions(symbol).is_empty() => {
                    Entity::Instance(symbol)
                }
                Kind::TypeAlias | Kind::Constant => return self.aliased_type(symbol),
                _ => return Values::new(),
            },
            Entity::External(external) => {
                let (_, name) = self.index.externals.name(external);
                let text = self.text(name);
                let last = text.rsplit('.').next().unwrap_or(text);
                if !last.starts_with(char::is_uppercase) && !last.is_empty() {
                    return smallvec![Value::new(Entity::ExternalInstance(external), Strategy::Annotation)];
                }
                if last.is_empty() || self.file.rules.is_open_type(last) {
                    return Values::new();
                }
                Entity::ExternalInstance(external)
            }
            Entity::Builtin(name) if self.file.rules.is_open_type(self.text(name)) => return Values::new(),
            Entity::Builtin(_) => Entity::Builtin(EMPTY),
            // A type parameter is an instance of its constraint.
            Entity::Instance(_) => return smallvec![value],
            Entity::Opaque => Entity::Opaque,
            _ => return Values::new(),
        };
        smallvec![Value::new(entity, Strategy::Annotation)]
    }

    /// `Alias = Class`: the variable holds the class. `type Alias = Class`: the alias denotes instances.
    fn aliased_type(&self, symbol: SymbolId) -> Values {
        let held = self.stored_values(symbol);
        let instances = held.into_iter().filter_map(|value| match value.entity {
            Entity::Definition(class) if is_class(self.kind(class)) => {
                Some(Value { entity: Entity::Instance(class), ..value })
            }
            Entity::Instance(_) | Entity::Elements(_) | Entity::Mapped(_) | Entity::Table(_) | Entity::Returning(_)
                if self.kind(symbol) == Kind::TypeAlias =>
            {
                Some(value)
            }
            _ => None,
        });
        let mut instances: Values = instances.collect();
        merge(&mut instances, self.denoted(symbol));
        instances
    }
}

/// Returns whether the values of a type say more than that it is outside the project.
pub(super) fn is_known(values: &Values) -> bool {
    values.iter().any(|value| value.entity != Entity::Opaque)
}

fn self_type() -> Values {
    smallvec![Value::new(Entity::SelfType, Strategy::Annotation)]
}

/// Returns results from the callers' view: instances of the own class become instances of the receiver's class.
pub(super) fn published(values: Values, class: Option<SymbolId>) -> Values {
    if values.len() > MAX_VALUES {
        return Values::new();
    }
    let own = class.map(Entity::Instance);
    let kept = values.into_iter().filter(|value| {
        !matches!(value.entity, Entity::Missing | Entity::Nothing | Entity::Super(_) | Entity::SuperAfter { .. })
            && !value.is_unknown()
    });
    kept.map(|value| {
        let is_self = value.via == Strategy::This && Some(value.entity) == own;
        let entity = if is_self { Entity::SelfType } else { value.entity };
        Value { entity, via: Strategy::ReturnType, ..value }
    })
    .collect()
}
