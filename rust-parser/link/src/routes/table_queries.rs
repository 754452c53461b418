//! The tables of routes as part of a project: the index replaces the results of a file, queries read them.

use rustc_hash::FxHashSet;

use crate::project::dependencies::{DependencyKind, add_differences, key};
use crate::project::index::Index;
use crate::project::names::{EMPTY, FileId, Sym};
use crate::project::query::Query;
use crate::routes::tables::{
    FileRouters, FileRoutes, Link, Mount, Procedure, Route, RouterKey, Service, procedure_query, router_query,
    segment_query,
};
use atlas_facts::url_path::Segment;

impl Index {
    /// Replaces the routers of a file. Adds the keys of the queries whose answers change.
    pub fn put_routers(&mut self, id: FileId, found: FileRouters, keys: &mut FxHashSet<u32>) {
        let known = &mut self.routing.routers[id as usize];
        let old = std::mem::replace(known, found);
        if old != *known {
            let strings = &self.strings;
            add_differences(old.contributions(strings), known.contributions(strings), keys);
            self.routing.has_new_routers = true;
        }
    }

    /// Rebuilds the tables of routers and services if they have changed.
    pub fn index_routers(&mut self) {
        self.routing.index_routers(&self.strings);
    }

    /// Replaces the routes of a file. Adds the keys of the queries whose answers change.
    pub fn put_routes(&mut self, id: FileId, found: FileRoutes, keys: &mut FxHashSet<u32>) {
        let symbols = &self.symbols;
        let file_of = |symbol| symbols.get(symbol).file;
        let known = &mut self.routing.routes[id as usize];
        let old = std::mem::replace(known, found);
        if old != *known {
            let strings = &self.strings;
            add_differences(old.contributions(id, strings, file_of), known.contributions(id, strings, file_of), keys);
            self.routing.has_new_routes = true;
        }
    }

    /// Rebuilds the tables of routes if routes have changed.
    pub fn index_routes(&mut self) {
        let symbols = &self.symbols;
        self.routing.index_routes(&self.strings, |symbol| symbols.get(symbol).file);
    }
}

impl<'a> Query<'a> {
    /// Returns the mounts of a router.
    pub fn mounts(&self, router: RouterKey) -> &'a [Mount] {
        self.record(router_query(router));
        self.index.routing.mounts.get(&router).map_or(&[], Vec::as_slice)
    }

    /// Returns the prefixes that a router has of its own.
    pub fn own_prefixes(&self, router: RouterKey) -> &'a [Sym] {
        self.record(router_query(router));
        self.index.routing.own.get(&router).map_or(&[], Vec::as_slice)
    }

    /// Returns the services that a variable calls or a class serves.
    pub(super) fn services(&self, holder: RouterKey) -> &'a [Service] {
        self.record(router_query(holder));
        self.index.routing.services.get(&holder).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the project declares procedures.
    pub(super) fn has_procedures(&self) -> bool {
        self.record(procedure_query(""));
        !self.index.routing.procedures.is_empty()
    }

    /// Returns the declared procedures with a method's name in the shared form.
    pub(super) fn procedures_named(&self, method: &str) -> &'a [Procedure] {
        self.record(procedure_query(method));
        let method = self.index.strings.find(method);
        method.and_then(|method| self.index.routing.procedures.get(&method)).map_or(&[], Vec::as_slice)
    }

    /// Returns the routes and events that symbols of this file handle by registrations in other files.
    pub fn handled_elsewhere(&self) -> &'a [Link] {
        self.record(key(DependencyKind::Handled, self.home, 0));
        self.index.routing.links.get(&self.home).map_or(&[], Vec::as_slice)
    }

    /// Returns the uid of a route or event without the project: of a route that several files register, the first one
    /// has the name alone.
    pub fn route_uid(&self, name: Sym, place: Sym) -> Sym {
        if place == EMPTY {
            return name;
        }
        self.record(key(DependencyKind::Route, name, 0));
        self.index.routing.uid(name, place)
    }

    /// Returns the routes that a called path may mean, with their files: those whose last literal segment it has.
    pub(super) fn routes_like(&self, called: &[Segment]) -> Vec<(FileId, &'a Route)> {
        let literal = called.iter().filter_map(|segment| match segment {
            Segment::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let mut segments: Vec<&str> = literal.collect();
        segments.sort_unstable();
        segments.dedup();
        if segments.is_empty() {
            segments.push("");
        }
        let mut found = Vec::new();
        for segment in segments {
            self.record(segment_query(segment));
            found.extend(self.index.routing.with_segment(segment));
        }
        found
    }

    /// Records that the uids of the file's own routes are used.
    pub fn record_own_routes(&self) {
        for route in &self.own_routes().routes {
            self.record(key(DependencyKind::Route, route.name, 0));
        }
    }

    /// Returns the routes and events that this file registers.
    pub fn own_routes(&self) -> &'a FileRoutes {
        &self.index.routing.routes[self.home as usize]
    }
}
