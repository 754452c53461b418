//! Reads what a note is about and what it is related to.

use super::fields::is_target;
use super::note::{Anchor, Relation};
use super::reader::Reader;
use super::yaml::Node;
use crate::doc_text::limited;

/// Keys of an anchor that name its target.
const TARGETS: [&str; 4] = ["symbol", "file", "route", "package"];

impl Reader {
    /// Reads an item of `about`. Returns `None` without a target.
    pub(super) fn anchor(&mut self, item: &Node) -> Option<Anchor> {
        let mut anchor = Anchor { at: self.lines.line(self.base + item.at), ..Anchor::default() };
        for (key, value) in self.pairs(item, "about") {
            if let Some(kind) = TARGETS.into_iter().find(|&kind| kind == key) {
                if !anchor.kind.is_empty() {
                    self.wrong(value, "note-target", "an anchor has one of symbol, file, route and package");
                    return None;
                }
                (anchor.kind, anchor.target) = (kind, self.line_of_text(value, key));
                continue;
            }
            match key {
                "signature" => anchor.signature = self.digest(value),
                "body" => anchor.body = self.digest(value),
                "docstring" => anchor.docstring = self.digest(value),
                "path" => anchor.path = self.line_of_text(value, key),
                "commit" => anchor.commit = self.line_of_text(value, key),
                "line" => match value.text().and_then(|text| text.parse().ok()) {
                    Some(line) => anchor.line = line,
                    None => self.wrong(value, "note-value", "the line must be a number"),
                },
                _ => {}
            }
        }
        if anchor.target.is_empty() {
            self.wrong(item, "note-target", "an anchor needs one of symbol, file, route and package");
            return None;
        }
        Some(anchor)
    }

    /// Reads an item of `relations`. Returns `None` without a type or a target.
    pub(super) fn relation(&mut self, item: &Node) -> Option<Relation> {
        let mut relation = Relation {
            relation_type: String::new(),
            to: String::new(),
            reasoning: String::new(),
            confidence: 1.0,
            created: String::new(),
            at: self.lines.line(self.base + item.at),
        };
        for (key, value) in self.pairs(item, "relations") {
            match key {
                "type" => relation.relation_type = self.line_of_text(value, key),
                "to" => relation.to = self.line_of_text(value, key),
                "reasoning" => match value.text() {
                    Some(text) => relation.reasoning = limited(text.trim()),
                    None => self.wrong(value, "note-value", "reasoning must be text"),
                },
                "confidence" => relation.confidence = self.confidence(value),
                "created" => relation.created = self.time(value, key),
                _ => {}
            }
        }
        if relation.relation_type.is_empty() {
            self.wrong(item, "note-value", "a relation needs a type");
            return None;
        }
        if !is_target(&relation.to) {
            let message = "`to` must be the id of a note, or symbol:, file:, package: or route: and a name";
            self.wrong(item, "note-target", message);
            return None;
        }
        Some(relation)
    }
}
