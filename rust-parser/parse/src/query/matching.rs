//! Matches compiled patterns against nodes of a flat tree.

use crate::flat_tree::{FlatTree, NodeId};
use crate::query::patterns::{ChildPattern, Kinds, NodePattern, Pattern};
use crate::query::vocabulary::Capture;

/// The captures of a pattern, in order of its parts and then of the source.
pub type Captures = Vec<(Capture, NodeId)>;

/// The properties of a language that matching needs besides the pattern.
pub struct Subject<'a> {
    pub tree: &'a FlatTree,
    pub source: &'a [u8],
    /// By node kind: whether it is named and not a comment.
    pub content_kinds: &'a [bool],
}

impl Subject<'_> {
    /// Matches a pattern at a node whose kind fits the pattern's root. Returns true, with the captures appended, on a
    /// match.
    pub fn matches(&self, pattern: &Pattern, node: NodeId, captures: &mut Captures) -> bool {
        let before = captures.len();
        let fits = self.node_fits(&pattern.root, node, captures)
            && pattern.predicates.iter().all(|predicate| {
                captures[before..].iter().filter(|(capture, _)| *capture == predicate.capture).all(|&(_, captured)| {
                    let text = self.text(captured);
                    let equal = predicate.values.iter().any(|value| value.as_bytes() == text);
                    equal == predicate.wanted
                })
            });
        if !fits {
            captures.truncate(before);
        }
        fits
    }

    fn text(&self, node: NodeId) -> &[u8] {
        let node = self.tree.node(node);
        &self.source[node.start as usize..node.end as usize]
    }

    fn is_content(&self, kind: u16) -> bool {
        self.content_kinds.get(kind as usize).copied().unwrap_or(true)
    }

    /// Returns whether a node matches a pattern, assuming that the caller has checked its kind.
    fn node_fits(&self, pattern: &NodePattern, node: NodeId, captures: &mut Captures) -> bool {
        if pattern.absent.iter().any(|&field| self.tree.child_by_field(node, field).is_some()) {
            return false;
        }
        pattern.children.iter().all(|child| self.child_fits(child, node, captures))
    }

    fn child_fits(&self, pattern: &ChildPattern, parent: NodeId, captures: &mut Captures) -> bool {
        let mut found = false;
        if pattern.first || pattern.last {
            let mut contents = self.tree.children(parent).filter(|&child| self.is_content(self.tree.node(child).kind));
            let candidate = match (pattern.first, pattern.last) {
                (true, true) => contents.next().filter(|_| contents.next().is_none()),
                (true, false) => contents.next(),
                _ => contents.last(),
            };
            if let Some(child) = candidate {
                found = self.one_child_fits(pattern, child, captures);
            }
        } else {
            for child in self.tree.children(parent) {
                found |= self.one_child_fits(pattern, child, captures);
            }
        }
        found || pattern.optional
    }

    fn one_child_fits(&self, pattern: &ChildPattern, child: NodeId, captures: &mut Captures) -> bool {
        let node = self.tree.node(child);
        if pattern.field.is_some_and(|field| field != node.field) {
            return false;
        }
        let before = captures.len();
        for alternative in &pattern.alternatives {
            let kind_fits = match alternative.kinds {
                Kinds::One(kind) => kind == node.kind,
                Kinds::Named => self.is_content(node.kind),
                Kinds::Any => true,
            };
            if kind_fits {
                captures.extend(pattern.captures.iter().map(|&capture| (capture, child)));
                if self.node_fits(alternative, child, captures) {
                    return true;
                }
                captures.truncate(before);
            }
        }
        false
    }
}

/// Returns the first node captured as `wanted`.
pub fn first(captures: &[(Capture, NodeId)], wanted: Capture) -> Option<NodeId> {
    captures.iter().find(|(capture, _)| *capture == wanted).map(|&(_, node)| node)
}

/// Returns all nodes captured as `wanted`, in source order.
pub fn all(captures: &[(Capture, NodeId)], wanted: Capture) -> impl DoubleEndedIterator<Item = NodeId> {
    captures.iter().filter(move |(capture, _)| *capture == wanted).map(|&(_, node)| node)
}
