//! The second stage: the routes, events and commands of one file, with composed paths and resolved handlers.

use rustc_hash::FxHashMap;

use crate::edge::EdgeType;
use crate::project::names::{EMPTY, SymbolId};
use crate::project::query::Query;
use crate::routes::tables::{FileRoutes, Link, Route, RouterKey};
use crate::strategy::Strategy;
use atlas_facts::route_path::join;
use atlas_facts::{Detection, DetectionKind, Name};

/// Largest number of prefixes of a router, and of routers around a router.
const MAX_PREFIXES: usize = 8;
const MAX_NESTING: usize = 12;
/// Largest number of routes of a file.
const MAX_ROUTES: usize = 5000;

/// Returns the routes and events of a file.
pub fn link_routes(query: &Query) -> FileRoutes {
    let mut found = FileRoutes::default();
    let facts = query.file.facts().clone();
    let mut counts: FxHashMap<String, u32> = FxHashMap::default();
    for (framework, detection) in certain_routes(query, &facts.detections) {
        if detection.framework == framework && found.routes.len() < MAX_ROUTES {
            add_route(query, detection, &mut found, &mut counts);
        }
    }
    for detection in facts.detections.iter().filter(|one| is_named(one.kind)) {
        if query.acceptance(detection).is_some() {
            add_event(query, detection, &mut found);
        }
    }
    query.add_served(&mut found);
    found.links.sort_unstable_by_key(|link| (link.source, link.kind, link.line));
    found.links.dedup();
    found
}

/// Returns the accepted routes, each with the framework that is most certain of those that match the same
/// registration.
fn certain_routes<'d>(query: &Query, detections: &'d [Detection]) -> Vec<(Name, &'d Detection)> {
    let mut best: FxHashMap<(u32, Name, Name), (u8, Name)> = FxHashMap::default();
    let mut accepted = Vec::new();
    let mut clients: FxHashMap<u32, u8> = FxHashMap::default();
    for detection in detections.iter().filter(|one| one.kind == DetectionKind::Client) {
        clients.extend(query.acceptance(detection).map(|rank| (detection.line, rank)));
    }
    // `api.post("/users", data)`: what is a client by its origin, or has no function as its handler, is no router.
    let is_client = |detection: &Detection, rank: u8| {
        clients.get(&detection.line).is_some_and(|&own| {
            let handler = || query.handler_symbol(detection.handler, detection.scope, detection.line);
            own < rank || (own == rank && rank > 0 && handler().is_none())
        })
    };
    for detection in detections.iter().filter(|one| one.kind == DetectionKind::Route) {
        if let Some(rank) = query.acceptance(detection).filter(|&rank| !is_client(detection, rank)) {
            let place = (detection.line, detection.path, detection.methods);
            let known = best.entry(place).or_insert((rank, detection.framework));
            if rank < known.0 {
                *known = (rank, detection.framework);
            }
            accepted.push((place, detection));
        }
    }
    accepted.into_iter().map(|(place, detection)| (best[&place].1, detection)).collect()
}

fn add_route(query: &Query, detection: &Detection, found: &mut FileRoutes, counts: &mut FxHashMap<String, u32>) {
    let strings = &query.index.strings;
    let text = |name| query.file.text(name);
    let Some(own) = query.known_path(detection) else { return };
    let router = query.owner_router(detection);
    let handler = query.handler_symbol(detection.handler, detection.scope, detection.line);
    let here = (query.node_symbol(detection.scope), Strategy::Registration);
    let served = query.served(text(detection.methods), handler);
    let served = served
        .iter()
        .flat_map(|(methods, handler)| methods.split_whitespace().map(|method| (method, handler.unwrap_or(here))));
    let served: Vec<(&str, (SymbolId, Strategy))> = served.collect();
    let mut seen = Vec::new();
    let mut prefixes = router.map_or_else(|| vec![String::new()], |router| query.prefixes(router, &mut seen));
    prefixes.sort();
    prefixes.dedup();
    for prefix in prefixes.iter().take(MAX_PREFIXES) {
        let path = join(prefix, &own);
        let path = if path.is_empty() { "/".to_owned() } else { path };
        for &(method, (source, via)) in &served {
            let name = format!("route:{method} {path}");
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            let number = if *count == 1 { String::new() } else { format!("#{count}") };
            let place = strings.intern(&format!("{name}@{}{number}", query.file.path));
            let name = strings.intern(&name);
            found.routes.push(Route {
                name,
                place,
                is_test: query.file.is_test,
                method: strings.intern(method),
                path: strings.intern(&path),
                framework: strings.intern(text(detection.framework)),
                line: detection.line,
            });
            // A description of routes handles none itself.
            if query.file.is_prose() && via == Strategy::Registration {
                continue;
            }
            let kind = EdgeType::HandlesRoute;
            found.links.push(Link { source, kind, target: name, place, line: detection.line, via });
        }
    }
}

/// Returns whether what a detection finds is a node without a file: an event or a variable of the environment.
fn is_named(kind: DetectionKind) -> bool {
    matches!(kind, DetectionKind::Handles | DetectionKind::Emits | DetectionKind::Reads | DetectionKind::Sets)
}

fn add_event(query: &Query, detection: &Detection, found: &mut FileRoutes) {
    let text = |name| query.file.text(name);
    let uid = match detection.kind {
        DetectionKind::Reads | DetectionKind::Sets => format!("env:{}", text(detection.path)),
        _ => format!("event:{}:{}", text(detection.methods), text(detection.path)),
    };
    let target = query.index.strings.intern(&uid);
    let here = (query.node_symbol(detection.scope), Strategy::Registration);
    let (kind, (source, via)) = match detection.kind {
        DetectionKind::Handles => {
            let handler = query.handler_symbol(detection.handler, detection.scope, detection.line);
            (EdgeType::HandlesEvent, handler.unwrap_or(here))
        }
        DetectionKind::Reads => (EdgeType::ReadsEnv, (here.0, Strategy::Literal)),
        DetectionKind::Sets => (EdgeType::SetsEnv, (here.0, Strategy::Literal)),
        _ => (EdgeType::EmitsEvent, here),
    };
    found.links.push(Link { source, kind, target, place: EMPTY, line: detection.line, via });
}

impl Query<'_> {
    /// Returns the prefixes under which a router is reachable: those of its parents, of its mounts, and its own.
    pub(super) fn prefixes(&self, router: RouterKey, seen: &mut Vec<RouterKey>) -> Vec<String> {
        if seen.contains(&router) || seen.len() >= MAX_NESTING {
            return vec![String::new()];
        }
        seen.push(router);
        let mut own: Vec<&str> = self.own_prefixes(router).iter().map(|&prefix| self.text(prefix)).collect();
        own.sort_unstable();
        let own = own.first().copied().unwrap_or("");
        let mut found = Vec::new();
        for mount in self.mounts(router) {
            let prefix = self.text(mount.prefix);
            for outer in self.prefixes(mount.parent, seen) {
                let outer = join(&outer, prefix);
                found.push(if mount.replaces && !prefix.is_empty() { outer } else { join(&outer, own) });
                if found.len() > MAX_PREFIXES * MAX_PREFIXES {
                    break;
                }
            }
        }
        seen.pop();
        if found.is_empty() {
            found.push(if own.is_empty() { String::new() } else { join("", own) });
        }
        found
    }
}
