//! What an expression may stand for: names, attributes, calls, `self`, `super`, local variables.

use std::rc::Rc;

use smallvec::smallvec;

use crate::facts::{Arg, Binding, BindingKind, DefId, Expr, ExprId, Kind, LiteralType};
use crate::link::entity::{Entity, MAX_VALUES, Value, Values, merge, via};
use crate::link::project::file_entry::{Bound, NameEntry};
use crate::link::project::names::{EMPTY, Sym};
use crate::link::project::query::Query;
use crate::link::resolve::scopes::best_definition;
use crate::link::rules::Family;
use crate::link::strategy::Strategy;

/// Expressions followed into each other: variables of variables, calls of results.
const MAX_DEPTH: u32 = 12;

/// Assignments to one variable that are looked at: the latest before a place.
const MAX_ASSIGNMENTS: usize = 8;

impl Query<'_> {
    /// Possible values of an expression of this file; empty when nothing is known.
    pub fn eval(&self, expr: ExprId, scope: DefId, line: u32) -> Values {
        let values = self.deeper(|| self.eval_shape(expr, scope, line));
        if values.len() > MAX_VALUES { Values::new() } else { values }
    }

    /// One step further from the expression that was asked for; nothing is known beyond a fixed number of steps.
    pub(in crate::link) fn deeper(&self, step: impl FnOnce() -> Values) -> Values {
        if *self.depth.borrow() >= MAX_DEPTH {
            return Values::new();
        }
        *self.depth.borrow_mut() += 1;
        let values = step();
        *self.depth.borrow_mut() -= 1;
        values
    }

    fn eval_shape(&self, expr: ExprId, scope: DefId, line: u32) -> Values {
        match self.file.expr(expr) {
            Expr::Name(name) => self.resolve_name(scope, self.file.sym(*name), line).unwrap_or_default(),
            Expr::This { class } => self.this_value(scope, *class),
            Expr::Super => match self.class_of(scope) {
                Some(symbol) => smallvec![Value::new(Entity::Super(symbol), Strategy::Super)],
                None => smallvec![Value::new(Entity::Opaque, Strategy::Super)],
            },
            Expr::Attribute { base, name } => {
                let name = self.file.sym(*name);
                let bases = self.eval(*base, scope, line);
                self.each(bases, |value| self.attribute(value, name))
            }
            Expr::Call { callee, args, .. } => self.call_values(*callee, args, scope, line),
            Expr::Index { base, .. } => {
                let bases = self.eval(*base, scope, line);
                self.each(bases, |value| self.element(value, false))
            }
            Expr::Await(inner) => self.eval(*inner, scope, line),
            Expr::Literal(LiteralType::None) => smallvec![Value::new(Entity::Nothing, Strategy::Local)],
            Expr::Literal(_) => smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)],
            Expr::Lambda(_) => smallvec![Value::new(Entity::Opaque, Strategy::Local)],
            Expr::OneOf(options) => {
                let mut values = Values::new();
                for &option in options.iter().take(MAX_VALUES * 2) {
                    merge(&mut values, self.eval(option, scope, line));
                }
                values.retain(|value| value.entity != Entity::Nothing);
                values
            }
            Expr::Elements { kind, items } => self.display(*kind, items, scope, line),
            Expr::Generic { base, .. } => self.eval(*base, scope, line),
            Expr::Unknown | Expr::TypeUnion(_) => Values::new(),
        }
    }

    fn this_value(&self, scope: DefId, is_class: bool) -> Values {
        let entity = match self.class_of(scope) {
            Some(symbol) if is_class => Entity::Definition(symbol),
            Some(symbol) => Entity::Instance(symbol),
            None => Entity::Opaque,
        };
        smallvec![Value::new(entity, Strategy::This)]
    }

    pub(in crate::link) fn each(&self, values: Values, step: impl Fn(Value) -> Values) -> Values {
        match values[..] {
            [] => values,
            [only] => step(only),
            _ => {
                let mut out = Values::new();
                for value in values {
                    merge(&mut out, step(value));
                }
                out
            }
        }
    }

    /// A display with elements of one class is a container of them.
    fn display(&self, kind: LiteralType, items: &[ExprId], scope: DefId, line: u32) -> Values {
        let mut classes = Values::new();
        for &item in items.iter().take(2) {
            for value in self.eval(item, scope, line) {
                if let Entity::Instance(symbol) = value.entity {
                    merge(&mut classes, smallvec![Value::new(Entity::Elements(symbol), Strategy::LocalType)]);
                }
            }
        }
        match (&classes[..], kind) {
            ([Value { entity: Entity::Elements(symbol), .. }], LiteralType::Dict) => {
                smallvec![Value::new(Entity::Mapped(*symbol), Strategy::LocalType)]
            }
            ([only], _) => smallvec![*only],
            _ => smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)],
        }
    }

    fn call_values(&self, callee: ExprId, args: &[Arg], scope: DefId, line: u32) -> Values {
        if let Expr::Attribute { base, name } = *self.file.expr(callee) {
            let name = self.file.sym(name);
            let bases = self.eval(base, scope, line);
            return self.each(bases, |receiver| {
                if let Some(values) = self.container_call(receiver, name) {
                    return values;
                }
                let members = self.called_attribute(receiver, name);
                self.each(members, |member| self.call_result(member, Some(receiver)))
            });
        }
        let callees = match *self.file.expr(callee) {
            Expr::Name(name) => self.resolve_called_name(scope, self.file.sym(name), line).unwrap_or_default(),
            _ => self.eval(callee, scope, line),
        };
        self.each(callees, |value| match value.entity {
            Entity::Builtin(name) if name != EMPTY => self.builtin_result(name, args, scope, line),
            _ => self.call_result(value, None),
        })
    }

    /// `xs.pop()`, `d.get(k)`, `d.values()`, Ruby's and Rust's `new`.
    fn container_call(&self, receiver: Value, name: Sym) -> Option<Values> {
        let rules = &self.index.rules;
        match receiver.entity {
            Entity::Elements(_) | Entity::Mapped(_) => {
                let (Entity::Elements(symbol) | Entity::Mapped(symbol)) = receiver.entity else { return None };
                if rules.element_getters.contains(&name) {
                    return Some(smallvec![Value { entity: Entity::Instance(symbol), ..receiver }]);
                }
                let entity =
                    if rules.element_views.contains(&name) { Entity::Elements(symbol) } else { Entity::Builtin(EMPTY) };
                Some(smallvec![Value { entity, ..receiver }])
            }
            // `Optional.get()`, `option.unwrap()` on what annotations already unwrapped.
            Entity::Instance(_) if self.file.family == Family::Rust && rules.element_getters.contains(&name) => {
                let is_own = self.attribute(receiver, name).iter().any(|value| value.entity != Entity::Missing);
                (!is_own).then(|| smallvec![receiver])
            }
            Entity::Definition(class) if self.file.family == Family::Ruby && self.text(name) == "new" => {
                Some(smallvec![Value::new(Entity::Instance(class), Strategy::LocalType)])
            }
            _ => None,
        }
    }

    fn builtin_result(&self, name: Sym, args: &[Arg], scope: DefId, line: u32) -> Values {
        let first = || args.first().map(|arg| self.eval(arg.value, scope, line)).unwrap_or_default();
        match self.text(name) {
            "type" if args.len() == 1 => {
                let values = first().into_iter();
                values
                    .filter_map(|value| match value.entity {
                        Entity::Instance(class) => Some(Value { entity: Entity::Definition(class), ..value }),
                        _ => None,
                    })
                    .collect()
            }
            "list" | "sorted" | "reversed" | "set" | "tuple" | "frozenset" | "iter" => {
                let values = first();
                let is_container = values.iter().any(|value| matches!(value.entity, Entity::Elements(_)));
                if is_container { values } else { smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)] }
            }
            "next" => self.each(first(), |value| self.element(value, true)),
            _ if self.index.rules.open_builtins.contains(&name) => Values::new(),
            _ => smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)],
        }
    }

    /// One element of a container: by iteration, or by index.
    pub(in crate::link) fn element(&self, value: Value, by_iteration: bool) -> Values {
        match value.entity {
            Entity::Elements(symbol) => smallvec![Value { entity: Entity::Instance(symbol), ..value }],
            Entity::Mapped(symbol) if !by_iteration => smallvec![Value { entity: Entity::Instance(symbol), ..value }],
            Entity::Opaque | Entity::External(_) | Entity::ExternalInstance(_) => {
                smallvec![Value::new(Entity::Opaque, value.via)]
            }
            Entity::Definition(symbol)
                if matches!(self.kind(symbol), Kind::Constant | Kind::Field | Kind::Property) =>
            {
                let held = self.held(symbol);
                let is_other = |held: &Value| held.entity != value.entity;
                let held: Values = held.into_iter().filter(is_other).collect();
                self.deeper(|| self.each(held, |value| self.element(value, by_iteration)))
            }
            _ => Values::new(),
        }
    }

    /// Values of a name bound in a local scope of this file.
    pub(in crate::link) fn local_values(&self, scope: DefId, entries: &[NameEntry], line: u32) -> Values {
        if let Some(def) = best_definition(self.file, entries) {
            let symbol = self.file.symbols[def as usize];
            return smallvec![Value::new(Entity::Definition(symbol), Strategy::Local)];
        }
        for entry in entries {
            if let Bound::Import(import) = entry.bound {
                let values = self.follow_import(self.home, import);
                if !values.is_empty() {
                    return values;
                }
            }
        }
        if crate::link::project::file_entry::is_open_scope(self.file.outline(scope).kind) {
            let symbol = self.file.symbols[scope as usize];
            return self.bound_values(self.home, symbol, entries);
        }
        self.variable_values(scope, entries, line)
    }

    /// A function's variable: its annotations, else what was assigned to it before the line. When the last assignment
    /// before the line says nothing, nothing is claimed.
    fn variable_values(&self, scope: DefId, entries: &[NameEntry], line: u32) -> Values {
        let mut bindings = Vec::new();
        for entry in entries {
            match entry.bound {
                Bound::Parameter(position) => {
                    let param = &self.file.def(scope).params[position as usize];
                    if let Some(annotation) = param.annotation {
                        let values = self.annotated(annotation, scope);
                        let is_plain = param.kind == crate::facts::ParamKind::Normal;
                        if !values.is_empty() {
                            return if is_plain { values } else { self.collected(values) };
                        }
                    }
                }
                Bound::Binding(binding) => {
                    let binding = &self.file.facts().bindings[binding as usize];
                    if let Some(annotation) = binding.annotation.filter(|_| binding.kind != BindingKind::Catch) {
                        let values = self.annotated(annotation, scope);
                        if !values.is_empty() {
                            return values;
                        }
                    }
                    bindings.push(binding);
                }
                _ => {}
            }
        }
        let before = bindings.iter().filter(|binding| binding.line <= line).count();
        if before > 0 {
            bindings.retain(|binding| binding.line <= line);
        }
        let Some(name) = entries.first().map(|entry| entry.name) else { return Values::new() };
        let place = (scope, name, before as u32);
        if let Some(known) = self.variables.borrow().get(&place) {
            return known.as_ref().clone();
        }
        // A variable that depends on itself says nothing more about itself.
        self.variables.borrow_mut().insert(place, Rc::default());
        let recent = bindings.len().saturating_sub(MAX_ASSIGNMENTS);
        let values = self.assigned_values(&bindings[recent..], scope);
        self.variables.borrow_mut().insert(place, Rc::new(values.clone()));
        values
    }

    fn assigned_values(&self, bindings: &[&Binding], scope: DefId) -> Values {
        let mut values = Values::new();
        let mut last = Values::new();
        for binding in bindings {
            last = self.binding_values(binding, scope);
            merge(&mut values, last.clone());
        }
        if last.is_empty() {
            return Values::new();
        }
        if values.len() > 1 {
            values.retain(|value| value.entity != Entity::Nothing);
        }
        values
    }

    /// `*args: T` holds several `T`.
    fn collected(&self, values: Values) -> Values {
        let several = values.into_iter().map(|value| match value.entity {
            Entity::Instance(symbol) => Value { entity: Entity::Elements(symbol), ..value },
            _ => Value { entity: Entity::Builtin(EMPTY), ..value },
        });
        several.collect()
    }

    /// What one binding puts into its target.
    pub(in crate::link) fn binding_values(&self, binding: &Binding, scope: DefId) -> Values {
        let scope = if binding.scope != scope { binding.scope } else { scope };
        let Some(value) = binding.value else {
            return match (binding.kind, binding.annotation) {
                (BindingKind::Catch, Some(annotation)) => self.annotated(annotation, scope),
                _ => Values::new(),
            };
        };
        // A value is evaluated as of the line before, so that `x = x.next()` sees the older x.
        let line = binding.line.saturating_sub(1);
        match binding.kind {
            BindingKind::Assign => local_type(self.eval(value, scope, line)),
            BindingKind::Iterate => {
                let values = self.eval(value, scope, line);
                local_type(self.each(values, |value| self.element(value, true)))
            }
            BindingKind::Enter => {
                let values = self.eval(value, scope, line);
                local_type(self.each(values, |value| self.entered(value)))
            }
            BindingKind::Catch => self.annotated(value, scope),
            BindingKind::Unpack(position) => match self.file.expr(value) {
                Expr::Elements { items, .. } => {
                    let item = items.get(position as usize);
                    item.map(|&item| local_type(self.eval(item, scope, line))).unwrap_or_default()
                }
                _ => self.part_values(value, position, scope, line),
            },
            BindingKind::Return | BindingKind::Yield | BindingKind::Outer => Values::new(),
        }
    }

    /// `_, target = callee()`.
    fn part_values(&self, value: ExprId, position: u16, scope: DefId, line: u32) -> Values {
        match *self.file.expr(value) {
            Expr::Await(inner) => self.part_values(inner, position, scope, line),
            Expr::Call { callee, .. } => {
                let callees = match *self.file.expr(callee) {
                    Expr::Attribute { base, name } => {
                        let bases = self.eval(base, scope, line);
                        self.each(bases, |value| self.called_attribute(value, self.file.sym(name)))
                    }
                    _ => self.eval(callee, scope, line),
                };
                self.each(callees, |callee| match callee.entity {
                    Entity::External(_) | Entity::Opaque => smallvec![Value::new(Entity::Opaque, callee.via)],
                    _ => self.call_part(callee, position),
                })
            }
            _ => Values::new(),
        }
    }

    /// `with value as target`: what `__enter__` says it returns, else the value itself.
    fn entered(&self, value: Value) -> Values {
        let Entity::Instance(class) = value.entity else { return smallvec![value] };
        for name in ["__enter__", "__aenter__"] {
            let members = self.class_member(class, self.known(name), value.via);
            if let Some(&member) = members.iter().find(|member| matches!(member.entity, Entity::Definition(_))) {
                let result = self.call_result(member, Some(value));
                let is_known = result.iter().any(|value| matches!(value.entity, Entity::Instance(_)));
                return if is_known { result } else { smallvec![value] };
            }
        }
        smallvec![value]
    }

    /// Values of an annotation.
    pub(in crate::link) fn annotated(&self, annotation: ExprId, scope: DefId) -> Values {
        let values = self.eval_type(annotation, scope, 0);
        via(self.as_own_instance(values, scope), Strategy::Annotation)
    }

    /// `Self` as the class around a scope.
    pub(in crate::link) fn as_own_instance(&self, values: Values, scope: DefId) -> Values {
        let own = |value: Value| match value.entity {
            Entity::SelfType => self.class_of(scope).map(|class| Value { entity: Entity::Instance(class), ..value }),
            _ => Some(value),
        };
        values.into_iter().filter_map(own).collect()
    }
}

/// Mark definitions that reach a name through a variable as aliases.
fn local_type(values: Values) -> Values {
    let change = |value: Value| match value.entity {
        Entity::Definition(_) => Value { via: Strategy::Alias, ..value },
        _ => value,
    };
    values.into_iter().map(change).collect()
}
