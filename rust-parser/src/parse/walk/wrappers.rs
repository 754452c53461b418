//! What the nodes around a definition add to it: span, text, name, decorators, flags.

use crate::parse::flat_tree::NodeId;
use crate::parse::query::matching::{Captures, all, first};
use crate::parse::query::vocabulary::{Capture, Role};
use crate::parse::walk::Walk;

/// What the nodes around a definition add to it.
#[derive(Debug, Clone, Default)]
pub struct Wrap {
    pub outer: Option<NodeId>,
    pub signature: Option<NodeId>,
    /// Name given to a function or class that is a value.
    pub name: Option<NodeId>,
    pub decorators: Vec<NodeId>,
    pub flags: u32,
    pub private: bool,
}

impl Walk<'_> {
    /// Remember what a node adds to the definitions it wraps.
    pub fn wrap(&mut self, node: NodeId, signature: bool, captures: &[(Capture, NodeId)]) {
        let around = self.wraps.remove(&node).unwrap_or_default();
        let wrapped: Vec<NodeId> = all(captures, Capture::Wrapped).collect();
        for &inner in &wrapped {
            let mut wrap = around.clone();
            if wrapped.len() == 1 {
                wrap.outer = wrap.outer.or(Some(node));
                if signature {
                    wrap.signature = wrap.signature.or(Some(node));
                }
            } else {
                wrap.outer = None;
            }
            wrap.name = first(captures, Capture::Name).or(wrap.name);
            wrap.decorators.extend(all(captures, Capture::Decorator));
            let (flags, private) = captured_flags(captures);
            wrap.flags |= flags;
            wrap.private |= private;
            self.wraps.insert(inner, wrap);
        }
    }

    /// A value may be seen before its parent is visited; what the parent says about it must be known.
    pub fn wrap_from_parent(&mut self, node: NodeId) {
        if self.wraps.contains_key(&node) {
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

/// The flags that a pattern captured, and whether it says `private`.
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
