//! The first stage: mounts, groups and prefixes of the routers of one file, with routers that are passed as arguments,
//! returned or exported.

use crate::project::file_entry::is_callable;
use crate::project::names::{EMPTY, FILE_NODE, Sym};
use crate::project::query::Query;
use crate::routes::services::{procedures_of, services_of};
use crate::routes::tables::{FileRouters, Mount, RouterKey};
use atlas_facts::{
    BindingKind, DefId, Detection, DetectionKind, Expr, ExprId, Handler, Kind, ParamKind, ReferenceKind,
};

/// The methods of a detection that gives a client the base of its URLs, and such a base that is not known.
const BASE_URL: &str = "URL";
const UNKNOWN_BASE: &str = "/{base}";

/// Returns how the routers of a file hang together.
pub fn link_routers(query: &Query) -> FileRouters {
    let (services, procedures) = (services_of(query), procedures_of(query));
    let mut found = FileRouters { services, procedures, ..FileRouters::default() };
    let facts = query.file.facts().clone();
    if facts.detections.is_empty() {
        return found;
    }
    // The routers that this file uses.
    let mut used: Vec<RouterKey> = Vec::new();
    for detection in &facts.detections {
        let parent = query.owner_router(detection);
        used.extend(parent);
        let unknown = if query.file.text(detection.methods) == BASE_URL { UNKNOWN_BASE } else { "" };
        let prefix = query.known_path(detection).unwrap_or_else(|| unknown.to_owned());
        let prefix = query.index.strings.intern(&prefix);
        match detection.kind {
            DetectionKind::Router => {
                // A router without a variable: of a chain of calls, or an argument.
                if detection.holder.1 == 0 {
                    continue;
                }
                let router = query.holder_router(detection);
                used.push(router);
                match detection.receiver.and(parent).filter(|&parent| parent != router) {
                    Some(parent) => {
                        found.mounts.push(Mount { child: router, parent, prefix, replaces: false });
                    }
                    None => found.own.push((router, prefix)),
                }
            }
            DetectionKind::Mount => {
                let Some(parent) = parent else { continue };
                let children = query.child_keys(detection.child, detection.scope, detection.line);
                for child in children.into_iter().filter(|&child| child != parent) {
                    used.push(child);
                    let mount = Mount { child, parent, prefix, replaces: detection.replaces };
                    found.mounts.push(mount);
                    let inner = query.inner_router(child);
                    found.mounts.extend(inner.map(|child| Mount { child, ..mount }));
                }
            }
            DetectionKind::Scope => {
                if let (Some(function), Some(parent)) = (function_of(query, detection.child), parent)
                    && let Some(param) = query.file.def(function).params.first()
                {
                    let child = (query.file.symbols[function as usize], query.file.sym(param.name));
                    used.push(child);
                    found.mounts.push(Mount { child, parent, prefix: EMPTY, replaces: false });
                }
            }
            _ => {}
        }
    }
    used.sort_unstable();
    used.dedup();
    created_routers(query, &used, &mut found);
    passed_routers(query, &used, &mut found);
    returned_routers(query, &used, &mut found);
    found
}

/// Adds the routers that factories of the project create: what a factory registers is part of each of its results, but
/// what is registered at one result is not part of another one.
fn created_routers(query: &Query, used: &[RouterKey], found: &mut FileRouters) {
    let bindings = query.file.facts().bindings.iter().filter(|binding| binding.kind == BindingKind::Assign);
    for binding in bindings {
        let Some(value) = binding.value else { continue };
        let Expr::Call { callee, .. } = *query.file.expr(value) else { continue };
        let Some(parent) = query.router_key(binding.target, binding.scope, binding.line, 0) else { continue };
        if used.binary_search(&parent).is_err() {
            continue;
        }
        if let Some(factory) = query.defined(callee, binding.scope, binding.line)
            && is_callable(query.kind(factory))
        {
            let child = (factory, EMPTY);
            found.mounts.push(Mount { child, parent, prefix: EMPTY, replaces: false });
        }
    }
}

/// Adds the routers that are arguments of calls: the parameter of the callee is another name of them.
fn passed_routers(query: &Query, used: &[RouterKey], found: &mut FileRouters) {
    let facts = query.file.facts();
    for reference in facts.references.iter().filter(|reference| reference.kind == ReferenceKind::Call) {
        let Expr::Call { callee, ref args, .. } = *query.file.expr(reference.expr) else { continue };
        for (position, arg) in args.iter().enumerate() {
            if !is_plain(query, arg.value) {
                continue;
            }
            // `register(r.Group("/users"))`: a group without a name
            let group = facts.detections.iter().find(|one| {
                one.kind == DetectionKind::Router && one.handler == Handler::Expr(arg.value) && one.receiver.is_some()
            });
            let (parent, prefix) = match group {
                Some(group) => (
                    query.owner_router(group),
                    query.index.strings.intern(&query.known_path(group).unwrap_or_default()),
                ),
                None => (
                    query.router_key(arg.value, reference.scope, reference.line, 0),
                    scope_prefix(query, reference.scope),
                ),
            };
            let Some(parent) = parent.filter(|parent| used.binary_search(parent).is_ok()) else { continue };
            let Some(function) = query.defined(callee, reference.scope, reference.line) else { continue };
            let (file, definition) = query.definition(function);
            if !is_callable(definition.kind) {
                continue;
            }
            let place = query.index.symbols.get(function);
            let params = file.def(place.def).params.iter();
            let mut params = params.filter(|param| param.kind == ParamKind::Normal);
            let param = match arg.keyword {
                Some(word) => params.find(|param| file.text(param.name) == query.file.text(word)),
                None => params.nth(position),
            };
            if let Some(param) = param {
                let child = (function, file.sym(param.name));
                found.mounts.push(Mount { child, parent, prefix, replaces: false });
            }
        }
    }
}

