//! The results of the two stages for one file, and the tables over all files. `table_queries` asks and changes them.

use rustc_hash::FxHashMap;

use crate::edge::EdgeType;
use crate::project::dependencies::{Contributions, DependencyKind, digest_of, key, text_key};
use crate::project::names::{FileId, Strings, Sym, SymbolId};
use crate::strategy::Strategy;
use atlas_facts::url_path::{Segment, segments};

/// The framework of routes that a file only describes.
pub const DESCRIBED: &str = "openapi";

/// A router: the scope and the name of its variable. With an empty name, the router that a function returns or a
/// module exports.
pub type RouterKey = (SymbolId, Sym);

/// How the routers of one file hang together.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileRouters {
    pub mounts: Vec<Mount>,
    /// Prefixes that routers have of their own.
    pub own: Vec<(RouterKey, Sym)>,
    /// Variables that hold clients of a service, and classes that serve one.
    pub services: Vec<Service>,
    /// The procedures that the file declares.
    pub procedures: Vec<Procedure>,
}

/// What calls or serves the procedures of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Service {
    /// A variable, or a class with the name of its role.
    pub holder: RouterKey,
    /// The service's name without its package.
    pub name: Sym,
    /// Whether only the name of a client of remote procedures has this form.
    pub is_certain: bool,
}

/// A procedure of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Procedure {
    /// The method's name in the form that all languages share.
    pub method: Sym,
    /// The service's name without its package.
    pub service: Sym,
    /// `route:RPC /package.Service/Method`, and this with the file.
    pub name: Sym,
    pub place: Sym,
    pub is_test: bool,
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
    /// Whether the tables over all files are older than the results.
    pub has_new_routers: bool,
    pub has_new_routes: bool,
    pub(super) mounts: FxHashMap<RouterKey, Vec<Mount>>,
    pub(super) own: FxHashMap<RouterKey, Vec<Sym>>,
    pub(super) services: FxHashMap<RouterKey, Vec<Service>>,
    /// Procedures by the shared form of their method's name: of several files that declare one, the first.
    pub(super) procedures: FxHashMap<Sym, Vec<Procedure>>,
    /// The place of the first registration of each route, which has the name as its uid.
    owners: FxHashMap<Sym, Sym>,
    /// Routes by the last literal segment of their path: the file and the position in it.
    by_segment: FxHashMap<String, Vec<(FileId, u32)>>,
    /// Links whose source is in another file than the registration, by the file of the source.
    pub(super) links: FxHashMap<FileId, Vec<Link>>,
}

impl RouteTables {
    /// Makes room for the files up to a number.
    pub fn grow(&mut self, files: usize) {
        self.routers.resize_with(files.max(self.routers.len()), FileRouters::default);
        self.routes.resize_with(files.max(self.routes.len()), FileRoutes::default);
    }

    /// Rebuilds the table of mounts if routers have changed.
    pub fn index_routers(&mut self, strings: &Strings) {
        if !std::mem::take(&mut self.has_new_routers) {
            return;
        }
        self.mounts.clear();
        self.own.clear();
        self.services.clear();
        self.procedures.clear();
        let mut first: FxHashMap<Sym, Procedure> = FxHashMap::default();
        for procedure in self.routers.iter().flat_map(|file| &file.procedures) {
            let rank = |one: &Procedure| (one.is_test, strings.text(one.place).to_owned());
            let known = first.entry(procedure.name).or_insert(*procedure);
            if rank(procedure) < rank(known) {
                *known = *procedure;
            }
        }
        for procedure in first.into_values() {
            self.procedures.entry(procedure.method).or_default().push(procedure);
        }
        for known in self.procedures.values_mut() {
            known.sort_by(|a, b| strings.text(a.name).cmp(strings.text(b.name)));
        }
        for file in &self.routers {
            for mount in &file.mounts {
                self.mounts.entry(mount.child).or_default().push(*mount);
            }
            for &(router, prefix) in &file.own {
                self.own.entry(router).or_default().push(prefix);
            }
            for service in &file.services {
                self.services.entry(service.holder).or_default().push(*service);
            }
        }
    }

