//! Possible values of local variables: from annotations, assignments, loops, `with` statements and unpacked tuples.

use std::rc::Rc;

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::{Bound, NameEntry, is_callable};
use crate::project::names::{EMPTY, Sym};
use crate::project::query::Query;
use crate::resolve::reaching::Reached;
use crate::resolve::types::is_known;
use crate::strategy::Strategy;
use atlas_facts::{Binding, BindingKind, DefId, Expr, ExprId, Kind, PART};

/// Largest number of assignments to a variable that are evaluated: the latest before its use.
pub(super) const MAX_ASSIGNMENTS: usize = 8;
/// Largest number of places of one scope that give a name a value and are looked at; with more, its values are unknown.
pub(super) const MAX_BOUND: usize = 500;

impl Query<'_> {
    /// Returns the values of a name bound in a local scope of this file.
    pub(crate) fn local_values(&self, scope: DefId, entries: &[NameEntry], (user, line): (DefId, u32)) -> Values {
        if entries.len() > MAX_BOUND {
            return Values::new();
        }
        let chosen = self.chosen_by_use(self.file, entries);
        if !chosen.is_empty() {
            let symbols = chosen.iter().map(|&def| self.file.symbols[def as usize]);
            return symbols.map(|symbol| Value::new(Entity::Definition(symbol), Strategy::Local)).collect();
        }
        for entry in entries {
            if let Bound::Import(import) = entry.bound {
                let values = self.follow_import(self.home, import);
                if !values.is_empty() {
                    return values;
                }
            }
        }
        if crate::project::file_entry::is_open_scope(self.file.outline(scope).kind) {
            let symbol = self.file.symbols[scope as usize];
            return self.bound_values(self.home, symbol, entries);
        }
        self.variable_values(scope, entries, (user, line))
    }

    /// Returns the values of a function's variable: from its annotations, else from assignments before the line. If the
    /// last assignment before the line is unknown, so is the variable.
    fn variable_values(&self, scope: DefId, entries: &[NameEntry], (user, line): (DefId, u32)) -> Values {
        let mut bindings = Vec::new();
        let mut declarations: Vec<(&Binding, ExprId)> = Vec::new();
        let mut default = None;
        let mut passed = Values::new();
        let mut opaque = Values::new();
        for entry in entries {
            match entry.bound {
                Bound::Parameter(position) => {
                    let param = &self.file.def(scope).params[position as usize];
                    if self.is_asking(self.file, scope, param) {
                        passed = self.passed(scope, position);
                    }
                    if let Some(annotation) = param.annotation {
                        let values = self.annotated(annotation, scope);
                        let is_plain = param.kind == atlas_facts::ParamKind::Normal;
                        if is_plain && let Some(values) = self.with_functions(&values, &passed) {
                            return values;
                        }
                        if is_known(&values) && (passed.is_empty() || self.is_functional_type(annotation)) {
                            return if is_plain { values } else { self.collected(values) };
                        }
                        opaque = values;
                    } else {
                        let values = self.contextual_values(scope, position);
                        if !values.is_empty() {
                            return values;
                        }
                        let values = self.fixture_values(scope, entry.name);
                        if !values.is_empty() {
                            return values;
                        }
                        default = param.default.or(default);
                    }
                }
                Bound::Binding(binding) => {
                    let binding = &self.file.facts().bindings[binding as usize];
                    if let Some(annotation) = binding.annotation.filter(|_| binding.kind != BindingKind::Catch) {
                        declarations.push((binding, annotation));
                    }
                    bindings.push(binding);
                }
                _ => {}
            }
        }
        // Of several declarations in one function, the last before the line counts.
        let earlier = declarations.partition_point(|(binding, _)| binding.line <= line);
        for &(_, annotation) in declarations[..earlier].iter().rev().chain(&declarations[earlier..]) {
            let values = self.annotated(annotation, scope);
            if let Some(functions) = self.assigned_functions(annotation, &bindings, scope, line) {
                return self.with_functions(&values, &functions).unwrap_or(functions);
            }
            if is_known(&values) && !self.may_hold_functions(annotation, &values) {
                return values;
            }
            opaque = values;
        }
        let before = bindings.iter().filter(|binding| binding.line <= line).count();
        if before == 0 && (default.is_some() || !passed.is_empty()) {
            let mut values = default.map(|default| self.default_values(default, scope)).unwrap_or_default();
            merge(&mut values, passed);
            let name = entries.first().map_or(EMPTY, |entry| entry.name);
            let reached = self.runs_in_order(scope, user).then_some(Reached { line, since: 0 });
            return self.with_stores(values, scope, name, reached);
        }
        if before > 0 {
            bindings.retain(|binding| binding.line <= line);
        }
        let Some(name) = entries.first().map(|entry| entry.name) else { return Values::new() };
        let reached = self.runs_in_order(scope, user).then(|| self.reach(&mut bindings, scope, line));
        let place = match reached {
            None => (scope, name, before as u32, u32::MAX),
            Some(_) if self.file.stores(scope, name).is_empty() => (scope, name, before as u32, bindings.len() as u32),
            Some(_) => (scope, name, line, 0),
        };
        if let Some(known) = self.variables.borrow().get(&place) {
            return known.as_ref().clone();
        }
        // A variable that depends on itself adds no values.
        self.variables.borrow_mut().insert(place, Rc::default());
        let recent = bindings.len().saturating_sub(MAX_ASSIGNMENTS);
        let values = self.assigned_values(&bindings[recent..], scope);
        let values = if values.is_empty() { opaque } else { values };
        let values = self.with_stores(values, scope, name, reached);
        self.variables.borrow_mut().insert(place, Rc::new(values.clone()));
        values
    }

    /// Returns whether a type is that of a container of which the project knows no class: functions may be in it.
    fn may_hold_functions(&self, declared: ExprId, values: &Values) -> bool {
        let is_open = matches!(values[..], [Value { entity: Entity::Builtin(EMPTY), .. }]);
        is_open
            && !self.file.rules.function_types.is_empty()
            && matches!(self.file.expr(declared), Expr::Generic { .. })
    }

    /// Returns the functions that a variable holds at a line if its type says no more than that it is a function.
    fn assigned_functions(&self, declared: ExprId, bindings: &[&Binding], scope: DefId, line: u32) -> Option<Values> {
        if !self.is_function_type(self.file, declared) {
            return None;
        }
        let given = bindings.iter().filter(|binding| binding.line <= line && binding.value.is_some());
        let given: Vec<&Binding> = given.copied().collect();
        let recent = given.len().saturating_sub(MAX_ASSIGNMENTS);
        let found = self.with_depth(|| self.assigned_values(&given[recent..], scope));
        let is_function =
            |value: &Value| matches!(value.entity, Entity::Definition(symbol) if is_callable(self.kind(symbol)));
        (!found.is_empty() && found.iter().all(is_function)).then_some(found)
    }

    /// Returns what the default value of a parameter says about it: an object of the project, rather than a flag.
    fn default_values(&self, default: ExprId, function: DefId) -> Values {
        let definition = self.file.def(function);
        let mut values = self.eval(default, definition.parent, definition.start_line);
        values.retain(|value| {
            matches!(
                value.entity,
                Entity::Instance(_)
                    | Entity::Definition(_)
                    | Entity::Elements(_)
                    | Entity::Mapped(_)
                    | Entity::Table(_)
            )
        });
        local_type(values)
    }

    pub(super) fn assigned_values(&self, bindings: &[&Binding], scope: DefId) -> Values {
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

    /// `*args: T` is a container of `T`.
    fn collected(&self, values: Values) -> Values {
        let several = values.into_iter().map(|value| match value.entity {
            Entity::Instance(symbol) => Value { entity: Entity::Elements(symbol), ..value },
            _ => Value { entity: Entity::Builtin(EMPTY), ..value },
        });
        several.collect()
    }

    /// Returns the values that one binding assigns to its target.
    pub(crate) fn binding_values(&self, binding: &Binding, scope: DefId) -> Values {
        let scope = if binding.scope != scope { binding.scope } else { scope };
        let Some(value) = binding.value else {
            return match (binding.kind, binding.annotation) {
                (BindingKind::Catch, Some(annotation)) => self.annotated(annotation, scope),
                _ => Values::new(),
            };
        };
        if self.in_type.get() {
            return self.in_position(false, || self.binding_values(binding, scope));
        }
        // The value is evaluated as of the previous line, so that `x = x.next()` refers to the older x.
        let line = binding.line.saturating_sub(1);
        match binding.kind {
            BindingKind::Assign if let Some(values) = self.field_value(value, scope, line) => values,
            BindingKind::Assign => {
                let values = self.eval(value, scope, line);
                local_type(self.settled(values, scope, line, false))
            }
            BindingKind::Iterate => {
                let values = self.eval(value, scope, line);
                local_type(self.flat_map(values, |value| self.looped(value)))
            }
            BindingKind::Enter => {
                let values = self.eval(value, scope, line);
                local_type(self.flat_map(values, |value| self.enter_result(value)))
            }
            BindingKind::Catch => self.annotated(value, scope),
            BindingKind::Unpack(position) => match self.file.expr(value) {
                Expr::Elements { items, .. } => {
                    let item = items.get(position as usize);
                    let values = item.map(|&item| self.eval(item, scope, line)).unwrap_or_default();
                    local_type(self.settled(values, scope, line, false))
                }
                _ => self.part_values(value, position, scope, line),
            },
            BindingKind::Return | BindingKind::Yield | BindingKind::Outer => Values::new(),
        }
    }

    /// Returns what a loop over a value gives: an element, or the object that stands for a wrapper of it.
    fn looped(&self, value: Value) -> Values {
        let found = self.element(value, true);
        let Entity::Instance(class) = value.entity else { return found };
        let is_own = || {
            let methods = self.file.rules.mapping_callbacks.iter();
            methods.into_iter().any(|&name| {
                let members = self.class_member(class, name, value.via);
                members.iter().any(|member| matches!(member.entity, Entity::Definition(_) | Entity::External(_)))
            })
        };
        if found.is_empty() && self.file.rules.comprehensions && !is_own() { smallvec![value] } else { found }
    }

    /// Returns the values of `target` in `_, target = callee()`.
    pub(super) fn part_values(&self, value: ExprId, position: u16, scope: DefId, line: u32) -> Values {
        match *self.file.expr(value) {
            Expr::Await(inner) => self.part_values(inner, position, scope, line),
            // The value of each pair of a mapping.
            Expr::Index { base, .. } if position == 1 => {
                let bases = self.receivers(base, scope, line);
                let held = self.flat_map(bases, |value| self.held(value));
                let values = self.flat_map(held, |value| match value.entity {
                    Entity::Mapped(symbol) => smallvec![Value { entity: Entity::Instance(symbol), ..value }],
                    Entity::Table(table) if self.is_map(table) => self.selected(table, None),
                    _ => Values::new(),
                });
                if values.is_empty() { self.tuple_part(value, position, scope, line) } else { values }
            }
            Expr::Call { callee, .. } if matches!(*self.file.expr(callee), Expr::Attribute { name, .. } if self.file.text(name) == PART) => {
                self.held_part(value, position, scope, line)
            }
            Expr::Call { callee, ref args, .. } => {
                if let Some(values) = self.paired_record(callee, position, (scope, line)) {
                    return values;
                }
                if let Some(values) = self.settled_part(callee, args, position, (scope, line)) {
                    return values;
                }
                let callees = match *self.file.expr(callee) {
                    Expr::Attribute { base, name } => {
                        let bases = self.eval(base, scope, line);
                        self.flat_map(bases, |value| self.called_attribute(value, self.file.sym(name)))
                    }
                    _ => self.eval(callee, scope, line),
                };
                let parts = self.flat_map(callees, |callee| match callee.entity {
                    Entity::External(_) | Entity::Opaque => smallvec![Value::new(Entity::Opaque, callee.via)],
                    _ => self.call_part(callee, position),
                });
                if parts.is_empty() { self.held_part(value, position, scope, line) } else { parts }
            }
            Expr::Name(name)
                if let parts = self.part_of_variable(self.file.sym(name), position, scope, line)
                    && !parts.is_empty() =>
            {
                parts
            }
            _ => self.held_part(value, position, scope, line),
        }
    }

    /// Returns a position of an object of a class whose parts have an order, or of a tuple.
    fn held_part(&self, value: ExprId, position: u16, scope: DefId, line: u32) -> Values {
        let values = self.eval(value, scope, line);
        let parts = self.flat_map(values, |value| match value.entity {
            Entity::Instance(class) => self.call_part(Value { entity: Entity::Definition(class), ..value }, position),
            // A function that is called by its name alone.
            Entity::Definition(symbol) if self.kind(symbol) == Kind::Property => self.call_part(value, position),
            _ => Values::new(),
        });
        if parts.is_empty() { self.tuple_part(value, position, scope, line) } else { parts }
    }

    /// Returns the values of one position of a variable: of a tuple that its annotation describes, or the value of the
    /// pair that a parameter is.
    fn part_of_variable(&self, name: Sym, position: u16, scope: DefId, line: u32) -> Values {
        let mut here = scope;
        while here != 0 && self.file.entries(here, name).is_empty() {
            here = self.file.outline(here).parent;
        }
        let declared = self.file.entries(here, name).iter().find_map(|entry| match entry.bound {
            Bound::Parameter(position) => self.file.def(here).params[position as usize].annotation,
            Bound::Binding(binding) => self.file.facts().bindings[binding as usize].annotation,
            _ => None,
        });
        match declared.map(|declared| self.file.expr(declared)) {
            Some(Expr::Elements { items, .. }) => {
                items.get(position as usize).map(|&item| self.annotated(item, here)).unwrap_or_default()
            }
            None if position == 1 && self.text(name).starts_with('#') => {
                let values = self.resolve_name(scope, name, line).unwrap_or_default();
                values
                    .into_iter()
                    .filter(|value| matches!(value.entity, Entity::Instance(_) | Entity::Definition(_)))
                    .collect()
            }
            _ => Values::new(),
        }
    }

    /// Returns a position of the tables that an expression denotes.
    fn tuple_part(&self, value: ExprId, position: u16, scope: DefId, line: u32) -> Values {
        let held = self.flat_map(self.eval(value, scope, line), |value| self.held(value));
        let key = position.to_string();
        self.flat_map(held, |value| match value.entity {
            Entity::Table(table) => self.selected(table, Some(&key)),
            // All elements are objects of one class.
            Entity::Elements(class) => smallvec![Value { entity: Entity::Instance(class), ..value }],
            _ => Values::new(),
        })
    }

    /// Returns the values of `target` in `with value as target`: the declared result of the enter method, else the
    /// value itself.
    pub(super) fn enter_result(&self, value: Value) -> Values {
        let class = match value.entity {
            Entity::Instance(class) => class,
            // A generator as a context manager: it binds what the function yields.
            Entity::Elements(class) => return smallvec![Value { entity: Entity::Instance(class), ..value }],
            _ => return smallvec![value],
        };
        for &name in &self.file.rules.enter_methods {
            let members = self.class_member(class, name, value.via);
            if let Some(&member) = members.iter().find(|member| matches!(member.entity, Entity::Definition(_))) {
                let result = self.call_result(member, Some(value));
                let is_known = result.iter().any(|value| matches!(value.entity, Entity::Instance(_)));
                return if is_known { result } else { smallvec![value] };
            }
        }
        smallvec![value]
    }
}

/// Marks definitions that are reached through a variable as aliases.
fn local_type(values: Values) -> Values {
    let change = |value: Value| match value.entity {
        Entity::Definition(_) => Value { via: aliased(value.via), ..value },
        _ => value,
    };
    values.into_iter().map(change).collect()
}

/// Returns the rule of a definition that a variable holds.
pub(super) fn aliased(via: Strategy) -> Strategy {
    if matches!(via, Strategy::Passed | Strategy::Element) { via } else { Strategy::Alias }
}
