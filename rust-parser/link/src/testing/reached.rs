//! `TESTS` edges to code that a test reaches through fixtures, set-up methods and helpers.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::edge::{Edge, EdgeType, Statement, Target};
use crate::emit::collector::EdgeCollector;
use crate::entity::Entity;
use crate::project::file_entry::is_callable;
use crate::project::names::{FILE_NODE, SymbolId};
use crate::strategy::Strategy;
use crate::testing::modules;
use crate::testing::support::{is_set_up, is_support, strategy_of};
use atlas_facts::{DefId, flags};

/// Longest chain of functions from a test to what it reaches.
const MAX_DEPTH: u32 = 5;
/// Largest number of edges that one test gets this way, and of functions that are followed: the nearest ones.
const MAX_REACHED: usize = 40;
const MAX_FOLLOWED: usize = 120;
/// What each further function takes from the confidence.
const DECAY: f64 = 0.95;

/// The depth of the edges that lead further than one step.
pub type Depths = FxHashMap<(DefId, Target), u32>;

/// A supporting function that a test uses.
#[derive(Clone, Copy)]
struct Start {
    symbol: SymbolId,
    line: u32,
    via: Strategy,
}

/// Adds the edges of all tests of a file. Returns their depths.
pub fn add_reached(collector: &mut EdgeCollector) -> Depths {
    let mut depths = Depths::default();
    let file = collector.query.file;
    let is_tested = file.outlines.iter().any(|definition| definition.flags & flags::TEST != 0);
    if !(file.is_test || is_tested) {
        return depths;
    }
    modules::add_modules(collector);
    let mut known: FxHashMap<DefId, FxHashSet<Target>> = FxHashMap::default();
    for edge in collector.edges.iter().filter(|edge| edge.kind == EdgeType::Tests) {
        known.entry(edge.source).or_default().insert(edge.target);
    }
    for (source, starts) in starts(collector) {
        add_from(collector, source, &starts, known.remove(&source).unwrap_or_default(), &mut depths);
    }
    depths
}

/// Returns the confidence and the depth of edges that lead further than one step, by the index of the edge.
pub fn statements(file_edges: &[Edge], depths: &Depths) -> Vec<(u32, Statement)> {
    let deep = file_edges.iter().enumerate().filter(|(_, edge)| edge.kind == EdgeType::Tests);
    let deep = deep.filter_map(|(index, edge)| Some((index, edge, depths.get(&(edge.source, edge.target))?)));
    let statement = |(index, edge, &depth): (usize, &Edge, &u32)| {
        let confidence = edge.via.confidence() * DECAY.powi(depth as i32 - 2);
        let confidence = (confidence * 1000.0).round() / 1000.0;
        (index as u32, Statement { confidence, properties: format!("{{\"depth\":{depth}}}") })
    };
    deep.map(statement).collect()
}

/// Returns the supporting functions that each test uses itself: what it calls, asks for, and what runs around it.
fn starts(collector: &EdgeCollector) -> Vec<(DefId, Vec<Start>)> {
    let query = collector.query;
    let file = query.file;
    let own = query.fixtures_of(query.home);
    let mut found: FxHashMap<DefId, Vec<Start>> = FxHashMap::default();
    for edge in collector.edges.iter().filter(|edge| edge.kind == EdgeType::Calls) {
        let Target::Symbol(symbol) = edge.target else { continue };
        let place = query.index.symbols.get(symbol);
        if place.def == FILE_NODE || is_support(file, edge.source) {
            continue;
        }
        if !(file.is_test || (edge.source != FILE_NODE && file.is_in_test(edge.source))) {
            continue;
        }
        let (target_file, _) = query.definition(symbol);
        if is_support(target_file, place.def) {
            let start = Start { symbol, line: edge.line, via: Strategy::Helper };
            found.entry(edge.source).or_default().push(start);
        }
    }
    let mut set_ups: FxHashMap<DefId, Vec<SymbolId>> = FxHashMap::default();
    for (def, definition) in file.outlines.iter().enumerate() {
        let def = def as DefId;
        if definition.flags & flags::TEST == 0 || !is_callable(definition.kind) || !file.is_node(def) {
            continue;
        }
        let line = file.def(def).name_line;
        let list = found.entry(def).or_default();
        let asked = query.requested(def, own).into_iter().chain(query.automatic(def, own));
        list.extend(asked.map(|symbol| Start { symbol, line, via: Strategy::Fixture }));
        let Some(class) = file.enclosing_class(def) else { continue };
        let methods = set_ups.entry(class).or_insert_with(|| set_up(collector, class));
        list.extend(methods.iter().map(|&symbol| Start { symbol, line, via: Strategy::SetUp }));
    }
    let mut found: Vec<(DefId, Vec<Start>)> = found.into_iter().filter(|(_, list)| !list.is_empty()).collect();
    found.sort_by_key(|(def, _)| *def);
    found
}

