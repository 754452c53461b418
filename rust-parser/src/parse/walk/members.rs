//! Definitions inside of others that hooks and expressions ask for: members, anonymous functions.

use crate::facts::{DefId, ExprId, Kind};
use crate::parse::flat_tree::NodeId;
use crate::parse::query::matching::{Captures, first};
use crate::parse::query::vocabulary::{Capture, Role, TargetShape};
use crate::parse::walk::state::Walk;

/// Declarators around a name that are looked through.
const MAX_DECLARATORS: usize = 16;

impl Walk<'_> {
    /// What a name is written around: `*name[3]` means `name` where `@target.same` says so.
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

    /// A field that is declared elsewhere than in the class's body (TypeScript's parameter properties).
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

    /// A member whose name is not written as such (Ruby's accessors).
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

    /// The definition of an anonymous function, made when it is first seen as a value.
    pub fn lambda(&mut self, node: NodeId, captures: &Captures) -> Option<DefId> {
        if let Some(&(definition, _)) = self.definition_of.get(&node) {
            return Some(definition);
        }
        self.wrap_from_parent(node);
        let draft = self.draft(Kind::Lambda, node, captures)?;
        let definition = self.record(&draft);
        self.definition_of.insert(node, (definition, false));
        Some(definition)
    }
}
