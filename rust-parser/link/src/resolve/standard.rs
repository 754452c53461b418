//! Functions and methods of JavaScript's standard library whose results follow from their arguments: `xs.map(f)`,
//! `promise.then(f)`, `Promise.all([a, b])`, `Object.entries(x)`, `Reflect.construct(C, [])`.

use std::rc::Rc;

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::names::{EMPTY, Sym};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{Arg, DefId, Expr, ExprId, Kind, ReferenceKind};

/// Where a call stands: scope and line.
type At = (DefId, u32);

impl Query<'_> {
    /// Returns the results of `receiver.name(args)`, if the standard library tells.
    pub(super) fn standard_call(&self, receiver: Value, name: Sym, args: &[Arg], at: At) -> Option<Values> {
        if !self.file.rules.prototypes {
            return None;
        }
        let first = args.first()?.value;
        let name = self.text(name);
        if let Entity::Builtin(global) = receiver.entity
            && global != EMPTY
        {
            return self.global_call(self.text(global), name, first, args, at);
        }
        let is_list = matches!(receiver.entity, Entity::Elements(_) | Entity::Mapped(_) | Entity::Builtin(_));
        match name {
            "map" | "flatMap" if is_list => {
                let results = self.function_results(first, at, || self.element(receiver, true));
                let elements = self.elements_of(results);
                (!elements.is_empty()).then_some(elements)
            }
            "filter" | "find" | "findLast" if is_list => {
                let tested = self.tested_elements(&self.element(receiver, true), self.tested_for(first, at));
                match name {
                    _ if tested.is_empty() => None,
                    "filter" => Some(self.elements_of(tested)),
                    _ => Some(tested),
                }
            }
            "reduce" | "reduceRight" if is_list => {
                let mut results = args.get(1).map(|start| self.eval(start.value, at.0, at.1)).unwrap_or_default();
                merge(&mut results, self.function_results(first, at, Values::new));
                results.retain(|value| !matches!(value.entity, Entity::Builtin(_) | Entity::Opaque));
                (!results.is_empty()).then_some(results)
            }
            "then" if !self.has_member(receiver, "then") => {
                Some(self.function_results(first, at, || smallvec![receiver]))
            }
            _ => None,
        }
    }

    /// Returns the results of methods that make a container, or a value in the place of an object, of what a function
    /// makes of each element or of the object: `xs.map(x -> x.next())`.
    pub(super) fn mapped_call(&self, receiver: Value, name: Sym, args: &[Arg], at: At) -> Option<Values> {
        let rules = &self.file.rules;
        if !rules.mapping_callbacks.contains(&name) {
            return None;
        }
        let function = args.last()?.value;
        let held = self.held(receiver);
        let is_container = |value: &Value| matches!(value.entity, Entity::Elements(_) | Entity::Table(_));
        if !held.is_empty() && held.iter().all(is_container) {
            let elements = || self.flat_map(held.clone(), |value| self.element(value, true));
            let results = self.function_results(function, at, elements);
            let results = self.flat_map(results, |value| self.held(value));
            let known = results.iter().any(|value| matches!(value.entity, Entity::Instance(_) | Entity::Elements(_)));
            if !known {
                return None;
            }
            let flat = self.flat_map(results, |value| match value.entity {
                Entity::Elements(_) => self.element(value, true),
                _ => smallvec![value],
            });
            return Some(self.container_with(flat));
        }
        let is_object =
            |value: &Value| matches!(value.entity, Entity::Instance(_)) && !self.has_member(*value, self.text(name));
        if !rules.receiver_callbacks.contains(&name) || held.is_empty() || !held.iter().all(is_object) {
            return None;
        }
        let results = self.function_results(function, at, || held.clone());
        let results = self.flat_map(results, |value| self.held(value));
        (!results.is_empty()).then_some(results)
    }

    /// Returns the values of `_` in an argument: what the callee passes to the function that the argument is.
    pub(super) fn placeholder_values(&self, callee: ExprId, scope: DefId, line: u32) -> Values {
        let (bases, name) = match *self.file.expr(callee) {
            Expr::Attribute { base, name } => (self.receivers(base, scope, line), self.file.sym(name)),
            // `xs.foldLeft(zero)(_.add(x))`
            _ => return Values::new(),
        };
        let objects = self.objects_passed(&bases, name, (0, 0));
        if !objects.is_empty() {
            return objects;
        }
        let mut values = Values::new();
        for base in bases {
            for member in self.called_attribute(base, name) {
                let given = self.callback_parameter_of(member, 0, 0);
                merge(&mut values, self.given_by(given, Some(base), member));
            }
        }
        self.told(values)
    }

    /// Returns whether an argument is an expression of `_`.
    fn is_placed(&self, mut expr: ExprId) -> bool {
        let Some(placeholder) = self.file.rules.placeholder else { return false };
        loop {
            expr = match *self.file.expr(expr) {
                Expr::Attribute { name, .. } if self.file.sym(name) == placeholder => return true,
                Expr::Attribute { base, .. } => base,
                Expr::Call { callee, .. } => callee,
                _ => return false,
            }
        }
    }

    fn global_call(&self, global: &str, name: &str, first: ExprId, args: &[Arg], (scope, line): At) -> Option<Values> {
        let values = || self.eval(first, scope, line);
        let held = || self.flat_map(values(), |value| self.held(value));
        let found = match (global, name) {
            ("Object", "values") | ("Array", "from") => {
                let elements = self.flat_map(held(), |value| match value.entity {
                    Entity::Mapped(symbol) => smallvec![Value { entity: Entity::Instance(symbol), ..value }],
                    Entity::Table(table) => self.selected(table, None),
                    _ => self.element(value, true),
                });
                match args.get(1) {
                    Some(made) => self.elements_of(self.function_results(made.value, (scope, line), || elements)),
                    None => self.container_with(elements),
                }
            }
            ("Object", "entries") => {
                let is_mapping = |value: &Value| match value.entity {
                    Entity::Mapped(_) => true,
                    Entity::Table(table) => self.is_map(table),
                    _ => false,
                };
                held().into_iter().filter(is_mapping).collect()
            }
            ("Object", "freeze" | "seal" | "preventExtensions" | "create") | ("Promise", "resolve") => values(),
            ("Object", "assign") => {
                let parts = args.iter().take(4).map(|arg| self.eval(arg.value, scope, line));
                let known =
                    parts.flatten().filter(|value| !matches!(value.entity, Entity::Builtin(_) | Entity::Nothing));
                known.fold(Values::new(), |mut all, value| {
                    merge(&mut all, smallvec![value]);
                    all
                })
            }
            ("Promise", "all" | "allSettled") => held(),
            ("Promise", "race" | "any") => self.flat_map(held(), |value| self.element(value, true)),
            ("Reflect", "construct") => self.flat_map(values(), |class| self.call_result(class, None)),
            ("Reflect", "apply") => self.flat_map(values(), |function| self.call_result(function, None)),
            _ => return None,
        };
        (!found.is_empty()).then_some(found)
    }

    /// Returns what the function that makes a promise resolves it with: `new Promise((resolve) => resolve(x))`.
    pub(super) fn resolved_values(&self, executor: ExprId) -> Values {
        let Expr::Lambda(function) = *self.file.expr(executor) else { return Values::new() };
        let facts = self.file.facts();
        let Some(resolve) = facts.definitions[function as usize].params.first() else { return Values::new() };
        let is_within = |mut scope: DefId| {
            while scope > function {
                scope = self.file.outline(scope).parent;
            }
            scope == function
        };
        let mut values = Values::new();
        for reference in facts.references.iter().filter(|reference| reference.kind == ReferenceKind::Call) {
            if let Expr::Call { callee, args, .. } = self.file.expr(reference.expr)
                && matches!(self.file.expr(*callee), Expr::Name(name) if *name == resolve.name)
                && is_within(reference.scope)
                && let Some(first) = args.first()
            {
                merge(&mut values, self.eval(first.value, reference.scope, reference.line));
            }
        }
        values.retain(|value| !matches!(value.entity, Entity::Builtin(_) | Entity::Opaque | Entity::Nothing));
        values
    }

    /// Returns the callee of `Reflect.apply(f, ...)` and `Reflect.construct(C, ...)`.
    pub fn reflected(&self, base: Value, name: Sym, args: &[Arg], (scope, line): At) -> Option<Values> {
        let Entity::Builtin(global) = base.entity else { return None };
        let is_call = self.file.rules.prototypes
            && self.text(global) == "Reflect"
            && matches!(self.text(name), "apply" | "construct");
        is_call.then(|| self.eval(args.first().map_or(0, |arg| arg.value), scope, line))
    }

    /// Returns the values of one position of what `Promise.all([...])` resolves to.
    pub(super) fn settled_part(
        &self,
        callee: ExprId,
        args: &[Arg],
        position: u16,
        (scope, line): At,
    ) -> Option<Values> {
        if !self.file.rules.gathering_functions.is_empty() {
            let gathers = |value: Value| {
                self.dotted_name(value).is_some_and(|name| self.file.rules.gathering_functions.contains(&*name))
            };
            let arg = args.get(position as usize).filter(|arg| arg.keyword.is_none())?;
            let is_gathered = self.eval(callee, scope, line).into_iter().any(gathers);
            return is_gathered.then(|| self.eval(arg.value, scope, line));
        }
        let Expr::Attribute { base, name } = *self.file.expr(callee) else { return None };
        let is_global = matches!(*self.file.expr(base), Expr::Name(name) if self.file.text(name) == "Promise");
        if !is_global || !self.file.rules.prototypes || !matches!(self.file.text(name), "all" | "allSettled") {
            return None;
        }
        let Expr::Elements { items, .. } = self.file.expr(args.first()?.value) else { return None };
        Some(self.eval(*items.get(position as usize)?, scope, line))
    }

    fn has_member(&self, receiver: Value, name: &str) -> bool {
        let members = self.called_attribute(receiver, self.known(name));
        members.iter().any(|member| matches!(member.entity, Entity::Definition(_) | Entity::External(_)))
    }

    fn elements_of(&self, values: Values) -> Values {
        let elements = values.into_iter().filter_map(|value| match value.entity {
            Entity::Instance(symbol) => Some(Value { entity: Entity::Elements(symbol), ..value }),
            _ => None,
        });
        elements.collect()
    }

    /// Returns the results of a function that is an argument. `given` is its first parameter.
    fn function_results(&self, function: ExprId, at: At, given: impl FnOnce() -> Values) -> Values {
        let results = match *self.file.expr(function) {
            Expr::Lambda(def) if !self.file.is_node(def) => self.lambda_results(def),
            _ if self.is_placed(function) => {
                let values = self.eval(function, at.0, at.1);
                self.flat_map(values, |value| match value.entity {
                    Entity::Definition(symbol) if self.kind(symbol) == Kind::Property => self.call_result(value, None),
                    _ => self.held(value),
                })
            }
            _ => {
                let functions = self.eval(function, at.0, at.1);
                self.flat_map(functions, |function| self.call_result(function, None))
            }
        };
        let is_given = |value: &Value| value.entity == Entity::Argument(0);
        let mut values: Values = results.iter().filter(|value| !is_given(value)).copied().collect();
        if results.iter().any(is_given) {
            merge(&mut values, given());
        }
        values
    }

    pub(super) fn lambda_results(&self, function: DefId) -> Values {
        if let Some(known) = self.results.borrow().get(&function) {
            return known.as_ref().clone();
        }
        // A function that depends on its own result adds no values.
        self.results.borrow_mut().insert(function, Rc::default());
        let values = self.with_depth(|| self.infer_returns(function));
        self.results.borrow_mut().insert(function, Rc::new(values.clone()));
        values
    }

    /// Returns whether an expression is `value as T`.
    pub fn is_cast(&self, expr: ExprId) -> bool {
        match self.file.expr(expr) {
            Expr::Generic { base, args } if args.len() == 2 && self.file.rules.prototypes => {
                matches!(*self.file.expr(*base), Expr::Name(name) if self.file.text(name) == "as")
            }
            _ => false,
        }
    }

    /// Returns the values of `value as T`: those of the type, else of the value.
    pub(super) fn cast(&self, expr: ExprId, scope: DefId, line: u32) -> Option<Values> {
        let Expr::Generic { args, .. } = self.file.expr(expr) else { return None };
        let &[declared, value] = args.as_slice() else { return None };
        if !self.is_cast(expr) {
            return None;
        }
        let values = self.annotated(declared, scope);
        let is_function = matches!(self.file.expr(declared), Expr::Call { .. });
        Some(match values.is_empty() {
            true if is_function => smallvec![Value::new(Entity::Opaque, Strategy::Annotation)],
            true => self.eval(value, scope, line),
            false => values,
        })
    }
}
