//! Collects the edges of one file and maps definitions to their nodes.

use rustc_hash::FxHashMap;

use crate::edge::{Edge, EdgeType, Target};
use crate::emit::unresolved::{Request, UnresolvedCall};
use crate::project::file_entry::{is_callable, is_class};
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Kind};

/// Collects the edges of one file.
pub struct EdgeCollector<'v, 'a> {
    pub query: &'v Query<'a>,
    pub edges: Vec<Edge>,
    pub resolved: u32,
    pub unresolved: u32,
    pub unresolved_calls: Vec<UnresolvedCall>,
    pub requests: Vec<Request>,
    /// Whether the project has a callable or class of the family with a name, as far as asked.
    pub defined_names: FxHashMap<Sym, bool>,
}

impl<'v, 'a> EdgeCollector<'v, 'a> {
    pub fn new(query: &'v Query<'a>) -> EdgeCollector<'v, 'a> {
        EdgeCollector {
            query,
            edges: Vec::new(),
            resolved: 0,
            unresolved: 0,
            unresolved_calls: Vec::new(),
            requests: Vec::new(),
            defined_names: FxHashMap::default(),
        }
    }
}

impl EdgeCollector<'_, '_> {
    /// Returns the node that represents a scope.
    pub fn source(&self, scope: DefId) -> DefId {
        self.query.file.node_of(scope).unwrap_or(FILE_NODE)
    }

    /// Adds an edge from the node of a definition.
    pub fn add(&mut self, source: DefId, kind: EdgeType, target: Target, line: u32, via: Strategy) {
        self.edges.push(Edge { source, target, line, kind, via });
    }

    /// Returns the node that represents a definition, or `None` for definitions without a node.
    pub fn target(&self, symbol: SymbolId) -> Option<Target> {
        let place = self.query.index.symbols.get(symbol);
        let file = self.query.index.file(place.file);
        if place.def == FILE_NODE || file.is_node(place.def) {
            return Some(Target::Symbol(symbol));
        }
        match file.outline(place.def).kind {
            Kind::Module => Some(Target::Symbol(file.file_symbol)),
            Kind::Namespace => Some(Target::Package(file.qualified_names[place.def as usize])),
            _ => None,
        }
    }
}

/// Returns whether nodes of a kind have the label `Method`, `Function` or `Class`, whose mention as a value is an edge.
pub fn is_referable(kind: Kind) -> bool {
    is_class(kind) || is_callable(kind) || matches!(kind, Kind::Constant | Kind::Field | Kind::TypeAlias)
}
