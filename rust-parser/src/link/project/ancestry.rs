//! Inheritance of the whole project, as the stage of base classes found it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::link::entity::{Entity, Value};
use crate::link::project::names::{FileId, Sym, SymbolId};

/// A method as far as it can be compared without types: name, numbers of parameters and results.
pub type MethodShape = (Sym, u16, u16);

/// Methods of an interface, or of one extension of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Methods {
    pub owner: SymbolId,
    pub is_interface: bool,
    pub shapes: Vec<MethodShape>,
}

/// Interfaces of each type that has their methods, in the order of their sources.
pub type Implemented = FxHashMap<SymbolId, Vec<SymbolId>>;

/// What one file says about inheritance, resolved.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileBases {
    /// Bases of each class that has any, in declared order; unknown ones as [`Entity::Missing`].
    pub classes: Vec<(SymbolId, Vec<Value>)>,
    pub extensions: Vec<Extension>,
    /// Of Go's interfaces and types.
    pub methods: Vec<Methods>,
}

/// Something that adds members, and perhaps bases, to a class defined elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    pub symbol: SymbolId,
    pub class: SymbolId,
    pub bases: Vec<Value>,
}

/// Inheritance of the whole project.
#[derive(Default)]
pub struct Ancestry {
    pub files: Vec<FileBases>,
    pub ancestors: FxHashMap<SymbolId, Arc<[Entity]>>,
    pub extensions: FxHashMap<SymbolId, Vec<Extension>>,
    pub implemented: Implemented,
}

impl Ancestry {
    pub fn ancestors(&self, class: SymbolId) -> &[Entity] {
        self.ancestors.get(&class).map_or(&[], |list| list)
    }

    /// Interfaces that a Go type has the methods of.
    pub fn implemented(&self, class: SymbolId) -> &[SymbolId] {
        self.implemented.get(&class).map_or(&[], Vec::as_slice)
    }

    /// By path and position.
    pub fn extensions(&self, class: SymbolId) -> &[Extension] {
        self.extensions.get(&class).map_or(&[], Vec::as_slice)
    }

    /// The class that an extension of a file adds to.
    pub fn extended_by(&self, file: FileId, extension: SymbolId) -> Option<SymbolId> {
        let found = self.files[file as usize].extensions.iter().find(|known| known.symbol == extension);
        found.map(|known| known.class)
    }

    /// Classes of a file that have bases.
    pub fn classes(&self, file: FileId) -> &[(SymbolId, Vec<Value>)] {
        &self.files[file as usize].classes
    }
}
