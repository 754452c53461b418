//! The text of string literals, concatenations, symbols and constants, whatever the language.

use rustc_hash::FxHashMap;

use crate::detect::templates::combined;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::route_path::{has_constant, marked_constant, template_of};

/// Largest nesting of expressions that are read.
const MAX_DEPTH: u32 = 8;
/// Longest path or name in bytes.
const MAX_TEXT: usize = 500;

impl Walk<'_> {
    /// Returns the strings that a node stands for: one of a literal, several of a list; none if unknown.
    pub(super) fn strings_of(&self, node: NodeId) -> Vec<String> {
        let mut found = self.templates_of(node);
        found.retain(|text| !has_constant(text));
        found
    }

    /// Returns the same with marked names of constants that this file does not define.
    pub(super) fn templates_of(&self, node: NodeId) -> Vec<String> {
        let mut found = Vec::new();
        self.add_strings(node, &mut found, 0);
        found.retain(|text| text.len() <= MAX_TEXT);
        found
    }

    /// Returns the only string that a node stands for.
    pub(super) fn string_of(&self, node: NodeId) -> Option<String> {
        let mut found = self.strings_of(node);
        if found.len() == 1 { found.pop() } else { None }
    }

    pub(super) fn add_strings(&self, node: NodeId, found: &mut Vec<String>, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        let kind = self.kind_name(node);
        match kind {
            _ if is_string(kind) => found.extend(self.interpolated(node)),
            "simple_symbol" | "symbol" => found.push(self.text_of(node).trim_start_matches(':').to_owned()),
            "identifier" | "constant" | "name" | "simple_identifier" | "variable_name" => {
                let name = self.text_of(node);
                match self.looped(node, &name) {
                    values if values.is_empty() => match self.local_texts(node, &name, depth) {
                        texts if texts.is_empty() => {
                            found.push(self.constant_at(node, &name).unwrap_or_else(|| marked_constant(&name)));
                        }
                        texts => found.extend(texts),
                    },
                    values => found.extend(values),
                }
            }
            // `"/api/%s/trust" % name`
            "binary_operator" if self.child(node, "operator").is_some_and(|sign| self.bytes_of(sign) == b"%") => {
                found.extend(self.formatted(node, depth));
            }
            // `translated("/about")`, `with_prefix("/health")`
            "call" | "call_expression" => match self.filled(node, depth) {
                values if values.is_empty() => {
                    match self.only_text_argument(node).or_else(|| self.text_of_format(node)) {
                        Some(text) => found.push(text),
                        None => {
                            if let Some(path) = self.only_path_argument(node) {
                                self.add_strings(path, found, depth + 1);
                            }
                        }
                    }
                }
                values => found.extend(values),
            },
            // `format!("/users/{}", id)`, `String.format("/users/%d", id)`, `URI.create("/users")`
            "macro_invocation" => found.extend(self.text_of_format(node)),
            "method_invocation"
            | "invocation_expression"
            | "object_creation_expression"
            | "function_call_expression"
                if let Some(text) = self.text_of_format(node) =>
            {
                found.push(text);
            }
            // `List.of("orders")`
            "method_invocation" if self.child(node, "name").is_some_and(|name| makes_list(self.bytes_of(name))) => {
                for part in self.child(node, "arguments").into_iter().flat_map(|list| self.contents(list)) {
                    self.add_strings(part, found, depth + 1);
                }
            }
            _ if kind.contains("binary") || kind == "concatenated_string" || kind.contains("additive") => {
                let mut joined = vec![String::new()];
                for part in self.contents(node) {
                    let mut texts = Vec::new();
                    match self.is_looked_up(part) {
                        true => texts.push("{}".to_owned()),
                        false => self.add_strings(part, &mut texts, depth + 1),
                    }
                    if texts.is_empty() && self.is_joined(node) {
                        texts.push("{}".to_owned());
                    }
                    joined = combined(&joined, &texts, |before, text| format!("{before}{text}"));
                }
                found.extend(joined);
            }
            // `isNew ? "/users" : "/users/" + id`
            "ternary_expression" | "conditional_expression" => {
                for part in self.branches_of(node) {
                    self.add_strings(part, found, depth + 1);
                }
            }
            _ if is_list(kind) || is_wrapper(kind) => {
                for part in self.contents(node) {
                    self.add_strings(part, found, depth + 1);
                }
            }
            _ => {
                // `Routes.USERS`: a constant of this file.
                let text = self.text_of(node);
                let last = text.rsplit(['.', ':']).next().unwrap_or("");
                let is_name = |letter: char| letter.is_alphanumeric() || "_.".contains(letter);
                if last.len() < text.len() && text.chars().all(is_name) {
                    match self.constant(last) {
                        Some(value) => found.push(value),
                        None => match self.field_texts(node, &text, depth) {
                            texts if texts.is_empty() => found.push(marked_constant(&text)),
                            texts => found.extend(texts),
                        },
                    }
                }
            }
        }
    }

    /// Returns a text with the values, or the names, of what is written into it.
    fn formatted(&self, node: NodeId, depth: u32) -> Option<String> {
        let text = self.child(node, "left").and_then(|left| self.string_of(left))?;
        let mut values = Vec::new();
        self.add_strings(self.child(node, "right")?, &mut values, depth + 1);
        let mut values = values.into_iter();
        let mut parts = text.split("%s");
        let mut out = parts.next()?.to_owned();
        for part in parts {
            out.push_str(&values.next().unwrap_or_else(|| "{}".to_owned()));
            out.push_str(part);
        }
        Some(out)
    }

    /// Returns the only argument of a call of a function, if it is a string: functions for paths mark or prefix it.
    fn only_text_argument(&self, node: NodeId) -> Option<String> {
        let callee = self.child(node, "function")?;
        let list = self.child(node, "arguments")?;
        let arguments: Vec<NodeId> = self.contents(list).collect();
        match arguments[..] {
            [only] if is_string(self.kind_name(only)) && self.contents(callee).count() <= 2 => self.literal(only),
            _ => None,
        }
    }

    /// Returns the only argument of a call of a function, if it joins texts to a path: `url("/users/" + id)`.
    fn only_path_argument(&self, node: NodeId) -> Option<NodeId> {
        let callee = self.child(node, "function")?;
        let arguments: Vec<NodeId> = self.contents(self.child(node, "arguments")?).collect();
        let [only] = arguments[..] else { return None };
        let is_path = self.kind_name(only).contains("binary") && self.is_joined(only) && self.has_path(only, 0);
        (is_path && self.contents(callee).count() <= 2).then_some(only)
    }

    /// Returns whether a call of a function has one argument, which is a path. Modules have paths of another kind.
    pub(super) fn marks_path(&self, node: NodeId) -> bool {
        let is_text = || self.only_text_argument(node).is_some_and(|text| text.contains('/'));
        self.called_name(node).is_none_or(|name| name != "require")
            && (self.only_path_argument(node).is_some() || is_text())
    }

    fn has_path(&self, node: NodeId, depth: u32) -> bool {
        depth <= MAX_DEPTH
            && self.contents(node).any(|part| match self.kind_name(part) {
                kind if is_string(kind) => self.bytes_of(part).contains(&b'/'),
                kind => kind.contains("binary") && self.has_path(part, depth + 1),
            })
    }

    /// Returns the values of an expression that chooses one of two.
    fn branches_of(&self, node: NodeId) -> Vec<NodeId> {
        let named = ["consequence", "alternative"].map(|field| self.child(node, field));
        match named {
            [Some(first), Some(second)] => vec![first, second],
            // Python writes the condition between both
            _ => self.contents(node).step_by(2).collect(),
        }
    }

    /// Returns the name with which a signal is created or looked up: of `signal("saved")`, or of a variable that the
    /// file sets to it.
    pub(super) fn signal_of(&self, node: NodeId) -> Option<String> {
        let is_lookup = |call: NodeId| {
            let callee = self.child(call, "function").map(|callee| self.text_of(callee));
            callee.is_some_and(|callee| callee.rsplit('.').next() == Some("signal"))
        };
        if is_lookup(node) {
            return self.only_text_argument(node);
        }
        let name = self.text_of(node);
        let signals = self.assigned_signals.get_or_init(|| {
            let mut found = FxHashMap::default();
            for call in (1..self.tree.len()).filter(|&call| self.kind_name(call) == "call" && is_lookup(call)) {
                let target = self.child(self.tree.node(call).parent, "left").filter(|&target| target < call);
                if let Some(target) = target {
                    found.entry(self.text_of(target).into_owned()).or_insert(call);
                }
            }
            found
        });
        self.only_text_argument(*signals.get(&*name)?)
    }

    /// Returns the text between the quotes; interpolated parts become `{part}`.
    pub(super) fn literal(&self, node: NodeId) -> Option<String> {
        let text = self.text_of(node);
        let text = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic() || "@$#".contains(letter));
        let is_regex = text.starts_with('/');
        let inner = ["\"\"\"", "'''", "\"", "'", "`", "/"].into_iter().find_map(|quote| {
            let rest = text.strip_prefix(quote)?;
            Some(rest.trim_end_matches('#').strip_suffix(quote).unwrap_or(rest))
        })?;
        // Spring's placeholders: `${api.prefix:/v1}` has a default
        let inner = if self.kind_name(node) == "string_literal" { with_defaults(inner) } else { inner.to_owned() };
        let plain = inner.replace("${", "{").replace("#{", "{");
        Some(if is_regex { template_of(&plain.replace("\\/", "/")) } else { plain })
    }

    /// Returns the text of a constant or variable of this file that is assigned one literal.
    pub(super) fn constant(&self, name: &str) -> Option<String> {
        let constants = self.assigned_strings.get_or_init(|| self.strings_by_name());
        self.literal((*constants.get(name)?)?)
    }

    /// Returns the same, unless it is a variable of a function around which the node is not.
    pub(super) fn constant_at(&self, node: NodeId, name: &str) -> Option<String> {
        let constants = self.assigned_strings.get_or_init(|| self.strings_by_name());
        let value = (*constants.get(name)?)?;
        let function = self.function_around(value);
        (function == 0 || (function < node && node < self.tree.node(function).next)).then(|| self.literal(value))?
    }

    /// Returns the string that each name is assigned, `None` for several.
    fn strings_by_name(&self) -> FxHashMap<String, Option<NodeId>> {
        let mut found = FxHashMap::default();
        for (node, ()) in self.nodes_by_kind(|kind| is_string(kind).then_some(())) {
            let mut value = node;
            let mut parent = self.tree.node(node).parent;
            // Go wraps both sides in lists.
            while parent != 0 && self.kind_name(parent).ends_with("expression_list") {
                (value, parent) = (parent, self.tree.node(parent).parent);
            }
            let target = ["left", "name", "pattern"].into_iter().find_map(|field| self.child(parent, field));
            let Some(target) = target.filter(|&target| target < value) else { continue };
            // `base + "/users"` sets nothing
            if self.contents(parent).last() == Some(value) && !self.kind_name(parent).contains("binary") {
                let name = self.text_of(target).into_owned();
                found.entry(name).and_modify(|known| *known = None).or_insert(Some(node));
            }
        }
        found
    }
}

