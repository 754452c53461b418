//! The inheritance of the whole project, as the stage of base classes resolved it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::entity::{Entity, Value};
use crate::project::names::{FileId, Sym, SymbolId};

/// A method signature that can be compared without types: name, number of parameters and number of results.
pub type MethodShape = (Sym, u16, u16);

/// Methods of an interface, or of one extension of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Methods {
    pub owner: SymbolId,
    pub is_interface: bool,
    pub shapes: Vec<MethodShape>,
    /// Comparable signatures of the methods that a known interface outside the project has.
    pub known: Vec<Sym>,
}

/// The interfaces that each type implements: those of the project in order of their sources, then others.
pub type Implemented = FxHashMap<SymbolId, Vec<Entity>>;

/// The resolved inheritance in one file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileBases {
    /// Bases of each class that has any, in declared order; unresolved ones as [`Entity::Missing`].
    pub classes: Vec<(SymbolId, Vec<Value>)>,
    pub extensions: Vec<Extension>,
    /// Method sets of Go's interfaces and types.
    pub methods: Vec<Methods>,
}

/// A definition that adds members, and possibly bases, to a class defined elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    pub symbol: SymbolId,
    pub class: SymbolId,
    pub bases: Vec<Value>,
    /// Its members that are nodes, which the file of the class links to it.
    pub members: Vec<SymbolId>,
}

/// Inheritance of the whole project.
#[derive(Default)]
pub struct Ancestry {
    pub files: Vec<FileBases>,
    pub ancestors: FxHashMap<SymbolId, Arc<[Entity]>>,
    pub extensions: FxHashMap<SymbolId, Vec<Extension>>,
    pub implemented: Implemented,
    /// For each class, the classes in whose order of ancestors a stranger follows it.
    pub mixed: FxHashMap<SymbolId, Vec<SymbolId>>,
}

impl Ancestry {
    /// Returns the ancestors of a class in method resolution order, without the class itself.
    pub fn ancestors(&self, class: SymbolId) -> &[Entity] {
        self.ancestors.get(&class).map_or(&[], |list| list)
    }

    /// Interfaces that a Go type implements.
    pub fn implemented(&self, class: SymbolId) -> &[Entity] {
        self.implemented.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Extensions by path and position.
    pub fn extensions(&self, class: SymbolId) -> &[Extension] {
        self.extensions.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Returns the class that an extension in a file extends.
    pub fn extended_by(&self, file: FileId, extension: SymbolId) -> Option<SymbolId> {
        let found = self.files[file as usize].extensions.iter().find(|known| known.symbol == extension);
        found.map(|known| known.class)
    }

    /// Returns the classes of a file that have bases.
    pub fn classes(&self, file: FileId) -> &[(SymbolId, Vec<Value>)] {
        &self.files[file as usize].classes
    }
}
