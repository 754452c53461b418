//! Records variables as constants and fields, where their scope or the language makes them definitions.

use crate::flat_tree::NodeId;
use crate::query::matching::{Captures, all, first};
use crate::query::vocabulary::Capture;
use crate::walk::definitions::holds_members;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Kind, Name};

impl Walk<'_> {
    /// Records a match of `@definition.variable`: each `@name` is a constant or field, unless it already exists.
    pub fn define_variables(&mut self, node: NodeId, captures: &[(Capture, NodeId)]) {
        let kind = match self.kind_of(self.scope()) {
            Kind::Module | Kind::Namespace => Some(Kind::Constant),
            parent if holds_members(parent) => Some(Kind::Field),
            _ => None,
        };
        let Some(kind) = self.language.hooks.variable(self, node, kind) else { return };
        // A function or class assigned to a name is itself the definition.
        if first(captures, Capture::Value).is_some_and(|value| self.wrappers.contains_key(&value)) {
            return;
        }
        for name in all(captures, Capture::Name) {
            let mut parts: Captures = captures.to_vec();
            parts.retain(|&(capture, captured)| capture != Capture::Name || captured == name);
            let text = self.name_of(self.named(name));
            let prefix = self.member_prefix(self.scope());
            let is_known = self.name_counts.contains_key(&(prefix, text));
            if is_known && !self.is_type_only(self.scope(), text) {
                continue;
            }
            if let Some(draft) = self.draft(kind, node, &parts) {
                let definition = self.record(&draft);
                if is_known {
                    // Members of the value have the plain name in their path.
                    let path = self.joined(prefix, &draft.name);
                    self.member_prefixes.insert(definition, path);
                }
                self.definition_of.insert(node, (definition, true));
                self.open_value(definition, &draft);
            }
        }
    }

    /// Returns whether all definitions of a name in a scope are types, beside which a value may have the name.
    fn is_type_only(&self, scope: DefId, name: Name) -> bool {
        let definitions = self.builder.facts.definitions.iter().skip(1);
        let mut named = definitions.filter(|known| known.parent == scope && known.name == name);
        self.language.hooks.separates_types()
            && named.all(|known| matches!(known.kind, Kind::Interface | Kind::TypeAlias))
    }
}
