//! What no edge says, kept as properties of the calling node: calls that no rule resolves, of names that the project
//! defines, with the shape of the receiver and the reason; and calls by URL that fit no route of the project.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::entity::{Entity, Values};
use crate::project::file_entry::{is_callable, is_class};
use crate::project::names::{FILE_NODE, Sym};
use atlas_facts::{DefId, Expr, ExprId};

/// Largest number of calls that are kept for one node and name.
const MAX_LINES: usize = 100;

/// A call by URL that fits no route of the project: another project may have it.
pub struct Request {
    source: DefId,
    methods: String,
    path: String,
    line: u32,
}

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

    /// Records a call by URL without a route.
    pub(super) fn note_request(&mut self, source: DefId, methods: &str, paths: Vec<String>, line: u32) {
        let methods = methods.to_owned();
        self.requests.extend(paths.into_iter().map(|path| Request { source, methods: methods.clone(), path, line }));
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

    /// Returns the properties of nodes with calls that have no edge, by definition: `{"requests": [[methods, path, line],
    /// ...], "unresolved": {name: [[shape, reason, line, ...], ...]}}`, each if there are any.
    pub(super) fn unresolved_properties(&self) -> Vec<(DefId, String)> {
        let mut nodes: BTreeMap<DefId, serde_json::Map<String, Json>> = BTreeMap::new();
        for (source, requests) in self.grouped_requests() {
            nodes.entry(source).or_default().insert("requests".to_owned(), requests);
        }
        for (source, unresolved) in self.grouped_calls() {
            nodes.entry(source).or_default().insert("unresolved".to_owned(), unresolved);
        }
        nodes.into_iter().map(|(source, properties)| (source, Json::Object(properties).to_string())).collect()
    }

    fn grouped_requests(&self) -> BTreeMap<DefId, Json> {
        let mut nodes: BTreeMap<DefId, BTreeSet<(u32, &str, &str)>> = BTreeMap::new();
        for one in &self.requests {
            nodes.entry(one.source).or_default().insert((one.line, &one.methods, &one.path));
        }
        let written = nodes.into_iter().map(|(source, requests)| {
            let requests = requests.into_iter().take(MAX_LINES);
            (source, requests.map(|(line, methods, path)| json!([methods, path, line])).collect())
        });
        written.collect()
    }

    fn grouped_calls(&self) -> BTreeMap<DefId, Json> {
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
            (source, Json::Object(names.collect()))
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
