//! Members of values: attributes of modules, classes and instances along their ancestors, and the results of calls.

use smallvec::smallvec;

use crate::facts::{DefId, Kind, flags};
use crate::link::entity::{Entity, Value, Values, merge};
use crate::link::project::arity::Arity;
use crate::link::project::file_entry::{Bound, NameEntry, is_callable, is_class};
use crate::link::project::names::{EMPTY, ExternalId, Sym, SymbolId};
use crate::link::project::query::Query;
use crate::link::resolve::scopes::best_definition;
use crate::link::strategy::Strategy;

impl Query<'_> {
    /// Returns the possible values of `value.name`.
    pub fn attribute(&self, value: Value, name: Sym) -> Values {
        match value.entity {
            Entity::Definition(symbol) => self.definition_attribute(value, symbol, name),
            Entity::Instance(class) => {
                if self.file.rules.class_attribute == Some(name) {
                    return smallvec![Value { entity: Entity::Definition(class), ..value }];
                }
                self.class_member(class, name, value.via)
            }
            Entity::Super(class) => self.inherited_member(class, name, Strategy::Super).unwrap_or_else(missing),
            Entity::Package(_) | Entity::Folder(_) => {
                let found = self.member_of_module_like(value.entity, name);
                if found.is_empty() { missing() } else { module_attribute(found) }
            }
            Entity::External(external) => smallvec![self.external_member(external, name, Strategy::Import)],
            Entity::ExternalInstance(external) => {
                let via = if value.via == Strategy::Import { Strategy::LocalType } else { value.via };
                smallvec![self.external_member(external, name, via)]
            }
            Entity::Elements(_) | Entity::Mapped(_) | Entity::Builtin(_) => {
                smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)]
            }
            Entity::Opaque | Entity::Missing => smallvec![value],
            Entity::Nothing | Entity::SelfType => Values::new(),
        }
    }

    fn definition_attribute(&self, value: Value, symbol: SymbolId, name: Sym) -> Values {
        let kind = self.kind(symbol);
        match kind {
            Kind::Module | Kind::Namespace => {
                let found = self.member_of_module_like(value.entity, name);
                if found.is_empty() { missing() } else { module_attribute(found) }
            }
            kind if is_class(kind) => {
                let via = if value.via == Strategy::This { Strategy::This } else { Strategy::ClassAttribute };
                self.class_member(symbol, name, via)
            }
            _ if self.is_object(kind)
                && let Some(found) = self.object_member(value, symbol, name) =>
            {
                found
            }
            Kind::Constant | Kind::Field | Kind::Property | Kind::TypeAlias => {
                let held = self.stored_values(symbol);
                self.with_depth(|| self.flat_map(held, |value| self.attribute(value, name)))
            }
            _ => smallvec![Value::new(Entity::Opaque, value.via)],
        }
    }

    fn external_member(&self, external: ExternalId, name: Sym, via: Strategy) -> Value {
        let member = self.index.externals.member(&self.index.strings, external, self.text(name));
        Value::new(Entity::External(member), via)
    }

    /// Returns the possible values of a constant, field or property.
    pub fn stored_values(&self, symbol: SymbolId) -> Values {
        let (file, definition) = self.definition(symbol);
        if definition.kind == Kind::Property {
            return self.returns(symbol).into();
        }
        let scope = file.symbols[definition.parent as usize];
        self.variable(scope, definition.name).into()
    }

    /// Returns a member of a class or its ancestors. The result has the rule `via`, by which the class was found,
    /// except that members of ancestors of `self` have the rule `inherited`.
    pub fn class_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Values {
        if let Some(values) = self.own_member(class, name, via) {
            return values;
        }
        let via = if via == Strategy::This { Strategy::Inherited } else { via };
        self.inherited_member(class, name, via).unwrap_or_else(missing)
    }

    /// Returns the member that a method of `class` with this name overrides: the nearest one along the ancestors.
    pub fn overridden(&self, class: SymbolId, name: Sym) -> Option<SymbolId> {
        let found = self.ancestors(class).iter().find_map(|ancestor| match ancestor {
            Entity::Definition(symbol) => self.own_member(*symbol, name, Strategy::Override),
            _ => None,
        })?;
        found.into_iter().find_map(|value| match value.entity {
            Entity::Definition(symbol) if is_callable(self.kind(symbol)) => Some(symbol),
            _ => None,
        })
    }

    /// Returns the declaration that a method implements, for languages in which only declared members are overridden:
    /// the nearest one along the ancestors with an arity that the method accepts.
    pub fn declared(&self, class: SymbolId, name: Sym, arity: Arity) -> Option<SymbolId> {
        self.ancestors(class).iter().find_map(|ancestor| {
            let Entity::Definition(symbol) = *ancestor else { return None };
            let (file, entries) = self.entries(symbol, name);
            entries.iter().find_map(|entry| match entry.bound {
                Bound::Definition(def) if file.outline(def).flags & flags::ABSTRACT != 0 => {
                    arity.takes(file.def(def).params.len()).then(|| file.symbols[def as usize])
                }
                _ => None,
            })
        })
    }

    /// Returns the possible values of `value.name` in a call.
    pub fn called_attribute(&self, value: Value, name: Sym) -> Values {
        let before = self.calling.replace(true);
        let values = self.attribute(value, name);
        self.calling.set(before);
        values
    }

    /// Returns a member of the class itself or of its extensions; empty values for a member of unknown value.
    fn own_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        let own = std::iter::once(class).filter(|&class| !self.is_scope_only(self.kind(class)));
        let scopes = own.chain(self.extensions(class).iter().map(|extension| extension.symbol));
        let mut second_choice = None;
        for scope in scopes {
            let (file, entries) = self.entries(scope, name);
            if entries.is_empty() {
                continue;
            }
            if let Some(def) = best_definition(file, entries) {
                let fits = |def: DefId| is_callable(file.outline(def).kind) == self.calling.get();
                let chosen = if fits(def) { Some(def) } else { other_definition(entries, fits) };
                let values = |def: DefId| {
                    let symbol = self.canonical(file.symbols[def as usize]);
                    smallvec![Value::new(Entity::Definition(symbol), via)]
                };
                match chosen {
                    Some(def) => return Some(values(def)),
                    None if !file.rules.fields_beside_methods => return Some(values(def)),
                    None => second_choice = second_choice.or_else(|| Some(values(def))),
                }
            } else if entries.iter().any(|entry| matches!(entry.bound, Bound::Binding(_) | Bound::Import(_))) {
                return Some(self.variable(scope, name).into());
            }
        }
        second_choice
    }

    /// Returns a member of the ancestors of a class. A member that the project lacks is attributed to the only external
    /// ancestor.
    fn inherited_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        let mut externals = Vec::new();
        let mut is_known = true;
        let mut has_builtin = false;
        for &ancestor in self.ancestors(class) {
            match ancestor {
                Entity::Definition(symbol) => {
                    if let Some(values) = self.own_member(symbol, name, via) {
                        return Some(values);
                    }
                }
                Entity::Package(package) => {
                    if let Some(entity) = self.package_member(package, name) {
                        return Some(smallvec![Value::new(entity, via)]);
                    }
                }
                Entity::External(external) if !self.is_marker(external) => externals.push(external),
                Entity::Builtin(builtin) => has_builtin |= !self.file.rules.is_marker_base(self.text(builtin)),
                Entity::Missing => is_known = false,
                _ => {}
            }
        }
        if !is_known {
            return None;
        }
        match externals[..] {
            [] if has_builtin => Some(smallvec![Value::new(Entity::Builtin(EMPTY), via)]),
            [] => None,
            [only] if !has_builtin && self.file.rules.inherits_unknown_members => {
                let via = if via == Strategy::This { Strategy::Inherited } else { via };
                Some(smallvec![self.external_member(only, name, via)])
            }
            _ => Some(smallvec![Value::new(Entity::Opaque, via)]),
        }
    }

    fn is_marker(&self, external: ExternalId) -> bool {
        let (package, name) = self.index.externals.name(external);
        let dotted = format!("{}.{}", self.text(package), self.text(name));
        self.file.rules.is_marker_base(&dotted)
    }

    /// Returns the constructor that instantiating a class runs, if the project defines it.
    pub fn constructor_of(&self, class: SymbolId) -> Option<SymbolId> {
        let (file, definition) = self.definition(class);
        let (name, is_inherited) = match file.rules.constructor {
            Some(name) => (name, true),
            None => (definition.name, false),
        };
        let values = match is_inherited {
            true => self.class_member(class, name, Strategy::Constructor),
            false => self.own_member(class, name, Strategy::Constructor).unwrap_or_default(),
        };
        values.into_iter().find_map(|value| match value.entity {
            Entity::Definition(symbol) if is_callable(self.kind(symbol)) => Some(self.canonical(symbol)),
            _ => None,
        })
    }

    /// Returns the class of a constructor with the class's name: inside the class and derived ones, the name denotes
    /// the class.
    pub fn constructed_by(&self, value: &Value) -> Option<SymbolId> {
        let Entity::Definition(symbol) = value.entity else { return None };
        let (file, definition) = self.definition(symbol);
        if definition.kind != Kind::Constructor || file.rules.constructor.is_some() {
            return None;
        }
        let parent = file.symbols[definition.parent as usize];
        match file.outline(definition.parent).kind {
            Kind::Extension => {
                let home = self.index.symbols.get(parent).file;
                self.index.ancestry.extended_by(home, parent)
            }
            _ => Some(parent),
        }
    }

    /// Returns the possible results of calling a value. `receiver` is the value of which the callee is an attribute.
    pub fn call_result(&self, callee: Value, receiver: Option<Value>) -> Values {
        match callee.entity {
            Entity::Definition(symbol) => self.definition_result(callee, symbol, receiver),
            Entity::Instance(class) => {
                let Some(name) = self.file.rules.call_method else { return Values::new() };
                let members = self.class_member(class, name, callee.via);
                self.flat_map(members, |member| match member.entity {
                    Entity::Definition(symbol) => self.definition_result(member, symbol, Some(callee)),
                    _ => Values::new(),
                })
            }
            Entity::External(external) => {
                let (_, name) = self.index.externals.name(external);
                let text = self.text(name);
                let last = text.rsplit('.').next().unwrap_or(text);
                let is_class_like = last.starts_with(char::is_uppercase);
                let entity = if is_class_like { Entity::ExternalInstance(external) } else { Entity::Opaque };
                smallvec![Value::new(entity, Strategy::LocalType)]
            }
            Entity::ExternalInstance(_) | Entity::Package(_) | Entity::Folder(_) | Entity::Opaque => {
                smallvec![Value::new(Entity::Opaque, callee.via)]
            }
            Entity::Builtin(_) => smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)],
            Entity::Missing => smallvec![callee],
            Entity::Super(_) | Entity::Elements(_) | Entity::Mapped(_) | Entity::Nothing | Entity::SelfType => {
                Values::new()
            }
        }
    }

    /// Returns the possible values of one position of the tuple that a call returns.
    pub fn call_part(&self, callee: Value, position: u16) -> Values {
        let Entity::Definition(symbol) = callee.entity else { return Values::new() };
        let (file, definition) = self.definition(symbol);
        if !is_callable(definition.kind) {
            return Values::new();
        }
        received(self.returned_part(symbol, position), file.symbols[definition.parent as usize])
    }

    fn definition_result(&self, callee: Value, symbol: SymbolId, receiver: Option<Value>) -> Values {
        let (file, definition) = self.definition(symbol);
        match definition.kind {
            kind if is_class(kind) => {
                // An instance of `cls` is an instance of the receiver's class.
                let via = if callee.via == Strategy::This { Strategy::This } else { Strategy::LocalType };
                smallvec![Value::new(Entity::Instance(symbol), via)]
            }
            Kind::Constructor => Values::new(),
            kind if is_callable(kind) => {
                let owner = file.symbols[definition.parent as usize];
                let own = match receiver.map(|receiver| receiver.entity) {
                    Some(Entity::Instance(class) | Entity::Definition(class) | Entity::Super(class))
                        if is_class(self.kind(class)) || self.is_object(self.kind(class)) =>
                    {
                        class
                    }
                    _ => owner,
                };
                received(self.returns(symbol), own)
            }
            Kind::Constant | Kind::Field => {
                let held = self.stored_values(symbol);
                let is_other = |value: &Value| value.entity != Entity::Definition(symbol);
                let held: Values = held.into_iter().filter(is_other).collect();
                self.flat_map(held, |value| match value.entity {
                    Entity::Definition(inner) if !is_class(self.kind(inner)) => self.returns(inner).into(),
                    Entity::Definition(class) => smallvec![Value::new(Entity::Instance(class), Strategy::LocalType)],
                    _ => Values::new(),
                })
            }
            _ => Values::new(),
        }
    }
}

/// Returns a function's results from the view of a caller through an instance of the class `own`.
fn received(returned: &[Value], own: SymbolId) -> Values {
    let mut values = Values::new();
    for &value in returned {
        let entity = if value.entity == Entity::SelfType { Entity::Instance(own) } else { value.entity };
        merge(&mut values, smallvec![Value::new(entity, Strategy::ReturnType)]);
    }
    values
}

/// Selects between a field and a method of the same name, which some languages allow in one class.
fn other_definition(entries: &[NameEntry], fits: impl Fn(DefId) -> bool) -> Option<DefId> {
    let mut definitions = entries.iter().filter_map(|entry| match entry.bound {
        Bound::Definition(def) => Some(def),
        _ => None,
    });
    definitions.find(|&def| fits(def))
}

fn missing() -> Values {
    smallvec![Value::new(Entity::Missing, Strategy::Local)]
}

/// Members defined in a module are found by the rule `module-attribute`.
fn module_attribute(values: Values) -> Values {
    let change = |value: Value| match (value.via, value.entity) {
        (Strategy::Import, Entity::External(_)) => value,
        (Strategy::Import, _) => Value { via: Strategy::ModuleAttribute, ..value },
        _ => value,
    };
    values.into_iter().map(change).collect()
}
