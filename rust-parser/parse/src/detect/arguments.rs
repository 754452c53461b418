//! The arguments of a call or annotation: values by position and by keyword, whatever the language.

use crate::detect::rules::Slot;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;

/// One argument, or one entry of an object that is an argument.
pub struct Argument {
    pub keyword: Option<String>,
    pub value: NodeId,
    /// Whether it counts for positions.
    is_positional: bool,
}

impl Walk<'_> {
    /// Returns the arguments in a list. Entries of objects and hashes follow as keywords.
    pub(super) fn arguments_in(&self, list: NodeId) -> Vec<Argument> {
        let mut found = Vec::new();
        let parts: Vec<NodeId> = self.contents(list).collect();
        let is_tokens = self.kind_name(list) == "token_tree";
        let mut parts = parts.into_iter().peekable();
        while let Some(part) = parts.next() {
            // `path = "/users"` in the tokens of an attribute
            match parts.peek() {
                Some(&value) if is_tokens && self.is_assigned(part, value) => {
                    parts.next();
                    found.push(Argument { keyword: Some(self.key_text(part)), value, is_positional: false });
                }
                _ => self.add_argument(part, &mut found, 0),
            }
        }
        found
    }

    fn is_assigned(&self, name: NodeId, value: NodeId) -> bool {
        let between = self.tree.node(name).end as usize..self.tree.node(value).start as usize;
        self.kind_name(name) == "identifier" && self.source[between].trim_ascii() == b"="
    }

    fn add_argument(&self, part: NodeId, found: &mut Vec<Argument>, depth: u32) {
        let value = self.child(part, "value").or_else(|| self.child(part, "right"));
        let key = ["key", "name", "left"].into_iter().find_map(|field| self.child(part, field));
        let kind = self.kind_name(part);
        if let (Some(key), Some(value)) = (key, value)
            && key < value
            && !kind.contains("binary")
            && !matches!(kind, "call" | "method_invocation")
        {
            found.push(Argument { keyword: Some(self.key_text(key)), value, is_positional: false });
            return;
        }
        match kind {
            // An argument may have a name but no field for its value; a wrapper has one child.
            "argument" | "value_argument" | "attribute_argument" | "literal_element" | "array_element_initializer" => {
                let parts: Vec<NodeId> = self.contents(part).collect();
                match parts[..] {
                    [only] => self.add_positional(only, found, depth),
                    [name, value] => {
                        found.push(Argument { keyword: Some(self.key_text(name)), value, is_positional: false });
                    }
                    _ => {}
                }
            }
            "keyed_element" => {
                if let [key, value] = self.contents(part).collect::<Vec<_>>()[..] {
                    found.push(Argument { keyword: Some(self.key_text(key)), value, is_positional: false });
                }
            }
            "shorthand_property_identifier" => {
                found.push(Argument { keyword: Some(self.key_text(part)), value: part, is_positional: false });
            }
            "method_definition" => {
                if let Some(name) = self.child(part, "name") {
                    found.push(Argument { keyword: Some(self.key_text(name)), value: part, is_positional: false });
                }
            }
            _ => self.add_positional(part, found, depth),
        }
    }

    fn add_positional(&self, value: NodeId, found: &mut Vec<Argument>, depth: u32) {
        found.push(Argument { keyword: None, value, is_positional: depth == 0 });
        if depth == 0 && matches!(self.kind_name(value), "object" | "hash" | "dictionary") {
            for entry in self.contents(value).collect::<Vec<_>>() {
                self.add_argument(entry, found, 1);
            }
        }
    }

    fn key_text(&self, key: NodeId) -> String {
        let text = self.text_of(key);
        text.trim_matches(|letter: char| "\"':=`".contains(letter) || letter.is_whitespace()).to_owned()
    }
}

/// Returns the values that count for positions.
pub fn positional(arguments: &[Argument]) -> Vec<NodeId> {
    arguments.iter().filter(|one| one.is_positional).map(|one| one.value).collect()
}

/// Returns the value of the first slot that has one. `captured` returns the node of a `@capture`.
pub fn value_of(arguments: &[Argument], slots: &[Slot], captured: impl Fn(&str) -> Option<NodeId>) -> Option<NodeId> {
    slots.iter().find_map(|slot| match slot {
        Slot::Position(position) => {
            let positional = positional(arguments);
            let at = if *position < 0 { positional.len() as i32 + position } else { *position };
            usize::try_from(at).ok().and_then(|at| positional.get(at).copied())
        }
        Slot::Keyword(word) => match word.strip_prefix('@') {
            Some(capture) => captured(capture),
            None => arguments.iter().find(|one| one.keyword.as_deref() == Some(word)).map(|one| one.value),
        },
    })
}
