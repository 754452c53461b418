//! The stage that determines what a file hands over: arguments of its calls, functions that its decorators receive, and
//! what it stores in variables of other classes and files.

use std::rc::Rc;

use smallvec::smallvec;

use crate::entity::{Entity, MAX_VALUES, Value, Values, via};
use crate::project::file_entry::{Bound, FileEntry, NameEntry, is_callable, is_class};
use crate::project::flows::{FileFlows, MAX_PASSED, Place};
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{Arg, Binding, BindingKind, DefId, Expr, ExprId, Kind, Param, ParamKind, ReferenceKind, flags};

/// Largest number of functions that one call may run and that receive its arguments.
const MAX_CALLEES: usize = 8;

/// A function that a call runs, and how many of its parameters the call does not fill.
#[derive(Clone, Copy)]
struct Callee {
    function: SymbolId,
    receivers: usize,
}

/// Returns what a file hands over.
pub fn link_flows(query: &Query) -> FileFlows {
    let mut flows = FileFlows::default();
    let facts = query.file.facts().clone();
    for reference in facts.references.iter().filter(|reference| reference.kind == ReferenceKind::Call) {
        if let Expr::Call { callee, args, new } = query.file.expr(reference.expr) {
            if *new && query.file.rules.stores_functions() {
                query.add_fields(*callee, args, (reference.scope, reference.line), &mut flows);
                if query.file.rules.struct_literals {
                    continue;
                }
            }
            let callee = (*callee, reference.scope, reference.line);
            if query.file.rules.attributes_member.is_some() && args.iter().any(|arg| arg.keyword.is_some()) {
                query.add_attributes(callee, args, &mut flows);
            }
            query.add_arguments(callee, args, &mut flows);
        }
    }
    for (def, definition) in facts.definitions.iter().enumerate() {
        if !definition.decorators.is_empty() {
            query.add_decorated(def as DefId, &mut flows);
        }
    }
    for binding in &facts.bindings {
        query.add_stored(binding, &mut flows);
        query.add_back_reference(binding, &mut flows);
    }
    flows
}

