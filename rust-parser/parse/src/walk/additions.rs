//! Calls that store an element in a container, as bindings of an element: `xs.append(x)`, `m.set("key", x)`.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::walk::drafts::BindingDraft;
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr};

/// The arguments of a call that stores something, by position.
#[derive(Clone, Copy)]
pub struct Addition {
    pub value: usize,
    /// The key, if the call names one.
    pub key: Option<usize>,
    /// The elements of the argument are stored, rather than the argument.
    pub is_spread: bool,
    /// An element with the key remains.
    pub is_default: bool,
}

impl Addition {
    pub const fn of(value: usize) -> Addition {
        Addition { value, key: None, is_spread: false, is_default: false }
    }

    pub const fn keyed(key: usize, value: usize) -> Addition {
        Addition { value, key: Some(key), is_spread: false, is_default: false }
    }

    pub const fn elements(value: usize) -> Addition {
        Addition { value, key: None, is_spread: true, is_default: false }
    }
}

impl Walk<'_> {
    /// Binds an element of a container to an argument of a call.
    pub fn add_element(&mut self, call: NodeId, base: NodeId, args: &[NodeId], addition: Addition) {
        let Some(&value) = args.get(addition.value) else { return };
        let base = self.expression(base);
        let index = addition.key.and_then(|place| args.get(place)).map_or(UNKNOWN, |&key| self.selector(key));
        let target = self.builder.expr(Expr::Index { base, index });
        let mut value = self.expression(value);
        if addition.is_spread {
            let base = self.slice_of(value, String::new());
            value = self.builder.expr(Expr::Index { base, index: UNKNOWN });
        }
        let line = self.tree.line(call);
        self.push_binding(
            target,
            BindingDraft { kind: BindingKind::Assign, value: Some(value), annotation: None, line },
        );
        if !addition.is_default {
            let replaces = self.lines_after_assignment(self.tree.node(call).parent, target);
            self.builder.facts.bindings.last_mut().expect("one was just added").replaces = replaces;
        }
    }
}
