//! The edges of one file: what it defines, imports, inherits and overrides. `calls` and `docs` add those of references.

use crate::edge::{Edge, EdgeType, FileEdges, Target};
use crate::emit::collector::EdgeCollector;
use crate::emit::equal_names::add_equal_names;
use crate::emit::{calls, docs, notes};
use crate::entity::{Entity, Values};
use crate::project::arity::Arity;
use crate::project::file_entry::{is_class, is_star};
use crate::project::names::{EMPTY, FILE_NODE};
use crate::project::query::Query;
use crate::routes::services::RPC;
use crate::strategy::Strategy;
use crate::testing::reached::{self, Depths, add_reached};
use atlas_facts::{DefId, DetectionKind, Kind, ReferenceKind, flags};
use atlas_languages::ModuleRule;

/// Returns all edges of a file, and the uid of each one's target without the project.
pub fn link_edges(query: &Query) -> (FileEdges, Vec<String>) {
    let mut collector = EdgeCollector::new(query);
    let mut depths = Depths::default();
    query.record_own_uids();
    collector.add_definitions();
    collector.add_children();
    if query.file.is_document() {
        docs::add_references(&mut collector);
        notes::add_relations(&mut collector);
    } else {
        collector.add_extensions();
        collector.add_inheritance();
        collector.add_overrides();
        collector.add_imports();
        calls::add_references(&mut collector);
        collector.add_routes();
        depths = add_reached(&mut collector);
    }
    let (mut edges, uids) = collector.finish();
    edges.statements = reached::statements(&edges.edges, &depths);
    if query.file.is_document() {
        edges.statements = notes::statements(query, &edges.edges);
        edges.problems = notes::duplicate_ids(query);
    }
    (edges, uids)
}

impl EdgeCollector<'_, '_> {
    fn add_definitions(&mut self) {
        let file = self.query.file;
        let is_document = file.is_document();
        for (def, definition) in file.facts().definitions.iter().enumerate() {
            let def = def as DefId;
            if !file.is_node(def) || (is_document && def == 0) {
                continue;
            }
            let target = Target::Symbol(file.symbols[def as usize]);
            if def == 0 {
                self.add(FILE_NODE, EdgeType::Defines, target, 1, Strategy::Structure);
                continue;
            }
            let around = definition.parent;
            if file.outline(around).kind == Kind::Extension && self.query.extended(around).is_some() {
                continue; // Part of the unit of the class.
            }
            let parent = self.source(around);
            let is_member = parent != FILE_NODE && is_class(file.outline(parent).kind);
            let kind = match definition.kind {
                Kind::Observation => EdgeType::HasObservation,
                Kind::Window(_) => EdgeType::Contains,
                _ if is_document => EdgeType::Contains,
                kind if is_member && is_method(kind) => EdgeType::DefinesMethod,
                _ => EdgeType::Defines,
            };
            self.add(parent, kind, target, definition.name_line, Strategy::Structure);
        }
    }

    /// Adds the modules of a package's folder, which the file of the package contains.
    fn add_children(&mut self) {
        let (path, rules) = (&self.query.file.path, &self.query.file.rules);
        if !rules.is_package_file(path) {
            return;
        }
        for &child in self.query.children(rules.family, crate::project::paths::folder_of(path)) {
            let module = self.query.module_symbol(child);
            self.add(0, EdgeType::Contains, Target::Symbol(module), 0, Strategy::Structure);
        }
    }

    /// Adds the members that `impl` blocks, receivers and partial classes add to the classes of this file.
    fn add_extensions(&mut self) {
        let query = self.query;
        for (def, definition) in query.file.facts().definitions.iter().enumerate() {
            if !is_class(definition.kind) && !query.is_object(definition.kind) {
                continue;
            }
            for extension in query.extensions(query.file.symbols[def]) {
                let place = query.index.symbols.get(extension.symbol);
                let file = query.index.file(place.file);
                for base in &extension.bases {
                    self.add_base(def as DefId, base.entity, definition.name_line, base.via);
                }
                for (member, inner) in file.facts().definitions.iter().enumerate() {
                    if inner.parent != place.def || !file.is_node(member as DefId) {
                        continue;
                    }
                    let line = if place.file == query.home { inner.name_line } else { 0 };
                    let is_member = is_class(definition.kind) && is_method(inner.kind);
                    let kind = if is_member { EdgeType::DefinesMethod } else { EdgeType::Defines };
                    let target = Target::Symbol(file.symbols[member]);
                    self.add(def as DefId, kind, target, line, Strategy::Structure);
                }
            }
        }
    }

