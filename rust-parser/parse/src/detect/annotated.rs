//! What the definition beside an annotation says: its class as a router, its result, its other annotations.

use crate::detect::rules::{RuleKind, RuleSettings};
use crate::flat_tree::NodeId;
use crate::walk::definitions::holds_members;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Expr, Handler, Kind};

/// The slot that stands for the type of the annotated function's result.
pub const RESULT: &str = "$result";

impl Walk<'_> {
    /// Returns the router that an annotated function is, or to which it belongs.
    pub(super) fn owner_of(
        &self,
        settings: &RuleSettings,
        receiver: Option<NodeId>,
        annotated: Option<(DefId, NodeId)>,
    ) -> Option<DefId> {
        let (definition, _) = annotated.filter(|_| receiver.is_none())?;
        if settings.owner == "class" {
            let class = self.builder.facts.definitions[definition as usize].parent;
            return holds_members(self.kind_of(class)).then_some(class);
        }
        (settings.kind == RuleKind::Route && self.kind_of(definition) == Kind::Function).then_some(definition)
    }

    /// Returns the type that a function returns, of `Class<T>` the `T`.
    pub(super) fn result_type(&self, definition: DefId) -> Option<Handler> {
        let mut declared = self.builder.facts.definitions[definition as usize].declared_type?;
        if let Expr::Generic { base, ref args } = *self.builder.get(declared) {
            let is_class = matches!(*self.builder.get(base), Expr::Name(name) if self.builder.text(name) == "Class");
            declared = if is_class { *args.first()? } else { base };
        }
        Some(Handler::Expr(declared))
    }

    /// Returns whether the head of a definition has one of the annotations.
    pub(super) fn has_annotation(&self, place: NodeId, names: &[String]) -> bool {
        if names.is_empty() {
            return false;
        }
        let node = self.tree.node(place);
        let end = self.child(place, "name").map_or(node.end, |name| self.tree.node(name).start);
        let head = String::from_utf8_lossy(&self.source[node.start as usize..end as usize]);
        let mut annotations = head.split('@').skip(1).map(|text| {
            let end =
                text.find(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '_' | '.'))).unwrap_or(text.len());
            text[..end].rsplit('.').next().unwrap_or_default()
        });
        annotations.any(|annotation| names.iter().any(|name| name == annotation))
    }
}
