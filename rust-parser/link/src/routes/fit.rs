//! How well the path of a call fits the template of a route. Answers across projects use the same rule as the linker.

use crate::routes::services::{RPC, shared_form};
use atlas_facts::url_path::{Segment, fits, is_open_below, segments};

/// Largest number of routes that fit one call equally well.
pub const MAX_EQUAL: usize = 3;

/// How well a route fits a call, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit {
    is_whole: bool,
    score: u32,
    /// Whether the route names the method.
    is_named: bool,
    /// Whether the route has segments before those of the call.
    pub is_below: bool,
}

/// A route as calls see it.
pub struct Template {
    method: String,
    path: String,
    segments: Vec<Segment>,
}

impl Template {
    pub fn new(method: &str, path: &str) -> Template {
        Template { method: method.to_owned(), path: path.to_owned(), segments: segments(path) }
    }
}

/// Returns how well a call with one of some methods fits a route, `None` if it does not.
pub fn fit(called: &[Segment], methods: &str, route: &Template) -> Option<Fit> {
    let (method, path, template) = (route.method.as_str(), route.path.as_str(), &route.segments);
    if method == RPC {
        let is_whole = methods == RPC && names_procedure(called, template);
        return is_whole.then_some(Fit { is_whole, score: 2, is_named: true, is_below: false });
    }
    let is_named = methods.split_whitespace().any(|one| one == method);
    if !is_named && !matches!((method, methods), ("ANY" | "ALL", _) | (_, "ANY")) {
        return None;
    }
    // Behind an unknown base, the route may have a prefix.
    let (is_open, rest) = match called.split_first() {
        Some((Segment::Base, rest)) => (true, rest),
        _ => (false, called),
    };
    if let Some(score) = fits(rest, template) {
        return Some(Fit { is_whole: true, score, is_named, is_below: false });
    }
    // Before the route there may be a value of the configuration, which may be empty.
    if let Some(score) = template.get(1..).filter(|_| begins_with_setting(path)).and_then(|below| fits(rest, below)) {
        return Some(Fit { is_whole: false, score, is_named, is_below: true });
    }
    let skipped = template.len().checked_sub(rest.len()).filter(|&skipped| is_open && skipped > 0)?;
    let (before, end) = template.split_at(skipped);
    let is_literal = before.iter().all(|segment| matches!(segment, Segment::Text(_)));
    // what comes before may hide whole segments, but not make a parameter of the first one that is written
    let is_text = |part: Option<&Segment>| matches!(part, Some(Segment::Text(_)));
    let begins = is_text(end.first()) || !is_text(rest.first());
    let score = fits(rest, end).filter(|_| is_literal && begins && !is_open_below(end))?;
    Some(Fit { is_whole: false, score, is_named, is_below: true })
}

/// Returns whether a call names the service, without its package, and the method of a procedure.
fn names_procedure(called: &[Segment], template: &[Segment]) -> bool {
    let ([.., Segment::Text(service), Segment::Text(method)], [Segment::Text(full), Segment::Text(declared)]) =
        (called, template)
    else {
        return false;
    };
    full.rsplit('.').next() == service.rsplit('.').next() && shared_form(method) == shared_form(declared)
}

/// Returns the positions of the routes that a call fits best, and whether they have segments before those of the call.
pub fn best_fits(path: &str, methods: &str, routes: &[Template]) -> (Vec<usize>, bool) {
    let called = segments(path);
    let mut best: Option<Fit> = None;
    let mut found = Vec::new();
    for (at, route) in routes.iter().enumerate() {
        let Some(own) = fit(&called, methods, route) else { continue };
        if best.is_none_or(|known| own > known) {
            best = Some(own);
            found.clear();
        }
        if best == Some(own) {
            found.push(at);
        }
    }
    (found, best.is_some_and(|fit| fit.is_below))
}

/// Returns whether a path begins with a value that has the name of a setting or constant: `/{conf.base}/users`.
fn begins_with_setting(path: &str) -> bool {
    let name = path.strip_prefix("/{").and_then(|rest| rest.split_once('}')).map_or("", |(name, _)| name);
    name.contains('.')
        || (name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(&byte)))
}

#[cfg(test)]
mod tests {
    use super::{Template, best_fits};

    fn best(path: &str, routes: &[&str]) -> (Vec<usize>, bool) {
        best_fits(path, "GET", &routes.iter().map(|path| Template::new("GET", path)).collect::<Vec<_>>())
    }

    #[test]
    fn the_closest_routes_are_found() {
        assert_eq!(best("/users/me", &["/users/{id}", "/users/me", "/users"]), (vec![1], false));
        assert_eq!(best("/{}:/users", &["/api/users", "/other"]), (vec![0], true));
        assert_eq!(best("/users/{x}", &["/users/{id}", "/users/<int:id>"]), (vec![0, 1], false));
        assert_eq!(best("/{}:/api/pets", &["/app/api/owners/{owner}/pets"]), (vec![], false));
        assert_eq!(best("/nothing", &["/users"]), (vec![], false));
        let procedures = ["/shop.v1.Cart/GetItem", "/shop.Carts/GetItem"].map(|path| Template::new("RPC", path));
        assert_eq!(best_fits("/Cart/get_item", "RPC", &procedures), (vec![0], false));
        assert_eq!(best_fits("/shop.v1.Cart/GetItem", "POST", &procedures), (vec![], false));
        assert_eq!(best_fits("/users", "POST", &[Template::new("GET", "/users")]), (vec![], false));
    }
}
