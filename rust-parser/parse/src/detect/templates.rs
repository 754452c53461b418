//! Strings with parts that a loop, an interpolation or a formatting call writes into them: one text for each value.

use crate::detect::draft::MAX_OF_ONE;
use crate::detect::text::is_list;
use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::route_path::marked_constant;

/// Largest number of levels between a name and the loop whose variable it is.
const MAX_LEVELS: u32 = 24;

/// Returns each text joined with each part. Without parts there is nothing to join.
pub fn combined(texts: &[String], parts: &[String], join: impl Fn(&str, &str) -> String) -> Vec<String> {
    let pairs = texts.iter().flat_map(|text| parts.iter().map(move |part| (text, part)));
    pairs.take(MAX_OF_ONE).map(|(text, part)| join(text, part)).collect()
}

impl Walk<'_> {
    /// Returns the texts of a string literal. Interpolated constants and variables of loops over literals are replaced
    /// by their values, other parts become `{part}`.
    pub(super) fn interpolated(&self, node: NodeId) -> Vec<String> {
        let Some(text) = self.literal(node) else { return Vec::new() };
        let mut texts = vec![text];
        for part in self.contents(node).filter(|&part| is_interpolation(self.kind_name(part))) {
            let written = self.text_of(part);
            let name = written.trim_matches(|letter| "${}# ".contains(letter));
            let values = self.values_of(part, name);
            if !values.is_empty() {
                let shown = format!("{{{}", written.trim_start_matches(['$', '#', '{']));
                texts = combined(&texts, &values, |text, value| text.replacen(&shown, value, 1));
            }
        }
        texts
    }

    /// Returns the values of a name inside a string: those of a loop, of a constant of this file, or the mark of what
    /// looks like a constant of another one.
    fn values_of(&self, node: NodeId, name: &str) -> Vec<String> {
        let last = name.rsplit('.').next().unwrap_or(name);
        let is_name = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if !name.split('.').all(is_name) || last.is_empty() {
            return Vec::new();
        }
        let texts = self.field_texts(node, name, 0);
        if !texts.is_empty() {
            return texts;
        }
        if last.len() == name.len() {
            let values = self.looped(node, name);
            if !values.is_empty() {
                return values;
            }
            if let Some(value) = self.constant_at(node, name) {
                return vec![value];
            }
        }
        let is_constant = last.len() > 1 && !last.chars().any(char::is_lowercase);
        is_constant.then(|| marked_constant(name)).into_iter().collect()
    }

    /// Reads `"/{}/list".format(name)`.
    pub(super) fn filled(&self, node: NodeId, depth: u32) -> Vec<String> {
        let Some(callee) = self.child(node, "function") else { return Vec::new() };
        let is_format = self.child(callee, "attribute").is_some_and(|name| self.bytes_of(name) == b"format");
        let (Some(object), Some(list)) = (self.child(callee, "object"), self.child(node, "arguments")) else {
            return Vec::new();
        };
        if !is_format {
            return Vec::new();
        }
        let mut texts = self.strings_of(object);
        for (position, argument) in self.arguments_in(list).iter().enumerate() {
            let mut values = Vec::new();
            self.add_strings(argument.value, &mut values, depth + 1);
            if values.is_empty() {
                values.push(format!("{{{}}}", self.text_of(argument.value)));
            }
            let marks = match &argument.keyword {
                Some(word) => vec![format!("{{{word}}}")],
                None => vec![format!("{{{position}}}"), "{}".to_owned()],
            };
            texts = combined(&texts, &values, |text, value| match marks.iter().find(|mark| text.contains(*mark)) {
                Some(mark) => text.replacen(mark, value, 1),
                None => text.to_owned(),
            });
        }
        texts
    }

    /// Returns the strings that a name stands for as the variable of a loop around its use, over a list of literals.
    pub(super) fn looped(&self, node: NodeId, name: &str) -> Vec<String> {
        let mut here = node;
        for _ in 0..MAX_LEVELS {
            here = self.tree.node(here).parent;
            if here == 0 {
                break;
            }
            if let Some((place, items)) = self.loop_over(here, name) {
                return items.into_iter().flat_map(|item| self.item_strings(item, place)).collect();
            }
        }
        Vec::new()
    }

    /// Returns the elements over which a loop with a variable runs, and the place of the variable in each element.
    fn loop_over(&self, node: NodeId, name: &str) -> Option<(Option<usize>, Vec<NodeId>)> {
        let field = |names: [&str; 2]| names.into_iter().find_map(|field| self.child(node, field));
        let (target, list) = match self.kind_name(node) {
            "for_statement" | "for_in_statement" | "for_expression" | "range_clause" => {
                let inner = self.contents(node).find(|&part| self.kind_name(part) == "range_clause");
                match inner {
                    Some(clause) => (self.child(clause, "left")?, self.child(clause, "right")?),
                    None => (field(["left", "pattern"])?, field(["right", "value"])?),
                }
            }
            // `["/a", "/b"].forEach((path) => app.get(path, show))`
            "arrow_function" | "function_expression" => {
                let call = self.tree.node(self.tree.node(node).parent).parent;
                let callee = self.child(call, "function")?;
                if !matches!(self.bytes_of(self.child(callee, "property")?), b"forEach" | b"map") {
                    return None;
                }
                let parameters =
                    self.child(node, "parameter").or_else(|| self.contents(self.child(node, "parameters")?).next())?;
                (parameters, self.child(callee, "object")?)
            }
            _ => return None,
        };
        let place = self.place_in(target, name)?;
        let list = self.list_at(list)?;
        Some((place, self.contents(list).collect()))
    }

    /// Returns the place of a name in the target of a loop: none if it is the whole target.
    fn place_in(&self, target: NodeId, name: &str) -> Option<Option<usize>> {
        if self.text_of(target) == name {
            return Some(None);
        }
        let is_go = self.kind_name(target) == "expression_list";
        let at = self.contents(target).position(|part| self.text_of(part) == name)?;
        // Go's `for index, value := range list`
        Some(if is_go { (at == 1).then_some(None)? } else { Some(at) })
    }

    /// Returns the list literal that a node is, or to which the file sets the variable.
    fn list_at(&self, node: NodeId) -> Option<NodeId> {
        let kind = self.kind_name(node);
        if is_list(kind) {
            return Some(node);
        }
        if let "composite_literal" = kind {
            return self.child(node, "body");
        }
        if kind != "identifier" {
            return None;
        }
        let name = self.text_of(node);
        let mut found = (1..self.tree.len()).filter(|&value| is_list(self.kind_name(value))).filter(|&value| {
            let parent = self.tree.node(value).parent;
            let target = ["left", "name"].into_iter().find_map(|field| self.child(parent, field));
            target.is_some_and(|target| target < value && self.text_of(target) == name)
        });
        found.next().filter(|_| found.next().is_none())
    }

    fn item_strings(&self, item: NodeId, place: Option<usize>) -> Vec<String> {
        let part = match place {
            None => Some(item),
            Some(place) if is_list(self.kind_name(item)) => self.contents(item).nth(place),
            Some(_) => None,
        };
        part.map(|part| self.strings_of(part)).unwrap_or_default()
    }
}

fn is_interpolation(kind: &str) -> bool {
    matches!(kind, "interpolation" | "template_substitution")
}