/// Returns the methods that run around each test of a class.
fn set_up(collector: &EdgeCollector, class: DefId) -> Vec<SymbolId> {
    const NAMES: [&str; 9] = [
        "setUp",
        "setUpClass",
        "setUpTestData",
        "asyncSetUp",
        "setup_method",
        "setup_class",
        "setup",
        "SetUp",
        "tearDown",
    ];
    let query = collector.query;
    let file = query.file;
    let mut found = Vec::new();
    for name in NAMES {
        let name = query.index.strings.intern(name);
        for value in query.class_member(file.symbols[class as usize], name, Strategy::This) {
            if let Entity::Definition(symbol) = value.entity {
                found.push(symbol);
            }
        }
    }
    let marks = ["BeforeEach", "Before", "BeforeAll", "BeforeClass", "SetUp", "OneTimeSetUp", "TestInitialize"];
    for (other, definition) in file.facts().definitions.iter().enumerate() {
        if definition.parent != class || !is_callable(definition.kind) {
            continue;
        }
        let is_marked = definition
            .decorators
            .iter()
            .any(|&decorator| query.mark_name(decorator).is_some_and(|name| marks.contains(&name)));
        if is_marked || is_set_up(file.text(definition.name)) {
            found.push(file.symbols[other]);
        }
    }
    found.sort_by(|&a, &b| query.index.name_order(a).cmp(&query.index.name_order(b)));
    found.dedup();
    found
}

/// Follows the supporting functions of one test, nearest first. `known` is what it tests already.
fn add_from(
    collector: &mut EdgeCollector,
    source: DefId,
    starts: &[Start],
    mut known: FxHashSet<Target>,
    depths: &mut Depths,
) {
    let query = collector.query;
    let mut seen: FxHashSet<SymbolId> = FxHashSet::default();
    let mut queue: VecDeque<(SymbolId, u32, Start)> = starts.iter().map(|start| (start.symbol, 2, *start)).collect();
    let mut count = 0;
    while let Some((symbol, depth, start)) = queue.pop_front() {
        if !seen.insert(symbol) || seen.len() > MAX_FOLLOWED {
            continue;
        }
        let Some(support) = query.support_of(symbol) else { continue };
        for &code in &support.code {
            let Some(target) = collector.target(code).filter(|target| known.insert(*target)) else { continue };
            let name = query.definition(symbol).1.name;
            let via = match start.via {
                Strategy::Helper => strategy_of(query.text(name), false),
                via => via,
            };
            collector.add(source, EdgeType::Tests, target, start.line, via);
            depths.insert((source, target), depth);
            count += 1;
            if count >= MAX_REACHED {
                return;
            }
        }
        // A set-up method of another file runs around every test of a suite: what lies behind it says nothing about one.
        let is_shared = start.via == Strategy::SetUp && query.index.symbols.get(symbol).file != query.home;
        if depth < MAX_DEPTH && !is_shared {
            queue.extend(support.helpers.iter().map(|&helper| (helper, depth + 1, start)));
        }
    }
}
