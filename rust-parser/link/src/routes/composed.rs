//! The second stage: the routes, events and commands of one file, with composed paths and resolved handlers.

use rustc_hash::FxHashMap;

use crate::edge::EdgeType;
use crate::entity::Entity;
use crate::project::file_entry::Bound;
use crate::project::names::{EMPTY, ExternalId, SymbolId};
use crate::project::query::Query;
use crate::routes::tables::{FileRoutes, Link, Route, RouterKey};
use crate::strategy::Strategy;
use atlas_facts::route_path::join;
use atlas_facts::{DefId, Detection, DetectionKind, Expr, ExprId, Kind, Name};

/// Largest number of prefixes of a router, and of routers around a router.
const MAX_PREFIXES: usize = 8;
const MAX_NESTING: usize = 12;
/// Largest number of routes of a file.
const MAX_ROUTES: usize = 5000;

/// A detector with this instead of packages finds routes only where they are mounted.
const MOUNTED: &str = "$mounted";

/// Endings of the names of classes that wrap a router.
const ROUTER_NAMES: [&str; 6] = ["Router", "Routes", "Mux", "Engine", "RouterGroup", "Blueprint"];

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
    let events =
        facts.detections.iter().filter(|one| matches!(one.kind, DetectionKind::Handles | DetectionKind::Emits));
    for detection in events.filter(|detection| query.acceptance(detection).is_some()) {
        add_event(query, detection, &mut found);
    }
    found.links.sort_unstable_by_key(|link| (link.source, link.kind, link.line));
    found.links.dedup();
    found
}

/// Returns the accepted routes, each with the framework that is most certain of those that match the same
/// registration.
fn certain_routes<'d>(query: &Query, detections: &'d [Detection]) -> Vec<(Name, &'d Detection)> {
    let mut best: FxHashMap<(u32, Name, Name), (u8, Name)> = FxHashMap::default();
    let mut accepted = Vec::new();
    for detection in detections.iter().filter(|one| one.kind == DetectionKind::Route) {
        if let Some(rank) = query.acceptance(detection) {
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
            let kind = EdgeType::HandlesRoute;
            found.links.push(Link { source, kind, target: name, place, line: detection.line, via });
        }
    }
}

fn add_event(query: &Query, detection: &Detection, found: &mut FileRoutes) {
    let text = |name| query.file.text(name);
    let uid = format!("event:{}:{}", text(detection.methods), text(detection.path));
    let target = query.index.strings.intern(&uid);
    let here = (query.node_symbol(detection.scope), Strategy::Registration);
    let (kind, (source, via)) = match detection.kind {
        DetectionKind::Handles => {
            let handler = query.handler_symbol(detection.handler, detection.scope, detection.line);
            (EdgeType::HandlesEvent, handler.unwrap_or(here))
        }
        _ => (EdgeType::EmitsEvent, here),
    };
    found.links.push(Link { source, kind, target, place: EMPTY, line: detection.line, via });
}

impl Query<'_> {
    /// Returns the prefixes under which a router is reachable: those of its parents, of its mounts, and its own.
    fn prefixes(&self, router: RouterKey, seen: &mut Vec<RouterKey>) -> Vec<String> {
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

    /// Returns whether the receiver of a detection is an object of the framework, and by what, most certain first: by
    /// its origin (0), its name (1), or because a known router is mounted as it (2).
    fn acceptance(&self, detection: &Detection) -> Option<u8> {
        let packages = self.file.text(detection.packages);
        if packages == MOUNTED {
            return (!self.mounts(self.owner_router(detection)?).is_empty()).then_some(0);
        }
        let Some(receiver) = detection.receiver.filter(|_| !packages.is_empty()) else { return Some(0) };
        if let Some(is_from) = self.comes_from(receiver, detection.scope, detection.line, packages, 0) {
            return is_from.then_some(0);
        }
        if self.has_known_name(receiver, self.file.text(detection.receivers)) {
            return Some(1);
        }
        let router = self.owner_router(detection)?;
        (!self.mounts(router).is_empty() || !self.own_prefixes(router).is_empty()).then_some(2)
    }

    fn has_known_name(&self, receiver: ExprId, names: &str) -> bool {
        let name = match *self.file.expr(receiver) {
            Expr::Name(name) | Expr::Attribute { name, .. } => self.file.text(name),
            _ => return false,
        };
        names.split(' ').any(|known| match known.strip_prefix('*') {
            Some(ending) => name.to_ascii_lowercase().ends_with(ending),
            None => known == name,
        })
    }

    /// Returns whether a value comes from one of the packages; `None` if that is not known.
    fn comes_from(&self, expr: ExprId, scope: DefId, line: u32, packages: &str, depth: u32) -> Option<bool> {
        if depth > 6 {
            return None;
        }
        for value in self.eval(expr, scope, line) {
            match value.entity {
                Entity::External(external) | Entity::ExternalInstance(external) => {
                    return Some(self.is_of(external, packages));
                }
                Entity::Instance(class) | Entity::Elements(class) => {
                    let is_from =
                        |base: &Entity| matches!(base, Entity::External(external) if self.is_of(*external, packages));
                    let is_derived = self.ancestors(class).iter().any(is_from);
                    // A router of the project's own, behind which there may be one of the framework.
                    return if is_derived || !self.is_named_as_router(class) { Some(is_derived) } else { None };
                }
                Entity::Definition(symbol) if matches!(self.kind(symbol), Kind::Constant | Kind::Field) => {
                    for held in self.stored_values(symbol) {
                        if let Entity::External(external) | Entity::ExternalInstance(external) = held.entity {
                            return Some(self.is_of(external, packages));
                        }
                    }
                }
                _ => {}
            }
        }
        match *self.file.expr(expr) {
            Expr::Call { callee, .. } => self.comes_from(callee, scope, line, packages, depth + 1),
            Expr::Attribute { base, .. } => {
                self.comes_from(base, scope, line, packages, depth + 1).filter(|&is_from| is_from)
            }
            Expr::Name(name) => {
                let name = self.file.sym(name);
                let mut here = scope;
                while here != 0 && self.file.entries(here, name).is_empty() {
                    here = self.file.outline(here).parent;
                }
                if self.file.entries(here, name).iter().any(|entry| matches!(entry.bound, Bound::Import(_))) {
                    return None;
                }
                let facts = self.file.facts();
                let bindings = facts.bindings.iter().filter(|binding| {
                    binding.scope == here
                        && matches!(*self.file.expr(binding.target), Expr::Name(target) if self.file.sym(target) == name)
                });
                bindings.rev().take(4).find_map(|binding| {
                    let value = binding.value.filter(|&value| value != expr)?;
                    self.comes_from(value, here, binding.line.saturating_sub(1), packages, depth + 1)
                })
            }
            _ => None,
        }
    }

    fn is_named_as_router(&self, class: SymbolId) -> bool {
        let name = self.text(self.definition(class).1.name);
        ROUTER_NAMES.iter().any(|ending| name.ends_with(ending))
    }

    fn is_of(&self, external: ExternalId, packages: &str) -> bool {
        let (package, name) = self.index.externals.name(external);
        let dotted = format!("{}.{}", self.text(package), self.text(name));
        packages.split(' ').any(|known| {
            dotted.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/', ':']))
        })
    }
}
