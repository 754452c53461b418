//! Matches the queries of the active rules during the walk. What a match means is decided after the walk, when all
//! definitions are known.

use crate::detect::detecting::Candidate;
use crate::detect::names::has_name;
use crate::detect::rules::RuleKind;
use crate::flat_tree::NodeId;
use crate::query::matching::{Captures, Subject, all};
use crate::query::vocabulary::Capture;
use crate::walk::state::Walk;

/// Largest number of matches of a file.
const MAX_CANDIDATES: usize = 20_000;

impl Walk<'_> {
    /// Matches the active rules at a node.
    pub fn detect(&mut self, node: NodeId) {
        let Some(mut detecting) = self.detecting.take() else { return };
        let scope = self.scope();
        let subject = Subject { tree: self.tree, source: self.source, content_kinds: &self.language.content_kinds };
        for &number in detecting.rules.by_kind.get(&self.tree.node(node).kind).into_iter().flatten() {
            if !detecting.active[number as usize] || detecting.candidates.len() >= MAX_CANDIDATES {
                continue;
            }
            let rule = &detecting.rules.rules[number as usize];
            let mut captures = Captures::new();
            if !subject.matches(&rule.pattern, node, &mut captures) {
                continue;
            }
            let names = &rule.settings.names;
            let is_named = |name| has_name(names, self.bytes_of(name));
            if !names.is_empty() && !all(&captures, Capture::Name).any(is_named) {
                continue;
            }
            // An injected argument is the default value of a parameter: the function receives it.
            let scope = match rule.settings.kind {
                RuleKind::Injects => self.scope_with_head(),
                _ => scope,
            };
            detecting.candidates.push(Candidate { rule: number, node, scope, captures });
        }
        self.detecting = Some(detecting);
    }
}
