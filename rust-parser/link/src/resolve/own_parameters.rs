//! Type parameters of functions, which the arguments of a call tell: `function first<T>(items: T[]): T`. A function
//! publishes for each of them where its arguments have it, as paths: an argument, its elements, the results of calling it,
//! a type argument of its class.

use smallvec::smallvec;

use crate::entity::{Entity, MAX_VALUES, OWN, Value, Values};
use crate::project::file_entry::{Bound, is_class};
use crate::project::file_types::own_parameter_part;
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::applied::{argument_text, is_parameter};
use crate::resolve::arguments::Arguments;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind, ParamKind};

/// Largest number of type parameters of a function.
const MAX_OWN: u16 = 8;
/// Largest number of paths to one of them.
const MAX_PATHS: u16 = 4;
const MAX_DEPTH: u32 = 4;
/// Largest number of parameters of a function that are looked at.
const MAX_PARAMS: u16 = 16;

impl Query<'_> {
    /// Evaluates a type in which the type parameters of the function around are named by their position, too.
    pub(super) fn naming_own(&self, step: impl FnOnce() -> Values) -> Values {
        let before = self.names_own.replace(true);
        let values = self.naming_parameters(step);
        self.names_own.set(before);
        values
    }

    /// Returns the position of a type parameter of a function itself, if that is asked for.
    pub(super) fn own_position(&self, function: DefId, name: Sym) -> Option<u16> {
        if !self.names_own.get() {
            return None;
        }
        let position = self.own_parameters(function).iter().position(|&own| own == name)?;
        Some(OWN + u16::try_from(position).ok()?)
    }

    fn own_parameters(&self, function: DefId) -> Vec<Sym> {
        let mut own = Vec::new();
        for entry in self.file.scope_entries(function) {
            if let Bound::Binding(binding) = entry.bound {
                let target = self.file.facts().bindings[binding as usize].target;
                if self.is_type_parameter_name(target, function) {
                    own.push((binding, entry.name));
                }
            }
        }
        own.sort_unstable();
        let mut own: Vec<Sym> = own.into_iter().map(|(_, name)| name).collect();
        if let Some(declared) = self.file.def(function).declared_type.filter(|_| self.has_type_variables()) {
            self.add_variables(declared, function, 0, &mut own);
        }
        own.truncate(MAX_OWN as usize);
        own
    }

    fn has_type_variables(&self) -> bool {
        !self.file.rules.type_variables.is_empty()
    }

    /// Adds the type variables in the result of a function: `T` of `T = TypeVar("T")`.
    fn add_variables(&self, declared: ExprId, function: DefId, depth: u32, own: &mut Vec<Sym>) {
        if depth > MAX_DEPTH {
            return;
        }
        match self.file.expr(declared) {
            Expr::Name(name) => {
                let name = self.file.sym(*name);
                if !own.contains(&name)
                    && self.file.entries(function, name).is_empty()
                    && self.is_type_variable_name(declared)
                {
                    own.push(name);
                }
            }
            Expr::Generic { args, .. } | Expr::TypeUnion(args) => {
                args.iter().for_each(|&arg| self.add_variables(arg, function, depth + 1, own));
            }
            _ => {}
        }
    }

    /// Returns whether a name in a type is that of a variable which a call of `TypeVar` or the like makes.
    fn is_type_variable_name(&self, name: ExprId) -> bool {
        let values = self.naming_nothing(|| self.in_position(true, || self.eval(name, 0, u32::MAX)));
        let [Value { entity: Entity::Definition(symbol), .. }] = values[..] else { return false };
        let (file, definition) = self.definition(symbol);
        if definition.kind != Kind::Constant {
            return false;
        }
        let signature = file.text(file.def(self.index.symbols.get(symbol).def).signature);
        let made = signature.split_once('=').and_then(|(_, value)| value.split_once('('));
        let made = made.map_or("", |(callee, _)| callee.trim().rsplit('.').next().unwrap_or_default());
        let mut known = self.file.rules.type_variables.iter();
        !made.is_empty() && known.any(|one| one.rsplit('.').next() == Some(made))
    }

    /// Returns the paths to the type parameters of a function whose result depends on them, by part.
    pub(super) fn own_paths(&self, function: DefId, returned: &Values) -> Vec<(u16, Values)> {
        let is_own = |value: &Value| match value.entity {
            Entity::TypeArgument(position) | Entity::ArgumentElements(position) | Entity::ArgumentMapped(position) => {
                position >= OWN
            }
            _ => value.args != EMPTY && self.text(value.args).contains('p'),
        };
        if !returned.iter().any(is_own) {
            return Vec::new();
        }
        let params = self.file.def(function).params.iter();
        let mut parts = Vec::new();
        for (number, name) in (0..).zip(self.own_parameters(function)) {
            let mut paths = Vec::new();
            for (position, param) in (0..MAX_PARAMS).zip(params.clone()) {
                if let Some(annotation) = param.annotation.filter(|_| param.kind != ParamKind::Receiver) {
                    let is_rest = param.kind == ParamKind::Variadic && self.file.rules.prototypes;
                    let annotation = self.item_of(annotation, is_rest);
                    let path = smallvec![step(Entity::Argument(position))];
                    self.add_paths((annotation, function), name, path, 0, &mut paths);
                }
            }
            // What a value is comes before what a function that is passed returns.
            paths.sort_by_key(|path| path.iter().any(|step| matches!(step.entity, Entity::ReturningMade(_))));
            parts.extend((0..MAX_PATHS).zip(paths).map(|(place, path)| (own_parameter_part(number, place), path)));
        }
        parts
    }

    fn add_paths(
        &self,
        (declared, scope): (ExprId, DefId),
        name: Sym,
        path: Values,
        depth: u32,
        paths: &mut Vec<Values>,
    ) {
        if depth > MAX_DEPTH {
            return;
        }
        let mut go = |declared: ExprId, steps: &[Entity]| {
            let mut path = path.clone();
            path.extend(steps.iter().copied().map(step));
            self.add_paths((declared, scope), name, path, depth + 1, paths);
        };
        match self.file.expr(declared) {
            Expr::Name(own) if self.file.sym(*own) == name => paths.push(path),
            Expr::TypeUnion(options) | Expr::OneOf(options) => {
                options.iter().take(MAX_VALUES).for_each(|&option| go(option, &[]));
            }
            // A function type, or the type of what makes objects.
            Expr::Call { callee, new: false, .. } => go(*callee, &[Entity::ReturningMade(0)]),
            Expr::Lambda(def) if self.file.outline(*def).kind == Kind::Extension => {
                if let Some(declared) = self.file.def(*def).declared_type {
                    go(declared, &[]);
                }
                for entry in self.file.scope_entries(*def) {
                    if let Bound::Binding(binding) = entry.bound
                        && let Some(declared) = self.file.facts().bindings[binding as usize].annotation
                    {
                        go(declared, &[Entity::TypeMember(entry.name)]);
                    }
                }
            }
            Expr::Generic { base, args } => {
                let (&Expr::Name(own) | &Expr::Attribute { name: own, .. }) = self.file.expr(*base) else { return };
                let (rules, own) = (&self.file.rules, self.file.sym(own));
                let (Some(&first), Some(&last)) = (args.first(), args.last()) else { return };
                if rules.callables.contains(&own) || rules.result_types.contains(&own) {
                    go(last, &[Entity::ReturningMade(0)]);
                } else if rules.wrappers.contains(&own) || rules.first_wrappers.contains(&own) {
                    go(first, &[]);
                } else if rules.last_wrappers.contains(&own) {
                    go(last, &[]);
                } else if rules.sequences.contains(&own) {
                    go(first, &[Entity::TypeMember(EMPTY)]);
                } else if rules.mappings.contains(&own) {
                    go(last, &[Entity::TypeMember(EMPTY)]);
                } else if rules.class_objects.contains(&own) {
                    go(first, &[Entity::MadeBy(0)]);
                } else if let Some(class) = self.generic_class(*base, scope) {
                    for (place, &arg) in (0..MAX_OWN).zip(args) {
                        go(arg, &[Entity::Instance(class), Entity::TypeArgument(place)]);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the class of the project that a generic type is of.
    pub(super) fn generic_class(&self, base: ExprId, scope: DefId) -> Option<SymbolId> {
        match self.naming_nothing(|| self.eval_type(base, scope, 0))[..] {
            [Value { entity: Entity::Instance(class), .. }] => Some(class),
            _ => None,
        }
    }

    /// Returns what a value with a type parameter of a function is for a call.
    pub(super) fn told_by(&self, function: SymbolId, value: Value, arguments: &Arguments) -> Values {
        let (Entity::TypeArgument(position) | Entity::ArgumentElements(position) | Entity::ArgumentMapped(position)) =
            value.entity
        else {
            return Values::new();
        };
        let given = self.own_argument(function, position - OWN, arguments);
        let contained = |given: Value| {
            let entity = match (value.entity, given.entity) {
                (Entity::TypeArgument(_), entity) => entity,
                (Entity::ArgumentElements(_), Entity::Instance(symbol)) => Entity::Elements(symbol),
                (_, Entity::Instance(symbol)) => Entity::Mapped(symbol),
                _ => return None,
            };
            Some(Value { entity, via: Strategy::ReturnType, ..given })
        };
        given.into_iter().filter_map(contained).collect()
    }

    /// Returns the type arguments of a result with those that the arguments of the call tell.
    pub(super) fn filled(&self, args: Sym, depth: u32, fill: &dyn Fn(u16) -> Values) -> Sym {
        let text = self.text(args);
        if args == EMPTY || !text.contains(['p', ':']) || depth > MAX_DEPTH {
            return args;
        }
        let part = |part: &str| -> String {
            let Some((head, inner)) = part.split_once(':') else { return part.to_owned() };
            if let Some(position) = head.strip_prefix('p').and_then(|position| position.parse().ok()) {
                return match fill(position)[..] {
                    [value] => argument_text(value).unwrap_or_else(|| "-".to_owned()),
                    _ => "-".to_owned(),
                };
            }
            let inner = inner.parse().map_or(EMPTY, |inner| self.filled(inner, depth + 1, fill));
            format!("{head}:{inner}")
        };
        let parts: Vec<String> = text.split_terminator(',').map(part).collect();
        if parts.iter().all(|part| part == "-") {
            return EMPTY;
        }
        let filled: String = parts.iter().map(|part| format!("{part},")).collect();
        if filled == text { args } else { self.index.strings.intern(&filled) }
    }

    /// Returns what the arguments of a call tell about a type parameter of the function.
    pub(super) fn own_argument(&self, function: SymbolId, number: u16, arguments: &Arguments) -> Values {
        if let Arguments::Written(_, scope, _, types) = *arguments
            && let Some(&declared) = types.get(number as usize)
        {
            return self.eval_type(declared, scope, 0);
        }
        for place in 0..MAX_PATHS {
            let path = self.returned_as(function, own_parameter_part(number, place));
            let Some((&Value { entity: Entity::Argument(position), .. }, steps)) = path.split_first() else { break };
            let found = self.with_depth(|| self.follow(function, (position, steps), arguments));
            if !found.is_empty() {
                return found;
            }
        }
        Values::new()
    }

    fn follow(&self, function: SymbolId, (position, mut steps): (u16, &[Value]), arguments: &Arguments) -> Values {
        let mut values = Values::new();
        match self.written_argument(function, position, arguments) {
            Some((Expr::Lambda(def), ..))
                if !self.file.is_node(*def)
                    && let [Value { entity: Entity::ReturningMade(_), .. }, rest @ ..] = steps =>
            {
                values = self.lambda_result(*def);
                steps = rest;
            }
            Some((Expr::Elements { items, keys, .. }, scope, line))
                if let [Value { entity: Entity::TypeMember(name), .. }, rest @ ..] = steps
                    && !keys.is_empty() =>
            {
                let Some(place) = keys.iter().position(|&key| self.file.sym(key) == *name) else { return values };
                (values, steps) = (self.member_result(items[place], (scope, line), rest), rest);
                if matches!(rest, [Value { entity: Entity::ReturningMade(_), .. }, ..]) {
                    steps = &rest[1..];
                }
            }
            _ => {}
        }
        if values.is_empty() {
            values = self.argument(function, position, arguments);
        }
        self.after_steps(values, steps)
    }

    /// Follows the rest of a path from the values of an argument.
    pub(super) fn after_steps(&self, mut values: Values, steps: &[Value]) -> Values {
        let mut steps = steps.iter();
        while let Some(step) = steps.next() {
            values = match step.entity {
                Entity::TypeMember(EMPTY) => {
                    self.flat_map(values, |value| self.element(value, !matches!(value.entity, Entity::Mapped(_))))
                }
                Entity::TypeMember(name) => self.flat_map(values, |value| self.seen_member(value, name)),
                Entity::ReturningMade(_) => self.flat_map(values, |value| self.call_result(value, None)),
                Entity::MadeBy(_) => self.flat_map(values, |value| match value.entity {
                    Entity::Definition(class) if is_class(self.kind(class)) => {
                        smallvec![Value { entity: Entity::Instance(class), ..value }]
                    }
                    _ => Values::new(),
                }),
                Entity::Instance(owner) => {
                    let Some(own) = steps.next() else { return Values::new() };
                    let held = self.flat_map(values, |value| self.held(value));
                    self.flat_map(held, |value| match value.entity {
                        Entity::Instance(class) => self.substituted(*own, class, value.args, owner),
                        _ => Values::new(),
                    })
                }
                _ => return Values::new(),
            };
        }
        let held = self.flat_map(values, |value| self.held(value));
        held.into_iter().filter(|value| !is_parameter(value.entity) && value.entity != Entity::Nothing).collect()
    }

    /// Returns what a member of an object that is written as an argument holds, or what calling it returns.
    fn member_result(&self, item: ExprId, (scope, line): (DefId, u32), rest: &[Value]) -> Values {
        let is_called = matches!(rest, [Value { entity: Entity::ReturningMade(_), .. }, ..]);
        match self.file.expr(item) {
            Expr::Lambda(def) if is_called && !self.file.is_node(*def) => self.lambda_result(*def),
            _ if is_called => self.flat_map(self.eval(item, scope, line), |value| self.call_result(value, None)),
            _ => self.eval(item, scope, line),
        }
    }

    /// Returns the results of a function without a name.
    pub(super) fn lambda_result(&self, def: DefId) -> Values {
        let results = self.lambda_results(def);
        self.flat_map(results, |value| match value.entity {
            Entity::Argument(position) => self.contextual_values(def, u32::from(position)),
            _ => smallvec![value],
        })
    }
}

fn step(entity: Entity) -> Value {
    Value::new(entity, Strategy::Annotation)
}
