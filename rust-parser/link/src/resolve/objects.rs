//! Objects of languages with prototypes: functions and constants as owners of members, `prototype`, `call` and `new`.

use smallvec::{SmallVec, smallvec};

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{Bound, FileEntry, NameEntry, is_callable, is_class};
use crate::project::names::{Sym, SymbolId};
use crate::project::query::{Query, Stage};
use crate::resolve::definitions::chosen_definitions;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind, LiteralType, flags};

/// Largest number of variables between a name and the object that it denotes.
const MAX_ALIASES: usize = 4;

impl Query<'_> {
    /// Returns the class, function, constant or module that an expression denotes as an object, or whose prototype it
    /// denotes; [`Entity::Missing`] for other values, such as results of calls.
    pub fn object(&self, expr: ExprId, scope: DefId, line: u32) -> Value {
        let mut denoted = expr;
        if let Expr::Call { callee, args, .. } = self.file.expr(expr)
            && let Expr::Attribute { name, .. } = *self.file.expr(*callee)
            && self.file.text(name) == "create"
            && let Some(first) = args.first()
        {
            denoted = first.value;
        }
        let is_this = matches!(self.file.expr(denoted), Expr::This { .. });
        if let Expr::Attribute { base, name } = *self.file.expr(denoted)
            && self.file.text(name) == "prototype"
        {
            denoted = base;
        }
        let mut values = self.eval(denoted, scope, line);
        let is_found = values.iter().all(|value| !matches!(value.via, Strategy::ReturnType | Strategy::Alias));
        for _ in 0..MAX_ALIASES {
            let [Value { entity: Entity::Definition(symbol), .. }] = values[..] else { break };
            if self.kind(symbol) != Kind::Constant {
                break;
            }
            let aliased = self.aliased(symbol);
            if aliased.is_empty() {
                break;
            }
            values = aliased;
        }
        let missing = Value::new(Entity::Missing, Strategy::Import);
        let [value] = values[..] else { return missing };
        match value.entity {
            Entity::Instance(symbol) if is_this => Value { entity: Entity::Definition(symbol), ..value },
            Entity::Definition(symbol) if is_found => {
                let kind = self.kind(symbol);
                if is_class(kind) || is_callable(kind) || matches!(kind, Kind::Constant | Kind::Module) {
                    value
                } else {
                    missing
                }
            }
            Entity::External(_) if is_found => value,
            _ => missing,
        }
    }

    /// Returns the class, function or constant whose object `this` is, in languages with prototypes: that of the
    /// innermost function with a `this` of its own.
    pub fn receiver_object(&self, scope: DefId) -> Option<SymbolId> {
        let mut here = scope;
        let mut is_found = false;
        while here != 0 {
            let definition = self.file.outline(here);
            match definition.kind {
                kind if is_class(kind) => return Some(self.file.symbols[here as usize]),
                Kind::Extension if is_found || here == scope => return self.extended(here),
                Kind::Constant if is_found => return Some(self.file.symbols[here as usize]),
                Kind::Function if definition.flags & flags::ARROW == 0 => {
                    is_found = self.file.outline(definition.parent).kind == Kind::Extension;
                    let symbol = self.file.symbols[here as usize];
                    if self.file.outline(definition.parent).kind == Kind::Constant {
                        return Some(self.file.symbols[definition.parent as usize]);
                    }
                    if self.stage != Stage::Bases && !self.extensions(symbol).is_empty() {
                        return Some(symbol);
                    }
                }
                Kind::Method | Kind::Property | Kind::Constructor => {
                    is_found = definition.flags & flags::ARROW == 0;
                }
                // `o[name] = function () {}`
                Kind::Lambda if definition.flags & flags::ARROW == 0 => {
                    is_found = self.file.outline(definition.parent).kind == Kind::Extension;
                }
                _ => {}
            }
            here = definition.parent;
        }
        None
    }

    /// Returns whether a definition of this kind may be an object with members, in languages with prototypes.
    pub fn is_object(&self, kind: Kind) -> bool {
        self.file.rules.prototypes && matches!(kind, Kind::Function | Kind::Method | Kind::Constant | Kind::Module)
    }

    /// Returns a member of a function or constant: its prototype, a function or value that is assigned to it, or a
    /// member of the object that it extends. `None` for functions and constants without members.
    pub fn object_member(&self, value: Value, symbol: SymbolId, name: Sym) -> Option<Values> {
        let kind = self.kind(symbol);
        if self.text(name) == "prototype" {
            return Some(smallvec![Value { entity: Entity::Instance(symbol), ..value }]);
        }
        if self.stage == Stage::Bases {
            return None;
        }
        if kind == Kind::Module {
            return None;
        }
        let has_members = kind == Kind::Constant || !self.extensions(symbol).is_empty();
        let via = if value.via == Strategy::This { Strategy::This } else { Strategy::ClassAttribute };
        let found = has_members.then(|| self.class_member(symbol, name, via))?;
        let is_known = found.iter().any(|value| value.entity != Entity::Missing);
        (is_known || is_callable(kind)).then_some(found)
    }

    /// Returns the result of `f.bind(...)`, which is the function, and of `f.call(...)`.
    pub fn function_call(&self, receiver: Value, name: Sym) -> Option<Values> {
        match self.text(name) {
            "bind" if self.is_called(receiver) => Some(smallvec![receiver]),
            "call" | "apply" if self.is_called(receiver) => Some(self.call_result(receiver, None)),
            _ if self.file.rules.function_types.is_empty() => None,
            _ => {
                let held: Values =
                    self.held(receiver).into_iter().filter(|&held| self.is_functional(held, name)).collect();
                (!held.is_empty()).then(|| self.flat_map(held, |function| self.call_result(function, None)))
            }
        }
    }

    /// Returns whether a member of a value is the method by which functions of a type are called: `f.apply(x)`.
    pub fn is_functional(&self, value: Value, name: Sym) -> bool {
        let types = &self.file.rules.function_types;
        let is_function = matches!(value.entity, Entity::Definition(symbol) if is_callable(self.kind(symbol)));
        !types.is_empty() && is_function && types.values().any(|&method| method == name)
    }

    /// Returns whether a value is a function, also one that is known by its type only.
    pub fn is_called(&self, value: Value) -> bool {
        match value.entity {
            Entity::Instance(class) => self.file.rules.prototypes && self.called_type(class).is_some(),
            _ => self.is_function(value),
        }
    }

    /// Returns whether a value is a function in a language with prototypes.
    pub fn is_function(&self, value: Value) -> bool {
        let Entity::Definition(symbol) = value.entity else { return false };
        self.file.rules.prototypes && matches!(self.kind(symbol), Kind::Function | Kind::Method)
    }

    /// Returns what `new F()` makes if `F` is a function with members.
    pub fn made_object(&self, callee: ExprId, scope: DefId, line: u32) -> Option<Values> {
        if !self.file.rules.prototypes {
            return None;
        }
        let made = self.eval(callee, scope, line).into_iter().filter_map(|value| match value.entity {
            Entity::Definition(symbol) if self.is_function(value) && !self.extensions(symbol).is_empty() => {
                Some(Value::new(Entity::Instance(symbol), Strategy::LocalType))
            }
            _ => None,
        });
        let made: Values = made.collect();
        (!made.is_empty()).then_some(made)
    }

    /// Returns what `new Map<string, User>()` makes: a container of instances.
    pub fn made_container(&self, callee: ExprId, scope: DefId) -> Option<Values> {
        if !matches!(self.file.expr(callee), Expr::Generic { .. }) {
            return None;
        }
        let made = self.eval_type(callee, scope, 0);
        let is_container = made.iter().any(|value| matches!(value.entity, Entity::Elements(_) | Entity::Mapped(_)));
        is_container.then_some(made)
    }

    /// Returns the object that a function makes with an object literal, if functions are members of it.
    pub fn returned_object(&self, value: ExprId, function: DefId) -> Option<Values> {
        let is_object = matches!(
            self.file.expr(value),
            Expr::Literal(LiteralType::Dict) | Expr::Elements { kind: LiteralType::Dict, .. }
        );
        let symbol = self.file.symbols[function as usize];
        let is_owner = self.file.rules.prototypes && is_object && !self.extensions(symbol).is_empty();
        is_owner.then(|| smallvec![Value::new(Entity::Instance(symbol), Strategy::LocalType)])
    }

    /// Returns what `exports` and `module.exports` denote: the value of the module, else the module itself.
    pub fn module_object(&self, expr: ExprId, scope: DefId) -> Option<Values> {
        if !self.file.rules.prototypes {
            return None;
        }
        let named = |expr: ExprId| match *self.file.expr(expr) {
            Expr::Name(name) => self.file.text(name),
            _ => "",
        };
        let name = match *self.file.expr(expr) {
            Expr::Attribute { base, name } if self.file.text(name) == "exports" && named(base) == "module" => "module",
            Expr::Name(_) if named(expr) == "exports" => "exports",
            _ => return None,
        };
        let name = self.known(name);
        let mut here = scope;
        while here != 0 {
            if !self.file.entries(here, name).is_empty() {
                return None;
            }
            here = self.file.outline(here).parent;
        }
        let module = Value::new(Entity::Definition(self.module_symbol(self.home)), Strategy::Import);
        let returned = self.returned_by(module.entity);
        Some(if returned.is_empty() { smallvec![module] } else { returned })
    }

    /// Returns whether an import of a module binds a definition that the module exports as its value.
    pub fn has_value(&self, module: SymbolId) -> bool {
        self.file.rules.prototypes && !self.returned_by(Entity::Definition(module)).is_empty()
    }

    /// Returns whether the names in a definition of this kind are not members of the object that it denotes.
    pub fn is_scope_only(&self, kind: Kind) -> bool {
        is_callable(kind) || kind == Kind::Module
    }

    /// Returns whether a type alias is written as an object type, with members of its own, or as a function type.
    pub fn is_shaped_alias(&self, alias: SymbolId) -> bool {
        let place = self.index.symbols.get(alias);
        let (file, definition) = self.definition(alias);
        file.rules.prototypes && definition.kind == Kind::TypeAlias && file.is_shaped(place.def)
    }

    /// Resolves names where a type stands, or where a value does.
    pub fn in_position<T>(&self, is_type: bool, step: impl FnOnce() -> T) -> T {
        let before = self.in_type.replace(is_type);
        let result = step();
        self.in_type.set(before);
        result
    }

    /// Returns the definitions that a name may have: of a type and a value with that name, those that the position asks
    /// for.
    pub fn chosen_by_use(&self, file: &FileEntry, entries: &[NameEntry]) -> SmallVec<[DefId; 2]> {
        let is_type = |entry: &NameEntry| match entry.bound {
            Bound::Definition(def) => matches!(file.outline(def).kind, Kind::Interface | Kind::TypeAlias),
            _ => false,
        };
        if !file.rules.prototypes || entries.len() < 2 || !entries.iter().any(is_type) {
            return chosen_definitions(file, entries);
        }
        let wanted: Vec<NameEntry> =
            entries.iter().filter(|entry| is_type(entry) == self.in_type.get()).copied().collect();
        let chosen = chosen_definitions(file, &wanted);
        if chosen.is_empty() { chosen_definitions(file, entries) } else { chosen }
    }

    /// Returns a member of the value that a CommonJS module exports.
    pub fn exported_member(&self, module: SymbolId, name: Sym) -> Values {
        if !self.file.rules.prototypes {
            return Values::new();
        }
        let mut found = Values::new();
        let mut values = self.returned_by(Entity::Definition(module));
        if values.is_empty() {
            values.push(Value::new(Entity::Definition(module), Strategy::Import));
        }
        for value in values {
            let Entity::Definition(symbol) = value.entity else { continue };
            let kind = self.kind(symbol);
            if is_class(kind) || self.is_object(kind) {
                let members = self.class_member(symbol, name, Strategy::Import).into_iter();
                found.extend(members.filter(|value| !matches!(value.entity, Entity::Missing | Entity::Opaque)));
            }
        }
        found
    }
}
