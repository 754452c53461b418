//! Units: the graph of one file, or of the project structure, as rows of nodes and edges in the order of
//! `atlas.core.model`, and the words for search.
//!
//! A row is described once, as a list of fields: the digest hashes the fields, and Python receives them as tuples.

mod node_row;
mod row;
mod search_text;

use std::sync::Arc;

use crate::edge::FileEdges;
use crate::emit::structure::Structure;
use crate::project::index::Index;
use crate::project::names::FILE_NODE;
use crate::routes::services::RPC;
use atlas_facts::{DefId, FileFacts, Problem, ScopeRule};

pub use row::Field;
use row::add_fields;

/// First 16 bytes of BLAKE3 over a unit's rows.
pub type UnitDigest = [u8; 16];

/// A node of a unit.
pub struct UnitNode {
    /// Uid without the project.
    uid: String,
    qualified_name: String,
    place: NodePlace,
}

enum NodePlace {
    /// A definition of the file or [`FILE_NODE`].
    File(DefId),
    /// A route, by its position in the file.
    Route(Route),
    Structure {
        label: &'static str,
        kind: &'static str,
        name: String,
        language: String,
        /// A JSON object, or "".
        properties: String,
    },
}

/// A registered route.
pub struct Route {
    line: u32,
    /// A JSON object with framework, method and path.
    properties: String,
}

/// An edge of a unit.
pub struct UnitEdge {
    /// Index of the source node in the unit.
    source: usize,
    /// Uid without the project.
    target: String,
    kind: &'static str,
    line: u32,
    /// The lines after `line`, ascending.
    further_lines: Vec<u32>,
    strategy: &'static str,
    confidence: f64,
    /// A JSON object, or "".
    properties: String,
}

/// The data from which the rows of one unit are made.
pub struct UnitSource {
    project: String,
    pub path: String,
    facts: Option<Arc<FileFacts>>,
    /// Whether the file's module represents a folder.
    is_package: bool,
    pub nodes: Vec<UnitNode>,
    /// For each node, the index of its nearest enclosing node in the unit.
    parents: Vec<Option<usize>>,
    pub edges: Vec<UnitEdge>,
    /// Properties of nodes that depend on other files, sorted.
    properties: Vec<(DefId, String)>,
    pub resolved: u32,
    pub unresolved: u32,
    /// Problems of the file that depend on other files.
    pub problems: Vec<Problem>,
}

/// Creates the unit of a file. `targets` holds, for each edge, the uid of its target without the project.
pub fn file_source(project: &str, index: &Index, file: u32, linked: &FileEdges, targets: Vec<String>) -> UnitSource {
    let entry = index.file(file);
    let facts = entry.facts();
    let mut nodes = Vec::new();
    let mut parents = Vec::new();
    let mut positions = vec![usize::MAX; facts.definitions.len()];
    let is_document = facts.scope_rule == ScopeRule::Document;
    if !is_document {
        nodes.push(UnitNode {
            uid: index.uid(entry.file_symbol),
            qualified_name: index.strings.text(entry.file_name).to_owned(),
            place: NodePlace::File(FILE_NODE),
        });
        parents.push(None);
    }
    for (def, definition) in facts.definitions.iter().enumerate() {
        if !entry.is_node(def as DefId) {
            continue;
        }
        let parent = match entry.node_of(definition.parent) {
            _ if def == 0 => (!is_document).then_some(0),
            Some(parent) => Some(positions[parent as usize]),
            None => Some(0),
        };
        positions[def] = nodes.len();
        parents.push(parent);
        nodes.push(UnitNode {
            uid: index.uid(entry.symbols[def]),
            qualified_name: index.strings.text(entry.qualified_names[def]).to_owned(),
            place: NodePlace::File(def as DefId),
        });
    }
    let top = nodes.len().checked_sub(1).map(|_| 0);
    for route in &index.routing.routes[file as usize].routes {
        let text = |sym| index.strings.text(sym).to_owned();
        // Copies of a description declare the same procedures.
        if index.strings.text(route.method) == RPC && index.routing.uid(route.name, route.place) != route.name {
            continue;
        }
        parents.push(top);
        nodes.push(UnitNode {
            uid: index.strings.text(index.routing.uid(route.name, route.place)).to_owned(),
            qualified_name: format!("{} {}", index.strings.text(route.method), index.strings.text(route.path)),
            place: NodePlace::Route(Route {
                line: route.line,
                properties: route_properties(&text(route.method), &text(route.path), &text(route.framework)),
            }),
        });
    }
    let mut lines = linked.further_lines.iter().peekable();
    let mut statements = linked.statements.iter().peekable();
    let edges = linked.edges.iter().zip(targets).enumerate().map(|(number, (edge, target))| {
        let statement = statements.next_if(|(of, _)| *of == number as u32).map(|(_, statement)| statement);
        UnitEdge {
            source: if edge.source == FILE_NODE { 0 } else { positions[edge.source as usize] },
            target,
            kind: edge.kind.name(),
            line: edge.line,
            further_lines: std::iter::from_fn(|| lines.next_if(|(of, _)| *of == number as u32))
                .map(|(_, line)| *line)
                .collect(),
            strategy: edge.via.name(),
            confidence: statement.map_or_else(|| edge.via.confidence(), |statement| statement.confidence),
            properties: statement.map_or_else(String::new, |statement| statement.properties.clone()),
        }
    });
    let edges = edges.collect();
    UnitSource {
        project: project.to_owned(),
        path: facts.path.clone(),
        facts: Some(facts.clone()),
        is_package: entry.rules.is_package_file(&entry.path),
        nodes,
        parents,
        edges,
        properties: linked.properties.clone(),
        resolved: linked.resolved,
        unresolved: linked.unresolved,
        problems: linked.problems.clone(),
    }
}

