//! A match of a rule with its meaning, before prefixes are composed.

use crate::detect::rules::Rule;
use crate::flat_tree::NodeId;
use atlas_facts::{DefId, Handler};

/// Largest number of detections of one match.
pub const MAX_OF_ONE: usize = 64;

/// The methods of a handler, the handler, and what its path has after that of the match.
pub type Handling = (String, Handler, String);

/// A match with its meaning, before prefixes are composed.
pub(super) struct Draft<'r> {
    pub rule: &'r Rule,
    pub node: NodeId,
    /// The nodes in which a scope applies: from the first to before the second.
    pub within: (NodeId, NodeId),
    pub receiver: Option<NodeId>,
    pub line: u32,
    pub scope: DefId,
    pub paths: Vec<String>,
    /// Methods and handlers; each gives one detection for every path.
    pub handlers: Vec<Handling>,
    pub children: Vec<Handler>,
    /// The variants of an enumeration, each of which handles the path at its position.
    pub variants: Vec<DefId>,
    /// The function that an annotation makes a handler: a router of its own, which may be mounted. Or the class around it.
    pub owner: Option<DefId>,
}
