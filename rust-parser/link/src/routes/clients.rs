//! Calls of routes by their URL: which route of the project a client calls.
//!
//! A client writes a URL, possibly below a base that is known elsewhere: `api.get(`/users/${id}`)`. Host and query are
//! no part of the path. Each literal segment has to be that of the route; a parameter of the route takes any segment,
//! but an unknown segment of the client only fits a parameter. Of several routes the one with more literal segments is
//! meant; routes that fit equally well are told apart by their files, or have a low confidence each.

use crate::project::names::{FileId, Sym};
use crate::project::query::Query;
use crate::routes::fit::{Fit, MAX_EQUAL, Template, fit};
use crate::routes::tables::{DESCRIBED, Route};
use crate::strategy::Strategy;
use atlas_facts::Detection;
use atlas_facts::route_path::{has_constant, join, with_constants};
use atlas_facts::url_path::{Segment, path_of_url, segments};

/// A route that a call may mean: its name, its name with the file, and the rule.
pub type Called = (Sym, Sym, Strategy);

/// What a client calls.
#[derive(Debug, Default)]
pub struct ClientCall {
    pub routes: Vec<Called>,
    /// The paths as they are called, whether or not a route fits.
    pub paths: Vec<String>,
}

impl Query<'_> {
    /// Returns what a client of this file calls.
    pub(crate) fn called_routes(&self, detection: &Detection) -> ClientCall {
        let mut found = ClientCall::default();
        if self.acceptance(detection).is_none() {
            return found;
        }
        let text = self.file.text(detection.path);
        let own = match has_constant(text) {
            true => with_constants(text, |name| self.constant_text(name, detection.scope, detection.line)),
            false => Some(text.to_owned()),
        };
        let Some(own) = own else { return found };
        let has_base = own.contains(":/") || own.starts_with('{') || (has_constant(text) && own.starts_with("/{"));
        let router = detection.receiver.filter(|_| !has_base);
        let router = router.and_then(|one| self.router_key(one, detection.scope, detection.line, 0));
        let prefixes = router.map_or_else(|| vec![String::new()], |router| self.prefixes(router, &mut Vec::new()));
        for prefix in &prefixes {
            // An unknown value at the very beginning is a base; one behind a slash is a segment.
            let written = if prefix.is_empty() { own.clone() } else { join(prefix, &own) };
            let is_base = !prefix.is_empty() || !text.starts_with('/');
            let bare = written.strip_prefix('/').filter(|rest| rest.starts_with('{') || rest.contains(":/"));
            if let Some(path) = path_of_url(bare.filter(|_| is_base).unwrap_or(&written)) {
                found.routes.extend(self.routes_at(&path, self.file.text(detection.methods)));
                found.paths.push(path);
            }
        }
        found.routes.sort_unstable();
        found.routes.dedup();
        found
    }

    /// Returns the routes that a path fits best.
    fn routes_at(&self, path: &str, methods: &str) -> Vec<Called> {
        let called = segments(path);
        let mut best: Vec<(Fit, FileId, &Route)> = Vec::new();
        for &(file, route) in &self.routes_like(&called) {
            let Some(fit) = self.fit(&called, methods, route).filter(|_| self.file.is_test || !route.is_test) else {
                continue;
            };
            match best.first().map(|known| known.0.cmp(&fit)) {
                Some(std::cmp::Ordering::Greater) => {}
                Some(std::cmp::Ordering::Equal) => best.push((fit, file, route)),
                _ => best = vec![(fit, file, route)],
            }
        }
        // Tests call the root of anything.
        let is_root = called.is_empty() && self.file.is_test;
        if best.len() > 1 || is_root {
            best = self.nearest(best);
        }
        if is_root
            && best.iter().any(|&(_, file, _)| {
                file != self.home && !self.imported_files.get_or_init(|| self.find_imported_files()).contains(&file)
            })
        {
            return Vec::new();
        }
        let is_one = best.iter().all(|(_, _, route)| route.path == best[0].2.path);
        if best.len() > MAX_EQUAL || (!is_one && best.iter().any(|(fit, ..)| fit.is_below)) {
            return Vec::new();
        }
        let via = match best.first() {
            Some((fit, ..)) if fit.is_below => Strategy::RouteEnd,
            Some(_) if best.len() > 1 => Strategy::RouteOneOf,
            _ => Strategy::RoutePath,
        };
        best.into_iter().map(|(_, _, route)| (route.name, route.place, via)).collect()
    }

    fn fit(&self, called: &[Segment], methods: &str, route: &Route) -> Option<Fit> {
        fit(called, methods, &Template::new(self.text(route.method), self.text(route.path)))
    }

    /// Returns the routes of several that are registered in this file, or else in one that it imports; else all of them.
    fn nearest<'r>(&self, found: Vec<(Fit, FileId, &'r Route)>) -> Vec<(Fit, FileId, &'r Route)> {
        let imported = self.imported_files.get_or_init(|| self.find_imported_files());
        let is_here = |file: FileId| file == self.home;
        let is_imported = |file: FileId| imported.contains(&file);
        let is_described = |route: &Route| self.text(route.framework) == DESCRIBED;
        let rank = |&(_, file, route): &(Fit, FileId, &Route)| match () {
            () if is_here(file) => 0,
            () if is_imported(file) => 1,
            () if route.is_test => 4,
            () if is_described(route) => 3,
            () => 2,
        };
        let best = found.iter().map(rank).min().unwrap_or_default();
        found.into_iter().filter(|one| rank(one) == best).collect()
    }

    /// Returns the files that this file imports something from.
    fn find_imported_files(&self) -> Vec<FileId> {
        use crate::entity::Entity;
        let imports = 0..self.file.facts().imports.len() as u32;
        let values = imports.flat_map(|import| {
            let module = self.module_of(self.home, &self.file.facts().imports[import as usize]);
            self.follow_import(self.home, import).into_iter().map(|value| value.entity).chain([module])
        });
        let files = values.filter_map(|entity| match entity {
            Entity::Definition(symbol) | Entity::Instance(symbol) => Some(self.index.symbols.get(symbol).file),
            _ => None,
        });
        files.collect()
    }
}