/// Returns the function that a handler is itself.
fn function_of(query: &Query, handler: Handler) -> Option<DefId> {
    match handler {
        Handler::Definition(function) => Some(function),
        Handler::Expr(expr) => match *query.file.expr(expr) {
            Expr::Lambda(function) => Some(function),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the prefix of the innermost function around a scope that receives a router, as in `r.Route("/x", func(r) {})`.
fn scope_prefix(query: &Query, scope: DefId) -> Sym {
    let detections = &query.file.facts().detections;
    let mut here = scope;
    while here != 0 {
        let is_it = |one: &&Detection| one.kind == DetectionKind::Scope && function_of(query, one.child) == Some(here);
        if let Some(found) = detections.iter().find(is_it) {
            return query.index.strings.intern(&query.known_path(found).unwrap_or_default());
        }
        here = query.file.outline(here).parent;
    }
    EMPTY
}

/// Adds the routers that functions return and that the module exports as its value.
fn returned_routers(query: &Query, used: &[RouterKey], found: &mut FileRouters) {
    let facts = query.file.facts();
    let mut add = |value: ExprId, scope: DefId, line: u32, parent: RouterKey| {
        if let Some(child) = query.router_key(value, scope, line, 0)
            && child != parent
            && used.iter().any(|used| *used == child || (child.1 == EMPTY && used.0 == child.0))
        {
            let mount = Mount { child, parent, prefix: EMPTY, replaces: false };
            found.mounts.push(mount);
            found.mounts.extend(query.inner_router(child).map(|child| Mount { child, ..mount }));
        }
    };
    for binding in facts.bindings.iter().filter(|binding| binding.kind == BindingKind::Return) {
        if let Some(value) = binding.value {
            add(value, binding.scope, binding.line, (query.file.symbols[binding.scope as usize], EMPTY));
        }
    }
    // Where an import leads to the exported value itself, that value is what others mount.
    if query.has_value(query.file.symbols[0]) {
        return;
    }
    // `module.exports = router`
    for binding in facts.bindings.iter().filter(|binding| binding.kind == BindingKind::Assign) {
        if let Some(value) = binding.value.filter(|_| is_module_value(query, binding.target)) {
            add(value, 0, binding.line, (query.file.symbols[0], EMPTY));
        }
    }
    if let Some(&value) = facts.definitions.first().filter(|_| query.file.is_value).and_then(|top| top.bases.first()) {
        add(value, 0, u32::MAX, (query.file.symbols[0], EMPTY));
    }
}

fn is_module_value(query: &Query, target: ExprId) -> bool {
    match *query.file.expr(target) {
        Expr::Attribute { base, name } => {
            query.file.text(name) == "exports"
                && matches!(*query.file.expr(base), Expr::Name(base) if query.file.text(base) == "module")
        }
        _ => false,
    }
}

fn is_plain(query: &Query, expr: ExprId) -> bool {
    matches!(query.file.expr(expr), Expr::Name(_) | Expr::Attribute { .. } | Expr::Call { .. })
}

impl Query<'_> {
    /// Returns the router inside a function or module that is mounted itself: the first parameter of a plugin, the
    /// table `urlpatterns` of a module.
    fn inner_router(&self, outer: RouterKey) -> Option<RouterKey> {
        if outer.1 != EMPTY {
            return None;
        }
        let place = self.index.symbols.get(outer.0);
        if place.def == FILE_NODE {
            return None;
        }
        let (file, definition) = self.definition(outer.0);
        match definition.kind {
            Kind::Module => Some((outer.0, self.index.strings.intern("urlpatterns"))),
            kind if is_callable(kind) || kind == Kind::Lambda => {
                let first = file.def(place.def).params.first()?;
                Some((outer.0, file.sym(first.name)))
            }
            _ => None,
        }
    }

    /// Returns the router to which a detection belongs: its receiver, or what holds the chain that begins with a new
    /// router.
    pub(super) fn owner_router(&self, detection: &Detection) -> Option<RouterKey> {
        if let Some(receiver) = detection.receiver
            && let Some(router) = self.router_key(receiver, detection.scope, detection.line, 0)
        {
            return Some(router);
        }
        Some(self.holder_router(detection))
    }

    /// Returns the router that a variable or function holds.
    pub(super) fn holder_router(&self, detection: &Detection) -> RouterKey {
        let (scope, name) = detection.holder;
        let mut scope = scope;
        if name == 0 {
            return (self.file.symbols[scope as usize], EMPTY);
        }
        let text = self.file.text(name);
        if let Some((owner, member)) = text.rsplit_once('.')
            && matches!(owner, "self" | "this")
            && let Some(class) = self.class_of(scope)
        {
            return (class, self.index.strings.intern(member));
        }
        let name = self.index.strings.intern(text);
        // The variable may belong to an outer scope.
        while scope != 0 && self.file.entries(scope, name).is_empty() {
            scope = self.file.outline(scope).parent;
        }
        (self.file.symbols[scope as usize], name)
    }
}
