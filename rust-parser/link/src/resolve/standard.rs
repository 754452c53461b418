//! Functions and methods of JavaScript's standard library whose results follow from their arguments: `xs.map(f)`,
//! `promise.then(f)`, `Promise.all([a, b])`, `Object.entries(x)`, `Reflect.construct(C, [])`.

use std::rc::Rc;

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::names::{EMPTY, Sym};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{Arg, DefId, Expr, ExprId};

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

    fn global_call(&self, global: &str, name: &str, first: ExprId, args: &[Arg], (scope, line): At) -> Option<Values> {
        let values = || self.eval(first, scope, line);
        let held = || self.flat_map(values(), |value| self.held(value));
        let found = match (global, name) {
            ("Object", "values") | ("Array", "from") => {
                let elements = self.flat_map(held(), |value| match value.entity {
                    Entity::Mapped(symbol) => smallvec![Value { entity: Entity::Instance(symbol), ..value }],
                    _ => self.element(value, true),
                });
                match args.get(1) {
                    Some(made) => self.elements_of(self.function_results(made.value, (scope, line), || elements)),
                    None => self.elements_of(elements),
                }
            }
            ("Object", "entries") => held().into_iter().filter(|one| matches!(one.entity, Entity::Mapped(_))).collect(),
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

    fn lambda_results(&self, function: DefId) -> Values {
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
