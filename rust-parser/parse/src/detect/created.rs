//! Handlers that a later call gives to what a rule found: `p = commands.add_parser("x")`, then `p.set_defaults(func=f)`.

use crate::detect::draft::Draft;
use crate::walk::state::Walk;
use atlas_facts::Handler;

/// The name of an event that stands for those of the receiver.
pub const CREATED: &str = "$created";

/// Largest number of matches among which that of a later call is looked for.
const MAX_BEFORE: usize = 1000;

impl Walk<'_> {
    /// Gives the handlers of later calls to the matches whose results are their receivers.
    pub(super) fn with_created<'r>(&self, drafts: Vec<Draft<'r>>) -> Vec<Draft<'r>> {
        let is_later = |draft: &Draft| draft.paths.first().is_some_and(|name| name == CREATED);
        let (later, mut found): (Vec<Draft>, Vec<Draft>) = drafts.into_iter().partition(is_later);
        for given in later {
            let Some(receiver) = given.receiver.map(|node| self.bytes_of(node)) else { continue };
            let created = found.iter_mut().rev().take(MAX_BEFORE).find(|draft| {
                let holder = self.holder(draft.node, draft.scope).1;
                draft.scope == given.scope
                    && draft.node < given.node
                    && draft.rule.framework == given.rule.framework
                    && holder.is_some_and(|name| self.bytes_of(name) == receiver)
            });
            if let (Some(created), Some(handling)) = (created, given.handlers.first())
                && handling.1 != Handler::None
            {
                created.handlers.clone_from(&given.handlers);
            }
        }
        found
    }
}
