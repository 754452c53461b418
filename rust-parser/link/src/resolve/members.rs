//! Members of values: attributes of modules, classes and instances along their ancestors, and the results of calls.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::arity::Arity;
use crate::project::file_entry::{Bound, NameEntry, is_callable, is_class};
use crate::project::names::{EMPTY, ExternalId, Sym, SymbolId};
use crate::project::query::{Query, Stage};
use crate::resolve::definitions::chosen_definitions;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Kind, flags};

/// Largest number of members that `super()` may mean in a class that is mixed into others.
const MAX_MIXED_MEMBERS: usize = 4;

impl Query<'_> {
    /// Returns the possible values of `value.name`.
    pub fn attribute(&self, value: Value, name: Sym) -> Values {
        let found = self.own_attribute(value, name);
        let is_lacking = |found: &Value| match found.entity {
            Entity::Missing => true,
            Entity::Builtin(EMPTY) => !matches!(value.entity, Entity::Instance(_) | Entity::Definition(_)),
            _ => false,
        };
        match self.file.rules.implicit_classes && found.iter().all(is_lacking) {
            true => self.implicit_member(value, name).unwrap_or(found),
            false => found,
        }
    }

    fn own_attribute(&self, value: Value, name: Sym) -> Values {
        match value.entity {
            Entity::Definition(symbol) => self.definition_attribute(value, symbol, name),
            Entity::Instance(class) => {
                if self.file.rules.class_attribute == Some(name) {
                    return smallvec![Value { entity: Entity::Definition(class), ..value }];
                }
                let found = self.class_member(class, name, value.via);
                let found = if self.file.rules.prototypes { self.of_object(class, found, name) } else { found };
                let further = match self.calling.get() {
                    false => self.form_attribute(value, name, &found),
                    true => None,
                };
                let found = further.or_else(|| self.forwarded(value, name, &found)).unwrap_or(found);
                if self.file.rules.methods_as_fields && !self.calling.get() { self.read(found) } else { found }
            }
            Entity::Super(class) => self.member_of_super(class, name).unwrap_or_else(missing),
            Entity::SuperAfter { class, after } => self.member_after(class, after, name).unwrap_or_else(missing),
            Entity::Package(_) | Entity::Folder(_) => {
                let found = self.member_of_module_like(value.entity, name);
                if found.is_empty() { missing() } else { module_attribute(found) }
            }
            Entity::External(external) => smallvec![self.external_member(external, name, Strategy::Import)],
            Entity::ExternalInstance(external) => {
                let via = if value.via == Strategy::Import { Strategy::LocalType } else { value.via };
                smallvec![self.external_member(external, name, via)]
            }
            Entity::Mapped(_) | Entity::Table(_)
                if let Some(place) = self.file.rules.pair_members.iter().position(|&member| member == name) =>
            {
                if place == 0 { Values::new() } else { self.element(value, false) }
            }
            Entity::Mapped(symbol)
                if self.is_function_record(symbol, name)
                    || self.file.rules.prototypes && !self.calling.get() && self.text(name) != "size" =>
            {
                smallvec![Value { entity: Entity::Instance(symbol), ..value }]
            }
            Entity::Elements(symbol) | Entity::Mapped(symbol) if !self.calling.get() => {
                // `xs.first`, `d.values` without parentheses.
                let entity = match () {
                    () if self.file.rules.element_getters.contains(&name) => Entity::Instance(symbol),
                    () if self.file.rules.element_views.contains(&name) => Entity::Elements(symbol),
                    () => Entity::Builtin(EMPTY),
                };
                smallvec![Value { entity, ..value }]
            }
            Entity::Table(table) if self.file.rules.prototypes => self.property(table, name),
            Entity::Elements(_) | Entity::Table(_)
                if !self.calling.get()
                    && let Some(position) = self.tuple_position(name) =>
            {
                self.element_at(value, Some(&position.to_string()))
            }
            Entity::Elements(_) | Entity::Mapped(_) | Entity::Table(_) | Entity::Builtin(_) => {
                smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)]
            }
            Entity::Opaque | Entity::Missing => smallvec![value],
            Entity::Returning(_) => smallvec![Value::new(Entity::Opaque, value.via)],
            Entity::Nothing
            | Entity::SelfType
            | Entity::Argument(_)
            | Entity::MadeBy(_)
            | Entity::ReturningMade(_)
            | Entity::TypeArgument(_)
            | Entity::ArgumentElements(_)
            | Entity::ArgumentMapped(_)
            | Entity::TypeMember(_) => Values::new(),
        }
    }

    /// Returns the member of the object that stands for one whose class lacks the member: `handle->start()` runs a method of
    /// what `operator->` returns. The same for a position of an object that is a tuple.
    fn forwarded(&self, object: Value, name: Sym, found: &Values) -> Option<Values> {
        let rules = &self.file.rules;
        let is_outside = |value: &Value| matches!(value.entity, Entity::Missing | Entity::Opaque | Entity::External(_));
        if rules.tuple_members.is_empty() && rules.forwarding_methods.is_empty() || !found.iter().all(is_outside) {
            return None;
        }
        let Entity::Instance(class) = object.entity else { return None };
        if !self.calling.get()
            && let Some(position) = self.tuple_position(name)
        {
            let held = self.call_part(Value { entity: Entity::Definition(class), ..object }, position);
            return Some(held).filter(|held| !held.is_empty());
        }
        let &[method] = &rules.forwarding_methods[..] else { return None };
        if method == name {
            return None;
        }
        let methods = self.class_member(class, method, object.via);
        let others = self.flat_map(methods, |method| match method.entity {
            Entity::Definition(_) => self.call_result(method, Some(object)),
            _ => Values::new(),
        });
        let is_other = |value: &Value| matches!(value.entity, Entity::Instance(other) if other != class);
        if others.is_empty() || !others.iter().all(is_other) {
            return None;
        }
        let members = self.with_depth(|| self.flat_map(others, |other| self.attribute(other, name)));
        let is_found = |value: &Value| matches!(value.entity, Entity::Definition(_));
        (!members.is_empty() && members.iter().all(is_found)).then_some(members)
    }

    /// Returns the position of a tuple that a member of it denotes: `pair._1`, `pair.0`, `pair.first`.
    pub(super) fn tuple_position(&self, name: Sym) -> Option<u16> {
        let members = &self.file.rules.tuple_members;
        members.iter().position(|&member| member == name).map(|position| position as u16)
    }

    /// Returns the members that an object of a class has: static ones hide none of its ancestors'.
    fn of_object(&self, class: SymbolId, mut found: Values, name: Sym) -> Values {
        let is_static = |value: &Value| match value.entity {
            Entity::Definition(symbol) => {
                let (file, member) = self.definition(symbol);
                member.flags & flags::STATIC != 0 && is_class(file.outline(member.parent).kind)
            }
            _ => false,
        };
        let Some(via) = found.iter().find(|value| is_static(value)).map(|value| value.via) else { return found };
        found.retain(|value| !is_static(value));
        if found.is_empty() {
            found = self.inherited_member(class, name, via).unwrap_or_else(missing);
            found.retain(|value| !is_static(value));
        }
        if found.is_empty() { missing() } else { found }
    }

    /// Returns the results of methods that are read like fields: `$user->posts`.
    fn read(&self, found: Values) -> Values {
        self.flat_map(found, |value| match value.entity {
            Entity::Definition(method) if self.kind(method) == Kind::Method => {
                let result = self.call_result(value, None);
                if result.is_empty() { smallvec![value] } else { result }
            }
            _ => smallvec![value],
        })
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
                let found = self.class_member(symbol, name, via);
                self.with_records(symbol, name, found)
            }
            _ if self.is_object(kind)
                && let Some(found) = self.object_member(value, symbol, name) =>
            {
                found
            }
            Kind::Field if let Some(held) = self.held_by_name(symbol, name) => held,
            Kind::Constant | Kind::Field | Kind::Property | Kind::TypeAlias => {
                let held = self.stored_values(symbol);
                if kind == Kind::Field
                    && let Some(found) = self.described_member(&held, name)
                {
                    return found;
                }
                self.with_depth(|| self.flat_map(held, |value| self.attribute(value, name)))
            }
            Kind::Method
                if !self.file.rules.facade_ending.is_empty() && self.definition(symbol).0.rules.sees_facades =>
            {
                let read = self.call_result(value, None);
                self.with_depth(|| self.flat_map(read, |value| self.attribute(value, name)))
            }
            _ => {
                if let Some(found) = self.merged_member(symbol, name, Strategy::ClassAttribute) {
                    return found;
                }
                let made = self.decorated(symbol);
                match made.is_empty() {
                    true => smallvec![Value::new(Entity::Opaque, value.via)],
                    false => self.with_depth(|| self.flat_map(made, |value| self.attribute(value, name))),
                }
            }
        }
    }

    /// Returns the member of what a descriptor in an attribute of a class gives, if it has one.
    fn described_member(&self, held: &Values, name: Sym) -> Option<Values> {
        let &getter = self.file.rules.descriptor_methods.first()?;
        let [descriptor @ Value { entity: Entity::Instance(class), .. }] = held[..] else { return None };
        let getters = self.every_definition(class, getter);
        let given = getters.into_iter().flat_map(|method| {
            let method = Value::new(Entity::Definition(method), Strategy::AttributeType);
            self.call_result(method, Some(descriptor))
        });
        let is_other = |value: &Value| matches!(value.entity, Entity::Instance(other) if other != class);
        let given: Values = given.filter(is_other).collect();
        let found = self.with_depth(|| self.flat_map(given, |value| self.attribute(value, name)));
        let is_member = |value: &Value| matches!(value.entity, Entity::Definition(_));
        found.iter().any(is_member).then(|| found.into_iter().filter(is_member).collect())
    }

    /// Returns all definitions of a method that a class has or inherits: overloads and what implements them.
    fn every_definition(&self, class: SymbolId, name: Sym) -> Vec<SymbolId> {
        let nearest = self.class_member(class, name, Strategy::AttributeType).into_iter().find_map(|value| {
            let Entity::Definition(symbol) = value.entity else { return None };
            let (file, definition) = self.definition(symbol);
            is_callable(definition.kind).then(|| file.symbols[definition.parent as usize])
        });
        let Some(owner) = nearest else { return Vec::new() };
        let (file, entries) = self.entries(owner, name);
        let definitions = entries.iter().filter_map(|entry| match entry.bound {
            Bound::Definition(def) => Some(file.symbols[def as usize]),
            _ => None,
        });
        definitions.collect()
    }

    fn external_member(&self, external: ExternalId, name: Sym, via: Strategy) -> Value {
        let member = self.index.externals.member(&self.index.strings, external, self.text(name));
        Value::new(Entity::External(member), via)
    }

    /// Returns the possible values of a constant, field or property.
    pub fn stored_values(&self, symbol: SymbolId) -> Values {
        let (file, definition) = self.definition(symbol);
        if definition.kind == Kind::Property {
            return self.returns(symbol);
        }
        let scope = file.symbols[definition.parent as usize];
        self.variable(scope, definition.name)
    }

    /// Returns a member of a class or its ancestors. The result has the rule `via`, by which the class was found,
    /// except that members of ancestors of `self` have the rule `inherited`.
    pub fn class_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Values {
        if let Some(values) = self.own_member(class, name, via) {
            return values;
        }
        let via = if via == Strategy::This { Strategy::Inherited } else { via };
        let found = self.inherited_member(class, name, via);
        let found = self.back_reference(class, name, &found).or(found);
        let is_outside = |value: &Value| matches!(value.entity, Entity::External(_) | Entity::Opaque);
        if self.file.rules.attributes_member == Some(name)
            && found.as_ref().is_some_and(|values| values.iter().all(is_outside))
            && let stored = self.stored(class, name)
            && !stored.is_empty()
        {
            return stored;
        }
        let found = found.or_else(|| self.embedded(class, name)).or_else(|| {
            let stored = self.stored(class, name);
            (!stored.is_empty()).then_some(stored)
        });
        let found = found.or_else(|| self.unwrapped(class, name));
        let found = found.or_else(|| Some(self.indexed(class)).filter(|values| !values.is_empty()));
        let found = found.or_else(|| self.merged_member(class, name, via));
        let found = found.or_else(|| self.provided_member(class, name));
        let in_other = || self.nested_in_other_part(class, name, via).filter(|_| self.stage == Stage::Bases);
        found.or_else(in_other).unwrap_or_else(missing)
    }

    /// Returns a class inside of another part of a class; the parts are put together after the bases of classes are read.
    pub(super) fn nested_in_other_part(&self, class: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        if !self.file.rules.open_classes {
            return None;
        }
        let whole = self.index.qualified_name(class);
        let outer = self.text(whole).split('#').next()?;
        let nested = self.index.strings.intern(&format!("{outer}.{}", self.text(name)));
        let symbol = self.owner(nested).filter(|&symbol| is_class(self.kind(symbol)))?;
        Some(smallvec![Value::new(Entity::Definition(self.canonical(symbol)), via)])
    }

    /// Returns the object itself for `lazy.Value`: annotations have already unwrapped the type.
    fn unwrapped(&self, class: SymbolId, name: Sym) -> Option<Values> {
        let is_same = !self.calling.get() && self.file.rules.same_methods.contains(&name);
        is_same.then(|| smallvec![Value::new(Entity::Instance(class), Strategy::AttributeType)])
    }

    /// Returns the embedded object that bears the name of its type.
    fn embedded(&self, class: SymbolId, name: Sym) -> Option<Values> {
        if !self.file.rules.structural_interfaces || self.calling.get() {
            return None;
        }
        self.ancestors(class).iter().find_map(|ancestor| match *ancestor {
            Entity::Definition(base) if self.definition(base).1.name == name => {
                Some(smallvec![Value::new(Entity::Instance(base), Strategy::AttributeType)])
            }
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

    /// Returns a member of the class itself or of its extensions, or one that is copied to it; empty values for a member
    /// of unknown value.
    pub(super) fn own_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        self.written_member(class, name, via).or_else(|| self.copied_member(class, name, via))
    }

    /// Returns a member that `Object.assign(Button.prototype, events)` copies to a class, where it hides what the class
    /// inherits. Without a class to inherit from, the object is an ancestor.
    fn copied_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        if !self.file.rules.prototypes || self.extensions(class).is_empty() || self.stage == Stage::Bases {
            return None;
        }
        let (file, _) = self.definition(class);
        if file.def(self.index.symbols.get(class).def).bases.is_empty() {
            return None;
        }
        let copied = self.extensions(class).iter().filter(|extension| self.kind(extension.symbol) == Kind::Extension);
        copied.flat_map(|extension| &extension.bases).find_map(|base| match base.entity {
            Entity::Definition(object) if object != class => self.written_member(object, name, via),
            _ => None,
        })
    }

    fn written_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        let own = std::iter::once(class).filter(|&class| !self.is_scope_only(self.kind(class)));
        let scopes = own.chain(self.extensions(class).iter().map(|extension| extension.symbol));
        let mut second_choice = None;
        for scope in scopes {
            let (file, entries) = self.entries(scope, name);
            if entries.is_empty() {
                continue;
            }
            let defs = chosen_definitions(file, entries);
            if let [_, _, ..] = defs[..] {
                let members = defs.iter().map(|&def| self.canonical(file.symbols[def as usize]));
                return Some(members.map(|symbol| Value::new(Entity::Definition(symbol), via)).collect());
            }
            if let [def] = defs[..] {
                let fits = |def: DefId| is_callable(file.outline(def).kind) == self.calling.get();
                let chosen = if fits(def) { Some(def) } else { other_definition(entries, fits) };
                let values = |def: DefId| {
                    let symbol = self.canonical(file.symbols[def as usize]);
                    smallvec![Value::new(Entity::Definition(symbol), via)]
                };
                // `if TYPE_CHECKING: app = ...`, else a property.
                let is_conditional =
                    file.outline(def).kind == Kind::Property && file.outline(def).flags & flags::CONDITIONAL != 0;
                match chosen {
                    Some(other) if other != def && is_conditional => {
                        let mut both = values(other);
                        merge(&mut both, values(def));
                        return Some(both);
                    }
                    Some(def) => return Some(values(def)),
                    None if !file.rules.fields_beside_methods => return Some(values(def)),
                    None => second_choice = second_choice.or_else(|| Some(values(def))),
                }
            } else if entries.iter().any(|entry| matches!(entry.bound, Bound::Binding(_) | Bound::Import(_))) {
                let property = self.inherited_property(class, name, via);
                return Some(property.unwrap_or_else(|| self.variable(scope, name)));
            } else if via == Strategy::This && is_class(file.outline(self.index.symbols.get(scope).def).kind) {
                // A parameter of the primary constructor, which only the class itself sees.
                return Some(self.variable(scope, name));
            }
        }
        second_choice
    }

    /// Returns the property of an ancestor whose setter an assignment to `self.name` runs.
    fn inherited_property(&self, class: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        self.ancestors(class).iter().find_map(|ancestor| {
            let Entity::Definition(symbol) = *ancestor else { return None };
            let (file, entries) = self.entries(symbol, name);
            let [def] = chosen_definitions(file, entries)[..] else { return None };
            let is_property = file.outline(def).kind == Kind::Property;
            let via = if via == Strategy::This { Strategy::Inherited } else { via };
            is_property.then(|| smallvec![Value::new(Entity::Definition(file.symbols[def as usize]), via)])
        })
    }

    /// Returns a member of the ancestors of a class. A member that the project lacks is attributed to the only external
    /// ancestor.
    fn inherited_member(&self, class: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        self.member_of_ancestors(self.ancestors(class), name, via)
    }

    /// Returns what `super().name` means in a class: a member of its ancestors, else what follows it in the classes that
    /// it is mixed into.
    fn member_of_super(&self, class: SymbolId, name: Sym) -> Option<Values> {
        let own = self.inherited_member(class, name, Strategy::Super);
        if self.stage == Stage::Bases || own.as_ref().is_some_and(|values| !values.iter().all(is_builtin)) {
            return own;
        }
        let mut found = Values::new();
        for &mixed in self.mixed_into(class) {
            let members = self.member_after(mixed, class, name).unwrap_or_default().into_iter();
            merge(&mut found, members.filter(|member| matches!(member.entity, Entity::Definition(_))).collect());
        }
        if found.is_empty() || found.len() > MAX_MIXED_MEMBERS { own } else { Some(found) }
    }

    /// Returns the member of the ancestors of a class that come after one of them.
    fn member_after(&self, class: SymbolId, after: SymbolId, name: Sym) -> Option<Values> {
        let ancestors = self.ancestors(class);
        let start = ancestors.iter().position(|&ancestor| ancestor == Entity::Definition(after));
        self.member_of_ancestors(&ancestors[start.map_or(0, |start| start + 1)..], name, Strategy::Super)
    }

    fn member_of_ancestors(&self, ancestors: &[Entity], name: Sym, via: Strategy) -> Option<Values> {
        let mut externals = Vec::new();
        let mut is_known = true;
        let mut has_builtin = false;
        for &ancestor in ancestors {
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

    pub(crate) fn is_marker(&self, external: ExternalId) -> bool {
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
}

/// Selects between a field and a method of the same name, which some languages allow in one class.
fn other_definition(entries: &[NameEntry], fits: impl Fn(DefId) -> bool) -> Option<DefId> {
    let mut definitions = entries.iter().filter_map(|entry| match entry.bound {
        Bound::Definition(def) => Some(def),
        _ => None,
    });
    definitions.find(|&def| fits(def))
}

fn is_builtin(value: &Value) -> bool {
    matches!(value.entity, Entity::Builtin(_))
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
