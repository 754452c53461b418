//! Results of calls.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{is_callable, is_class};
use crate::project::names::{EMPTY, SymbolId};
use crate::project::query::Query;
use crate::resolve::arguments::Arguments;
use crate::strategy::Strategy;
use atlas_facts::Kind;

impl Query<'_> {
    /// Returns the possible results of calling a value. `receiver` is the value of which the callee is an attribute.
    pub fn call_result(&self, callee: Value, receiver: Option<Value>) -> Values {
        self.call_with(callee, receiver, &Arguments::Unknown)
    }

    /// Returns the same for known arguments.
    pub fn call_with(&self, callee: Value, receiver: Option<Value>, arguments: &Arguments) -> Values {
        match callee.entity {
            Entity::Definition(symbol) => self.definition_result(callee, symbol, receiver, arguments),
            Entity::Returning(class) => smallvec![Value::new(Entity::Instance(class), Strategy::ReturnType)],
            Entity::Instance(class) => {
                let Some(name) = self.file.rules.call_method else {
                    return self.signature_result(callee, class, arguments);
                };
                let members = self.class_member(class, name, callee.via);
                self.flat_map(members, |member| match member.entity {
                    Entity::Definition(symbol) => self.definition_result(member, symbol, Some(callee), arguments),
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
            Entity::Elements(_) | Entity::Mapped(_) | Entity::Table(_) if self.file.rules.indexed_by_call => {
                self.element(callee, false)
            }
            // The object of a class of containers that a framework makes.
            Entity::Elements(_) if !self.file.rules.container_makers.is_empty() => smallvec![callee],
            _ => Values::new(),
        }
    }

    /// Returns the possible values of one position of the tuple that a call returns.
    pub fn call_part(&self, callee: Value, position: u16) -> Values {
        let Entity::Definition(symbol) = callee.entity else { return Values::new() };
        let (file, definition) = self.definition(symbol);
        if !is_callable(definition.kind) && !is_class(definition.kind) && definition.kind != Kind::Field {
            return Values::new();
        }
        let own = file.symbols[definition.parent as usize];
        self.received(symbol, self.returned_as(symbol, position + 1), (own, EMPTY), &Arguments::Unknown)
    }

    fn definition_result(
        &self,
        callee: Value,
        symbol: SymbolId,
        receiver: Option<Value>,
        arguments: &Arguments,
    ) -> Values {
        let (file, definition) = self.definition(symbol);
        match definition.kind {
            kind if is_class(kind) => {
                // An instance of `cls` is an instance of the receiver's class.
                let via = if callee.via == Strategy::This { Strategy::This } else { Strategy::LocalType };
                let args = match callee.args {
                    EMPTY => self.making_arguments(symbol, symbol, arguments),
                    args => args,
                };
                smallvec![Value { entity: Entity::Instance(symbol), via, args }]
            }
            Kind::Constructor => Values::new(),
            // An indexer.
            Kind::Property => {
                let own = receiver.map_or(EMPTY, |receiver| receiver.args);
                let owner = file.symbols[definition.parent as usize];
                self.received(symbol, &self.returns(symbol), (owner, own), arguments)
            }
            kind if is_callable(kind) => {
                let owner = file.symbols[definition.parent as usize];
                let own = match receiver.map(|receiver| receiver.entity) {
                    Some(
                        Entity::Instance(class)
                        | Entity::Definition(class)
                        | Entity::Super(class)
                        | Entity::SuperAfter { class, .. },
                    ) if is_class(self.kind(class)) || self.is_object(self.kind(class)) => class,
                    _ => owner,
                };
                if let Arguments::Written(args, ..) = arguments
                    && let Some(overload) = self.chosen_overload(symbol, args)
                {
                    let args = receiver.map_or(EMPTY, |receiver| receiver.args);
                    return self.received(overload, &self.returns(overload), (own, args), arguments);
                }
                if let Some(mixed) = self.mixed_result(symbol, arguments) {
                    return mixed;
                }
                let decorated = self.decorated_result(file, symbol, arguments);
                if decorated.is_empty() {
                    let args = receiver.map_or(EMPTY, |receiver| receiver.args);
                    self.received(symbol, &self.returns(symbol), (own, args), arguments)
                } else {
                    decorated
                }
            }
            Kind::Constant | Kind::Field => {
                let declared = self.returned_as(symbol, 0);
                if !declared.is_empty() {
                    let owner = self.owner_of(file, definition.parent);
                    let args = receiver.map_or(EMPTY, |receiver| receiver.args);
                    return self.received(symbol, declared, (owner, args), arguments);
                }
                let held = self.stored_values(symbol);
                let is_other = |value: &Value| value.entity != Entity::Definition(symbol);
                let held: Values = held.into_iter().filter(is_other).collect();
                let is_accessor = file.rules.field_accessors;
                let is_variant = file.outline(definition.parent).kind == Kind::Enum;
                self.flat_map(held, |value| match value.entity {
                    Entity::Instance(_) if is_accessor || is_variant => smallvec![value],
                    Entity::Instance(class) => self.signature_result(value, class, arguments),
                    Entity::Returning(class) => {
                        smallvec![Value { entity: Entity::Instance(class), via: Strategy::ReturnType, ..value }]
                    }
                    Entity::Elements(_) | Entity::Mapped(_) if is_accessor => smallvec![value],
                    Entity::Elements(_) if !file.rules.container_makers.is_empty() => smallvec![value],
                    Entity::Elements(_) | Entity::Mapped(_) | Entity::Table(_) if file.rules.indexed_by_call => {
                        self.element(value, false)
                    }
                    Entity::Definition(inner) if !is_class(self.kind(inner)) => {
                        self.received(inner, &self.returns(inner), (inner, EMPTY), arguments)
                    }
                    Entity::Definition(class) => {
                        smallvec![Value { entity: Entity::Instance(class), via: Strategy::LocalType, args: value.args }]
                    }
                    _ => Values::new(),
                })
            }
            _ => Values::new(),
        }
    }
}
