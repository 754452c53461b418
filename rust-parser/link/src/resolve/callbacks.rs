//! Types of parameters that a function gets from where it stands: `operate((source: inferred) => ...)` for a parameter
//! `(source: Stream) => void`, and `items.forEach((item) => ...)`. Functions publish the types of their callbacks.

use std::rc::Rc;

use smallvec::smallvec;

use crate::entity::{Entity, MAX_VALUES, Value, Values, merge};
use crate::project::file_entry::{Bound, is_callable, is_class};
use crate::project::file_types::{callback_part, signature_part};
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::applied::is_parameter;
use crate::resolve::types::published;
use crate::strategy::Strategy;
use atlas_facts::{BindingKind, DefId, Expr, ExprId, Kind, LiteralType, Param, ParamKind, flags};

/// Largest number of parameters of a function, and of a callback, with published types.
pub const MAX_CALLBACKS: u16 = 8;
pub const MAX_PARAMETERS: u16 = 4;
/// Stands for the receiver of a callback among its parameters.
pub const RECEIVER: u16 = 15;

/// Stands for the block among the arguments of a call.
const BLOCK: u16 = MAX_CALLBACKS - 1;

/// Returns the part of a function or alias for a callback's parameter: of an argument, or of the alias itself.
fn part(position: Option<u16>, parameter: u16) -> u16 {
    position.map_or(signature_part(parameter), |position| callback_part(position, parameter))
}

/// Largest number of functions that return the next one.
const MAX_RETURNED: u32 = 3;

