//! The stage that determines what fixtures, set-up methods and helpers call.

use crate::edge::{EdgeType, Target};
use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::project::file_entry::{FileEntry, is_callable};
use crate::project::names::{FILE_NODE, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use crate::testing::file_support::{FileSupport, has_tests};
use atlas_facts::{DefId, ReferenceKind, flags};

/// Largest number of functions that one function is recorded to call.
const MAX_CALLED: usize = 60;

/// Returns what the supporting functions of a file call.
pub fn link_support(query: &Query) -> FileSupport {
    let mut found = FileSupport::default();
    let file = query.file;
    if !has_tests(file) {
        return found;
    }
    let facts = file.facts().clone();
    let mut collector = EdgeCollector::new(query);
    for reference in facts.references.iter().filter(|reference| reference.kind == ReferenceKind::Call) {
        let source = collector.source(reference.scope);
        if is_support(file, source) {
            let site = Site { source, scope: reference.scope, line: reference.line, expr: reference.expr };
            collector.add_reference(reference, site);
        }
    }
    for edge in collector.edges.iter().filter(|edge| edge.kind == EdgeType::Calls) {
        if let Target::Symbol(target) = edge.target {
            found.add(query, file.symbols[edge.source as usize], target);
        }
    }
    for (def, definition) in file.outlines.iter().enumerate() {
        if is_support(file, def as DefId) && is_callable(definition.kind) {
            for fixture in query.requested(def as DefId, query.fixtures_of(query.home)) {
                found.add(query, file.symbols[def], fixture);
            }
        }
    }
    for support in found.functions.values_mut() {
        for list in [&mut support.code, &mut support.helpers] {
            list.sort_by(|&a, &b| query.index.name_order(a).cmp(&query.index.name_order(b)));
            list.dedup();
            list.truncate(MAX_CALLED);
        }
    }
    found
}

/// Returns whether a definition is a function in the code of tests that is no test.
pub fn is_support(file: &FileEntry, def: DefId) -> bool {
    if def == FILE_NODE {
        return false;
    }
    let definition = file.outline(def);
    is_callable(definition.kind)
        && definition.flags & flags::TEST == 0
        && (file.is_test || file.is_in_test(definition.parent))
}

impl FileSupport {
    fn add(&mut self, query: &Query, source: SymbolId, target: SymbolId) {
        let place = query.index.symbols.get(target);
        if place.def == FILE_NODE || source == target {
            return;
        }
        let (file, definition) = query.definition(target);
        let support = self.functions.entry(source).or_default();
        if is_support(file, place.def) {
            support.helpers.push(target);
        } else if !file.is_test && definition.flags & flags::TEST == 0 {
            support.code.push(target);
        }
    }
}

/// How a test reaches code through a supporting function.
pub fn strategy_of(name: &str, is_fixture: bool) -> Strategy {
    match is_fixture {
        true => Strategy::Fixture,
        false if is_set_up(name) => Strategy::SetUp,
        false => Strategy::Helper,
    }
}

/// Returns whether a method of this name runs around each test of its class.
pub fn is_set_up(name: &str) -> bool {
    if !name.as_bytes().first().is_some_and(|first| b"_sStTaA".contains(first)) {
        return false;
    }
    let name = name.to_ascii_lowercase().replace('_', "");
    name.starts_with("setup") || name.starts_with("teardown") || name == "asyncsetup" || name == "asyncteardown"
}
