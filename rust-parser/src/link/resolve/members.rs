//! Members of values: attributes of modules, classes and instances along their ancestors, and results of calls.

use smallvec::smallvec;

use crate::facts::{DefId, Kind};
use crate::link::entity::{Entity, Value, Values, merge};
use crate::link::project::file_entry::{Bound, NameEntry, is_callable, is_class};
use crate::link::project::names::{EMPTY, ExternalId, Sym, SymbolId};
use crate::link::project::query::Query;
use crate::link::resolve::scopes::best_definition;
use crate::link::rules::Family;
use crate::link::strategy::Strategy;

/// External classes that add no members of interest.
const MARKERS: [&str; 6] = [
    "typing.Generic",
    "typing.Protocol",
    "typing_extensions.Protocol",
    "typing_extensions.Generic",
    "abc.ABC",
    "object",
];

impl Query<'_> {
    /// What `value.name` may be.
    pub fn attribute(&self, value: Value, name: Sym) -> Values {
        match value.entity {
            Entity::Definition(symbol) => self.definition_attribute(value, symbol, name),
            Entity::Instance(class) => {
                if self.file.family == Family::Python && self.text(name) == "__class__" {
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
            Kind::Constant | Kind::Field | Kind::Property | Kind::TypeAlias => {
                let held = self.held(symbol);
                self.deeper(|| self.each(held, |value| self.attribute(value, name)))
            }
            _ => smallvec![Value::new(Entity::Opaque, value.via)],
        }
    }

    fn external_member(&self, external: ExternalId, name: Sym, via: Strategy) -> Value {
        let member = self.index.externals.member(&self.index.strings, external, self.text(name));
        Value::new(Entity::External(member), via)
    }

    /// What a constant, field or property holds.
    pub fn held(&self, symbol: SymbolId) -> Values {
        let (file, definition) = self.definition(symbol);
        if definition.kind == Kind::Property {
            return self.returns(symbol).into();
        }
        let scope = file.symbols[definition.parent as usize];
        self.variable(scope, definition.name).into()
    }

    /// A member of a class or its ancestors. `via` says how the class was found and becomes the rule, except that members of
    /// ancestors of `self` are `inherited`.
    pub fn class_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Values {
        if let Some(values) = self.own_member(class, name, via) {
            return values;
        }
        let via = if via == Strategy::This { Strategy::Inherited } else { via };
        self.inherited_member(class, name, via).unwrap_or_else(missing)
    }

    /// The member that a method of `class` with this name overrides: the nearest along the ancestors.
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

    /// What `value.name` may be where it is called.
    pub fn called_attribute(&self, value: Value, name: Sym) -> Values {
        let before = self.calling.replace(true);
        let values = self.attribute(value, name);
        self.calling.set(before);
        values
    }

    /// A member that the class itself (or an extension of it) has; empty values when it has one of unknown value.
    fn own_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        let scopes = std::iter::once(class).chain(self.extensions(class).iter().map(|extension| extension.symbol));
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
                    None if !file.family.has_fields_beside_methods() => return Some(values(def)),
                    None => second_choice = second_choice.or_else(|| Some(values(def))),
                }
            } else if entries.iter().any(|entry| matches!(entry.bound, Bound::Binding(_) | Bound::Import(_))) {
                return Some(self.variable(scope, name).into());
            }
        }
        second_choice
    }

    /// A member of the ancestors of a class. Outside the project: the only external ancestor is taken to have it.
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
                Entity::Builtin(builtin) => has_builtin |= self.text(builtin) != "object",
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
            [only] if !has_builtin && self.file.family.inherits_unknown_members() => {
                let via = if via == Strategy::This { Strategy::Inherited } else { via };
                Some(smallvec![self.external_member(only, name, via)])
            }
            _ => Some(smallvec![Value::new(Entity::Opaque, via)]),
        }
    }

    fn is_marker(&self, external: ExternalId) -> bool {
        let (package, name) = self.index.externals.name(external);
        let dotted = format!("{}.{}", self.text(package), self.text(name));
        MARKERS.contains(&dotted.as_str())
    }

    /// The constructor that instantiating a class runs, if the project defines it.
    pub fn constructor_of(&self, class: SymbolId) -> Option<SymbolId> {
        let (file, definition) = self.definition(class);
        let (name, is_inherited) = match file.family.constructor_name() {
            Some(name) => (self.known(name), true),
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

    /// The class of a constructor that is named like it: in the class and in derived ones the name means the class.
    pub fn constructed_by(&self, value: &Value) -> Option<SymbolId> {
        let Entity::Definition(symbol) = value.entity else { return None };
        let (file, definition) = self.definition(symbol);
        if definition.kind != Kind::Constructor || file.family.constructor_name().is_some() {
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

    /// What calling a value gives. `receiver` is what the callee was an attribute of.
    pub fn call_result(&self, callee: Value, receiver: Option<Value>) -> Values {
        match callee.entity {
            Entity::Definition(symbol) => self.definition_result(callee, symbol, receiver),
            Entity::Instance(class) => {
                let members = self.class_member(class, self.known("__call__"), callee.via);
                self.each(members, |member| match member.entity {
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

    /// One position of the tuple that calling a value gives.
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
                // An instance of `cls` stays an instance of the receiver's class.
                let via = if callee.via == Strategy::This { Strategy::This } else { Strategy::LocalType };
                smallvec![Value::new(Entity::Instance(symbol), via)]
            }
            Kind::Constructor => Values::new(),
            kind if is_callable(kind) => {
                let owner = file.symbols[definition.parent as usize];
                let own = match receiver.map(|receiver| receiver.entity) {
                    Some(Entity::Instance(class) | Entity::Definition(class) | Entity::Super(class))
                        if is_class(self.kind(class)) =>
                    {
                        class
                    }
                    _ => owner,
                };
                received(self.returns(symbol), own)
            }
            Kind::Constant | Kind::Field => {
                let held = self.held(symbol);
                let is_other = |value: &Value| value.entity != Entity::Definition(symbol);
                let held: Values = held.into_iter().filter(is_other).collect();
                self.each(held, |value| match value.entity {
                    Entity::Definition(inner) if !is_class(self.kind(inner)) => self.returns(inner).into(),
                    Entity::Definition(class) => smallvec![Value::new(Entity::Instance(class), Strategy::LocalType)],
                    _ => Values::new(),
                })
            }
            _ => Values::new(),
        }
    }
}

/// What a function returns, seen by a caller through an instance of the class `own`.
fn received(returned: &[Value], own: SymbolId) -> Values {
    let mut values = Values::new();
    for &value in returned {
        let entity = if value.entity == Entity::SelfType { Entity::Instance(own) } else { value.entity };
        merge(&mut values, smallvec![Value::new(entity, Strategy::ReturnType)]);
    }
    values
}

/// A field and a method of one class may share a name in some languages: the one that fits.
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

/// Members of a module that are defined there are found by `module-attribute`.
fn module_attribute(values: Values) -> Values {
    let change = |value: Value| match (value.via, value.entity) {
        (Strategy::Import, Entity::External(_)) => value,
        (Strategy::Import, _) => Value { via: Strategy::ModuleAttribute, ..value },
        _ => value,
    };
    values.into_iter().map(change).collect()
}
