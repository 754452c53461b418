//! The results of the two stages for one file, and the tables over all files.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::link::edge::EdgeType;
use crate::link::project::dependencies::{Contributions, DependencyKind, add_differences, digest_of, key};
use crate::link::project::index::Index;
use crate::link::project::names::{EMPTY, FileId, Strings, Sym, SymbolId};
use crate::link::project::query::Query;
use crate::link::strategy::Strategy;

/// A router: the scope and the name of its variable. With an empty name, the router that a function returns or a
/// module exports.
pub type RouterKey = (SymbolId, Sym);

/// How the routers of one file hang together.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileRouters {
    pub mounts: Vec<Mount>,
    /// Prefixes that routers have of their own.
    pub own: Vec<(RouterKey, Sym)>,
}

/// A router that is part of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mount {
    pub child: RouterKey,
    pub parent: RouterKey,
    pub prefix: Sym,
    /// Whether the prefix replaces the child's own one.
    pub replaces: bool,
}

/// The routes and events of one file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileRoutes {
    pub routes: Vec<Route>,
    pub links: Vec<Link>,
}

/// A node of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// `route:GET /users`, which several files may register.
    pub name: Sym,
    /// The name with the file, unique in the project.
    pub place: Sym,
    pub is_test: bool,
    pub method: Sym,
    pub path: Sym,
    pub framework: Sym,
    pub line: u32,
}

/// An edge from a symbol to a route or event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Link {
    pub source: SymbolId,
    pub kind: EdgeType,
    /// Uid of an event, or name of a route.
    pub target: Sym,
    /// Of a route: its name with the file.
    pub place: Sym,
    pub line: u32,
    pub via: Strategy,
}

/// The tables over all files, rebuilt after each stage.
#[derive(Default)]
pub struct RouteTables {
    /// By file.
    pub routers: Vec<FileRouters>,
    pub routes: Vec<FileRoutes>,
    mounts: FxHashMap<RouterKey, Vec<Mount>>,
    own: FxHashMap<RouterKey, Vec<Sym>>,
    /// The place of the first registration of each route, which has the name as its uid.
    owners: FxHashMap<Sym, Sym>,
    /// Links whose source is in another file than the registration, by the file of the source.
    links: FxHashMap<FileId, Vec<Link>>,
}

impl RouteTables {
    /// Makes room for the files up to a number.
    pub fn grow(&mut self, files: usize) {
        self.routers.resize_with(files.max(self.routers.len()), FileRouters::default);
        self.routes.resize_with(files.max(self.routes.len()), FileRoutes::default);
    }

    /// Rebuilds the table of mounts.
    pub fn index_routers(&mut self) {
        self.mounts.clear();
        self.own.clear();
        for file in &self.routers {
            for mount in &file.mounts {
                self.mounts.entry(mount.child).or_default().push(*mount);
            }
            for &(router, prefix) in &file.own {
                self.own.entry(router).or_default().push(prefix);
            }
        }
    }

    /// Rebuilds the tables of first registrations, and of handlers in other files than their registration.
    fn index_routes(&mut self, strings: &Strings, file_of: impl Fn(SymbolId) -> FileId) {
        self.links.clear();
        self.owners.clear();
        let mut first: FxHashMap<Sym, (bool, &str, Sym)> = FxHashMap::default();
        for route in self.routes.iter().flat_map(|file| &file.routes) {
            let own = (route.is_test, strings.text(route.place), route.place);
            let known = first.entry(route.name).or_insert(own);
            if own < *known {
                *known = own;
            }
        }
        self.owners.extend(first.into_iter().map(|(name, own)| (name, own.2)));
        for (home, file) in self.routes.iter().enumerate() {
            for link in &file.links {
                let target = file_of(link.source);
                if target as usize != home {
                    self.links.entry(target).or_default().push(*link);
                }
            }
        }
    }
}

impl RouteTables {
    /// Returns the uid of a route without the project.
    pub fn uid(&self, name: Sym, place: Sym) -> Sym {
        if self.owners.get(&name) == Some(&place) { name } else { place }
    }
}

impl FileRouters {
    pub fn contributions(&self) -> Contributions {
        let mounts = self.mounts.iter().map(|mount| (router_query(mount.child), digest_of(mount)));
        mounts.chain(self.own.iter().map(|own| (router_query(own.0), digest_of(own)))).collect()
    }
}

impl FileRoutes {
    pub fn contributions(&self, home: FileId, file_of: impl Fn(SymbolId) -> FileId) -> Contributions {
        let others = self.links.iter().filter(|link| file_of(link.source) != home);
        let handled = others.map(|link| (key(DependencyKind::Handled, file_of(link.source), 0), digest_of(link)));
        let names = self.routes.iter();
        let names =
            names.map(|route| (key(DependencyKind::Route, route.name, 0), digest_of((route.place, route.is_test))));
        handled.chain(names).collect()
    }
}

fn router_query(router: RouterKey) -> u32 {
    key(DependencyKind::Router, router.0, router.1)
}

impl Index {
    /// Replaces the routers of a file. Adds the keys of the queries whose answers change.
    pub fn put_routers(&mut self, id: FileId, found: FileRouters, keys: &mut FxHashSet<u32>) {
        let known = &mut self.routing.routers[id as usize];
        let old = std::mem::replace(known, found);
        if old != *known {
            add_differences(old.contributions(), known.contributions(), keys);
        }
    }

    /// Replaces the routes of a file. Adds the keys of the queries whose answers change.
    pub fn put_routes(&mut self, id: FileId, found: FileRoutes, keys: &mut FxHashSet<u32>) {
        let symbols = &self.symbols;
        let file_of = |symbol| symbols.get(symbol).file;
        let known = &mut self.routing.routes[id as usize];
        let old = std::mem::replace(known, found);
        if old != *known {
            add_differences(old.contributions(id, file_of), known.contributions(id, file_of), keys);
        }
    }

    /// Rebuilds the tables of routes.
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
