//! Texts that a function puts into a local variable before it uses it: `const url = "/users/" + id; fetch(url)`.

use rustc_hash::FxHashMap;

use crate::detect::text::is_string;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;

/// Largest number of assignments of one name that are kept.
const MAX_ASSIGNED: usize = 200;
/// Largest number of texts that are read inside of one another.
const MAX_NESTED: u32 = 3;

impl Walk<'_> {
    /// Returns the texts that the last assignment before a use, in the same function, gives a name.
    pub(super) fn local_texts(&self, node: NodeId, name: &str, depth: u32) -> Vec<String> {
        let values = self.assigned_texts.get_or_init(|| self.texts_by_name());
        let around = self.function_around(node);
        let mut before =
            values.get(name).into_iter().flatten().copied().filter(|&value| self.tree.node(value).next <= node);
        let Some(value) = before.rfind(|&value| self.function_around(value) == around) else { return Vec::new() };
        let mut found = Vec::new();
        self.nested(|| self.add_strings(value, &mut found, depth + 1));
        found
    }

    /// Reads a text inside of another one, unless too many are around it: each begins to count depth anew.
    pub(super) fn nested(&self, read: impl FnOnce()) {
        let depth = self.text_depth.get();
        if depth < MAX_NESTED {
            self.text_depth.set(depth + 1);
            read();
            self.text_depth.set(depth);
        }
    }

    fn texts_by_name(&self) -> FxHashMap<String, Vec<NodeId>> {
        let mut found: FxHashMap<String, Vec<NodeId>> = FxHashMap::default();
        let kinds = self.nodes_by_kind(|kind| {
            let is_text = is_string(kind) || kind.contains("binary");
            let is_call = kind.contains("call") || kind.contains("invocation");
            (is_text || is_call).then_some(is_text)
        });
        for (value, is_text) in kinds {
            let (mut here, mut parent) = (value, self.tree.node(value).parent);
            while parent != 0 && self.kind_name(parent).ends_with("expression_list") {
                (here, parent) = (parent, self.tree.node(parent).parent);
            }
            if self.kind_name(parent).contains("binary") {
                continue;
            }
            let target = ["left", "name", "pattern"].into_iter().find_map(|field| self.child(parent, field));
            if let Some(target) = target.filter(|&target| target < here)
                && self.contents(parent).last() == Some(here)
                && (is_text || self.makes_text(value))
            {
                let values = found.entry(self.text_of(target).into_owned()).or_default();
                if values.len() < MAX_ASSIGNED {
                    values.push(value);
                }
            }
        }
        found
    }

    /// Returns the nodes whose kind has a value, with it. The names of kinds are read once each.
    pub(super) fn nodes_by_kind<T: Copy>(
        &self,
        value_of: impl Fn(&str) -> Option<T>,
    ) -> impl Iterator<Item = (NodeId, T)> {
        let mut known: FxHashMap<u16, Option<T>> = FxHashMap::default();
        (1..self.tree.len()).filter_map(move |node| {
            let kind = self.tree.node(node).kind;
            let value = *known.entry(kind).or_insert_with(|| value_of(self.kind_name(node)));
            Some((node, value?))
        })
    }

    /// Returns the innermost function around a node, 0 for none.
    pub(super) fn function_around(&self, node: NodeId) -> NodeId {
        let mut here = self.tree.node(node).parent;
        while here != 0 {
            let kind = self.kind_name(here);
            let is_function =
                ["function", "method", "lambda", "closure", "func_literal"].iter().any(|part| kind.contains(part));
            if is_function && !kind.contains("call") && !kind.contains("invocation") && !kind.contains("type") {
                return here;
            }
            here = self.tree.node(here).parent;
        }
        0
    }
}
