//! Identifies routers: from an expression to the variable that holds the router, in any file.

use crate::entity::Entity;
use crate::project::file_entry::{Bound, NameEntry, is_callable, is_class};
use crate::project::names::{EMPTY, SymbolId};
use crate::project::query::Query;
use crate::routes::tables::RouterKey;
use atlas_facts::{Binding, BindingKind, DefId, Expr, ExprId, Handler, Kind};

/// Largest number of aliases that are followed.
const MAX_ALIASES: u32 = 8;

impl Query<'_> {
    /// Returns the router that an expression of this file denotes.
    pub(super) fn router_key(&self, expr: ExprId, scope: DefId, line: u32, depth: u32) -> Option<RouterKey> {
        if depth > MAX_ALIASES {
            return None;
        }
        match *self.file.expr(expr) {
            Expr::Name(name) => self.named_router(self.file.sym(name), scope, line, depth),
            Expr::Attribute { base, name } => {
                let member = self.file.sym(name);
                if let Some(symbol) = self.defined(expr, scope, line) {
                    return self.router_of_symbol(symbol);
                }
                if matches!(self.file.expr(base), Expr::This { .. }) {
                    return Some((self.class_of(scope)?, member));
                }
                let found = self.eval(base, scope, line).iter().find_map(|value| match value.entity {
                    Entity::Instance(class) => Some((class, member)),
                    Entity::Definition(symbol) if is_class(self.kind(symbol)) => Some((symbol, member)),
                    _ => None,
                });
                // `router.urls`, `app.router`: parts of a router of another package
                found.or_else(|| match self.file.expr(base) {
                    Expr::Name(_) => self.router_key(base, scope, line, depth + 1).filter(|router| router.1 != EMPTY),
                    _ => None,
                })
            }
            Expr::Call { callee, .. } => {
                if let Some(symbol) = self.defined(callee, scope, line)
                    && is_callable(self.kind(symbol))
                {
                    return Some((symbol, EMPTY));
                }
                if let Some(symbol) = self.defined(expr, scope, line) {
                    return self.router_of_symbol(symbol);
                }
                match *self.file.expr(callee) {
                    // `users::router().with_state(state)`
                    Expr::Attribute { base, .. } if !matches!(self.file.expr(base), Expr::Name(_) | Expr::Scope(_)) => {
                        self.router_key(base, scope, line, depth + 1)
                    }
                    _ => None,
                }
            }
            Expr::Await(inner) => self.router_key(inner, scope, line, depth + 1),
            _ => None,
        }
    }

    /// Returns the router of a mounted part: an expression, or the name of a module.
    pub(super) fn child_key(&self, child: Handler, scope: DefId, line: u32) -> Option<RouterKey> {
        match child {
            Handler::Expr(expr) => match *self.file.expr(expr) {
                // `require('./users')(app)` and factories with options
                Expr::Call { callee, .. } if self.router_key(expr, scope, line, 0).is_none() => {
                    self.router_key(callee, scope, line, 0)
                }
                Expr::Name(_) | Expr::Attribute { .. }
                    if let Some(class) = self.defined(expr, scope, line)
                        && is_class(self.kind(class)) =>
                {
                    Some((class, EMPTY))
                }
                _ => self.router_key(expr, scope, line, 0),
            },
            Handler::Text(name) => {
                let text = self.file.text(name);
                let found = self.module_named(text).or_else(|| self.function_named(text, scope, line));
                Some((found?, EMPTY))
            }
            Handler::Definition(definition) => Some((self.file.symbols[definition as usize], EMPTY)),
            Handler::None => None,
        }
    }

    /// Returns the routers of a mounted part: several if it is the variable of a loop over a list.
    pub(super) fn child_keys(&self, child: Handler, scope: DefId, line: u32) -> Vec<RouterKey> {
        let items = match child {
            Handler::Expr(expr) => self.iterated(expr, scope, line),
            _ => Vec::new(),
        };
        if items.is_empty() {
            return self.child_key(child, scope, line).into_iter().collect();
        }
        items.into_iter().filter_map(|item| self.router_key(item, 0, u32::MAX, 0)).collect()
    }

    /// Returns the elements of the list in this file over which a loop with this variable runs.
    fn iterated(&self, expr: ExprId, scope: DefId, line: u32) -> Vec<ExprId> {
        let facts = self.file.facts();
        let is_of = |target: ExprId, name| matches!(*self.file.expr(target), Expr::Name(other) if other == name);
        let Expr::Name(name) = *self.file.expr(expr) else { return Vec::new() };
        let mut loops = facts.bindings.iter().filter(|binding| binding.kind == BindingKind::Iterate);
        let looped = loops.rfind(|one| one.scope == scope && one.line <= line && is_of(one.target, name));
        let Some(mut value) = looped.and_then(|binding| binding.value) else { return Vec::new() };
        if let Expr::Name(list) = *self.file.expr(value) {
            let assigned = facts.bindings.iter().filter(|binding| binding.kind == BindingKind::Assign);
            let assigned = assigned.filter(|one| matches!(one.scope, 0) || one.scope == scope);
            let Some(found) = assigned.filter(|one| is_of(one.target, list)).find_map(|one| one.value) else {
                return Vec::new();
            };
            value = found;
        }
        match self.file.expr(value) {
            Expr::Elements { items, .. } => items.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Returns the function that a path such as `users::list` denotes.
    fn function_named(&self, path: &str, scope: DefId, line: u32) -> Option<SymbolId> {
        let mut parts = path.split("::").map(|part| self.index.strings.find(part));
        let mut values = self.resolve_name(scope, parts.next()??, line)?;
        for part in parts {
            let part = part?;
            values = self.flat_map(values, |value| self.attribute(value, part));
        }
        values.iter().find_map(|value| match value.entity {
            Entity::Definition(symbol) if is_callable(self.kind(self.canonical(symbol))) => {
                Some(self.canonical(symbol))
            }
            _ => None,
        })
    }

    /// Returns the module with a dotted name that ends in `name`.
    fn module_named(&self, name: &str) -> Option<SymbolId> {
        let path = name.replace('.', "/");
        let files = [format!("{path}.py"), format!("{path}/__init__.py")];
        let found = files.iter().find_map(|suffix| self.files_ending_in(suffix).first().copied())?;
        Some(self.module_symbol(found))
    }

    /// Returns the definition that an expression denotes.
    pub(super) fn defined(&self, expr: ExprId, scope: DefId, line: u32) -> Option<SymbolId> {
        self.eval(expr, scope, line).iter().find_map(|value| match value.entity {
            Entity::Definition(symbol) => Some(self.canonical(symbol)),
            _ => None,
        })
    }

    fn router_of_symbol(&self, symbol: SymbolId) -> Option<RouterKey> {
        let (file, definition) = self.definition(symbol);
        match definition.kind {
            Kind::Constant | Kind::Field | Kind::Property => {
                Some((file.symbols[definition.parent as usize], definition.name))
            }
            Kind::Module => Some((symbol, EMPTY)),
            kind if is_callable(kind) => Some((symbol, EMPTY)),
            _ => None,
        }
    }

    fn named_router(&self, name: crate::project::names::Sym, scope: DefId, line: u32, depth: u32) -> Option<RouterKey> {
        let mut here = scope;
        loop {
            let kind = self.file.outline(here).kind;
            let entries = if is_class(kind) && here != scope { &[] } else { self.file.entries(here, name) };
            if !entries.is_empty() {
                return self.bound_router(here, entries, line, depth);
            }
            if here == 0 {
                break;
            }
            here = self.file.outline(here).parent;
        }
        // A name of the same package, or of a star import.
        let found = self.resolve_name(scope, name, line)?;
        let symbol = found.iter().find_map(|value| match value.entity {
            Entity::Definition(symbol) => Some(symbol),
            _ => None,
        })?;
        self.router_of_symbol(symbol)
    }

    fn bound_router(&self, scope: DefId, entries: &[NameEntry], line: u32, depth: u32) -> Option<RouterKey> {
        let own = (self.file.symbols[scope as usize], entries[0].name);
        let mut last = None;
        for entry in entries {
            match entry.bound {
                Bound::Import(import) => {
                    let values = self.follow_import(self.home, import);
                    let symbol = values.iter().find_map(|value| match value.entity {
                        Entity::Definition(symbol) => Some(symbol),
                        _ => None,
                    })?;
                    return self.router_of_symbol(symbol);
                }
                Bound::Definition(def) if is_callable(self.file.outline(def).kind) => {
                    return Some((self.file.symbols[def as usize], EMPTY));
                }
                Bound::Parameter(_) => return Some(own),
                Bound::Binding(binding) => {
                    let binding = &self.file.facts().bindings[binding as usize];
                    if binding.line <= line {
                        last = Some(binding);
                    }
                }
                Bound::Definition(_) => {}
            }
        }
        // Constants have bindings, too.
        let binding = last.or_else(|| self.last_binding(scope, entries[0].name, line));
        Some(binding.and_then(|binding| self.renamed_router(binding, scope, depth, own)).unwrap_or(own))
    }

    fn last_binding(&self, scope: DefId, name: crate::project::names::Sym, line: u32) -> Option<&Binding> {
        let bindings = &self.file.facts().bindings;
        let is_of = |binding: &&Binding| {
            binding.scope == scope
                && binding.line <= line
                && matches!(*self.file.expr(binding.target), Expr::Name(target) if self.file.sym(target) == name)
        };
        bindings.iter().rev().find(is_of)
    }

    /// Returns the router that a variable is another name of.
    fn renamed_router(&self, binding: &Binding, scope: DefId, depth: u32, own: RouterKey) -> Option<RouterKey> {
        if binding.kind != BindingKind::Assign {
            return None;
        }
        let value = binding.value?;
        let line = binding.line.saturating_sub(1);
        // What a factory of the project returns is a router of its own, see `created_routers`.
        if !matches!(*self.file.expr(value), Expr::Name(_) | Expr::Attribute { .. }) {
            return None;
        }
        self.router_key(value, scope, line, depth + 1).filter(|&key| key != own)
    }
}
