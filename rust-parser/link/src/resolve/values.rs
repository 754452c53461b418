//! Evaluates expressions to their possible values: names, attributes, calls, `self`, `super` and containers.

use smallvec::{SmallVec, smallvec};

use crate::entity::{Entity, MAX_VALUES, Value, Values, merge, via};
use crate::project::file_entry::is_class;
use crate::project::names::{EMPTY, ExternalId, Sym};
use crate::project::query::Query;
use crate::resolve::arguments::Arguments;
use crate::strategy::Strategy;
use atlas_facts::{Arg, DefId, Expr, ExprId, KEY_MARK, Kind, LiteralType, PART, ParamKind, SLICE, flags};
use atlas_languages::MemberOrder;

/// Largest depth of nested evaluations: variables of variables, results of calls.
const MAX_DEPTH: u32 = 12;

impl Query<'_> {
    /// Returns the possible values of an expression of this file; empty if unknown.
    pub fn eval(&self, expr: ExprId, scope: DefId, line: u32) -> Values {
        let mut values = self.with_depth(|| self.eval_shape(expr, scope, line));
        if !self.file.facts().narrowings.is_empty()
            && matches!(self.file.expr(expr), Expr::Name(_) | Expr::Attribute { .. })
            && let Some(narrowed) = self.narrowed(expr, scope, line, &values)
        {
            values = narrowed;
        }
        if values.len() > MAX_VALUES { Values::new() } else { values }
    }

    /// Evaluates a nested step. Returns no values beyond the largest depth.
    pub(crate) fn with_depth(&self, step: impl FnOnce() -> Values) -> Values {
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
            Expr::Name(_) | Expr::Attribute { .. } if let Some(values) = self.module_object(expr, scope) => values,
            Expr::Name(name) => {
                let found = self.resolve_name(scope, self.file.sym(*name), line);
                let found = found.unwrap_or_else(|| self.unbound_value(self.file.sym(*name)));
                self.of_arity(found, 0)
            }
            Expr::Scope(name) => {
                let found = self.resolve_scope_name(scope, self.file.sym(*name));
                let is_foreign = found.is_empty() && self.is_foreign(expr, scope, line);
                if is_foreign { smallvec![Value::new(Entity::Opaque, Strategy::Local)] } else { found }
            }
            Expr::This { class } => self.this_value(scope, *class),
            Expr::Super => match self.class_of(scope) {
                Some(symbol) => smallvec![Value::new(Entity::Super(symbol), Strategy::Super)],
                None => smallvec![Value::new(Entity::Opaque, Strategy::Super)],
            },
            Expr::SuperOf(class) => self.super_of(*class, scope, line),
            Expr::Attribute { base, name } => {
                let name = self.file.sym(*name);
                let bases = self.receivers(*base, scope, line);
                let is_open = self.file.rules.attributes_member.is_some() && bases.iter().any(Value::is_unknown);
                let mut found = self.of_arity(self.flat_map(bases, |value| self.attribute(value, name)), 0);
                // What a known object lacks, an unknown one may have.
                if is_open {
                    found.retain(|value| value.entity != Entity::Builtin(EMPTY) && !value.is_unknown());
                }
                found
            }
            Expr::Call { callee, args, new } => {
                let made = if *new { self.made_with_elements(*callee, args, (scope, line)) } else { None };
                let made = made.or_else(|| if *new { self.made_object(*callee, scope, line) } else { None });
                let made = made.or_else(|| self.made_container(*callee, scope));
                let made =
                    made.or_else(|| if *new { self.filled_container(*callee, args, (scope, line)) } else { None });
                made.unwrap_or_else(|| self.call_values(*callee, args, *new, scope, line))
            }
            Expr::Index { base, index } => {
                let bases = self.settled(self.eval(*base, scope, line), scope, line, true);
                let key = if bases.is_empty() { None } else { self.key_at(*index, scope, line) };
                self.flat_map(bases, |value| match self.with_arguments(value, index, scope) {
                    Some(class) => smallvec![class],
                    None => self.element_at(value, key.as_deref()),
                })
            }
            Expr::Await(inner) => self.eval(*inner, scope, line),
            Expr::Literal(LiteralType::None) => smallvec![Value::new(Entity::Nothing, Strategy::Local)],
            Expr::Literal(_) | Expr::Key(_) => smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)],
            Expr::Lambda(def) if self.file.is_node(*def) => {
                smallvec![Value::new(Entity::Definition(self.file.symbols[*def as usize]), Strategy::Local)]
            }
            Expr::Lambda(_) => smallvec![Value::new(Entity::Opaque, Strategy::Local)],
            Expr::OneOf(options) => {
                let mut values = Values::new();
                for &option in options.iter().take(MAX_VALUES * 2) {
                    merge(&mut values, self.eval(option, scope, line));
                }
                values.retain(|value| value.entity != Entity::Nothing);
                values
            }
            Expr::Elements { kind, items, keys } => self.display((*kind, items, keys), scope, line),
            Expr::Generic { base, args } => {
                let plain = || self.of_arity(self.eval(*base, scope, line), args.len());
                self.cast(expr, scope, line).unwrap_or_else(plain)
            }
            Expr::TypeUnion(operands) => self.joined_objects(operands, scope, line),
            Expr::Unknown => Values::new(),
        }
    }

    /// Returns `super(B, self)`, `B.super`, for the class around a scope.
    fn super_of(&self, class: ExprId, scope: DefId, line: u32) -> Values {
        let opaque = || smallvec![Value::new(Entity::Opaque, Strategy::Super)];
        let Some(own) = self.class_of(scope) else { return opaque() };
        let mut named = self.eval(class, scope, line).into_iter();
        let after = named.find_map(|value| match value.entity {
            Entity::Definition(symbol) if is_class(self.kind(symbol)) => Some(symbol),
            _ => None,
        });
        let Some(after) = after else { return opaque() };
        let is_ancestor = self.ancestors(own).contains(&Entity::Definition(after));
        let entity = match (is_ancestor, self.file.rules.member_order) {
            (true, MemberOrder::C3) => Entity::SuperAfter { class: own, after },
            // An interface that provides the method.
            (true, MemberOrder::DepthFirst) => Entity::Instance(after),
            (false, _) => Entity::Super(after),
        };
        smallvec![Value::new(entity, Strategy::Super)]
    }

    fn this_value(&self, scope: DefId, is_class: bool) -> Values {
        if let Some(declared) = self.declared_receiver(scope) {
            return declared;
        }
        let is_class = is_class || self.is_in_static(scope);
        let entity = match self.class_of(scope) {
            Some(symbol) if is_class => Entity::Definition(symbol),
            Some(symbol) => Entity::Instance(symbol),
            None => Entity::Opaque,
        };
        self.bounded(smallvec![Value::new(entity, Strategy::This)], scope)
    }

    /// Adds the bounds of the type parameters of the extension around a scope to its object:
    /// `impl<R: Read> Buffer<R>`.
    fn bounded(&self, own: Values, scope: DefId) -> Values {
        if !self.file.rules.generic_fields || !matches!(own[..], [Value { entity: Entity::Instance(_), .. }]) {
            return own;
        }
        let mut here = scope;
        while here != 0 && self.file.outline(here).kind != Kind::Extension {
            here = self.file.outline(here).parent;
        }
        match self.file.def(here).bases.first().map(|&base| self.file.expr(base)) {
            Some(Expr::Generic { args, .. }) if here != 0 => self.applied(own, args, here, 0),
            _ => own,
        }
    }

    /// Returns whether `this` is a class, as in its static methods.
    fn is_in_static(&self, scope: DefId) -> bool {
        if !self.file.rules.prototypes {
            return false;
        }
        let mut here = scope;
        while self.file.outline(here).flags & flags::ARROW != 0 {
            here = self.file.outline(here).parent;
        }
        let definition = self.file.outline(here);
        let is_member = matches!(definition.kind, Kind::Method | Kind::Property);
        is_member && definition.flags & flags::STATIC != 0 && is_class(self.file.outline(definition.parent).kind)
    }

    /// Returns the values of `this` in a function that declares it: `function f(this: Shape)`.
    fn declared_receiver(&self, scope: DefId) -> Option<Values> {
        if !self.file.rules.prototypes {
            return None;
        }
        let mut here = scope;
        while self.file.outline(here).flags & flags::ARROW != 0 {
            here = self.file.outline(here).parent;
        }
        let first = self.file.def(here).params.first().filter(|param| param.kind == ParamKind::Receiver)?;
        let values = self.annotated(first.annotation?, here);
        (!values.is_empty()).then_some(values)
    }

    /// Applies a step to each value and merges the results.
    pub(crate) fn flat_map(&self, values: Values, step: impl Fn(Value) -> Values) -> Values {
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

    fn call_values(&self, callee: ExprId, args: &[Arg], is_new: bool, scope: DefId, line: u32) -> Values {
        if let Expr::Generic { base, args: types } = self.file.expr(callee) {
            let mut results = self.typed_call_values(*base, (args, types), is_new, (scope, line));
            if is_new {
                results = self.objects_of_arity(results, types.len());
            }
            return self.applied(results, types, scope, 0);
        }
        self.typed_call_values(callee, (args, &[]), is_new, (scope, line))
    }

    fn typed_call_values(
        &self,
        callee: ExprId,
        (args, types): (&[Arg], &[ExprId]),
        is_new: bool,
        (scope, line): (DefId, u32),
    ) -> Values {
        let arguments = Arguments::Written(args, scope, line, types);
        if let Expr::Attribute { base, name } = *self.file.expr(callee) {
            let name = self.file.sym(name);
            if self.file.rules.placeholder == Some(name) {
                return self.with_depth(|| self.placeholder_values(base, scope, line));
            }
            if self.text(name) == PART {
                let position = args.first().and_then(|arg| self.key_of(arg.value)?.parse().ok());
                return position.map(|position| self.part_values(base, position, scope, line)).unwrap_or_default();
            }
            let bases = self.receivers(base, scope, line);
            if self.text(name) == SLICE {
                let from = args.first().and_then(|arg| self.key_of(arg.value));
                return self.flat_map(bases, |value| self.sliced(value, from));
            }
            let is_manager = self.is_manager(&bases);
            let mut results = self.flat_map(bases, |receiver| {
                if let Some(values) = self.function_call(receiver, name) {
                    return values;
                }
                if let Some(values) = self.table_call(receiver, name, args, (scope, line)) {
                    return values;
                }
                if let Some(values) = self.standard_call(receiver, name, args, (scope, line)) {
                    return values;
                }
                if let Some(values) = self.mapped_call(receiver, name, args, (scope, line)) {
                    return values;
                }
                if let Some(values) = self.container_call(receiver, name) {
                    return values;
                }
                if let Some(classes) = self.joined_classes(receiver, name, args, (scope, line)) {
                    return classes;
                }
                let members = self.called_attribute(receiver, name);
                self.flat_map(members, |member| match member.entity {
                    _ if let Some(made) = self.form_result(receiver, name, member) => made,
                    _ if self.is_building(receiver, member, args) => smallvec![receiver],
                    _ if let Some(records) = self.record_result(member, args, scope, line) => records,
                    Entity::External(external) => self.external_result(external, member, args, scope, line),
                    _ => self.call_with(member, Some(self.seen_object(receiver)), &arguments),
                })
            });
            // What a method of a manager's own gives is unknown.
            if is_manager {
                results.retain(|value| value.entity != Entity::Builtin(EMPTY));
            }
            return results;
        }
        let callees = match *self.file.expr(callee) {
            Expr::Name(name) => {
                let name = self.file.sym(name);
                let found = self.resolve_called_name(scope, name, line);
                let found = found.unwrap_or_else(|| if is_new { self.unbound_value(name) } else { Values::new() });
                let is_own = |value: &Value| matches!(value.entity, Entity::Definition(_));
                let rules = &self.file.rules;
                // `apply { ... }` without an object.
                if rules.scope_callbacks.contains(&name)
                    && rules.same_methods.contains(&name)
                    && !found.iter().any(is_own)
                {
                    return self.this_value(scope, false);
                }
                self.settled(found, scope, line, false)
            }
            _ => self.eval(callee, scope, line),
        };
        let own = if self.file.rules.implicit_this { self.this_value(scope, false) } else { Values::new() };
        let own = own.first().copied().filter(|value| matches!(value.entity, Entity::Instance(_)));
        let is_member = |value: &Value| matches!(value.via, Strategy::This | Strategy::Inherited);
        self.flat_map(callees, |value| match value.entity {
            _ if let Some(records) = self.record_result(value, args, scope, line) => records,
            Entity::Builtin(name) if name != EMPTY => self.builtin_result(name, args, scope, line),
            Entity::External(external) => self.external_result(external, value, args, scope, line),
            _ => self.call_with(value, own.filter(|_| is_member(&value)), &arguments),
        })
    }

    /// Returns the result of a function of another package: a cast, a partial application, or what its name suggests.
    fn external_result(&self, external: ExternalId, callee: Value, args: &[Arg], scope: DefId, line: u32) -> Values {
        let rules = &self.file.rules;
        if let Some(first) = args.first()
            && !(rules.cast_functions.is_empty()
                && rules.partial_functions.is_empty()
                && rules.copy_functions.is_empty())
        {
            let (package, name) = self.index.externals.name(external);
            let dotted = format!("{}.{}", self.text(package), self.text(name));
            if rules.cast_functions.contains(&dotted) {
                return self.annotated(first.value, scope);
            }
            if rules.copy_functions.contains(&dotted) {
                return self.eval(first.value, scope, line);
            }
            if rules.entering_functions.contains(&dotted) {
                return self.flat_map(self.eval(first.value, scope, line), |value| self.enter_result(value));
            }
            if rules.partial_functions.contains(&dotted) {
                let held = self.eval(first.value, scope, line).into_iter();
                let held = held.filter(|value| matches!(value.entity, Entity::Definition(_) | Entity::External(_)));
                return via(held.collect(), Strategy::Alias);
            }
        }
        self.call_result(callee, None)
    }

    fn builtin_result(&self, name: Sym, args: &[Arg], scope: DefId, line: u32) -> Values {
        let first = || args.first().map(|arg| self.eval(arg.value, scope, line)).unwrap_or_default();
        let rules = &self.file.rules;
        if rules.prototypes && self.text(name) == "Promise" {
            return args.first().map(|executor| self.resolved_values(executor.value)).unwrap_or_default();
        }
        if args.len() == 1 && rules.class_builtins.contains(&name) {
            let values = first().into_iter();
            return values
                .filter_map(|value| match value.entity {
                    Entity::Instance(class) => Some(Value { entity: Entity::Definition(class), ..value }),
                    _ => None,
                })
                .collect();
        }
        if let ([_, bases, _], true) = (args, rules.class_builtins.contains(&name)) {
            // `type(name, bases, members)`: its members are unknown, those of its bases are not.
            let Expr::Elements { items, .. } = self.file.expr(bases.value) else { return Values::new() };
            let classes = items.iter().take(1).flat_map(|&base| self.eval(base, scope, line));
            return classes.filter(|value| matches!(value.entity, Entity::Definition(_))).collect();
        }
        if rules.copy_functions.contains(self.text(name)) {
            return first();
        }
        if rules.attribute_builtins.contains(&name)
            && let Some(key) = args.get(1).and_then(|arg| self.key_at(arg.value, scope, line))
            && !key.starts_with(KEY_MARK)
        {
            let member = self.index.strings.intern(&key);
            let mut found = self.flat_map(first(), |value| self.attribute(value, member));
            if let Some(default) = args.get(2) {
                merge(&mut found, self.holdable(self.eval(default.value, scope, line)));
            }
            return found;
        }
        if rules.keyword_builtins.contains(&name) && args.iter().any(|arg| arg.keyword.is_some()) {
            return self.keyword_table(args, scope, line);
        }
        if rules.joining_builtins.contains(&name) {
            let elements = |arg: &Arg| {
                let values = self.eval(arg.value, scope, line);
                self.flat_map(values, |value| self.element(value, true))
            };
            let joined = self.tuple_of(args.iter().take(MAX_VALUES).map(elements).collect());
            return self.container_with(joined);
        }
        if rules.pair_builtins.contains(&name) {
            return self.flat_map(first(), |value| self.as_pairs(value));
        }
        if rules.choosing_builtins.contains(&name) {
            let given: SmallVec<[&Arg; 4]> = args.iter().filter(|arg| arg.keyword.is_none()).take(MAX_VALUES).collect();
            if let [_, _, ..] = given[..] {
                let mut found = Values::new();
                given.iter().for_each(|arg| merge(&mut found, self.eval(arg.value, scope, line)));
                return found;
            }
            return self.flat_map(first(), |value| self.element(value, true));
        }
        if rules.element_builtins.contains(&name) {
            return self.flat_map(first(), |value| self.element(value, true));
        }
        if rules.container_builtins.contains(&name) {
            let values = first();
            let values = self.flat_map(values, |value| self.held(value));
            if values.iter().any(|value| matches!(value.entity, Entity::Elements(_) | Entity::Table(_))) {
                return values;
            }
        } else if rules.open_builtins.contains(&name) {
            return Values::new();
        }
        smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)]
    }

    /// Returns the values of an annotation.
    pub(crate) fn annotated(&self, annotation: ExprId, scope: DefId) -> Values {
        let values = self.eval_type(annotation, scope, 0);
        via(self.as_own_instance(values, scope), Strategy::Annotation)
    }

    /// Replaces `Self` by the class around a scope.
    pub(crate) fn as_own_instance(&self, values: Values, scope: DefId) -> Values {
        let own = |value: Value| match value.entity {
            Entity::SelfType => self.class_of(scope).map(|class| Value { entity: Entity::Instance(class), ..value }),
            _ => Some(value),
        };
        values.into_iter().filter_map(own).collect()
    }
}
