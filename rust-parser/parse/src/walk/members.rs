//! Definitions that hooks and expressions request: members and anonymous functions.

use crate::flat_tree::NodeId;
use crate::query::matching::{Captures, first};
use crate::query::vocabulary::{Capture, Role, TargetShape};
use crate::walk::state::Walk;
use atlas_facts::{DefId, ExprId, Kind};

/// Largest number of nested declarators around a name.
const MAX_DECLARATORS: usize = 16;

impl Walk<'_> {
    /// Returns the name inside nested declarators: `*name[3]` gives `name` where `@target.same` marks the declarators.
    pub fn named(&self, mut node: NodeId) -> NodeId {
        let language = self.language;
        for _ in 0..MAX_DECLARATORS {
            let rules = language.rules(self.tree.node(node).kind);
            let mut captures = Captures::new();
            let inner = rules.target.iter().find_map(|&number| {
                let same = language.patterns[number as usize].role == Role::Target(TargetShape::Same);
                (same && self.matches(number, node, &mut captures)).then(|| first(&captures, Capture::Inner))?
            });
            match inner {
                Some(inner) => node = inner,
                None => break,
            }
        }
        node
    }

    /// Adds a field that is declared outside of the class body (TypeScript's parameter properties).
    pub fn define_member(
        &mut self,
        class: DefId,
        name: NodeId,
        node: NodeId,
        declared: Option<ExprId>,
    ) -> Option<DefId> {
        let mut draft = self.draft(Kind::Field, node, &[(Capture::Name, name)])?;
        draft.parent = class;
        let definition = self.record(&draft);
        self.builder.facts.definitions[definition as usize].declared_type = declared;
        Some(definition)
    }

    /// Adds a member whose name does not occur literally (Ruby's accessors).
    pub fn define_named_member(
        &mut self,
        class: DefId,
        name: NodeId,
        node: NodeId,
        text: &str,
        flags: u32,
    ) -> Option<DefId> {
        let mut draft = self.draft(Kind::Field, node, &[(Capture::Name, name)])?;
        draft.parent = class;
        draft.name = text.to_owned();
        draft.flags |= flags;
        Some(self.record(&draft))
    }

    /// Returns the definition of an anonymous function, which is created at its first use as a value.
    pub fn lambda(&mut self, node: NodeId, captures: &Captures) -> Option<DefId> {
        if let Some(&(definition, _)) = self.definition_of.get(&node) {
            return Some(definition);
        }
        self.wrap_from_parent(node);
        // A block that continues a class is no function.
        let draft = self.draft(Kind::Lambda, node, captures).filter(|draft| draft.kind != Kind::Class)?;
        let definition = self.record(&draft);
        self.definition_of.insert(node, (definition, false));
        Some(definition)
    }
}
