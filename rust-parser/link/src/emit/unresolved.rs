//! Calls that no rule resolves, of names that the project defines: kept with the shape of the receiver and the reason,
//! as a property of the calling node.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::entity::{Entity, Values};
use crate::project::file_entry::{is_callable, is_class};
use crate::project::names::{FILE_NODE, Sym};
use atlas_facts::{DefId, Expr, ExprId};

/// Largest number of calls that are kept for one node and name.
const MAX_LINES: usize = 100;

/// A call that no rule resolves.
pub struct UnresolvedCall {
    source: DefId,
    name: Sym,
    shape: &'static str,
    reason: &'static str,
    line: u32,
}

impl EdgeCollector<'_, '_> {
    /// Records a call without an edge if the project defines a function, method or class of that name.
    pub(super) fn note_unresolved(&mut self, callee: ExprId, values: &Values, site: Site) {
        let query = self.query;
        let (name, base) = match *query.file.expr(callee) {
            Expr::Attribute { base, name } => (query.file.sym(name), Some(base)),
            Expr::Name(name) => (query.file.sym(name), None),
            _ => return,
        };
        if !self.is_defined(name) {
            return;
        }
        let is_missing = values.iter().any(|value| value.entity == Entity::Missing);
        let (shape, reason) = match base {
            Some(base) => {
                (shape_of(query.file.expr(base)), if is_missing { "no-such-member" } else { "unknown-receiver" })
            }
            None if is_missing => ("none", "missing-import"),
            None if values.is_empty() => ("none", "unknown-name"),
            None => ("none", "unknown-value"),
        };
        self.unresolved_calls.push(UnresolvedCall { source: site.source, name, shape, reason, line: site.line });
    }

    /// Returns whether a callable or class of this family has a name. The record of the name covers kind and family of
    /// all its definitions, so that these need no records of their own.
    fn is_defined(&mut self, name: Sym) -> bool {
        if let Some(&known) = self.defined_names.get(&name) {
            return known;
        }
        let query = self.query;
        let found = query.named(name).iter().any(|&symbol| {
            query.index.symbols.get(symbol).def != FILE_NODE && {
                let (file, definition) = query.index.definition(symbol);
                let is_callee = is_callable(definition.kind) || is_class(definition.kind);
                is_callee && file.rules.family == query.file.rules.family
            }
        });
        self.defined_names.insert(name, found);
        found
    }

    /// Returns the properties of nodes with unresolved calls, by definition: `{"unresolved": {name: [[shape, reason,
    /// line, ...], ...]}}`.
    pub(super) fn unresolved_properties(&self) -> Vec<(DefId, String)> {
        type Groups<'n> = BTreeMap<&'n str, BTreeMap<(&'static str, &'static str), Vec<u32>>>;
        let mut nodes: BTreeMap<DefId, Groups> = BTreeMap::new();
        for call in &self.unresolved_calls {
            let names = nodes.entry(call.source).or_default();
            let calls = names.entry(self.query.text(call.name)).or_default();
            calls.entry((call.shape, call.reason)).or_default().push(call.line);
        }
        let written = nodes.into_iter().map(|(source, names)| {
            let names = names.into_iter().map(|(name, calls)| {
                let calls = calls.into_iter().map(|((shape, reason), mut lines)| {
                    lines.sort_unstable();
                    lines.dedup();
                    lines.truncate(MAX_LINES);
                    let words = [json!(shape), json!(reason)];
                    Json::Array(words.into_iter().chain(lines.into_iter().map(Json::from)).collect())
                });
                (name.to_owned(), Json::Array(calls.collect()))
            });
            (source, json!({"unresolved": names.collect::<serde_json::Map<String, Json>>()}).to_string())
        });
        written.collect()
    }
}

fn shape_of(base: &Expr) -> &'static str {
    match base {
        Expr::Name(_) | Expr::Scope(_) => "name",
        Expr::This { .. } | Expr::Super | Expr::SuperOf(_) => "self",
        Expr::Attribute { .. } => "attribute",
        Expr::Call { .. } | Expr::Await(_) => "call",
        Expr::Index { .. } => "item",
        _ => "other",
    }
}
