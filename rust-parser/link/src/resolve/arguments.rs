//! Results of calls that depend on the arguments: `def same(x): return x`, `def make(cls: type[T]) -> T`, and what
//! decorators make of a function.

use std::rc::Rc;

use smallvec::smallvec;

use crate::entity::{Entity, MAX_VALUES, OWN, Value, Values, merge};
use crate::project::file_entry::{Bound, FileEntry, is_class};
use crate::project::file_types::DECORATED;
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::applied::is_parameter;
use crate::resolve::fixtures::ASSUMED;
use crate::strategy::Strategy;
use atlas_facts::{Arg, DefId, Expr, ExprId, Kind, ParamKind};

/// Largest number of decorators that are applied to a function.
const MAX_DECORATORS: usize = 12;

/// The arguments of a call.
pub enum Arguments<'c> {
    Unknown,
    /// In this file: arguments, scope and line of the call, and type arguments.
    Written(&'c [Arg], DefId, u32, &'c [ExprId]),
    /// One positional argument: the function that a decorator receives.
    Given(&'c Values),
}

impl Query<'_> {
    /// Returns the results of a function from the view of a call through an instance of the class `own`.
    pub(super) fn received(
        &self,
        function: SymbolId,
        returned: &[Value],
        (own, args): (SymbolId, Sym),
        arguments: &Arguments,
    ) -> Values {
        let mut values = Values::new();
        let mut made = Values::new();
        let given = args;
        if let [Value { entity: Entity::Argument(position), .. }, _, ..] = returned {
            let given = self.argument(function, *position, arguments);
            if given.iter().any(|value| matches!(value.entity, Entity::Instance(_) | Entity::Elements(_))) {
                return given;
            }
        }
        for &value in returned {
            let entity = match value.entity {
                Entity::TypeArgument(own) | Entity::ArgumentElements(own) | Entity::ArgumentMapped(own)
                    if own >= OWN =>
                {
                    merge(&mut made, self.told_by(function, value, arguments));
                    continue;
                }
                entity if is_parameter(entity) => {
                    let (file, definition) = self.definition(function);
                    let owner = self.owner_of(file, definition.parent);
                    merge(&mut made, self.substituted(value, own, args, owner));
                    continue;
                }
                Entity::SelfType => Entity::Instance(own),
                Entity::Argument(position) => {
                    merge(&mut values, self.argument(function, position, arguments));
                    continue;
                }
                Entity::MadeBy(position) | Entity::ReturningMade(position) => {
                    let is_made = matches!(value.entity, Entity::MadeBy(_));
                    for class in self.argument(function, position, arguments) {
                        if let Entity::Definition(class) = class.entity
                            && is_class(self.kind(class))
                        {
                            let entity = if is_made { Entity::Instance(class) } else { Entity::Returning(class) };
                            merge(&mut made, smallvec![Value::new(entity, Strategy::ReturnType)]);
                        }
                    }
                    continue;
                }
                other => other,
            };
            let is_assumed = args != EMPTY && value.args == EMPTY && self.text(args) == ASSUMED;
            let args = if value.entity == Entity::SelfType || is_assumed { args } else { value.args };
            let args = match self.text(args).contains('p') {
                true => self.filled(args, 0, &|position| self.type_seen(function, position, (own, given), arguments)),
                false => args,
            };
            let args = match entity {
                Entity::Instance(class) if args == EMPTY => self.making_arguments(function, class, arguments),
                _ => args,
            };
            merge(&mut values, smallvec![Value { entity, via: Strategy::ReturnType, args }]);
        }
        // The class that the caller names replaces the default one of the same union.
        if !made.is_empty() {
            values.retain(|value| !matches!(value.entity, Entity::Instance(_) | Entity::Returning(_)));
            merge(&mut values, made);
        }
        values
    }

    /// Returns what a type parameter is in a call: of the function, or of its class.
    fn type_seen(
        &self,
        function: SymbolId,
        position: u16,
        (own, args): (SymbolId, Sym),
        arguments: &Arguments,
    ) -> Values {
        if position >= OWN {
            return self.own_argument(function, position - OWN, arguments);
        }
        let (file, definition) = self.definition(function);
        let owner = self.owner_of(file, definition.parent);
        self.substituted(Value::new(Entity::TypeArgument(position), Strategy::ReturnType), own, args, owner)
    }

    /// Returns the class around a member, also if an extension adds it.
    pub(super) fn owner_of(&self, file: &FileEntry, parent: DefId) -> SymbolId {
        let symbol = file.symbols[parent as usize];
        match file.outline(parent).kind {
            Kind::Extension => {
                let home = self.index.symbols.get(symbol).file;
                self.index.ancestry.extended_by(home, symbol).unwrap_or(symbol)
            }
            _ => self.first_part(symbol),
        }
    }

    /// Returns the values of the argument for a parameter.
    pub(super) fn argument(&self, function: SymbolId, position: u16, arguments: &Arguments) -> Values {
        let (file, _) = self.definition(function);
        let params = &file.def(self.index.symbols.get(function).def).params;
        let Some(param) = params.get(position as usize) else { return Values::new() };
        let receivers = params.iter().take_while(|param| param.kind == ParamKind::Receiver).count();
        let place = (position as usize).saturating_sub(receivers);
        match *arguments {
            Arguments::Unknown => Values::new(),
            Arguments::Given(values) => {
                if place == 0 {
                    values.clone()
                } else {
                    Values::new()
                }
            }
            Arguments::Written(args, scope, line, _) => {
                let arg = self.argument_for(args, file.text(param.name), place);
                arg.map(|arg| self.eval(arg.value, scope, line)).unwrap_or_default()
            }
        }
    }

    fn argument_for<'c>(&self, args: &'c [Arg], name: &str, place: usize) -> Option<&'c Arg> {
        let named = args.iter().find(|arg| arg.keyword.is_some_and(|word| self.file.text(word) == name));
        named.or_else(|| args.get(place).filter(|arg| arg.keyword.is_none()))
    }

    /// Returns the expression, scope and line of the argument for a parameter.
    pub(super) fn written_argument(
        &self,
        function: SymbolId,
        position: u16,
        arguments: &Arguments,
    ) -> Option<(&Expr, DefId, u32)> {
        let Arguments::Written(args, scope, line, _) = *arguments else { return None };
        let (file, _) = self.definition(function);
        let params = &file.def(self.index.symbols.get(function).def).params;
        let receivers = params.iter().take_while(|param| param.kind == ParamKind::Receiver).count();
        let place = (position as usize).saturating_sub(receivers);
        let arg = self.argument_for(args, file.text(params.get(position as usize)?.name), place)?;
        Some((self.file.expr(arg.value), scope, line))
    }

    /// Returns what a declared result says about the arguments: `T` of `x: T`, and `T` of `cls: type[T]`.
    pub(super) fn generic_results(&self, function: DefId, declared: ExprId) -> Values {
        let mut values = Values::new();
        self.add_generic(function, declared, false, 0, &mut values);
        values
    }

    fn add_generic(&self, function: DefId, declared: ExprId, is_returned: bool, depth: u32, values: &mut Values) {
        if depth > 4 {
            return;
        }
        match self.file.expr(declared) {
            Expr::Name(_) => {
                let params = &self.file.def(function).params;
                for (position, param) in params.iter().enumerate() {
                    let Some(annotation) = param.annotation.filter(|_| param.kind == ParamKind::Normal) else {
                        continue;
                    };
                    let position = position as u16;
                    if annotation == declared
                        && !is_returned
                        && (self.is_type_parameter_name(declared, function)
                            || self.eval_type(declared, function, 0).is_empty())
                    {
                        values.push(Value::new(Entity::Argument(position), Strategy::ReturnType));
                    } else if self.is_class_of(annotation, declared) {
                        let entity =
                            if is_returned { Entity::ReturningMade(position) } else { Entity::MadeBy(position) };
                        values.push(Value::new(entity, Strategy::ReturnType));
                    }
                }
            }
            Expr::TypeUnion(options) | Expr::OneOf(options) => {
                for &option in options.iter().take(MAX_VALUES * 2) {
                    self.add_generic(function, option, is_returned, depth + 1, values);
                }
            }
            Expr::Generic { base, args } => {
                if let Some(&result) = args.last().filter(|_| !is_returned && self.is_callable_type(*base)) {
                    self.add_generic(function, result, true, depth + 1, values);
                }
            }
            _ => {}
        }
    }

    /// Returns whether an annotation is `type[T]`, possibly as part of a union.
    fn is_class_of(&self, annotation: ExprId, parameter: ExprId) -> bool {
        match self.file.expr(annotation) {
            Expr::Generic { base, args } => {
                self.last_name(*base).is_some_and(|name| self.file.rules.class_objects.contains(&name))
                    && args.first() == Some(&parameter)
            }
            Expr::TypeUnion(options) => options.iter().any(|&option| self.is_class_of(option, parameter)),
            _ => false,
        }
    }

    /// Returns whether a generic type is one of functions, whose last argument is their result.
    pub(super) fn is_callable_type(&self, base: ExprId) -> bool {
        self.last_name(base).is_some_and(|name| self.file.rules.callables.contains(&name))
    }

    fn last_name(&self, expr: ExprId) -> Option<Sym> {
        match *self.file.expr(expr) {
            Expr::Name(name) | Expr::Attribute { name, .. } => Some(self.file.sym(name)),
            _ => None,
        }
    }

    /// Returns the parameter that a function returns, if it returns it unchanged.
    pub(super) fn returned_parameter(&self, function: DefId, value: ExprId) -> Option<Value> {
        let Expr::Name(name) = *self.file.expr(value) else { return None };
        match self.file.entries(function, self.file.sym(name)) {
            [entry] => match entry.bound {
                Bound::Parameter(position) => {
                    let kind = self.file.def(function).params[position as usize].kind;
                    (kind == ParamKind::Normal && self.fixture_values(function, entry.name).is_empty())
                        .then(|| Value::new(Entity::Argument(position as u16), Strategy::ReturnType))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns what its decorators make of a function; empty if they return it, or if that is unknown.
    pub fn decorated(&self, function: SymbolId) -> Values {
        let place = self.index.symbols.get(function);
        if place.file != self.home {
            return self.returned_as(function, DECORATED).into();
        }
        if self.file.def(place.def).decorators.is_empty() {
            return Values::new();
        }
        if let Some(known) = self.decorations.borrow().get(&place.def) {
            return known.as_ref().clone();
        }
        // A decorator that depends on the function itself adds nothing.
        self.decorations.borrow_mut().insert(place.def, Rc::default());
        let values = self.with_depth(|| self.apply_decorators(place.def));
        self.decorations.borrow_mut().insert(place.def, Rc::new(values.clone()));
        values
    }

    fn apply_decorators(&self, function: DefId) -> Values {
        let definition = self.file.def(function);
        let own = Value::new(Entity::Definition(self.file.symbols[function as usize]), Strategy::Local);
        if !matches!(definition.kind, Kind::Function | Kind::Method) {
            return Values::new();
        }
        let mut values: Values = smallvec![own];
        for &decorator in definition.decorators.iter().rev().take(MAX_DECORATORS) {
            values = self.after_decorator(function, decorator, values);
        }
        values.retain(|value| value.entity != own.entity);
        values
    }

    /// Returns what a decorator of a definition makes of values: the values themselves if that is unknown.
    pub(super) fn after_decorator(&self, def: DefId, decorator: ExprId, values: Values) -> Values {
        let definition = self.file.def(def);
        let decorators = self.eval(decorator, definition.parent, definition.start_line);
        let results = self.flat_map(decorators.clone(), |decorator| match decorator.entity {
            Entity::External(_) | Entity::ExternalInstance(_) | Entity::Opaque | Entity::Builtin(_) => Values::new(),
            _ => self.call_with(decorator, None, &Arguments::Given(&values)),
        });
        // A decorator that also takes options may return the function, or another decorator.
        let is_known_before = |result: &Value| {
            values
                .iter()
                .chain(decorators.iter().filter(|value| matches!(value.entity, Entity::Definition(_))))
                .any(|other| other.entity == result.entity)
        };
        if results.iter().any(is_known_before) {
            return values;
        }
        let is_known = |value: &Value| matches!(value.entity, Entity::Instance(_) | Entity::Definition(_));
        let mut known: Values = results.into_iter().filter(is_known).collect();
        let inner: Vec<Entity> = known.iter().filter_map(|value| self.enclosing_function(value.entity)).collect();
        known.retain(|value| !inner.contains(&value.entity));
        if known.is_empty() { values } else { known }
    }

    /// Returns the function directly around a function.
    fn enclosing_function(&self, function: Entity) -> Option<Entity> {
        let Entity::Definition(symbol) = function else { return None };
        let (file, definition) = self.definition(symbol);
        Some(Entity::Definition(file.symbols[definition.parent as usize]))
    }

    /// Returns the results of calling a function, given what its decorators made of it.
    pub(super) fn decorated_result(&self, file: &FileEntry, function: SymbolId, arguments: &Arguments) -> Values {
        if file.outline(self.index.symbols.get(function).def).kind != Kind::Function {
            return Values::new();
        }
        let made = self.decorated(function).into_iter().filter(|value| matches!(value.entity, Entity::Instance(_)));
        let mut results = Values::new();
        for value in made {
            merge(&mut results, self.call_with(value, None, arguments));
        }
        results
    }
}
