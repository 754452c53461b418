//! Notes in facts: which definitions are notes, and what a note says about other nodes.

use serde::{Deserialize, Serialize};

use super::{Kind, Name};

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

/// A relation that a note states, or something that it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    pub kind: RelationKind,
    /// The target's uid without the project. The node may be missing.
    pub target: Name,
    /// 0 to 1.
    pub confidence: f64,
    /// A JSON object with sorted keys, or "".
    pub properties: Name,
    /// Ascending.
    pub lines: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RelationKind {
    Supports,
    Refutes,
    Extends,
    Implies,
    Contradicts,
    Supersedes,
    /// A relation of another type, which is a property.
    Relates,
    About,
    /// A paper that is the note's source.
    Source,
}
