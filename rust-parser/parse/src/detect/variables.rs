//! Names of environment variables: inside of texts, of fields of settings, of patterns; and the class around a match.

use crate::detect::draft::MAX_OF_ONE;
use crate::detect::names::has_name;
use crate::flat_tree::NodeId;
use crate::walk::definitions::holds_members;
use crate::walk::state::Walk;

/// The name of a variable that stands for that of a field, with the prefix of its class.
pub const FIELD: &str = "$field";

/// Longest text in which names are looked for.
const MAX_TEXT: usize = 2000;

impl Walk<'_> {
    /// Returns the names behind each of the marks in the text of a node.
    pub(super) fn names_inside(&self, node: NodeId, marks: &[String]) -> Vec<String> {
        let text = self.text_of(node);
        let Some(text) = text.get(..text.len().min(MAX_TEXT)) else { return Vec::new() };
        let mut found = Vec::new();
        for mark in marks {
            for (at, _) in text.match_indices(mark.as_str()).take(MAX_OF_ONE) {
                let rest = &text[at + mark.len()..];
                let end = rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len());
                if is_variable(&rest[..end]) {
                    found.push(rest[..end].to_owned());
                }
            }
        }
        found.dedup();
        found
    }

    /// Returns the variable of a field of settings: its name in upper case behind the prefix that its class states.
    pub(super) fn field_variable(&self, node: NodeId) -> Option<String> {
        let name = self.child(node, "left").or_else(|| self.child(node, "name"))?;
        let name = self.text_of(name).to_ascii_uppercase();
        let class = self.class_around(node)?;
        let text = self.text_of(class);
        let prefix = text.split_once("env_prefix").and_then(|(_, rest)| {
            // `env_prefix = "A_"`, and `"env_prefix": "A_"`.
            let stated = rest.trim_start_matches(['"', '\'']).trim_start();
            let quoted = stated.strip_prefix(['=', ':'])?.trim_start();
            let quote = quoted.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
            quoted[1..].split(quote).next()
        });
        let name = format!("{}{name}", prefix.unwrap_or_default().to_ascii_uppercase());
        is_variable(&name).then_some(name)
    }

    /// Returns the keys that an object pattern takes: `{ HOST, PORT: port = 80 }`.
    pub(super) fn pattern_keys(&self, node: NodeId) -> Vec<String> {
        let key = |part: NodeId| {
            let key = self.child(part, "key").or_else(|| self.child(part, "left")).unwrap_or(part);
            self.text_of(key).trim_matches(['"', '\'']).to_owned()
        };
        self.contents(node).map(key).filter(|name| is_variable(name)).collect()
    }

    /// Returns whether a node is what an assignment sets.
    pub(super) fn is_written(&self, node: NodeId) -> bool {
        let parent = self.tree.node(node).parent;
        matches!(self.kind_name(parent), "assignment" | "assignment_expression")
            && self.child(parent, "left") == Some(node)
    }

    /// Returns whether the class around a node has one of the bases or, with `@`, annotations.
    pub(super) fn is_in_class(&self, node: NodeId, names: &[String]) -> bool {
        let Some(class) = self.class_around(node).filter(|_| !names.is_empty()) else { return false };
        let place = self.tree.node(class);
        let end = self.child(class, "body").map_or(place.end, |body| self.tree.node(body).start);
        let head = String::from_utf8_lossy(&self.source[place.start as usize..end as usize]);
        let name = self.child(class, "name").map(|name| self.text_of(name)).unwrap_or_default();
        let words = head.split(|letter: char| !is_part(letter) && letter != '@');
        let mut words = words.filter(|word| !word.is_empty() && *word != name);
        words.any(|word| has_name(names, word.as_bytes()))
    }

    pub(super) fn class_around(&self, node: NodeId) -> Option<NodeId> {
        let mut here = self.tree.node(node).parent;
        while here != 0 {
            if let Some(&(definition, _)) = self.definition_of.get(&here)
                && holds_members(self.kind_of(definition))
            {
                return Some(here);
            }
            here = self.tree.node(here).parent;
        }
        None
    }
}

fn is_part(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 120
        && name.chars().all(is_part)
        && !name.starts_with(|one: char| one.is_ascii_digit())
}
