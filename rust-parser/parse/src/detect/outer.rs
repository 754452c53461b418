//! The paths of the matches around a match, which are prefixes of its own: scopes that contain it, and routers that the
//! chain of calls creates on which it is called.

use crate::detect::draft::Draft;
use crate::detect::rules::RuleKind;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::route_path::join;

/// Largest number of scopes and of routers of a file whose paths are prefixes of others.
const MAX_OUTER: usize = 1000;

/// The matches in which others can lie.
pub(super) struct Outer<'d, 'r> {
    scopes: Vec<&'d Draft<'r>>,
    routers: Vec<&'d Draft<'r>>,
}

impl<'d, 'r> Outer<'d, 'r> {
    pub fn of(drafts: &'d [Draft<'r>]) -> Self {
        let of_kind =
            |kind| drafts.iter().filter(|draft| draft.rule.settings.kind == kind).take(MAX_OUTER).collect::<Vec<_>>();
        Outer { scopes: of_kind(RuleKind::Scope), routers: of_kind(RuleKind::Router) }
    }

    /// Returns the prefix of a match, and whether a router is part of it.
    pub fn prefix_of(&self, walk: &Walk, draft: &Draft) -> (String, bool) {
        let mut prefix = String::new();
        for scope in self.scopes.iter().filter(|scope| is_around(scope, draft)) {
            prefix = join(&prefix, scope.paths.first().map_or("", String::as_str));
        }
        let mut is_prefixed = false;
        if let Some(receiver) = draft.receiver {
            for inner in self.routers.iter().filter(|inner| is_in_chain(walk, inner, draft, receiver)) {
                prefix = join(&prefix, inner.paths.first().map_or("", String::as_str));
                is_prefixed = true;
            }
        }
        (prefix, is_prefixed)
    }
}

/// Returns whether a scope contains another match of the same framework.
fn is_around(outer: &Draft, inner: &Draft) -> bool {
    outer.node != inner.node
        && outer.rule.framework == inner.rule.framework
        && outer.within.0 <= inner.node
        && inner.node < outer.within.1
}

/// Returns whether a router is created within the chain of calls that is a receiver: `r.Group("/v1").GET(...)`.
fn is_in_chain(walk: &Walk, inner: &Draft, draft: &Draft, receiver: NodeId) -> bool {
    inner.rule.framework == draft.rule.framework
        && inner.node != draft.node
        && receiver <= inner.node
        && inner.node < walk.tree.node(receiver).next
        && walk.tree.node(inner.node).start == walk.tree.node(receiver).start
}
