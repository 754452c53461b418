//! Wrappers: enclosing nodes that add span, text, name, decorators or flags to a definition.

use crate::flat_tree::NodeId;
use crate::query::matching::{Captures, all, first};
use crate::query::vocabulary::{Capture, Role};
use crate::walk::state::Walk;

impl Walk<'_> {
    /// Records what a node adds to the definitions that it wraps.
    pub fn wrap(&mut self, node: NodeId, signature: bool, captures: &[(Capture, NodeId)]) {
        let around = self.wrappers.remove(&node).unwrap_or_default();
        let wrapped: Vec<NodeId> = all(captures, Capture::Wrapped).collect();
        for &inner in &wrapped {
            let mut wrapper = around.clone();
            if wrapped.len() == 1 {
                wrapper.outer = wrapper.outer.or(Some(node));
                if signature {
                    wrapper.signature = wrapper.signature.or(Some(node));
                }
            } else {
                wrapper.outer = None;
            }
            wrapper.name = first(captures, Capture::Name).or(wrapper.name);
            wrapper.decorators.extend(all(captures, Capture::Decorator));
            let (flags, private) = captured_flags(captures);
            wrapper.flags |= flags;
            wrapper.private |= private;
            self.wrappers.insert(inner, wrapper);
        }
    }

    /// Applies the wrapper of a value's parent now: an expression may be built before the walk reaches its parent.
    pub fn wrap_from_parent(&mut self, node: NodeId) {
        if self.wrappers.contains_key(&node) {
            return;
        }
        let language = self.language;
        let parent = self.tree.node(node).parent;
        for &number in &language.rules(self.tree.node(parent).kind).walk {
            let Role::Wrapper { signature } = language.patterns[number as usize].role else {
                continue;
            };
            let mut captures = Captures::new();
            if self.matches(number, parent, &mut captures) {
                self.wrap(parent, signature, &captures);
                return;
            }
        }
    }
}

/// Returns the flags that a pattern captured, and whether it captured `private`.
pub fn captured_flags(captures: &[(Capture, NodeId)]) -> (u32, bool) {
    let mut flags = 0;
    let mut private = false;
    for (capture, _) in captures {
        match capture {
            Capture::Flag(flag) => flags |= flag,
            Capture::Private => private = true,
            _ => {}
        }
    }
    (flags, private)
}
