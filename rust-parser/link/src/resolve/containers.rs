//! Containers: their elements, by iteration and by index, and the results of their methods.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::is_class;
use crate::project::file_types::INDEXED;
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::Kind;

impl Query<'_> {
    /// Returns the result of methods such as `xs.pop()`, `d.get(k)`, `d.values()` and `C.new`.
    pub(super) fn container_call(&self, receiver: Value, name: Sym) -> Option<Values> {
        let rules = &self.file.rules;
        match receiver.entity {
            // `handlers.x(y)` of a record of functions.
            Entity::Mapped(symbol) if self.is_function_record(symbol, name) => None,
            Entity::Elements(_) if rules.prototypes && self.text(name) == "next" => {
                Some(self.step_of(self.element(receiver, true)))
            }
            Entity::Elements(_) | Entity::Mapped(_) => {
                let (Entity::Elements(symbol) | Entity::Mapped(symbol)) = receiver.entity else { return None };
                if rules.element_getters.contains(&name) && !rules.element_views.contains(&name) {
                    return Some(smallvec![Value { entity: Entity::Instance(symbol), ..receiver }]);
                }
                let is_pairs = matches!(receiver.entity, Entity::Mapped(_)) && rules.pair_views.contains(&name);
                if is_pairs || rules.same_methods.contains(&name) {
                    return Some(smallvec![receiver]);
                }
                let entity =
                    if rules.element_views.contains(&name) { Entity::Elements(symbol) } else { Entity::Builtin(EMPTY) };
                Some(smallvec![Value { entity, ..receiver }])
            }
            // `Optional.get()` and `option.unwrap()`: annotations have already unwrapped the type.
            Entity::Instance(_)
                if rules.same_methods.contains(&name) || rules.unwrapping && rules.element_getters.contains(&name) =>
            {
                let is_own = |value: &Value| match value.entity {
                    Entity::Definition(_) => true,
                    Entity::External(_) => !rules.mixins,
                    _ => false,
                };
                (!self.attribute(receiver, name).iter().any(is_own)).then(|| smallvec![receiver])
            }
            // A field or constant: the call is one on each value that it holds.
            Entity::Definition(symbol) if matches!(self.kind(symbol), Kind::Constant | Kind::Field) => {
                let mut results = Values::new();
                for held in self.stored_values(symbol) {
                    let is_plain = matches!(held.entity, Entity::Instance(_) | Entity::Elements(_) | Entity::Mapped(_));
                    merge(
                        &mut results,
                        Some(held).filter(|_| is_plain).and_then(|held| self.container_call(held, name))?,
                    );
                }
                (!results.is_empty()).then_some(results)
            }
            Entity::Definition(class) if rules.new_method == Some(name) => {
                Some(smallvec![Value::new(Entity::Instance(class), Strategy::LocalType)])
            }
            Entity::Definition(class) if rules.derived_makers.contains(&name) && is_class(self.kind(class)) => {
                let is_own = |value: &Value| matches!(value.entity, Entity::Definition(_));
                let own = self.attribute(receiver, name).into_iter().find(is_own);
                let is_object = |value: &Value| matches!(value.entity, Entity::Instance(_));
                own.is_none_or(|own| !self.call_result(own, Some(receiver)).iter().any(is_object))
                    .then(|| smallvec![Value::new(Entity::Instance(class), Strategy::LocalType)])
            }
            Entity::Definition(class) if rules.derived_listers.contains(&name) && is_class(self.kind(class)) => {
                let is_own = |value: &Value| matches!(value.entity, Entity::Definition(_));
                (!self.attribute(receiver, name).iter().any(is_own))
                    .then(|| smallvec![Value::new(Entity::Elements(class), Strategy::ReturnType)])
            }
            _ => None,
        }
    }

    /// Returns whether a name denotes a member of a record whose values are functions.
    pub(super) fn is_function_record(&self, symbol: SymbolId, name: Sym) -> bool {
        let rules = &self.file.rules;
        let is_method = rules.element_getters.contains(&name)
            || rules.element_views.contains(&name)
            || matches!(self.text(name), "set" | "has" | "delete" | "clear" | "keys" | "forEach");
        rules.prototypes && !is_method && self.called_type(symbol).is_some()
    }

    /// Returns an element of a container, by iteration or by index.
    pub(crate) fn element(&self, value: Value, by_iteration: bool) -> Values {
        match value.entity {
            Entity::Elements(symbol) => smallvec![Value { entity: Entity::Instance(symbol), ..value }],
            // A pair stands for the mapping that it is of.
            Entity::Mapped(_) if by_iteration && !self.file.rules.pair_members.is_empty() => smallvec![value],
            Entity::Table(table) if by_iteration && self.is_map(table) && !self.file.rules.pair_members.is_empty() => {
                smallvec![value]
            }
            Entity::Table(table) if by_iteration => self.table_elements(table),
            Entity::Table(table) => self.selected(table, None),
            Entity::Mapped(symbol) if !by_iteration => smallvec![Value { entity: Entity::Instance(symbol), ..value }],
            Entity::Instance(class) => {
                let indexed = self.indexed(class);
                if !indexed.is_empty() {
                    return indexed;
                }
                self.with_depth(|| self.element_of_object(value, class, by_iteration))
            }
            Entity::Opaque | Entity::External(_) | Entity::ExternalInstance(_) => {
                smallvec![Value::new(Entity::Opaque, value.via)]
            }
            Entity::Definition(symbol)
                if matches!(self.kind(symbol), Kind::Constant | Kind::Field | Kind::Property) =>
            {
                let held = self.stored_values(symbol);
                let is_other = |held: &Value| held.entity != value.entity;
                let held: Values = held.into_iter().filter(is_other).collect();
                self.with_depth(|| self.flat_map(held, |value| self.element(value, by_iteration)))
            }
            _ => Values::new(),
        }
    }

    /// Returns what an iterator of the project gives.
    fn next_of(&self, iterator: Value, class: SymbolId) -> Values {
        let mut given = Values::new();
        for &name in &self.file.rules.next_methods {
            let members = self.class_member(class, name, iterator.via).into_iter();
            for member in members.filter(|member| matches!(member.entity, Entity::Definition(_))) {
                merge(&mut given, self.call_result(member, Some(iterator)));
            }
        }
        given
    }

    /// Returns the values behind the index signature of an object type.
    pub(super) fn indexed(&self, class: SymbolId) -> Values {
        if self.file.rules.prototypes { self.returned_as(class, INDEXED).into() } else { Values::new() }
    }

    /// Returns what the methods for iteration or indexing of an object's class return.
    fn element_of_object(&self, object: Value, class: SymbolId, by_iteration: bool) -> Values {
        let rules = &self.file.rules;
        let result = |name: Sym| {
            let members = self.class_member(class, name, object.via);
            self.flat_map(members, |member| match member.entity {
                Entity::Definition(_) => self.call_result(member, Some(object)),
                _ => Values::new(),
            })
        };
        if by_iteration {
            for &name in &rules.iterator_methods {
                let elements = self.flat_map(result(name), |value| match value.entity {
                    Entity::Elements(_) | Entity::Table(_) => self.element(value, true),
                    Entity::Instance(iterator) => self.next_of(value, iterator),
                    _ => Values::new(),
                });
                if !elements.is_empty() {
                    return elements;
                }
            }
        }
        let mut items = Values::new();
        for &name in &rules.item_methods {
            merge(&mut items, result(name));
        }
        items.retain(|value| matches!(value.entity, Entity::Instance(_) | Entity::Elements(_) | Entity::Mapped(_)));
        items
    }
}
