//! What a linked expression may stand for.

use smallvec::SmallVec;

use crate::link::project::names::{ExternalId, Sym, SymbolId};
use crate::link::strategy::Strategy;

/// What an expression may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entity {
    /// The definition itself: a class, function, module, constant.
    Definition(SymbolId),
    /// An instance of a class of the project.
    Instance(SymbolId),
    /// `super` seen from a class.
    Super(SymbolId),
    /// A sequence, set or iterator of instances.
    Elements(SymbolId),
    /// A mapping to instances.
    Mapped(SymbolId),
    /// The class of the receiver (`return self`, `Self`).
    SelfType,
    /// A declared package or namespace, by dotted name.
    Package(Sym),
    /// A folder that acts as module or package.
    Folder(Sym),
    External(ExternalId),
    ExternalInstance(ExternalId),
    /// A name of the language itself, or an instance of a built-in type ([`crate::link::project::names::EMPTY`]).
    Builtin(Sym),
    /// `None`, `null`.
    Nothing,
    /// Known to be outside of what can be followed; never guessed about.
    Opaque,
    /// The receiver is known and has no such member; never guessed about, counted as unresolved.
    Missing,
}

/// A possible value, and the rule by which it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value {
    pub entity: Entity,
    pub via: Strategy,
}

/// Possible values; empty when nothing is known. There is hardly ever more than one.
pub type Values = SmallVec<[Value; 2]>;

impl Value {
    pub fn new(entity: Entity, via: Strategy) -> Value {
        Value { entity, via }
    }
}

/// The same value, found by another rule.
pub fn via(values: Values, rule: Strategy) -> Values {
    values.into_iter().map(|value| Value { via: rule, ..value }).collect()
}

/// At most this many possible values are followed; more say nothing.
pub const MAX_VALUES: usize = 4;

/// Add values that are not yet there.
pub fn merge(into: &mut Values, more: Values) {
    for value in more {
        if !into.iter().any(|known| known.entity == value.entity) {
            into.push(value);
        }
    }
}