/// Replaces placeholders that have a default by it.
fn with_defaults(text: &str) -> String {
    let mut parts = text.split("${");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}').and_then(|(name, rest)| Some((name.split_once(':')?.1, rest))) {
            Some((default, rest)) => out.push_str(&format!("{default}{rest}")),
            None => out.push_str(&format!("${{{part}")),
        }
    }
    out
}

fn makes_list(name: &[u8]) -> bool {
    matches!(name, b"of" | b"asList" | b"singletonList" | b"singleton")
}

pub(super) fn is_string(kind: &str) -> bool {
    (kind.contains("string") || kind == "encapsed_string" || kind == "regex")
        && !kind.contains("content")
        && !kind.contains("concatenated")
        && !kind.contains("fragment")
        && !matches!(kind, "string_start" | "string_end" | "string_array")
}

pub(super) fn is_list(kind: &str) -> bool {
    matches!(
        kind,
        "list"
            | "tuple"
            | "set"
            | "array"
            | "array_initializer"
            | "element_value_array_initializer"
            | "array_creation_expression"
            | "array_element_initializer"
            | "collection_literal"
            | "string_array"
            | "symbol_array"
            | "literal_value"
    )
}

fn is_wrapper(kind: &str) -> bool {
    kind.starts_with("parenthesized")
        || matches!(
            kind,
            "argument" | "value_argument" | "attribute_argument" | "literal_element" | "expression_list" | "word_list"
        )
}
