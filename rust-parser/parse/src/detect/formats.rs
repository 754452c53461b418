//! Texts that calls make of a literal: formatting functions, constructors of addresses.

use crate::detect::text::is_string;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;

/// Functions whose first string is the text with places for values, and those that make an address of a string.
const FORMATS: [&str; 11] =
    ["Sprintf", "sprintf", "format", "Format", "formatted", "URI", "Uri", "URL", "create", "parse", "HttpGet"];

/// Methods that look a value up by a name.
const LOOK_UPS: [&str; 7] = ["get", "getenv", "env", "getString", "getItem", "config", "require"];

impl Walk<'_> {
    /// Returns the first string among the arguments of a formatting call, with `{}` for each `%d`.
    pub(super) fn text_of_format(&self, node: NodeId) -> Option<String> {
        if !self.makes_text(node) {
            return None;
        }
        let list = self.child(node, "arguments").or_else(|| {
            self.contents(node)
                .find(|&part| matches!(self.kind_name(part), "token_tree" | "argument_list" | "arguments"))
        })?;
        let mut text = self.contents(list).find_map(|part| {
            let part = if self.kind_name(part) == "argument" { self.contents(part).next()? } else { part };
            match self.kind_name(part) {
                kind if is_string(kind) => self.literal(part),
                kind if kind.contains("binary") => {
                    let mut found = None;
                    self.nested(|| found = self.templates_of(part).pop());
                    found
                }
                _ => None,
            }
        })?;
        for place in ["%s", "%d", "%v", "%i", "%q"] {
            text = text.replace(place, "{}");
        }
        Some(text)
    }

    /// Returns whether a call makes a text of its first string.
    pub(super) fn makes_text(&self, node: NodeId) -> bool {
        self.called_name(node).is_some_and(|name| FORMATS.contains(&name.as_str()))
    }

    /// Returns whether a part of a concatenation is a value that a name stands for: `config.get("url") + "/users"`.
    pub(super) fn is_looked_up(&self, node: NodeId) -> bool {
        matches!(self.kind_name(node), "call" | "call_expression" | "method_invocation")
            && self.called_name(node).is_some_and(|name| LOOK_UPS.contains(&name.as_str()))
    }

    /// Returns whether an expression joins texts.
    pub(super) fn is_joined(&self, node: NodeId) -> bool {
        let operator = self.child(node, "operator").map(|sign| self.bytes_of(sign));
        matches!(operator, None | Some(b"+" | b"."))
    }

    pub(super) fn called_name(&self, node: NodeId) -> Option<String> {
        let callee =
            ["name", "function", "macro", "type", "method"].into_iter().find_map(|field| self.child(node, field))?;
        let text = self.text_of(callee);
        Some(text.rsplit(['.', ':', '\\']).next()?.to_owned())
    }
}
