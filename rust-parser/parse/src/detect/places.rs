//! Places around a match: the definition that a decorator or annotation describes, the variable that keeps the result
//! of a chain of calls, the calls around and inside a chain.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Kind};

/// Largest number of levels between an annotation and its definition.
const MAX_LEVELS: u32 = 6;

impl Walk<'_> {
    /// Returns the function or class at a node, and the node.
    fn definition_at(&self, node: NodeId) -> Option<(DefId, NodeId)> {
        let &(definition, _) = self.definition_of.get(&node)?;
        let is_value = matches!(self.kind_of(definition), Kind::Constant | Kind::Field | Kind::Module);
        (!is_value).then_some((definition, node))
    }

    /// Returns the definition that a decorator, annotation or attribute describes, and its node.
    pub(super) fn annotated_definition(&self, node: NodeId) -> Option<(DefId, NodeId)> {
        let mut here = node;
        for _ in 0..MAX_LEVELS {
            let parent = self.tree.node(here).parent;
            if parent == 0 && self.tree.node(here).start == 0 && here == 0 {
                return None;
            }
            if parent != 0
                && let Some(found) = self.definition_at(parent)
            {
                return Some(found);
            }
            for sibling in self.contents_after(parent, here) {
                if let Some(found) = self.definition_at(sibling) {
                    return Some(found);
                }
                let kind = self.kind_name(sibling);
                if !(kind.contains("decorator") || kind.contains("attribute") || kind.contains("modifier")) {
                    // `export class` and similar statements wrap the definition.
                    if let Some(found) = self.contents(sibling).find_map(|inner| self.definition_at(inner)) {
                        return Some(found);
                    }
                    break;
                }
            }
            if parent == 0 {
                return None;
            }
            here = parent;
        }
        None
    }

    /// Returns the function or class that a definition node inside arguments is: an anonymous function or a method.
    pub(super) fn definition_of_node(&self, node: NodeId) -> Option<DefId> {
        self.definition_at(node).map(|(definition, _)| definition)
    }

    /// Returns where the value of a node is kept: the scope and the name node of a variable, or only the scope.
    pub(super) fn holder(&self, node: NodeId, scope: DefId) -> (DefId, Option<NodeId>) {
        let mut here = node;
        while here != 0 {
            let parent = self.tree.node(here).parent;
            if [here, parent].into_iter().any(|node| self.definition_at(node).is_some()) {
                break;
            }
            let target = ["left", "name", "pattern"].into_iter().find_map(|field| self.child(parent, field));
            if let Some(target) = target
                && target < here
                && self.contents(parent).last() == Some(here)
                && self.kind_name(parent) != "call_expression"
            {
                let target = match self.kind_name(target) {
                    "expression_list" => self.contents(target).next().unwrap_or(target),
                    _ => target,
                };
                return (scope, Some(target));
            }
            here = parent;
        }
        (scope, None)
    }

    /// Returns the object of a chain of calls: `a` of `a.b(x).c(y)`. Stops before the first object if it is a call of a
    /// plain function.
    pub(super) fn chain_base(&self, mut node: NodeId) -> NodeId {
        loop {
            let kind = self.kind_name(node);
            let inner = if kind.contains("await") || kind.starts_with("parenthesized") || kind == "try_expression" {
                self.contents(node).next()
            } else if kind.contains("call") || kind.contains("invocation") {
                let callee = self.child(node, "function").or_else(|| self.child(node, "object"));
                match callee {
                    Some(callee) if self.child(node, "object").is_some() => Some(callee),
                    Some(callee) => self.object_of(callee),
                    None => self.child(node, "receiver"),
                }
            } else {
                None
            };
            match inner {
                Some(inner) => node = inner,
                None => return node,
            }
        }
    }

    /// Returns the last call of the chain that begins with a node: `a(x).b(y).c(z)` of `a(x)`.
    pub(super) fn chain_around(&self, node: NodeId) -> NodeId {
        let mut here = node;
        while let Some((call, ..)) = self.call_around(here) {
            here = call;
        }
        here
    }

    /// Returns the object of an attribute expression.
    pub(super) fn object_of(&self, node: NodeId) -> Option<NodeId> {
        ["object", "operand", "value", "expression", "argument"].into_iter().find_map(|field| self.child(node, field))
    }

    /// Returns the name and the arguments of the call of a method on this node, as in `node.name(arguments)`.
    pub(super) fn call_around(&self, node: NodeId) -> Option<(NodeId, String, Option<NodeId>)> {
        let access = self.tree.node(node).parent;
        if self.object_of(access) != Some(node) && self.child(access, "receiver") != Some(node) {
            return None;
        }
        // In some grammars the call itself has the object and the name.
        let has_list = self.child(access, "arguments").is_some();
        let call = if has_list { access } else { self.tree.node(access).parent };
        let name = ["property", "field", "attribute", "name", "method"]
            .into_iter()
            .find_map(|field| self.child(access, field))?;
        Some((call, self.text_of(name).into_owned(), self.child(call, "arguments")))
    }
}
