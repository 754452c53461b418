//! Texts that a function puts into a local variable before it uses it: `const url = "/users/" + id; fetch(url)`.

use rustc_hash::FxHashMap;

use crate::detect::templates::combined;
use crate::detect::text::is_string;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;

/// Largest number of assignments of one name that are kept.
const MAX_ASSIGNED: usize = 200;
/// Largest number of texts that are read inside of one another.
const MAX_NESTED: u32 = 3;

/// Names of the object whose method is running.
const OWN: [&str; 2] = ["this", "self"];
/// Kinds of expressions that choose one of two values, and of those that read a member.
const CHOICES: [&str; 2] = ["ternary_expression", "conditional_expression"];
const MEMBERS: [&str; 3] = ["member_expression", "attribute", "field_access"];

impl Walk<'_> {
    /// Returns the texts that the last assignment before a use, in the same function, gives a name.
    pub(super) fn local_texts(&self, node: NodeId, name: &str, depth: u32) -> Vec<String> {
        let values = self.assigned_texts.get_or_init(|| self.texts_by_name());
        let around = self.function_around(node);
        let before = values.get(name).into_iter().flatten().copied();
        let before: Vec<NodeId> = before
            .filter(|&value| self.tree.node(value).next <= node && self.function_around(value) == around)
            .collect();
        // what `url += "?page=1"` appends stands behind what the name was given before
        let Some(first) = before.iter().rposition(|&value| !self.is_appended(value)) else { return Vec::new() };
        let mut joined = vec![String::new()];
        for &value in &before[first..] {
            let mut found = Vec::new();
            self.nested(|| self.add_strings(value, &mut found, depth + 1));
            joined = combined(&joined, &found, |before, text| format!("{before}{text}"));
        }
        joined
    }

    /// Returns the text that the class around a node, or else its base in this file, gives a field: `this.url` of
    /// `url = base + "/users"`.
    pub(super) fn field_texts(&self, node: NodeId, text: &str, depth: u32) -> Vec<String> {
        let Some((_, name)) = text.split_once('.').filter(|(own, _)| OWN.contains(own)) else { return Vec::new() };
        let values = self.assigned_texts.get_or_init(|| self.texts_by_name());
        let Some(class) = self.class_around(node) else { return Vec::new() };
        let in_body = values.get(name).into_iter().flatten().filter(|&&value| self.function_around(value) == 0);
        let in_methods = values.get(text).into_iter().flatten();
        let given: Vec<(NodeId, NodeId)> =
            in_body.chain(in_methods).filter_map(|&value| Some((self.class_around(value)?, value))).collect();
        let mut meant: Vec<NodeId> =
            given.iter().filter(|&&(around, _)| around == class).map(|&(_, value)| value).collect();
        if meant.is_empty() {
            let is_base = |around: NodeId| {
                let base = self.child(around, "name").map(|name| self.text_of(name).into_owned());
                base.is_some_and(|base| self.is_in_class(node, &[base]))
            };
            meant = given.iter().filter(|&&(around, _)| is_base(around)).map(|&(_, value)| value).collect();
        }
        let mut found = Vec::new();
        if let [value] = meant[..] {
            self.nested(|| self.add_strings(value, &mut found, depth + 1));
        }
        found
    }

    /// Returns whether a name is set to one of some paths of names, in a function around or in the file.
    pub(super) fn holds_any(&self, node: NodeId, texts: &[String]) -> bool {
        let held = self.held_paths.get_or_init(|| self.paths_by_name());
        let paths = held.get(self.text_of(node).as_ref()).into_iter().flatten();
        paths.filter(|(text, _)| texts.contains(text)).any(|&(_, place)| {
            let around = self.function_around(place);
            let mut here = node;
            while here != around && here != 0 {
                here = self.function_around(here);
            }
            here == around
        })
    }

    fn paths_by_name(&self) -> FxHashMap<String, Vec<(String, NodeId)>> {
        let mut found: FxHashMap<String, Vec<(String, NodeId)>> = FxHashMap::default();
        let mut add = |name: String, path: String, place: NodeId| {
            let paths = found.entry(name).or_default();
            if paths.len() < MAX_ASSIGNED {
                paths.push((path, place));
            }
        };
        let kinds = self.nodes_by_kind(|kind| {
            let is_pattern = kind == "object_pattern";
            (is_pattern || MEMBERS.contains(&kind)).then_some(is_pattern)
        });
        for (node, is_pattern) in kinds {
            let parent = self.tree.node(node).parent;
            let target = ["left", "name", "pattern"].into_iter().find_map(|one| self.child(parent, one));
            match self.child(parent, "value").or_else(|| self.child(parent, "right")) {
                Some(value) if is_pattern && target == Some(node) => {
                    for key in self.pattern_keys(node) {
                        let path = format!("{}.{key}", self.text_of(value));
                        add(key, path, node);
                    }
                }
                Some(value) if value == node => {
                    if let Some(target) = target {
                        add(self.text_of(target).into_owned(), self.text_of(node).into_owned(), node);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Returns whether an assignment appends a value to what the variable has.
    fn is_appended(&self, value: NodeId) -> bool {
        let parent = self.tree.node(self.outermost(value)).parent;
        self.child(parent, "operator").is_some_and(|sign| self.bytes_of(sign) == b"+=")
    }

    /// Returns the list around the only value of an assignment, which Go writes, or the value itself.
    fn outermost(&self, value: NodeId) -> NodeId {
        let mut here = value;
        loop {
            let parent = self.tree.node(here).parent;
            if parent == 0 || !self.kind_name(parent).ends_with("expression_list") {
                return here;
            }
            here = parent;
        }
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
            let is_text = is_string(kind) || kind.contains("binary") || CHOICES.contains(&kind);
            let is_call = kind.contains("call") || kind.contains("invocation");
            (is_text || is_call || MEMBERS.contains(&kind)).then_some((is_text, is_call))
        });
        for (value, (is_text, is_call)) in kinds {
            let here = self.outermost(value);
            let parent = self.tree.node(here).parent;
            if self.kind_name(parent).contains("binary") {
                continue;
            }
            let target = ["left", "name", "pattern", "property"].into_iter().find_map(|one| self.child(parent, one));
            if let Some(target) = target.filter(|&target| target < here)
                && self.contents(parent).last() == Some(here)
                && match is_call {
                    true => self.makes_text(value) || self.marks_path(value),
                    false => is_text || self.is_own_field(value),
                }
            {
                let values = found.entry(self.text_of(target).into_owned()).or_default();
                if values.len() < MAX_ASSIGNED {
                    values.push(value);
                }
            }
        }
        found
    }

    fn is_own_field(&self, node: NodeId) -> bool {
        self.text_of(node).split_once('.').is_some_and(|(own, name)| OWN.contains(&own) && !name.contains('.'))
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
