//! What a note says about other nodes.

use serde::{Deserialize, Serialize};

use super::ids::Name;

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
