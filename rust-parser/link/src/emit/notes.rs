//! The edges of notes: their relations, what they are about, and the papers that are their sources. Targets are named by their uids, so an edge to a node that
//! is missing becomes visible when the node appears.

use crate::edge::{Edge, EdgeType, Statement, Target};
use crate::emit::collector::EdgeCollector;
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{Problem, Relation, RelationKind};

/// Largest number of duplicate ids of a file that are reported.
const MAX_DUPLICATES: usize = 20;

/// Adds the relations and anchors of a note.
pub fn add_relations(collector: &mut EdgeCollector) {
    let query = collector.query;
    for relation in &query.file.facts().relations {
        let (kind, target) = (edge_type(relation.kind), target_of(query, relation));
        let via = if relation.kind == RelationKind::About { Strategy::Anchor } else { Strategy::Stated };
        for &line in &relation.lines {
            collector.add(0, kind, target, line, via);
        }
    }
}

/// Returns what a note states about its edges, by the index of each.
pub fn statements(query: &Query, edges: &[Edge]) -> Vec<(u32, Statement)> {
    let facts = query.file.facts();
    if facts.relations.is_empty() {
        return Vec::new();
    }
    let mut relations: Vec<((EdgeType, Target), &Relation)> =
        facts.relations.iter().map(|one| ((edge_type(one.kind), target_of(query, one)), one)).collect();
    relations.sort_unstable_by_key(|(key, _)| *key);
    let mut found = Vec::with_capacity(relations.len());
    for (index, edge) in edges.iter().enumerate() {
        if let Ok(at) = relations.binary_search_by_key(&(edge.kind, edge.target), |(key, _)| *key) {
            let relation = relations[at].1;
            let properties = query.file.text(relation.properties).to_owned();
            found.push((index as u32, Statement { confidence: relation.confidence, properties }));
        }
    }
    found
}

/// Returns a problem for each id of this file that another file has as well.
pub fn duplicate_ids(query: &Query) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (def, definition) in query.file.facts().definitions.iter().enumerate() {
        if !definition.kind.is_note() {
            continue;
        }
        // The query for the own uids covers this one.
        let id = query.file.qualified_names[def];
        let Some(other) = query.index.other_file(id, query.home) else { continue };
        if problems.len() == MAX_DUPLICATES {
            break;
        }
        problems.push(Problem {
            line: if def == 0 { 1 } else { definition.name_line },
            code: "note-duplicate-id".to_owned(),
            message: format!("{other} has the id {}, too", query.text(id)),
        });
    }
    problems
}

fn target_of(query: &Query, relation: &Relation) -> Target {
    Target::Stated(query.index.strings.intern(query.file.text(relation.target)))
}

fn edge_type(kind: RelationKind) -> EdgeType {
    match kind {
        RelationKind::Supports => EdgeType::Supports,
        RelationKind::Refutes => EdgeType::Refutes,
        RelationKind::Extends => EdgeType::Extends,
        RelationKind::Implies => EdgeType::Implies,
        RelationKind::Contradicts => EdgeType::Contradicts,
        RelationKind::Supersedes => EdgeType::Supersedes,
        RelationKind::Relates => EdgeType::Relates,
        RelationKind::About => EdgeType::About,
        RelationKind::Source => EdgeType::Source,
    }
}
