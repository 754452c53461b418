//! The possible values of an expression.

use smallvec::SmallVec;

use crate::project::names::{EMPTY, ExternalId, Sym, SymbolId};
use crate::strategy::Strategy;

/// A possible value of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entity {
    /// The definition itself: a class, function, module, constant.
    Definition(SymbolId),
    /// An instance of a class of the project.
    Instance(SymbolId),
    /// `super` within a class.
    Super(SymbolId),
    /// `super` beyond an ancestor of the class: `super(B, self)`.
    SuperAfter {
        class: SymbolId,
        after: SymbolId,
    },
    /// A function that returns an instance of a class.
    Returning(SymbolId),
    /// Only in the published results of a function: the argument for a parameter, an instance of the class that it is,
    /// a function that returns such an instance.
    Argument(u16),
    MadeBy(u16),
    ReturningMade(u16),
    /// Only in what functions, classes and fields publish about types: a type argument by position, and a member of the
    /// type before it.
    TypeArgument(u16),
    TypeMember(Sym),
    /// The same for containers of what a type argument is.
    ArgumentElements(u16),
    ArgumentMapped(u16),
    /// A sequence, set or iterator of instances of a class.
    Elements(SymbolId),
    /// A mapping to instances of a class.
    Mapped(SymbolId),
    /// A container whose elements are known one by one: see [`crate::resolve::tables`].
    Table(Sym),
    /// The class of the receiver (`return self`, `Self`).
    SelfType,
    /// A declared package or namespace, by dotted name.
    Package(Sym),
    /// A folder that is a module or package.
    Folder(Sym),
    External(ExternalId),
    ExternalInstance(ExternalId),
    /// A built-in name, or an instance of a built-in type ([`crate::project::names::EMPTY`]).
    Builtin(Sym),
    /// `None`, `null`.
    Nothing,
    /// Outside of what can be resolved; name-based guesses are excluded.
    Opaque,
    /// A member that the known receiver lacks; name-based guesses are excluded, and the reference counts as unresolved.
    Missing,
}

/// Position of a function's first type parameter among those that types name; before it are those of its class.
pub const OWN: u16 = 64;

/// A possible value with the rule that found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value {
    pub entity: Entity,
    pub via: Strategy,
    /// Type arguments of the instance or of the elements, as [`crate::resolve::type_arguments`] writes them.
    pub args: Sym,
}

/// Possible values; empty if unknown. There is rarely more than one.
pub type Values = SmallVec<[Value; 2]>;

impl Value {
    pub fn new(entity: Entity, via: Strategy) -> Value {
        Value { entity, via, args: EMPTY }
    }

    /// Stands for the unknown ones among the values that a place receives.
    pub fn unknown() -> Value {
        Value::new(Entity::Opaque, Strategy::Passed)
    }

    pub fn is_unknown(&self) -> bool {
        self.entity == Entity::Opaque && self.via == Strategy::Passed
    }
}

/// Returns the same value with another rule.
pub fn via(values: Values, rule: Strategy) -> Values {
    values.into_iter().map(|value| Value { via: rule, ..value }).collect()
}

/// Largest number of possible values that are followed; a larger set counts as unknown.
pub const MAX_VALUES: usize = 16;

/// Adds values that are not present yet.
pub fn merge(into: &mut Values, more: Values) {
    for value in more {
        match into.iter_mut().find(|known| known.entity == value.entity) {
            Some(known) if known.args != value.args => known.args = EMPTY,
            Some(_) => {}
            None => into.push(value),
        }
    }
}