impl Query<'_> {
    /// Returns what a place says about a parameter.
    pub(super) fn told(&self, values: Values) -> Values {
        values.into_iter().map(|value| Value { via: Strategy::Annotation, ..value }).collect()
    }

    /// Returns the types of the parameters of the functions that a function takes, or of those that an alias denotes,
    /// by part of its result.
    pub(super) fn callback_types(&self, def: DefId) -> Vec<(u16, Values)> {
        let definition = self.file.def(def);
        let mut parts = Vec::new();
        if definition.kind == Kind::TypeAlias {
            if let Some(declared) = definition.declared_type {
                self.add_callback(declared, def, None, &mut parts);
            }
            return parts;
        }
        let is_receiver = |param: &&Param| param.kind == ParamKind::Receiver;
        let params = definition.params.iter().skip_while(is_receiver);
        for (position, param) in (0..MAX_CALLBACKS).zip(params) {
            if let Some(annotation) = param.annotation {
                let is_rest = param.kind == ParamKind::Variadic && self.file.rules.prototypes;
                let annotation = self.item_of(annotation, is_rest);
                let places = if is_rest { position..MAX_CALLBACKS } else { position..position + 1 };
                places.for_each(|place| self.add_callback(annotation, def, Some(place), &mut parts));
            }
        }
        if self.file.rules.block_yields && definition.flags & flags::GENERATOR != 0 {
            parts.extend(self.block_types(def));
        }
        parts
    }

    /// Returns the types of what a method yields to the block of its caller.
    fn block_types(&self, method: DefId) -> Vec<(u16, Values)> {
        let mut given: [Values; MAX_PARAMETERS as usize] = Default::default();
        let facts = self.file.facts();
        for binding in facts.bindings.iter().filter(|binding| binding.kind == BindingKind::Yield) {
            let mut owner = binding.scope;
            while self.file.outline(owner).kind == Kind::Lambda {
                owner = self.file.outline(owner).parent;
            }
            let Some(value) = binding.value.filter(|_| owner == method) else { continue };
            let values = match self.file.expr(value) {
                Expr::Elements { kind: LiteralType::Tuple, items, .. } => &items[..],
                _ => &[value],
            };
            for (given, &value) in given.iter_mut().zip(values) {
                let held = self.flat_map(self.eval(value, binding.scope, binding.line), |value| self.held(value));
                merge(given, held.into_iter().filter(|value| matches!(value.entity, Entity::Instance(_))).collect());
            }
        }
        let known = (0..).zip(given).filter(|(_, values)| !values.is_empty());
        known.map(|(parameter, values)| (part(Some(BLOCK), parameter), published(values, None))).collect()
    }

    /// Adds the parameters of a function type that an annotation names: the type of an argument at a position, or the
    /// aliased type itself.
    pub(super) fn add_callback(
        &self,
        annotation: ExprId,
        scope: DefId,
        position: Option<u16>,
        parts: &mut Vec<(u16, Values)>,
    ) {
        match self.file.expr(annotation) {
            // A function type: its result, called with its parameters.
            Expr::Call { args, new: true, .. } => {
                if let Some(receiver) = args.first() {
                    let values = published(self.eval_type(receiver.value, scope, 0), None);
                    parts.push((part(position, RECEIVER), values));
                }
            }
            Expr::Call { args, .. } => {
                for (parameter, arg) in (0..MAX_PARAMETERS).zip(args) {
                    let values = self.callback_parameter(arg.value, scope);
                    if !values.is_empty() {
                        parts.push((part(position, parameter), values));
                    }
                }
            }
            Expr::TypeUnion(options) => {
                let is_function = |&option: &ExprId| matches!(self.file.expr(option), Expr::Call { .. });
                if let Some(option) = options.iter().copied().find(is_function) {
                    self.add_callback(option, scope, position, parts);
                }
            }
            // An alias of a function type, or another type with call signatures.
            Expr::Name(_) | Expr::Attribute { .. } | Expr::Generic { .. } if self.file.rules.prototypes => {
                if position.is_none() {
                    return;
                }
                let types = self.naming_parameters(|| self.eval_type(annotation, scope, 0));
                for parameter in 0..MAX_PARAMETERS {
                    let given = self.flat_map(types.clone(), |value| self.parameter_of(value, parameter));
                    if !given.is_empty() {
                        parts.push((part(position, parameter), published(given, None)));
                    }
                }
            }
            Expr::Name(_) | Expr::Attribute { .. } => self.add_aliased(annotation, &[], scope, position, parts),
            Expr::Generic { base, args } => self.add_aliased(*base, args, scope, position, parts),
            _ => {}
        }
    }

    fn add_aliased(
        &self,
        name: ExprId,
        types: &[ExprId],
        scope: DefId,
        position: Option<u16>,
        parts: &mut Vec<(u16, Values)>,
    ) {
        let named = self.in_position(true, || self.eval(name, scope, u32::MAX));
        let [Value { entity: Entity::Definition(alias), .. }] = named[..] else { return };
        if !matches!(self.kind(alias), Kind::TypeAlias | Kind::Interface) {
            return;
        }
        for parameter in (0..MAX_PARAMETERS).chain([RECEIVER]) {
            let values = self.returned_as(alias, signature_part(parameter));
            if let Some(&Value { entity: Entity::TypeArgument(own), .. }) = values.first()
                && let Some(&given) = types.get(own as usize)
            {
                let values = self.callback_parameter(given, scope);
                if !values.is_empty() {
                    parts.push((part(position, parameter), values));
                }
                continue;
            }
            if !values.is_empty() && !matches!(values[0].entity, Entity::TypeArgument(_)) {
                parts.push((part(position, parameter), values.into()));
            }
        }
    }

    /// Returns the values of a callback's parameter: a path from a type argument of the function's result, if its type
    /// follows from that, else the type's instances.
    fn callback_parameter(&self, declared: ExprId, function: DefId) -> Values {
        let mut path = self.argument_path(declared, function);
        if path.is_empty() && self.file.rules.prototypes {
            path = self.sibling_path(declared, function);
        }
        if !path.is_empty() {
            return path.into();
        }
        published(self.naming_parameters(|| self.eval_type(declared, function, 0)), None)
    }

    /// `item: T` of `<T>(items: T[], f: (item: T) => void)` is an element of the first argument.
    fn sibling_path(&self, declared: ExprId, function: DefId) -> Vec<Value> {
        let Expr::Name(name) = *self.file.expr(declared) else { return Vec::new() };
        if self.file.entries(function, self.file.sym(name)).is_empty() {
            return Vec::new();
        }
        let step = |entity| Value::new(entity, Strategy::Annotation);
        let params = self.file.def(function).params.iter().filter(|param| param.kind != ParamKind::Receiver);
        for (position, param) in (0..MAX_CALLBACKS).zip(params) {
            let argument = step(Entity::Argument(position));
            match param.annotation.map(|annotation| self.file.expr(annotation)) {
                Some(Expr::Generic { base, args })
                    if let Some(own) = args.iter().position(|&arg| arg == declared)
                        && let Some(class) = self.generic_class(*base, function) =>
                {
                    return vec![argument, step(Entity::Instance(class)), step(Entity::TypeArgument(own as u16))];
                }
                Some(Expr::Generic { args, .. }) if args.last() == Some(&declared) => {
                    return vec![argument, step(Entity::TypeMember(EMPTY))];
                }
                _ if param.annotation == Some(declared) => return vec![argument],
                _ => {}
            }
        }
        Vec::new()
    }

    /// `def: D` of `<T, D = T["def"]>(...) => Made<T, D>` is the second type argument of the result, or the member `def` of
    /// the first.
    fn argument_path(&self, declared: ExprId, function: DefId) -> Vec<Value> {
        let step = |entity| Value::new(entity, Strategy::Annotation);
        match self.file.expr(declared) {
            Expr::Name(name) => {
                let result = self.file.def(function).declared_type.map(|declared| self.file.expr(declared));
                let Some(Expr::Generic { args, .. }) = result else { return Vec::new() };
                let own = args.iter().position(|&arg| self.file.expr(arg) == self.file.expr(declared));
                let mut path: Vec<Value> = own.map(|own| step(Entity::TypeArgument(own as u16))).into_iter().collect();
                let entries = self.file.entries(function, self.file.sym(*name));
                let bound = entries.iter().find_map(|entry| match entry.bound {
                    Bound::Binding(binding) => self.file.facts().bindings[binding as usize].annotation,
                    _ => None,
                });
                if !path.is_empty()
                    && let Some(default) = bound
                    && matches!(self.file.expr(default), Expr::Attribute { .. })
                {
                    path.extend(self.argument_path(default, function));
                }
                path
            }
            Expr::Attribute { base, name } => {
                let mut path = self.argument_path(*base, function);
                let member = step(Entity::TypeMember(self.file.sym(*name)));
                if path.len() != 1 && path.contains(&member) {
                    return Vec::new();
                }
                if !path.is_empty() {
                    path.push(member);
                }
                path
            }
            _ => Vec::new(),
        }
    }

    /// Returns the values of a parameter without annotation from the call that the function is an argument of.
    pub(super) fn contextual_values(&self, function: DefId, position: u32) -> Values {
        if position >= u32::from(MAX_PARAMETERS) {
            return Values::new();
        }
        let Some((call, argument)) = self.file.callback(function) else {
            return self.with_depth(|| self.typed_parameter(function, position));
        };
        if argument >= MAX_CALLBACKS {
            return Values::new();
        }
        let place = (function, position);
        if let Some(known) = self.contextual.borrow().get(&place) {
            return known.as_ref().clone();
        }
        // A parameter that depends on itself adds no values.
        self.contextual.borrow_mut().insert(place, Rc::default());
        let values = self.with_depth(|| self.passed_values(function, call, (argument, position as u16)));
        self.contextual.borrow_mut().insert(place, Rc::new(values.clone()));
        values
    }

    /// Returns the values of a parameter from the type of the variable that holds the function, or of the result that
    /// it is: `const run: (item: Item) => void = (item) => ...`, `const run: Run = (item) => ...`.
    fn typed_parameter(&self, function: DefId, position: u32) -> Values {
        let Some((declared, scope)) = self.function_type(function, 0) else { return Values::new() };
        let declared = match self.file.expr(declared) {
            Expr::TypeUnion(options) => {
                let is_function = |&option: &ExprId| matches!(self.file.expr(option), Expr::Call { .. });
                options.iter().copied().find(is_function).unwrap_or(declared)
            }
            _ => declared,
        };
        let values = match self.file.expr(declared) {
            Expr::Call { args, .. } => match args.get(position as usize) {
                Some(arg) => self.eval_type(arg.value, scope, 0),
                None => Values::new(),
            },
            Expr::Generic { base, args } if position == 0 && self.takes_argument(*base) => {
                self.eval_type(args[0], scope, 0)
            }
            _ if self.file.rules.prototypes => self.placed_parameter(declared, scope, position as u16),
            Expr::Name(_) | Expr::Attribute { .. } | Expr::Generic { .. } => {
                let mut parts = Vec::new();
                self.add_callback(declared, scope, Some(0), &mut parts);
                let part = callback_part(0, position as u16);
                parts.into_iter().find(|known| known.0 == part).map(|known| known.1).unwrap_or_default()
            }
            _ => Values::new(),
        };
        self.told(values)
    }

    /// Returns whether a generic type of other packages is that of functions with its argument as the first parameter:
    /// `React.FC<Props>`.
    fn takes_argument(&self, base: ExprId) -> bool {
        match *self.file.expr(base) {
            Expr::Name(name) | Expr::Attribute { name, .. } => {
                self.file.rules.argument_types.contains(&self.file.sym(name))
            }
            _ => false,
        }
    }

    /// Returns the values of a parameter of a function that stands where a type is expected.
    fn placed_parameter(&self, declared: ExprId, scope: DefId, position: u16) -> Values {
        // A function among the options of an argument.
        if let Expr::Attribute { base, name } = *self.file.expr(declared)
            && let Expr::Generic { base, args } = self.file.expr(base)
            && let Expr::Name(own) = *self.file.expr(*base)
            && self.file.text(own) == "Parameters"
            && let Ok(argument) = self.file.text(name).parse()
        {
            let callees = self.callable_values(args[0], scope);
            let given = self.flat_map(callees, |callee| self.callback_parameter_of(callee, argument, position));
            if !given.is_empty() {
                return given.into_iter().filter(|value| value.via != Strategy::Annotation).collect();
            }
        }
        let functions = self.eval_type(declared, scope, 0);
        self.flat_map(functions, |function| self.parameter_of(function, position))
    }

    /// Returns the type that a function has from its place, and the scope of that type.
    fn function_type(&self, function: DefId, level: u32) -> Option<(ExprId, DefId)> {
        let binding = self.file.bound_function(function)?;
        if let Some(annotation) = binding.annotation {
            return Some((annotation, binding.scope));
        }
        let outer = binding.scope;
        if let Some(declared) = self.file.def(outer).declared_type {
            return Some((declared, outer));
        }
        let (declared, scope) = if level < MAX_RETURNED { self.function_type(outer, level + 1)? } else { return None };
        match *self.file.expr(declared) {
            Expr::Call { callee, .. } => Some((callee, scope)),
            _ => None,
        }
    }

    pub(super) fn passed_values(&self, function: DefId, call: ExprId, (argument, position): (u16, u16)) -> Values {
        let Expr::Call { callee, ref args, .. } = *self.file.expr(call) else { return Values::new() };
        let definition = self.file.def(function);
        let (scope, line) = (definition.parent, definition.start_line);
        let callees = match *self.file.expr(callee) {
            Expr::Attribute { base, name } => {
                let name = self.file.sym(name);
                let bases = self.receivers(base, scope, line);
                let objects = self.objects_passed(&bases, name, (argument, position));
                if !objects.is_empty() {
                    return objects;
                }
                let with_base = |base: Value| {
                    let members = self.called_attribute(base, name).into_iter();
                    members.map(move |member| (Some(base), member)).collect::<Vec<_>>()
                };
                bases.into_iter().flat_map(with_base).collect()
            }
            Expr::Name(name) => {
                let named = self.resolve_called_name(scope, self.file.sym(name), line).unwrap_or_default();
                let is_outside = named.iter().all(|value| matches!(value.entity, Entity::Builtin(_)));
                if is_outside && self.file.rules.calling_functions.contains(self.file.text(name)) {
                    // `map(function, elements)`, `sorted(elements, key=function)`
                    let source = if argument == 0 { args.get(1 + position as usize) } else { args.first() };
                    let values = source.map(|source| self.eval(source.value, scope, line)).unwrap_or_default();
                    return self.told(self.flat_map(values, |value| self.element(value, true)));
                }
                named.into_iter().map(|callee| (None, callee)).collect::<Vec<_>>()
            }
            _ => self.eval(callee, scope, line).into_iter().map(|callee| (None, callee)).collect(),
        };
        let argument = if self.file.rules.block_yields { BLOCK } else { argument };
        let mut values = Values::new();
        for (base, callee) in callees.into_iter().take(MAX_VALUES) {
            let given = self.callback_parameter_of(callee, argument, position);
            match given.first().copied() {
                Some(Value { entity: Entity::TypeArgument(_), via: Strategy::Annotation, .. }) => {
                    merge(&mut values, self.along(&given, function));
                }
                Some(Value { entity: Entity::Argument(place), .. }) => {
                    let passed = args.get(place as usize).map(|arg| self.eval(arg.value, scope, line));
                    let passed = passed.unwrap_or_default();
                    let passed = match given.len() {
                        1 => self.flat_map(passed, |value| self.held(value)),
                        2 => self.flat_map(passed, |value| self.contained(value)),
                        _ => self.after_steps(passed, &given[1..]),
                    };
                    merge(&mut values, passed);
                }
                _ => merge(&mut values, self.given_by(given, base, callee)),
            }
        }
        self.told(values)
    }

    /// Replaces type parameters of the callee's class by the type arguments of the object.
    pub(super) fn given_by(&self, given: Values, base: Option<Value>, callee: Value) -> Values {
        if !given.iter().any(|value| is_parameter(value.entity)) {
            return given;
        }
        let (Some(base), Entity::Definition(symbol)) = (base, callee.entity) else { return Values::new() };
        let (file, definition) = self.definition(symbol);
        let owner = self.owner_of(file, definition.parent);
        let objects = self.held(base);
        self.flat_map(given, |value| match is_parameter(value.entity) {
            true => self.flat_map(objects.clone(), |object| match object.entity {
                Entity::Instance(class) => self.substituted(value, class, object.args, owner),
                _ => Values::new(),
            }),
            false => smallvec![value],
        })
    }

    /// Returns the function that a call runs.
    pub(super) fn receiving(&self, symbol: SymbolId) -> Option<SymbolId> {
        let symbol = self.canonical(symbol);
        match self.kind(symbol) {
            kind if is_class(kind) => self.constructor_of(symbol),
            kind if is_callable(kind) => Some(symbol),
            _ => None,
        }
    }

    /// Follows the path from a type argument of the result, which the declared type of the constant that holds the
    /// result names.
    fn along(&self, path: &[Value], function: DefId) -> Values {
        let holder = self.file.def(self.file.def(function).parent);
        let declared = holder.declared_type.filter(|_| holder.kind == Kind::Constant);
        let Some(Expr::Generic { args, .. }) = declared.map(|declared| self.file.expr(declared)) else {
            return Values::new();
        };
        let mut values = Values::new();
        let mut is_known = false;
        for step in path {
            match step.entity {
                Entity::TypeArgument(_) if is_known => break,
                Entity::TypeArgument(position) => {
                    if let Some(&arg) = args.get(position as usize) {
                        values = self.eval_type(arg, holder.parent, 0);
                        is_known = true;
                    }
                }
                Entity::TypeMember(name) if is_known => {
                    values = self.flat_map(values, |value| self.seen_member(value, name));
                }
                _ => {}
            }
        }
        values
    }

    /// Returns the elements of containers, or the objects themselves, that a method of them passes to a function.
    pub(super) fn objects_passed(&self, bases: &Values, name: Sym, (argument, position): (u16, u16)) -> Values {
        let rules = &self.file.rules;
        let takes_element = match position {
            0 => argument == 0 && rules.element_callbacks.contains(&name),
            1 => rules.fold_callbacks.contains(&name),
            _ => false,
        };
        if takes_element {
            let elements = self.flat_map(bases.clone(), |base| self.contained(base));
            if !elements.is_empty() {
                return elements;
            }
        }
        if position != 0 || argument != 0 || !rules.receiver_callbacks.contains(&name) {
            return Values::new();
        }
        let held = self.flat_map(bases.clone(), |base| self.held(base));
        let is_own = |value: &Value| {
            let members = self.called_attribute(*value, name);
            members.iter().any(|member| matches!(member.entity, Entity::Definition(_)))
        };
        let is_object = |entity: Entity| match entity {
            Entity::Elements(_) | Entity::Mapped(_) | Entity::Folder(_) => self.file.rules.prototypes,
            // A module that `import()` loads.
            Entity::Definition(symbol) => self.kind(symbol) == Kind::Module,
            entity => matches!(entity, Entity::Instance(_)),
        };
        held.into_iter().filter(|value| is_object(value.entity) && !is_own(value)).collect()
    }

    /// Returns the values of a variable of a class or module, and any other value itself.
    pub(crate) fn held(&self, value: Value) -> Values {
        match value.entity {
            Entity::Definition(symbol)
                if matches!(self.kind(symbol), Kind::Constant | Kind::Field | Kind::Property) =>
            {
                let held = self.stored_values(symbol);
                held.into_iter().filter(|held| held.entity != value.entity).collect()
            }
            _ => smallvec![value],
        }
    }

    /// Returns the values of a name that means a parameter of the function around which declares none, such as `it`.
    pub(super) fn implicit_parameter(&self, scope: DefId, name: Sym) -> Option<Values> {
        let position = self.file.rules.implicit_parameters.iter().position(|&known| known == name)?;
        let mut here = scope;
        while self.file.outline(here).kind == Kind::Lambda {
            if self.file.callback(here).is_some() {
                let has_none = self.file.def(here).params.is_empty();
                return has_none
                    .then(|| self.contextual_values(here, position as u32))
                    .filter(|found| !found.is_empty());
            }
            here = self.file.outline(here).parent;
        }
        None
    }

    /// Returns the elements of a container.
    fn contained(&self, value: Value) -> Values {
        match value.entity {
            Entity::Mapped(_) if !self.file.rules.prototypes => Values::new(),
            Entity::Table(table) => self.selected(table, None),
            Entity::Elements(symbol) | Entity::Mapped(symbol) => {
                smallvec![Value::new(Entity::Instance(symbol), Strategy::LocalType)]
            }
            Entity::Definition(_) => {
                let held: Values = self.held(value).into_iter().filter(|held| held.entity != value.entity).collect();
                self.with_depth(|| self.flat_map(held, |value| self.contained(value)))
            }
            _ => Values::new(),
        }
    }
}