    fn add_inheritance(&mut self) {
        let query = self.query;
        for (class, bases) in query.index.ancestry.classes(query.home) {
            let def = query.index.symbols.get(*class).def;
            if query.file.outline(def).kind == Kind::TypeAlias {
                continue; // Its parts are types that it uses.
            }
            let line = query.file.def(def).name_line;
            for base in bases {
                if base.entity == Entity::Missing {
                    self.unresolved += 1;
                }
                self.add_base(def, base.entity, line, base.via);
            }
        }
        for (def, definition) in query.file.facts().definitions.iter().enumerate() {
            if query.file.rules.structural_interfaces && is_class(definition.kind) {
                let embedded = query.ancestors(query.file.symbols[def]);
                let implemented = query.interfaces(query.file.symbols[def]).iter();
                for &interface in implemented.filter(|interface| !embedded.contains(interface)) {
                    self.add_base(def as DefId, interface, definition.name_line, Strategy::MethodSet);
                }
            }
        }
    }

    fn add_base(&mut self, class: DefId, base: Entity, line: u32, via: Strategy) {
        let target = match base {
            Entity::Definition(symbol) => self.target(symbol),
            Entity::External(external) => Some(Target::External(external)),
            Entity::Package(package) => Some(Target::Package(package)),
            Entity::Builtin(name) => self.query.external_builtin(name).map(Target::External),
            _ => None,
        };
        if let Some(target) = target {
            self.resolved += 1;
            self.add(class, EdgeType::Inherits, target, line, via);
        }
    }

    fn add_overrides(&mut self) {
        let query = self.query;
        for (def, definition) in query.file.facts().definitions.iter().enumerate() {
            if !matches!(definition.kind, Kind::Method | Kind::Property) {
                continue;
            }
            let name = query.file.text(definition.name);
            let is_private = query.file.rules.is_private_method(name);
            let parent = query.file.outline(definition.parent).kind;
            if is_private || !(is_class(parent) || parent == Kind::Extension) {
                continue;
            }
            let Some(class) = query.class_of(definition.parent) else { continue };
            if query.file.rules.structural_interfaces {
                for symbol in query.implemented_methods(class, query.file.sym(definition.name)) {
                    if let Some(target) = self.target(symbol) {
                        self.add(def as DefId, EdgeType::Overrides, target, definition.name_line, Strategy::MethodSet);
                    }
                }
            }
            let name = query.file.sym(definition.name);
            let overridden = match query.file.rules.declared_overrides {
                true if definition.flags & flags::EXPORTED == 0 => None,
                true => query.declared(class, name, Arity::of(definition)),
                false if query.file.rules.overloads && definition.kind == Kind::Method => {
                    query.overridden_overload(class, definition)
                }
                false => query.overridden(class, name),
            };
            if let Some(symbol) = overridden
                && symbol != query.file.symbols[def]
            {
                let target = Target::Symbol(symbol);
                self.add(def as DefId, EdgeType::Overrides, target, definition.name_line, Strategy::Override);
            }
        }
    }

    /// Adds what the symbols of this file handle and emit. Of a registration in another file, the line is that of the
    /// handler's name.
    fn add_routes(&mut self) {
        let query = self.query;
        query.record_own_routes();
        let own = query.own_routes().links.iter().map(|link| (link, true));
        for (link, is_here) in own.chain(query.handled_elsewhere().iter().map(|link| (link, false))) {
            let place = query.index.symbols.get(link.source);
            if place.file != query.home {
                continue;
            }
            let line = match is_here || place.def == FILE_NODE {
                true => link.line,
                false => query.file.def(place.def).name_line,
            };
            let target = Target::Stated(query.route_uid(link.target, link.place));
            self.add(place.def, link.kind, target, line, link.via);
        }
        self.add_injected();
        self.add_called_routes();
        self.add_called_procedures();
    }

    /// Adds the routes that clients in this file call. A line that registers a route is no call of one.
    fn add_called_routes(&mut self) {
        let query = self.query;
        let own = &query.own_routes().routes;
        for detection in query.file.facts().detections.iter().filter(|one| one.kind == DetectionKind::Client) {
            if own.iter().any(|route| route.line == detection.line) {
                continue;
            }
            let source = query.index.symbols.get(query.node_symbol(detection.scope)).def;
            let call = query.called_routes(detection);
            if call.routes.is_empty() {
                let methods = query.file.text(detection.methods);
                self.note_request(source, methods, call.paths, detection.line);
            }
            for (name, place, via) in call.routes {
                let target = Target::Stated(query.route_uid(name, place));
                self.add(source, EdgeType::CallsRoute, target, detection.line, via);
            }
        }
    }

    /// Adds the remote procedures that calls in this file mean.
    fn add_called_procedures(&mut self) {
        let query = self.query;
        for reference in query.file.facts().references.iter().filter(|one| one.kind == ReferenceKind::Call) {
            let Some(call) = query.called_procedures(reference) else { continue };
            let source = self.source(reference.scope);
            self.note_request(source, RPC, call.paths, reference.line);
            for (name, place, via) in call.routes {
                let target = Target::Stated(query.route_uid(name, place));
                self.add(source, EdgeType::CallsRoute, target, reference.line, via);
            }
        }
    }

