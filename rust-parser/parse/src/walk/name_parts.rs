//! The parts of a file in which a variable has a name of its own.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::flat_tree::NodeId;
use atlas_facts::Name;

/// Largest number of parts of one name around a node that are told apart.
pub const MAX_NESTED: usize = 64;

/// The names of variables by the parts of the file in which they are visible.
#[derive(Default)]
pub struct LocalNames {
    /// By plain name: sorted by their first node.
    pub parts: FxHashMap<Name, Vec<Part>>,
    /// The plain names.
    pub plain: FxHashMap<Name, Name>,
    /// Number of variables by plain name.
    pub counts: FxHashMap<Name, u32>,
}

/// The first node, and the first one after the last.
pub type Place = (NodeId, NodeId);

/// The nodes in which a variable has a name of its own.
#[derive(Clone, Copy)]
pub struct Part {
    pub first: NodeId,
    pub end: NodeId,
    pub name: Name,
    /// Whether the name matters only beside another one.
    pub is_common: bool,
    /// The part of the same plain name around this one.
    pub outer: Option<u32>,
}

impl LocalNames {
    /// Returns the innermost part of a plain name around a node.
    pub fn at(&self, name: Name, node: NodeId) -> Option<Part> {
        let parts = self.parts.get(&name)?;
        let mut at = parts.partition_point(|part| part.first <= node).checked_sub(1);
        while let Some(part) = at.map(|at| parts[at]) {
            if node < part.end {
                return Some(part);
            }
            at = part.outer.map(|outer| outer as usize);
        }
        None
    }

    /// Finds the part around each part. Parts that nest too deeply have the name of the part around them.
    pub fn nest(&mut self) {
        for (name, parts) in &mut self.parts {
            if self.counts.get(name).is_some_and(|&count| count < 2) {
                parts.retain(|part| !part.is_common);
            }
            parts.sort_by_key(|part| (part.first, Reverse(part.end)));
            let mut kept: Vec<Part> = Vec::with_capacity(parts.len());
            let mut open: Vec<u32> = Vec::new();
            for &part in parts.iter() {
                while open.last().is_some_and(|&last| kept[last as usize].end <= part.first) {
                    open.pop();
                }
                if open.len() < MAX_NESTED {
                    kept.push(Part { outer: open.last().copied(), ..part });
                    open.push(kept.len() as u32 - 1);
                }
            }
            *parts = kept;
        }
    }
}
