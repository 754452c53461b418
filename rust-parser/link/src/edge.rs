//! Edges in compact form: ids without texts.

use serde::{Deserialize, Serialize};

use crate::project::names::{ExternalId, Sym, SymbolId};
use crate::strategy::Strategy;
use atlas_facts::{DefId, Problem};

/// Relationship types, in the order in which a unit lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum EdgeType {
    Contains,
    Defines,
    DefinesMethod,
    Inherits,
    Overrides,
    Imports,
    Calls,
    References,
    UsesType,
    Tests,
    HandlesRoute,
    HandlesEvent,
    EmitsEvent,
    CallsRoute,
    ReadsEnv,
    SetsEnv,
    Documents,
    Affects,
    Supports,
    Refutes,
    Extends,
    Implies,
    Contradicts,
    Supersedes,
    Relates,
    HasObservation,
    About,
    Source,
}

impl EdgeType {
    /// Returns whether the targets are nodes without a file, which exist because edges refer to them.
    fn is_to_referent(self) -> bool {
        use EdgeType::{EmitsEvent, HandlesEvent, ReadsEnv, SetsEnv, Source};
        matches!(self, HandlesEvent | EmitsEvent | ReadsEnv | SetsEnv | Source)
    }

    /// Returns the name of the relationship type in the store.
    pub fn name(self) -> &'static str {
        match self {
            EdgeType::Contains => "CONTAINS",
            EdgeType::Defines => "DEFINES",
            EdgeType::DefinesMethod => "DEFINES_METHOD",
            EdgeType::Inherits => "INHERITS",
            EdgeType::Overrides => "OVERRIDES",
            EdgeType::Imports => "IMPORTS",
            EdgeType::Calls => "CALLS",
            EdgeType::References => "REFERENCES",
            EdgeType::UsesType => "USES_TYPE",
            EdgeType::Tests => "TESTS",
            EdgeType::HandlesRoute => "HANDLES_ROUTE",
            EdgeType::HandlesEvent => "HANDLES_EVENT",
            EdgeType::EmitsEvent => "EMITS_EVENT",
            EdgeType::CallsRoute => "CALLS_ROUTE",
            EdgeType::ReadsEnv => "READS_ENV",
            EdgeType::SetsEnv => "SETS_ENV",
            EdgeType::Documents => "DOCUMENTS",
            EdgeType::Affects => "AFFECTS",
            EdgeType::Supports => "SUPPORTS",
            EdgeType::Refutes => "REFUTES",
            EdgeType::Extends => "EXTENDS",
            EdgeType::Implies => "IMPLIES",
            EdgeType::Contradicts => "CONTRADICTS",
            EdgeType::Supersedes => "SUPERSEDES",
            EdgeType::Relates => "RELATES",
            EdgeType::HasObservation => "HAS_OBSERVATION",
            EdgeType::About => "ABOUT",
            EdgeType::Source => "SOURCE",
        }
    }
}

/// The target of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Symbol(SymbolId),
    External(ExternalId),
    Package(Sym),
    /// A uid without the project: as a note states it, whose node may be missing; of a route, event or paper.
    Stated(Sym),
}

/// An edge in compact form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// A definition of the file or [`crate::project::names::FILE_NODE`].
    pub source: DefId,
    pub target: Target,
    pub line: u32,
    pub kind: EdgeType,
    pub via: Strategy,
}

/// What a note states about one of its edges.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub confidence: f64,
    /// A JSON object, or "".
    pub properties: String,
}

/// The linked references of one file.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct FileEdges {
    /// One edge per (source, type, target), sorted by source, type, line and target uid.
    pub edges: Vec<Edge>,
    /// `(index of an edge, line)` of the lines after each edge's first one, sorted. Most edges have a single line.
    pub further_lines: Vec<(u32, u32)>,
    /// Properties of nodes that depend on other files, as JSON objects, sorted.
    pub properties: Vec<(DefId, String)>,
    /// By index of an edge, sorted: the statements of notes, and the depth of what tests reach indirectly.
    pub statements: Vec<(u32, Statement)>,
    /// Problems of the file that depend on other files.
    pub problems: Vec<Problem>,
    pub resolved: u32,
    pub unresolved: u32,
}

impl FileEdges {
    /// Returns the uids of the events, variables and papers that the edges refer to, each once.
    pub fn referents(&self) -> Box<[Sym]> {
        let referents = self.edges.iter().filter_map(|edge| match (edge.kind, edge.target) {
            (kind, Target::Stated(uid)) if kind.is_to_referent() => Some(uid),
            _ => None,
        });
        let mut found: Vec<Sym> = referents.collect();
        found.sort_unstable();
        found.dedup();
        found.into()
    }

    /// Returns the external symbols that the edges refer to, each once.
    pub fn externals(&self) -> Box<[ExternalId]> {
        let mut found: Vec<ExternalId> = Vec::new();
        found.extend(self.edges.iter().filter_map(|edge| match edge.target {
            Target::External(external) => Some(external),
            _ => None,
        }));
        found.sort_unstable();
        found.dedup();
        found.into()
    }
}
