//! Whether the receiver of a match is an object of the framework: by where its value comes from, or by its name.
//!
//! Where the project is the framework itself, or has it in its tree, values come from its own classes and functions.

use crate::entity::Entity;
use crate::project::file_entry::Bound;
use crate::project::names::{ExternalId, SymbolId};
use crate::project::paths::folder_of;
use crate::project::query::Query;
use atlas_facts::{DefId, Detection, DetectionKind, Expr, ExprId, Kind, LOCAL_MARK};

/// A detector with this instead of packages finds routes only where they are mounted.
const MOUNTED: &str = "$mounted";

/// Endings of the names of classes that wrap a router, and of those that wrap a client.
const ROUTER_NAMES: [&str; 6] = ["Router", "Routes", "Mux", "Engine", "RouterGroup", "Blueprint"];
const CLIENT_NAMES: [&str; 8] = ["Client", "Session", "Api", "API", "Http", "Request", "Requests", "Axios"];

/// Names of packages that folders and files often have without being the package.
const COMMON: [&str; 5] = ["router", "request", "requests", "http", "click"];

/// Most calls and assignments through which the origin of a value is followed.
const MAX_STEPS: u32 = 6;

/// What the origin of a value is compared with.
#[derive(Clone, Copy)]
struct Origin<'a> {
    packages: &'a str,
    /// Whether classes of the project can be those of the package.
    is_own: bool,
    /// Endings of the names of classes behind which there may be an object of the package.
    wrappers: &'a [&'a str],
}