impl Query<'_> {
    fn add_arguments(&self, (callee, scope, line): (ExprId, DefId, u32), args: &[Arg], flows: &mut FileFlows) {
        let is_plain = |arg: &Arg| matches!(self.file.expr(arg.value), Expr::Literal(_) | Expr::Unknown | Expr::Key(_));
        if args.iter().all(is_plain) {
            return;
        }
        let mut callees = self.callees(callee, scope, line);
        let mut args = args;
        if callees.is_empty()
            && !self.file.rules.partial_functions.is_empty()
            && self.applies_partially(callee, scope, line)
        {
            callees = self.callees(args[0].value, scope, line);
            args = &args[1..];
        }
        if callees.len() <= MAX_CALLEES {
            for callee in callees {
                self.fill(callee, args, (scope, line), flows);
            }
        }
    }

    /// Hands the functions that a literal of a struct has to its fields: `Worker{done: finish}`, `{ finish }`.
    fn add_fields(&self, callee: ExprId, args: &[Arg], (scope, line): (DefId, u32), flows: &mut FileFlows) {
        let is_path = |arg: &Arg| matches!(self.file.expr(arg.value), Expr::Name(_) | Expr::Attribute { .. });
        if !args.iter().any(is_path) {
            return;
        }
        let is_ordered = args.iter().all(|arg| arg.keyword.is_none());
        let classes = self.annotated(callee, scope).into_iter().filter_map(|value| match value.entity {
            Entity::Instance(class) => Some(class),
            _ => None,
        });
        for class in classes.collect::<Vec<_>>() {
            for (position, arg) in args.iter().enumerate().filter(|(_, arg)| is_path(arg)) {
                let field = match arg.keyword {
                    Some(field) => Some(self.file.sym(field)),
                    None if is_ordered => self.function_field(class, position, args.len()),
                    None => None,
                };
                let Some(values) = field.and_then(|_| self.functions(arg.value, scope, line)) else { continue };
                let place = field.map(|field| Place::Variable(class, field));
                place.into_iter().for_each(|place| flows.add(place, self.handed_over(values.clone()), MAX_VALUES));
            }
        }
    }

    /// Returns what an expression denotes if that is functions only.
    fn functions(&self, expr: ExprId, scope: DefId, line: u32) -> Option<Values> {
        let values = self.eval(expr, scope, line);
        let is_function =
            |value: &Value| matches!(value.entity, Entity::Definition(symbol) if is_callable(self.kind(symbol)));
        (!values.is_empty() && values.iter().all(is_function)).then_some(values)
    }

    /// Returns the field at a position of a struct without bases, if it holds a function.
    fn function_field(&self, class: SymbolId, position: usize, given: usize) -> Option<Sym> {
        let place = self.index.symbols.get(class);
        let (file, _) = self.definition(class);
        if !file.rules.included_globals || !file.def(place.def).bases.is_empty() {
            return None;
        }
        let fields = (0..).zip(file.facts().definitions.iter());
        let fields = fields.filter(|(_, one)| one.parent == place.def && one.kind == Kind::Field);
        let fields: Vec<DefId> = fields.map(|(def, _)| def).collect();
        let field = fields.get(position).filter(|_| given <= fields.len())?;
        let definition = file.def(*field);
        let is_function = definition.declared_type.is_some_and(|declared| self.is_function_type(file, declared));
        is_function.then(|| file.sym(definition.name))
    }

    /// Returns whether a type says no more than that its values are functions, or is an interface that functions
    /// implement.
    pub(super) fn is_function_type(&self, file: &FileEntry, declared: ExprId) -> bool {
        let name = match *file.expr(declared) {
            Expr::Call { .. } => return true,
            Expr::Name(name) | Expr::Attribute { name, .. } => name,
            Expr::Generic { base, .. } => match *file.expr(base) {
                Expr::Name(name) | Expr::Attribute { name, .. } => name,
                _ => return false,
            },
            _ => return false,
        };
        let name = file.sym(name);
        file.rules.callables.contains(&name)
            || file.rules.function_types.contains_key(&name)
            || file.rules.included_globals && self.is_function_typedef(file, name)
            || self.is_functional_name(file, name)
    }

    /// Hands the attributes of an element to the `props` of the object that its class makes.
    fn add_attributes(&self, (callee, scope, line): (ExprId, DefId, u32), args: &[Arg], flows: &mut FileFlows) {
        let Some(member) = self.file.rules.attributes_member else { return };
        for value in self.eval(callee, scope, line) {
            if let Entity::Definition(class) = value.entity
                && is_class(self.kind(class))
            {
                flows.add(Place::Variable(class, member), self.attributes(args, scope, line), MAX_VALUES);
            }
        }
    }

    /// Returns the object that the attributes of an element make, and an unknown one if some are unknown or spread.
    fn attributes(&self, args: &[Arg], scope: DefId, line: u32) -> Values {
        let mut given = self.holdable(self.keyword_table(args, scope, line));
        let is_literal = |arg: &Arg| matches!(self.file.expr(arg.value), Expr::Literal(_) | Expr::Key(_));
        let is_known = |arg: &Arg| arg.keyword.is_some() && !self.eval(arg.value, scope, line).is_empty();
        if !args.iter().all(|arg| is_literal(arg) || is_known(arg)) {
            given.push(Value::unknown());
        }
        given
    }

    /// Returns the functions of the project that a call of an expression runs.
    fn callees(&self, callee: ExprId, scope: DefId, line: u32) -> Vec<Callee> {
        let mut found = Vec::new();
        match *self.file.expr(callee) {
            Expr::Attribute { base, name } => {
                let name = self.file.sym(name);
                for base in self.receivers(base, scope, line) {
                    let is_class_name = match base.entity {
                        Entity::Definition(symbol) => is_class(self.kind(symbol)) && base.via != Strategy::This,
                        _ => false,
                    };
                    for member in self.called_attribute(base, name) {
                        self.add_callee(member, is_class_name, &mut found);
                    }
                }
            }
            Expr::Name(name) => {
                for value in self.resolve_called_name(scope, self.file.sym(name), line).unwrap_or_default() {
                    self.add_callee(value, false, &mut found);
                }
            }
            _ => self.eval(callee, scope, line).into_iter().for_each(|value| self.add_callee(value, false, &mut found)),
        }
        found
    }

    fn add_callee(&self, value: Value, by_class: bool, found: &mut Vec<Callee>) {
        let function = match value.entity {
            Entity::Definition(symbol) => match self.kind(symbol) {
                Kind::Constant | Kind::Field => {
                    let held = self.held(value).into_iter().filter(|held| held.entity != value.entity);
                    return held.for_each(|held| self.add_callee(held, false, found));
                }
                kind if is_class(kind) => self.constructor_of(symbol),
                kind if is_callable(kind) => Some(self.canonical(symbol)),
                _ => None,
            },
            Entity::Instance(class) => self.file.rules.call_method.and_then(|name| {
                let members = self.class_member(class, name, value.via).into_iter();
                members
                    .filter_map(|member| match member.entity {
                        Entity::Definition(symbol) if is_callable(self.kind(symbol)) => Some(symbol),
                        _ => None,
                    })
                    .next()
            }),
            _ => None,
        };
        let Some(function) = function else { return };
        let (file, definition) = self.definition(function);
        let params = &file.def(self.index.symbols.get(function).def).params;
        let own = params.iter().take_while(|param| param.kind == ParamKind::Receiver).count();
        // `Class.method(object, argument)`
        let is_unbound = by_class
            && definition.kind == Kind::Method
            && definition.flags & (flags::STATIC | flags::CLASS_METHOD) == 0;
        found.push(Callee { function, receivers: if is_unbound { 0 } else { own } });
    }

    /// Returns whether a callee sets some arguments of the function that is its first one.
    fn applies_partially(&self, callee: ExprId, scope: DefId, line: u32) -> bool {
        self.eval(callee, scope, line).iter().any(|value| match value.entity {
            Entity::External(external) => {
                let (package, name) = self.index.externals.name(external);
                let dotted = format!("{}.{}", self.text(package), self.text(name));
                self.file.rules.partial_functions.contains(&dotted)
            }
            _ => false,
        })
    }

    /// Hands the arguments of a call to the parameters of a function.
    fn fill(&self, callee: Callee, args: &[Arg], (scope, line): (DefId, u32), flows: &mut FileFlows) {
        let place = self.index.symbols.get(callee.function);
        let file = self.index.file(place.file);
        let params = &file.def(place.def).params;
        // The attributes of an element are one object.
        if self.file.rules.attributes_member.is_some() && args.iter().any(|arg| arg.keyword.is_some()) {
            if params.get(callee.receivers).is_some_and(|param| self.is_asking(file, place.def, param)) {
                let first = Place::Parameter(callee.function, callee.receivers as u16);
                flows.add(first, self.attributes(args, scope, line), MAX_PASSED);
            }
            return;
        }
        let mut hand = |position: usize, values: Values| {
            let values = self.handed_over(values);
            flows.add(Place::Parameter(callee.function, position as u16), values, MAX_PASSED);
        };
        let variadic = params.iter().position(|param| param.kind == ParamKind::Variadic);
        let keywords = params.iter().position(|param| param.kind == ParamKind::Keywords);
        let mut next = callee.receivers;
        for arg in args {
            let given = || self.eval(arg.value, scope, line);
            match arg.keyword.map(|word| self.file.text(word)) {
                None => {
                    let position = match params.get(next) {
                        Some(param) if param.kind == ParamKind::Normal => Some(next),
                        _ => variadic,
                    };
                    next += 1;
                    if let Some(position) = position.filter(|&at| self.is_asking(file, place.def, &params[at])) {
                        hand(position, given());
                    }
                }
                Some("*") => {
                    let spread = given();
                    for (at, param) in params.iter().enumerate().skip(next).take(MAX_VALUES) {
                        if param.kind == ParamKind::Normal && self.is_asking(file, place.def, param) {
                            hand(at, self.spread(&spread, &(at - next).to_string()));
                        }
                    }
                    next = params.len();
                }
                Some("**") => {
                    let spread = given();
                    for (at, param) in params.iter().enumerate().skip(callee.receivers) {
                        if param.kind == ParamKind::Normal && self.is_asking(file, place.def, param) {
                            hand(at, self.spread(&spread, file.text(param.name)));
                        }
                    }
                }
                Some(word) => {
                    let named = params.iter().position(|param| file.text(param.name) == word);
                    if let Some(position) =
                        named.or(keywords).filter(|&at| self.is_asking(file, place.def, &params[at]))
                    {
                        hand(position, given());
                    }
                }
            }
        }
    }

    /// Returns what a place receives: functions, classes, objects and containers, and [`Entity::Opaque`] for anything
    /// unknown. Literals and what lies outside the project are nothing.
    fn handed_over(&self, values: Values) -> Values {
        let is_outside =
            |value: &Value| matches!(value.entity, Entity::Builtin(_) | Entity::Nothing | Entity::External(_));
        if !values.is_empty() && values.iter().all(is_outside) {
            return Values::new();
        }
        let held = via(self.holdable(values), Strategy::Passed);
        if held.is_empty() { smallvec![Value::unknown()] } else { held }
    }

    /// Returns the elements of spread tables with a key.
    fn spread(&self, values: &Values, key: &str) -> Values {
        let tables = self.flat_map(values.clone(), |value| self.held(value));
        let tables: Values = tables.into_iter().filter(|value| matches!(value.entity, Entity::Table(_))).collect();
        self.flat_map(tables, |value| self.element_at(value, Some(key)))
    }

    /// Returns whether the type of a parameter is not declared, or is that of any function.
    pub(crate) fn is_asking(&self, file: &FileEntry, function: DefId, param: &Param) -> bool {
        let Some(annotation) = param.annotation else { return param.kind != ParamKind::Receiver };
        let name = match *file.expr(annotation) {
            Expr::Name(name) | Expr::Attribute { name, .. } => name,
            Expr::Generic { base, .. } => match *file.expr(base) {
                Expr::Name(name) | Expr::Attribute { name, .. } => name,
                _ => return false,
            },
            // A function type.
            Expr::Call { .. } => return true,
            _ => return false,
        };
        // A type parameter that any function of a type fits.
        let is_bound = |entry: &NameEntry| match entry.bound {
            Bound::Binding(binding) => {
                let Binding { annotation, value, .. } = file.facts().bindings[binding as usize];
                let is_function = |bound: ExprId| matches!(file.expr(bound), Expr::Call { .. });
                annotation.map_or(value.is_none() && file.rules.unbounded_calls, is_function)
            }
            _ => false,
        };
        let name = file.sym(name);
        file.entries(function, name).iter().any(is_bound)
            || file.rules.unbounded_calls && file.entries(0, name).iter().any(is_bound)
            || self.is_function_type(file, annotation)
    }

    /// Returns whether a name is only that of a type without members, such as `typedef void (*done_t)(int)`.
    fn is_function_typedef(&self, file: &FileEntry, name: Sym) -> bool {
        let named = self.named(name);
        (1..=MAX_CALLEES).contains(&named.len())
            && named.iter().all(|&symbol| {
                let (home, definition) = self.definition(symbol);
                let declared = home.def(self.index.symbols.get(symbol).def).declared_type;
                definition.kind == Kind::TypeAlias
                    && home.rules.family == file.rules.family
                    && declared.is_none_or(|declared| matches!(home.expr(declared), Expr::Literal(_)))
            })
    }

    /// Hands a decorated definition to its decorators.
    fn add_decorated(&self, def: DefId, flows: &mut FileFlows) {
        let definition = self.file.def(def);
        let own = Value::new(Entity::Definition(self.file.symbols[def as usize]), Strategy::Passed);
        let mut given: Values = smallvec![own];
        for &decorator in definition.decorators.iter().rev() {
            let decorators = self.eval(decorator, definition.parent, definition.start_line);
            let mut callees = Vec::new();
            decorators.into_iter().for_each(|value| self.add_callee(value, false, &mut callees));
            for callee in callees.into_iter().take(MAX_CALLEES) {
                let place = self.index.symbols.get(callee.function);
                let file = self.index.file(place.file);
                let params = &file.def(place.def).params;
                if let Some(param) = params.get(callee.receivers)
                    && self.is_asking(file, place.def, param)
                {
                    let place = Place::Parameter(callee.function, callee.receivers as u16);
                    flows.add(place, given.clone(), MAX_VALUES);
                }
            }
            given = self.after_decorator(def, decorator, given);
        }
    }

    /// Hands over what a binding stores in a variable of another class or file: `x.name = value`, `names["key"] = value`.
    fn add_stored(&self, binding: &Binding, flows: &mut FileFlows) {
        let Some(value) = binding.value.filter(|_| binding.kind == BindingKind::Assign) else { return };
        let (scope, line) = (binding.scope, binding.line.saturating_sub(1));
        if !self.file.rules.stored_members {
            if let Expr::Attribute { base, name } = *self.file.expr(binding.target)
                && self.file.rules.stores_functions()
                && matches!(self.file.expr(value), Expr::Name(_) | Expr::Attribute { .. })
                && let Some(values) = self.functions(value, scope, line)
            {
                let places = self.places(base, self.file.sym(name), scope, line).into_iter();
                places.for_each(|place| flows.add(place, self.handed_over(values.clone()), MAX_VALUES));
            }
            return;
        }
        match *self.file.expr(binding.target) {
            Expr::Attribute { base, name } if !matches!(self.file.expr(base), Expr::This { .. }) => {
                let places = self.places(base, self.file.sym(name), scope, line);
                if !places.is_empty() {
                    let values = self.handed_over(self.eval(value, scope, line));
                    places.into_iter().for_each(|place| flows.add(place, values.clone(), MAX_VALUES));
                }
            }
            Expr::Index { base, .. } => {
                for place in self.stored_places(base, scope, line) {
                    let (key, values, is_keyed) = self.stored_element(binding);
                    let values = self.holdable(values);
                    if !values.is_empty() {
                        flows.add(place, self.single(&key, values, is_keyed), MAX_VALUES);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the variables that an expression with elements stands for, unless this file has the variable.
    fn stored_places(&self, base: ExprId, scope: DefId, line: u32) -> Vec<Place> {
        match *self.file.expr(base) {
            Expr::Name(name) => {
                let values = self.resolve_name(scope, self.file.sym(name), line).unwrap_or_default();
                let foreign = values.into_iter().filter_map(|value| match value.entity {
                    Entity::Definition(symbol) if self.index.symbols.get(symbol).file != self.home => {
                        let (file, definition) = self.definition(symbol);
                        let owner = file.symbols[definition.parent as usize];
                        matches!(definition.kind, Kind::Constant | Kind::Field)
                            .then_some(Place::Variable(owner, definition.name))
                    }
                    _ => None,
                });
                foreign.collect()
            }
            Expr::Attribute { base, name } if !matches!(self.file.expr(base), Expr::This { .. }) => {
                self.places(base, self.file.sym(name), scope, line)
            }
            _ => Vec::new(),
        }
    }

    /// Returns the variables that `base.name` stands for: of the class that has it, else of the object's own class.
    fn places(&self, base: ExprId, name: Sym, scope: DefId, line: u32) -> Vec<Place> {
        let objects = self.flat_map(self.receivers(base, scope, line), |value| self.held(value));
        let owners = objects.into_iter().take(MAX_PASSED).filter_map(|value| {
            let symbol = match value.entity {
                Entity::Instance(class) => class,
                Entity::Definition(symbol) if is_class(self.kind(symbol)) || self.kind(symbol) == Kind::Module => {
                    symbol
                }
                _ => return None,
            };
            let line_of_descent = self.ancestors(symbol).iter().filter_map(|ancestor| match *ancestor {
                Entity::Definition(base) => Some(base),
                _ => None,
            });
            let owner = std::iter::once(symbol).chain(line_of_descent).find(|&owner| {
                let (_, entries) = self.entries(owner, name);
                !entries.is_empty()
            });
            Some(owner.unwrap_or(symbol))
        });
        owners.map(|owner| Place::Variable(owner, name)).collect()
    }

    /// Returns the values of a parameter that calls pass.
    pub(super) fn passed(&self, function: DefId, position: u32) -> Values {
        if let Some(known) = self.passed.borrow().get(&(function, position)) {
            return known.as_ref().clone();
        }
        let symbol = self.file.symbols[function as usize];
        let param = &self.file.def(function).params[position as usize];
        let most = if param.kind == ParamKind::Normal { MAX_PASSED } else { MAX_VALUES };
        let mut values = self.handed(Place::Parameter(symbol, position as u16), most);
        if !values.is_empty() && param.kind != ParamKind::Normal {
            values = self.container_with(values);
        }
        self.passed.borrow_mut().insert((function, position), Rc::new(values.clone()));
        values
    }

    /// Returns the values that other places store in a variable of a class or module.
    pub(super) fn stored(&self, scope: SymbolId, name: Sym) -> Values {
        let rules = &self.file.rules;
        if name == EMPTY || !rules.stored_members && !rules.stores_functions() {
            return Values::new();
        }
        let most = if rules.stored_members { MAX_VALUES } else { MAX_PASSED };
        self.handed(Place::Variable(scope, name), most)
    }
}