fn route_properties(method: &str, path: &str, framework: &str) -> String {
    serde_json::json!({ "framework": framework, "method": method, "path": path }).to_string()
}

/// Creates the unit of the project structure.
pub fn structure_source(project: &str, structure: &Structure) -> UnitSource {
    let nodes: Vec<UnitNode> = structure
        .nodes
        .iter()
        .map(|node| UnitNode {
            uid: node.qualified_name.clone(),
            qualified_name: node.qualified_name.clone(),
            place: NodePlace::Structure {
                label: node.label,
                kind: node.kind,
                name: node.name.clone(),
                language: node.language.clone(),
                properties: node.properties.clone(),
            },
        })
        .collect();
    let position = |name: &str| {
        let found = structure.nodes.binary_search_by(|node| node.qualified_name.as_str().cmp(name));
        found.expect("node of the structure")
    };
    let edge = |source: &str, target: &str, kind: &'static str, line: u32, strategy, properties: &str| UnitEdge {
        source: position(source),
        target: target.to_owned(),
        kind,
        line,
        further_lines: Vec::new(),
        strategy,
        confidence: 1.0,
        properties: properties.to_owned(),
    };
    let contains = structure.contains.iter();
    let contains = contains.map(|(source, target)| edge(source, target, "CONTAINS", 0, "structure", ""));
    let depends = structure.depends.iter();
    let depends =
        depends.map(|one| edge(&one.source, &one.target, "DEPENDS_ON", one.line, "manifest", &one.properties));
    let edges: Vec<UnitEdge> = contains.chain(depends).collect();
    UnitSource {
        project: project.to_owned(),
        path: String::new(),
        facts: None,
        is_package: false,
        parents: vec![None; nodes.len()],
        nodes,
        edges,
        properties: Vec::new(),
        resolved: 0,
        unresolved: 0,
        problems: Vec::new(),
    }
}

impl UnitSource {
    /// Returns the digest of all rows and of the numbers of resolved and unresolved references. The name of the project
    /// is not part of it: indexes of one repository under several names have equal digests.
    pub fn digest(&self) -> UnitDigest {
        let mut rows = Vec::with_capacity(self.nodes.len() * 400 + self.edges.len() * 150);
        for position in 0..self.nodes.len() {
            add_fields(&self.node_fields(position), &mut rows);
        }
        for edge in &self.edges {
            add_fields(&self.edge_fields(edge), &mut rows);
        }
        for problem in &self.problems {
            add_fields(&[Field::Number(problem.line), problem.message.as_str().into()], &mut rows);
        }
        rows.extend_from_slice(&self.resolved.to_le_bytes());
        rows.extend_from_slice(&self.unresolved.to_le_bytes());
        let mut digest = [0; 16];
        digest.copy_from_slice(&blake3::hash(&rows).as_bytes()[..16]);
        digest
    }

    /// Returns the fields of `atlas.core.model.EdgeRow`.
    pub fn edge_fields<'a>(&'a self, edge: &'a UnitEdge) -> [Field<'a>; 8] {
        [
            Field::Uid(&self.project, &self.nodes[edge.source].uid),
            Field::Uid(&self.project, &edge.target),
            edge.kind.into(),
            Field::Number(edge.line),
            edge.strategy.into(),
            Field::Fraction(edge.confidence),
            Field::Numbers(&edge.further_lines),
            edge.properties.as_str().into(),
        ]
    }
}