impl Query<'_> {
    /// Returns whether the receiver of a detection is an object of the framework, and by what, most certain first: by
    /// its origin (0), its name (1), or because a known router is mounted as it (2).
    pub(super) fn acceptance(&self, detection: &Detection) -> Option<u8> {
        let packages = self.file.text(detection.packages);
        if packages == MOUNTED {
            return (!self.mounts(self.owner_router(detection)?).is_empty()).then_some(0);
        }
        let Some(receiver) = detection.receiver.filter(|_| !packages.is_empty()) else { return Some(0) };
        let is_client = detection.kind == DetectionKind::Client;
        let origin = Origin {
            packages,
            is_own: is_client || detection.kind == DetectionKind::Route,
            wrappers: if is_client { &CLIENT_NAMES } else { &ROUTER_NAMES },
        };
        if let Some(is_from) = self.comes_from(receiver, detection.scope, detection.line, origin, 0) {
            return is_from.then_some(0);
        }
        if self.has_known_name(receiver, self.file.text(detection.receivers)) {
            return Some(1);
        }
        let router = self.owner_router(detection).filter(|_| detection.kind == DetectionKind::Route)?;
        (!self.mounts(router).is_empty() || !self.own_prefixes(router).is_empty()).then_some(2)
    }

    fn has_known_name(&self, receiver: ExprId, names: &str) -> bool {
        let name = match *self.file.expr(receiver) {
            Expr::Name(name) | Expr::Attribute { name, .. } => self.file.text(name),
            _ => return false,
        };
        let name = name.split(LOCAL_MARK).next().unwrap_or(name);
        names.split(' ').any(|known| match known.strip_prefix('*') {
            Some(ending) => name.to_ascii_lowercase().ends_with(ending),
            None => known == name,
        })
    }

    /// Returns whether a value comes from one of the packages; `None` if that is not known.
    fn comes_from(&self, expr: ExprId, scope: DefId, line: u32, origin: Origin, depth: u32) -> Option<bool> {
        if depth > MAX_STEPS {
            return None;
        }
        for value in self.eval(expr, scope, line) {
            match value.entity {
                // a path of the project that no configuration explains
                Entity::External(external) | Entity::ExternalInstance(external) if self.is_path(external) => {}
                Entity::External(external) | Entity::ExternalInstance(external) => {
                    return Some(self.is_of(external, origin.packages));
                }
                Entity::Instance(class) | Entity::Elements(class) => {
                    let is_derived = self.is_derived(class, origin);
                    // A router of the project's own, behind which there may be one of the framework.
                    return if is_derived || !self.is_named(class, origin.wrappers) { Some(is_derived) } else { None };
                }
                Entity::Definition(symbol) if matches!(self.kind(symbol), Kind::Constant | Kind::Field) => {
                    for held in self.stored_values(symbol) {
                        match held.entity {
                            Entity::External(external) | Entity::ExternalInstance(external) => {
                                return Some(self.is_of(external, origin.packages));
                            }
                            Entity::Instance(class) if self.is_derived(class, origin) => return Some(true),
                            _ => {}
                        }
                    }
                    if self.is_set_to(symbol, origin.packages) {
                        return Some(true);
                    }
                }
                Entity::Definition(symbol) if self.is_own(symbol, origin) => return Some(true),
                _ => {}
            }
        }
        match *self.file.expr(expr) {
            // A crate that no `use` names.
            Expr::Scope(name) if begins_with(self.file.text(name), origin.packages) => Some(true),
            Expr::Call { callee, .. } => self.comes_from(callee, scope, line, origin, depth + 1),
            Expr::Await(inner) => self.comes_from(inner, scope, line, origin, depth + 1),
            Expr::Attribute { base, .. } => {
                self.comes_from(base, scope, line, origin, depth + 1).filter(|&is_from| is_from)
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
                    self.comes_from(value, here, binding.line.saturating_sub(1), origin, depth + 1)
                })
            }
            _ => None,
        }
    }

    /// Returns whether a variable is set to what a package makes: `const api = axios.create({})`.
    fn is_set_to(&self, variable: SymbolId, packages: &str) -> bool {
        let place = self.index.symbols.get(variable);
        let file = self.index.file(place.file);
        let Some((_, value)) = file.text(file.def(place.def).signature).split_once('=') else { return false };
        let value = value.trim_start();
        let end =
            value.find(|letter: char| !(letter.is_alphanumeric() || "_.".contains(letter))).unwrap_or(value.len());
        packages.split(' ').any(|known| begins(&value[..end], known))
    }

    /// Returns whether a class of the project is one of the packages, or has one as its ancestor.
    fn is_derived(&self, class: SymbolId, origin: Origin) -> bool {
        let is_from = |base: &Entity| match *base {
            Entity::External(external) => self.is_of(external, origin.packages),
            Entity::Definition(symbol) => self.is_own(symbol, origin),
            _ => false,
        };
        self.is_own(class, origin) || self.ancestors(class).iter().any(is_from)
    }

    fn is_named(&self, class: SymbolId, endings: &[&str]) -> bool {
        let name = self.text(self.definition(class).1.name);
        endings.iter().any(|ending| name.ends_with(ending))
    }

    fn is_path(&self, external: ExternalId) -> bool {
        self.text(self.index.externals.name(external).0)
            .split_once('/')
            .is_some_and(|(first, _)| matches!(first, "@" | "~" | "#"))
    }

    fn is_of(&self, external: ExternalId, packages: &str) -> bool {
        let (package, name) = self.index.externals.name(external);
        let dotted = format!("{}.{}", self.text(package), self.text(name));
        // A module below a package of npm is a part of the name: `@angular/common` and `http.HttpClient`.
        let plain = |text: &str| text.replace('/', ".");
        packages
            .split(' ')
            .any(|known| begins(&dotted, known) || (known.contains('/') && begins(&plain(&dotted), &plain(known))))
    }

    /// Returns whether a symbol of the project belongs to one of the packages: its file is part of a project with that
    /// name, or of a folder or module.
    fn is_own(&self, symbol: SymbolId, origin: Origin) -> bool {
        let path = &self.index.file(self.index.symbols.get(symbol).file).path;
        let folder = folder_of(path);
        let stem = path[folder.len()..].trim_start_matches('/').split('.').next().unwrap_or_default();
        let around = |project: &&crate::packages::files::SubProject| {
            let outer = project.folder.trim_start_matches('.');
            outer.is_empty() || folder.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let projects = || self.index.subprojects.iter().filter(around);
        let is_folder =
            |known: &str| !COMMON.contains(&known) && (stem == known || folder.split('/').any(|one| one == known));
        origin.is_own
            && origin.packages.split(' ').any(|known| {
                is_folder(known) || projects().any(|project| begins(&project.name.to_ascii_lowercase(), known))
            })
    }
}

/// Returns whether a dotted name is that of a package, or of a part of it.
fn begins(dotted: &str, package: &str) -> bool {
    dotted.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/', ':']))
}

/// Returns whether a name is one of the packages.
fn begins_with(name: &str, packages: &str) -> bool {
    packages.split(' ').any(|known| known == name)
}
