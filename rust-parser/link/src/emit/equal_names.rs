//! Edges to definitions whose qualified name several unrelated projects have.

use crate::edge::{EdgeType, Target};
use crate::emit::collector::EdgeCollector;
use crate::strategy::Strategy;

/// Largest number of further definitions that are taken into account.
const MAX_OTHERS: usize = 4;

/// Adds edges to the definitions that may be meant as well, and lowers the confidence of all of them.
pub fn add_equal_names(collector: &mut EdgeCollector) {
    let query = collector.query;
    if query.file.rules.modules.manifest.is_empty() {
        return;
    }
    let mut more = Vec::new();
    for edge in &mut collector.edges {
        let Target::Symbol(symbol) = edge.target else { continue };
        if matches!(edge.kind, EdgeType::Defines | EdgeType::DefinesMethod | EdgeType::Contains) {
            continue;
        }
        let others = query.equally_named(symbol);
        if !others.is_empty() {
            edge.via = Strategy::EqualName;
            more.extend(others.into_iter().take(MAX_OTHERS).map(|other| (*edge, other)));
        }
    }
    for (edge, other) in more {
        if let Some(target) = collector.target(other) {
            collector.add(edge.source, edge.kind, target, edge.line, Strategy::EqualName);
        }
    }
}
