//! Hooks: code of a language for what patterns cannot express, such as forms of imports, naming conventions and
//! documentation inside bodies.

use std::borrow::Cow;

use crate::facts_builder::FactsBuilder;
use crate::flat_tree::NodeId;
use crate::rewriting::Edit;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{ExprId, Kind};
use atlas_languages::Settings;
use atlas_languages::deadline::Deadline;

/// The hooks of one language. Every method has a default that does nothing.
pub trait LanguageHooks: Sync {
    /// Returns the language of a file by its content, for extensions that languages share (`.h`).
    fn language_of_content(&self, _path: &str, _data: &[u8]) -> Option<&'static str> {
        None
    }

    /// Returns the text for the grammar, with blanks for what it cannot parse. The length does not change.
    fn readable<'a>(&self, source: &'a [u8]) -> Cow<'a, [u8]> {
        Cow::Borrowed(source)
    }

    /// Returns edits of the text for the grammar, in order, which may change its length. They are made in what `readable`
    /// and `alternatives` return.
    fn edits(&self, _settings: &Settings, _source: &[u8]) -> Vec<Edit> {
        Vec::new()
    }

    /// Returns other texts of the same length for the grammar, for a file whose `readable` text leaves errors. The tree
    /// with the fewest errors is used.
    fn alternatives(&self, _source: &[u8], _readable: &[u8]) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Returns whether the hooks call `Walk::is_local`, which needs the local variables to be tracked.
    fn needs_locals(&self) -> bool {
        false
    }

    /// Returns whether a second definition of this kind and name extends the first. Declared namespaces always do.
    fn reopens(&self, _kind: Kind) -> bool {
        false
    }

    /// Reads a whole file of a language without a grammar.
    fn read(&self, _settings: &Settings, _builder: &mut FactsBuilder, _source: &[u8], _deadline: Deadline) {}

    /// Returns the language of the code in a document, and the edits that leave this code.
    fn code(&self, _source: &[u8]) -> Option<(String, Vec<Edit>)> {
        None
    }

    /// Called once before the walk. Stores the declared package in `walk.builder.facts.module`.
    fn begin(&self, _walk: &mut Walk) {}

    /// Called for a node with the role `@import`. Returns true if it is an import, which excludes other roles.
    fn import(&self, _walk: &mut Walk, _node: NodeId) -> bool {
        false
    }

    /// Called for a node with the role `@hook`.
    fn hook(&self, _walk: &mut Walk, _node: NodeId) {}

    /// Called for a node with the role `@target.hook`.
    fn target(&self, _walk: &mut Walk, _node: NodeId, _binding: BindingDraft) {}

    /// Adjusts a definition before it is recorded. Returns false to drop it.
    fn define(&self, _walk: &mut Walk, _draft: &mut DefinitionDraft) -> bool {
        true
    }

    /// Returns the kind of a variable that a node declares, given the kind by its scope: `None` for local variables.
    fn variable(&self, _walk: &Walk, _node: NodeId, kind: Option<Kind>) -> Option<Kind> {
        kind
    }

    /// Returns the key that selects the value of an item in a pattern: `['key' => $item] = $values`.
    fn item_key(&self, _walk: &Walk, _item: NodeId) -> Option<NodeId> {
        None
    }

    /// Returns the type of a declared value, given what its annotation says.
    fn value_type(&self, _walk: &mut Walk, _draft: &DefinitionDraft, annotation: ExprId) -> ExprId {
        annotation
    }

    /// Returns whether anonymous functions are left out of the paths of the definitions inside them.
    fn skips_anonymous(&self) -> bool {
        false
    }

    /// Returns whether a type and a value may have the same name.
    fn separates_types(&self) -> bool {
        false
    }

    /// Returns whether the first parameter of a function is the object (`Some(false)`) or the class (`Some(true)`).
    fn receiver(&self, _walk: &Walk, _draft: &DefinitionDraft) -> Option<bool> {
        None
    }

    /// Returns whether default values of parameters are evaluated once, where the function is defined.
    fn defaults_run_outside(&self) -> bool {
        false
    }

    /// Returns the expression of a type written as text (`@type.text`).
    fn type_text(&self, _walk: &mut Walk, _node: NodeId) -> ExprId {
        0
    }

    /// Returns the expression of a node that patterns would misread as a name or call (`self.__class__`).
    fn expression(&self, _walk: &mut Walk, _node: NodeId) -> Option<ExprId> {
        None
    }

    /// Returns the docstring's node inside a body, for the doc style `first-string`.
    fn docstring(&self, _walk: &Walk, _body: NodeId) -> Option<NodeId> {
        None
    }

    /// Returns the node of a definition's documentation, for the doc style `first-string`.
    fn documentation(&self, walk: &Walk, draft: &DefinitionDraft) -> Option<NodeId> {
        draft.body.and_then(|body| self.docstring(walk, body))
    }

    /// Called once after the walk.
    fn end(&self, _walk: &mut Walk) {}
}
