//! What a language may say in Rust where patterns cannot: forms of imports, conventions of names, documentation inside.

use std::borrow::Cow;

use crate::facts::{ExprId, Kind};
use crate::parse::deadline::Deadline;
use crate::parse::facts_builder::FactsBuilder;
use crate::parse::flat_tree::NodeId;
use crate::parse::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::parse::walk::state::Walk;

/// Hooks of one language; every method has a default that does nothing.
pub trait LanguageHooks: Sync {
    /// Decide the language of a file whose extension is shared, by its content (`.h`).
    fn language_of_content(&self, _path: &str, _data: &[u8]) -> Option<&'static str> {
        None
    }

    /// The text that the grammar reads, of the same length: what it cannot read is blank.
    fn readable<'a>(&self, source: &'a [u8]) -> Cow<'a, [u8]> {
        Cow::Borrowed(source)
    }

    /// Whether `Walk::is_local` is asked.
    fn needs_locals(&self) -> bool {
        false
    }

    /// Whether a second definition of this kind and name is more of the first (namespaces that files declare always are).
    fn reopens(&self, _kind: Kind) -> bool {
        false
    }

    /// Read a whole file of a language without a grammar.
    fn read(&self, _builder: &mut FactsBuilder, _source: &[u8], _deadline: Deadline) {}

    /// Once, before the walk; the declared package goes to `walk.builder.facts.module`.
    fn begin(&self, _walk: &mut Walk) {}

    /// A node with the role `@import`. True: it is an import and nothing else.
    fn import(&self, _walk: &mut Walk, _node: NodeId) -> bool {
        false
    }

    /// A node with the role `@hook`.
    fn hook(&self, _walk: &mut Walk, _node: NodeId) {}

    /// A node with the role `@target.hook`.
    fn target(&self, _walk: &mut Walk, _node: NodeId, _binding: BindingDraft) {}

    /// Adjust a definition before it is recorded. False drops it.
    fn define(&self, _walk: &mut Walk, _draft: &mut DefinitionDraft) -> bool {
        true
    }

    /// The first parameter of this function stands for the object (`Some(false)`) or the class (`Some(true)`).
    fn receiver(&self, _walk: &Walk, _draft: &DefinitionDraft) -> Option<bool> {
        None
    }

    /// A type written as text (`@type.text`).
    fn type_text(&self, _walk: &mut Walk, _node: NodeId) -> ExprId {
        0
    }

    /// An expression that patterns take for a name or call but that means something else (`self.__class__`).
    fn expression(&self, _walk: &mut Walk, _node: NodeId) -> Option<ExprId> {
        None
    }

    /// The node of the docstring inside a body, for the doc style `first-string`.
    fn docstring(&self, _walk: &Walk, _body: NodeId) -> Option<NodeId> {
        None
    }

    /// Once, after the walk.
    fn end(&self, _walk: &mut Walk) {}
}