    /// Rebuilds the tables of first registrations, and of handlers in other files than their registration, if routes
    /// have changed.
    pub(super) fn index_routes(&mut self, strings: &Strings, file_of: impl Fn(SymbolId) -> FileId) {
        if !std::mem::take(&mut self.has_new_routes) {
            return;
        }
        self.links.clear();
        self.owners.clear();
        self.by_segment.clear();
        let mut first: FxHashMap<Sym, ((bool, bool), &str, Sym)> = FxHashMap::default();
        for route in self.routes.iter().flat_map(|file| &file.routes) {
            // code before tests before descriptions
            let rank = (strings.text(route.framework) == DESCRIBED, route.is_test);
            let own = (rank, strings.text(route.place), route.place);
            let known = first.entry(route.name).or_insert(own);
            if own < *known {
                *known = own;
            }
        }
        self.owners.extend(first.into_iter().map(|(name, own)| (name, own.2)));
        for (home, file) in self.routes.iter().enumerate() {
            for (at, route) in file.routes.iter().enumerate() {
                let segment = last_literal(strings.text(route.path));
                self.by_segment.entry(segment).or_default().push((home as FileId, at as u32));
            }
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

    /// Returns the routes with this last literal segment, with their files.
    pub(super) fn with_segment(&self, segment: &str) -> impl Iterator<Item = (FileId, &Route)> {
        let places = self.by_segment.get(segment).into_iter().flatten();
        places.map(|&(file, at)| (file, &self.routes[file as usize].routes[at as usize]))
    }
}

impl FileRouters {
    pub fn contributions(&self, strings: &Strings) -> Contributions {
        let mounts = self.mounts.iter().map(|mount| (router_query(mount.child), digest_of(mount)));
        let own = self.own.iter().map(|own| (router_query(own.0), digest_of(own)));
        let services = self.services.iter().map(|service| (router_query(service.holder), digest_of(service)));
        let procedures = self.procedures.iter().map(|procedure| {
            let known = digest_of((procedure.service, procedure.name, procedure.place, procedure.is_test));
            (procedure_query(strings.text(procedure.method)), known)
        });
        // Of a file that declares some: a further procedure of it concerns only who asks for its name.
        let any = self.procedures.first().map(|_| (procedure_query(""), digest_of(true)));
        mounts.chain(own).chain(services).chain(procedures).chain(any).collect()
    }
}

impl FileRoutes {
    pub fn contributions(
        &self,
        home: FileId,
        strings: &Strings,
        file_of: impl Fn(SymbolId) -> FileId,
    ) -> Contributions {
        let others = self.links.iter().filter(|link| file_of(link.source) != home);
        let handled = others.map(|link| (key(DependencyKind::Handled, file_of(link.source), 0), digest_of(link)));
        let names = self.routes.iter();
        let names = names.map(|route| {
            (key(DependencyKind::Route, route.name, 0), digest_of((route.place, route.is_test, route.framework)))
        });
        let paths = self.routes.iter().map(|route| {
            let known = (route.place, route.is_test, route.method, route.path, route.framework);
            (segment_query(&last_literal(strings.text(route.path))), digest_of(known))
        });
        handled.chain(names).chain(paths).collect()
    }
}

/// Returns the last literal segment of a path, "" without any.
fn last_literal(path: &str) -> String {
    let mut segments = segments(path).into_iter().rev();
    let found = segments.find_map(|segment| match segment {
        Segment::Text(text) => Some(text),
        _ => None,
    });
    found.unwrap_or_default()
}

pub(super) fn segment_query(segment: &str) -> u32 {
    text_key(DependencyKind::RoutePath, 0, segment)
}

/// The procedures with a method's name in the shared form; without one, whether any is declared.
pub(super) fn procedure_query(method: &str) -> u32 {
    text_key(DependencyKind::Procedure, 0, method)
}

pub(super) fn router_query(router: RouterKey) -> u32 {
    key(DependencyKind::Router, router.0, router.1)
}
