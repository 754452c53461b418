//! Scopes that appear only in a definition's name: the type to which a method is added from outside (`void A::B::f()`),
//! and the namespace of a class (`class A::B`). Default values that belong to the scope around their function.

use std::cmp::Reverse;

use crate::doc_text;
use crate::flat_tree::NodeId;
use crate::walk::drafts::DefinitionDraft;
use crate::walk::signatures::MAX_SIGNATURE;
use crate::walk::state::{Scope, Walk};
use atlas_facts::{DefId, Expr, ExprId, Kind, ScopeRule};

impl Walk<'_> {
    /// Opens the extension around a definition that stands outside of its type (`func (s *Server) Run`,
    /// `void A::B::f()`).
    pub(crate) fn open_extension(&mut self, node: NodeId, extended: &[NodeId], body: Option<NodeId>) {
        let name = extended.iter().map(|&part| self.extended_name(part)).collect::<Vec<_>>().join(".");
        let definition = self.open_enclosing(Kind::Extension, node, extended[0], name, body);
        if extended.len() > 1 {
            let name = self.builder.facts.definitions[definition as usize].name;
            let name = self.builder.text(name).to_owned();
            let base = self.builder.dotted(&name);
            self.builder.facts.definitions[definition as usize].bases = vec![base];
        }
    }

    /// Records and opens a scope around the definition at a node: the extended type, or the namespace in its name.
    pub fn open_enclosing(
        &mut self,
        kind: Kind,
        node: NodeId,
        name_node: NodeId,
        name: String,
        body: Option<NodeId>,
    ) -> DefId {
        let draft = DefinitionDraft {
            node,
            kind,
            name,
            name_node: Some(name_node),
            parent: self.scope(),
            flags: 0,
            private: false,
            body,
            parameters: None,
            receiver: None,
            decorators: Vec::new(),
            bases: if kind == Kind::Extension { vec![name_node] } else { Vec::new() },
            declared: None,
            wrapper: self.wrappers.get(&node).cloned().unwrap_or_default(),
        };
        let definition = self.reopened(&draft).unwrap_or_else(|| self.record(&draft));
        self.open(definition, &draft);
        definition
    }

    /// Opens the scope around the innermost definition again while its default values are visited.
    pub fn leave_head(&mut self, node: NodeId) {
        if self.outside.peek() != Some(&Reverse(node)) {
            return;
        }
        self.outside.pop();
        let definition = self.builder.facts.definitions[self.scope() as usize].parent;
        let end = self.tree.node(node).next;
        self.scopes.push(Scope { definition, end, receiver: None, parameters: Vec::new() });
    }

    /// Returns the innermost scope, which is the function itself in the default values of its parameters.
    pub fn scope_with_head(&self) -> DefId {
        let inner = self.scope();
        let below = self.scopes.iter().rev().nth(1).map_or(0, |scope| scope.definition);
        let is_outside = below != 0 && self.builder.facts.definitions[below as usize].parent == inner;
        if is_outside { below } else { inner }
    }

    /// Returns the expression of a default value, which belongs to the scope around the function in languages that
    /// evaluate it there.
    pub(crate) fn default_value(&mut self, node: NodeId) -> ExprId {
        if !self.language.hooks.defaults_run_outside() {
            self.read(node);
            return self.expression(node);
        }
        let own = self.scopes.pop();
        self.read(node);
        let expr = self.expression(node);
        self.scopes.extend(own);
        self.outside.push(Reverse(node));
        expr
    }

    /// Returns whether a second definition of this kind and name in a scope extends the first.
    pub(crate) fn reopens(&self, kind: Kind) -> bool {
        let is_shared = kind == Kind::Namespace && self.language.scope_rule == ScopeRule::Declared;
        is_shared || self.language.hooks.reopens(kind)
    }

    /// Returns the definition that a draft extends.
    pub(crate) fn reopened(&mut self, draft: &DefinitionDraft) -> Option<DefId> {
        if draft.name.is_empty() || !self.reopens(draft.kind) {
            return None;
        }
        let name = self.builder.owned_name(draft.name.clone());
        self.reopenable.get(&(draft.parent, name, draft.kind)).copied()
    }

    /// Returns the dotted name of a type without its arguments, or its text.
    pub(crate) fn extended_name(&mut self, node: NodeId) -> String {
        let expr = self.type_expression(node);
        match self.dotted_name(expr) {
            Some(name) => name,
            None => doc_text::fold(&self.text_of(node), MAX_SIGNATURE),
        }
    }

    fn dotted_name(&self, expr: ExprId) -> Option<String> {
        match *self.builder.get(expr) {
            Expr::Name(name) | Expr::Scope(name) => Some(self.builder.text(name).to_owned()),
            Expr::Attribute { base, name } => Some(format!("{}.{}", self.dotted_name(base)?, self.builder.text(name))),
            Expr::Generic { base, .. } => self.dotted_name(base),
            _ => None,
        }
    }
}
