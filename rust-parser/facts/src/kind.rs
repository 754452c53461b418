//! Kinds of definitions.

use serde::{Deserialize, Serialize};

use super::window::WindowKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Top-level scope of a code file.
    Module,
    /// A namespace or nested module inside a file (C++ namespace, Rust `mod`, Ruby module, TS namespace).
    Namespace,
    Class,
    Interface,
    Struct,
    Trait,
    Enum,
    /// C/C++/Rust unions, Java and C# records, Python Protocols and similar types use the nearest of the kinds above.
    TypeAlias,
    Function,
    Method,
    Constructor,
    /// A method read like a field (Python `@property`, JS `get x()`, C# property with a body).
    Property,
    /// Class-level or struct field; enum members.
    Field,
    /// Module-level constant or variable.
    Constant,
    /// A lambda or anonymous function with facts of its own; never a graph node.
    Lambda,
    /// A Rust `impl`, a Go receiver block or a C# `partial` part: adds members to the type `bases[0]`. Never a node.
    Extension,
    DocFile,
    Adr,
    DocSection,
    /// A window of lines of a file without definitions.
    Window(WindowKind),
    Claim,
    Decision,
    Entity,
    /// A statement about the entity around it.
    Observation,
}

impl Kind {
    /// Returns whether definitions of this kind are notes or parts of them. The qualified name of such a definition is
    /// its path alone: the note's id.
    pub fn is_note(self) -> bool {
        matches!(self, Kind::Claim | Kind::Decision | Kind::Entity | Kind::Observation)
    }

    /// Returns whether this is the kind of a document's top-level scope.
    pub fn is_document(self) -> bool {
        matches!(self, Kind::DocFile | Kind::Adr | Kind::Claim | Kind::Decision | Kind::Entity)
    }
}