    fn add_imports(&mut self) {
        let query = self.query;
        let source = self.source(0);
        for (number, import) in query.file.facts().imports.iter().enumerate() {
            let is_whole = is_star(import) || import.member.is_none();
            let members: Values = if is_whole { Values::new() } else { query.follow_import(query.home, number as u32) };
            let mut is_found = false;
            for value in members {
                let via = if value.via == Strategy::Alias { Strategy::ReExport } else { value.via };
                is_found |= self.add_import(source, value.entity, import.line, via);
            }
            if !is_found {
                let module = query.module_of(query.home, import);
                let is_known = self.add_import(source, module, import.line, Strategy::Import);
                if is_known {
                    self.resolved += 1;
                } else {
                    self.unresolved += 1;
                }
            } else {
                self.resolved += 1;
            }
        }
    }

    fn add_import(&mut self, source: DefId, entity: Entity, line: u32, via: Strategy) -> bool {
        let target = match entity {
            Entity::Definition(symbol) => self.target(symbol),
            Entity::External(external) => Some(Target::External(external)),
            Entity::Package(package) => Some(Target::Package(package)),
            Entity::Folder(folder) if self.query.file.rules.module_rule == ModuleRule::Folders => {
                let first = self.query.children(self.query.file.rules.family, self.query.text(folder)).first();
                let module = first.map(|&file| self.query.index.file(file).module);
                module.filter(|&module| module != EMPTY).map(Target::Package)
            }
            // A folder without a file of its own is not a node.
            Entity::Folder(_) => return true,
            _ => None,
        };
        let Some(target) = target else { return false };
        if target != Target::Symbol(self.query.file.symbols[0]) {
            self.add(source, EdgeType::Imports, target, line, via);
        }
        true
    }

    /// Keeps one edge per (source, type, target): all lines, and the rule with the highest confidence.
    fn finish(mut self) -> (FileEdges, Vec<String>) {
        add_equal_names(&mut self);
        self.edges.retain(|edge| edge.kind != EdgeType::References || !is_self(self.query, edge));
        self.edges.sort_unstable_by_key(|edge| (edge.source, edge.kind, edge.target, edge.line, edge.via));
        let query = self.query;
        let parallel = |a: &Edge, b: &Edge| (a.source, a.kind, a.target) == (b.source, b.kind, b.target);
        let mut kept: Vec<(Edge, &[Edge], String)> = Vec::with_capacity(self.edges.len());
        for group in self.edges.chunk_by(parallel) {
            kept.push((with_best_rule(group), group, target_uid(query, group[0].target)));
        }
        kept.sort_unstable_by(|(a, _, left), (b, _, right)| {
            let place = |edge: &Edge| (edge.source.wrapping_add(1), edge.kind, edge.line);
            place(a).cmp(&place(b)).then_with(|| left.cmp(right))
        });
        let properties = self.unresolved_properties();
        let mut found =
            FileEdges { properties, resolved: self.resolved, unresolved: self.unresolved, ..FileEdges::default() };
        let mut uids = Vec::with_capacity(kept.len());
        for (edge, group, uid) in kept {
            let index = found.edges.len() as u32;
            found.further_lines.extend(further_lines(group).map(|line| (index, line)));
            found.edges.push(edge);
            uids.push(uid);
        }
        (found, uids)
    }
}

/// Largest number of lines of one edge. The lines of a generated file with a call on each line would fill the store.
const MAX_LINES: usize = 200;

/// Returns the first of several edges with the same ends, with the rule of the highest confidence.
fn with_best_rule(group: &[Edge]) -> Edge {
    let certainty = |via: Strategy| (via.confidence() * 100.0) as u32;
    let mut best = group[0];
    for edge in group {
        if certainty(edge.via) > certainty(best.via) {
            best.via = edge.via;
        }
    }
    best
}

/// Returns the distinct lines after the first one of edges that are sorted by line.
fn further_lines(group: &[Edge]) -> impl Iterator<Item = u32> {
    let later = group.windows(2).filter(|pair| pair[0].line != 0 && pair[0].line != pair[1].line);
    later.map(|pair| pair[1].line).take(MAX_LINES - 1)
}

/// Returns whether a definition refers to itself as a value, which carries no information.
fn is_self(query: &Query, edge: &Edge) -> bool {
    edge.source != FILE_NODE && edge.target == Target::Symbol(query.file.symbols[edge.source as usize])
}

fn is_method(kind: Kind) -> bool {
    matches!(kind, Kind::Method | Kind::Constructor | Kind::Property)
}

/// Returns the uid of an edge's target, without the project.
fn target_uid(query: &Query, target: Target) -> String {
    if let Target::Symbol(symbol) = target {
        query.record_uid(symbol);
    }
    query.index.target_uid(target)
}
