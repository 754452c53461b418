//! Calls of remote procedures, and what serves them: procedures that a description declares, matched with the services
//! that code names (`services`).
//!
//! Both sides have to agree in the name of the service and, in the form that all languages share, in that of the method.
//! Several descriptions of one path, as each service of a repository has its copy, are one procedure.

use crate::edge::EdgeType;
use crate::entity::Entity;
use crate::project::names::{Sym, SymbolId};
use crate::project::query::Query;
use crate::routes::clients::{Called, ClientCall};
use crate::routes::fit::MAX_EQUAL;
use crate::routes::services::shared_form;
use crate::routes::tables::{FileRoutes, Link, Procedure};
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Handler, Kind, Reference, flags};

/// Ways to call a procedure that stand behind its name.
const FORMS: [&str; 2] = ["future", "with_call"];
/// Methods of clients that are no procedures.
const OWN_METHODS: [&str; 4] = ["close", "Close", "waitForReady", "getChannel"];
/// Largest number of options that a client is given before a call.
const MAX_OPTIONS: u32 = 4;

impl Query<'_> {
    /// Returns the procedures that a call of this file means; `None` if it is no call of one.
    pub(crate) fn called_procedures(&self, reference: &Reference) -> Option<ClientCall> {
        let is_declared = self.has_procedures();
        let Expr::Call { callee, .. } = *self.file.expr(reference.expr) else { return None };
        let Expr::Attribute { mut base, mut name } = *self.file.expr(callee) else { return None };
        if FORMS.contains(&self.file.text(name))
            && let Expr::Attribute { base: inner, name: method } = *self.file.expr(base)
        {
            (base, name) = (inner, method);
        }
        // Where nothing is declared, only what this file itself says can be a client.
        let own = &self.index.routing.routers[self.home as usize].services;
        let may_be = !own.is_empty() || matches!(self.file.expr(base), Expr::Call { .. });
        if !is_declared && !may_be {
            return None;
        }
        let method = self.file.text(name);
        let bare = method.strip_suffix("Async").filter(|bare| !bare.is_empty());
        let mut declared: Vec<&Procedure> = match is_declared {
            true => {
                [method].into_iter().chain(bare).flat_map(|name| self.procedures_named(&shared_form(name))).collect()
            }
            false => Vec::new(),
        };
        if declared.is_empty() && !may_be {
            return None;
        }
        let clients = self.clients_in(base, reference.scope, reference.line, 0);
        let is_called = |procedure: &Procedure| clients.iter().any(|one| one.0 == procedure.service);
        declared.retain(|procedure| is_called(procedure));
        if declared.len() > MAX_EQUAL {
            return None;
        }
        let via = if declared.len() == 1 { Strategy::RpcClient } else { Strategy::RouteOneOf };
        let routes: Vec<Called> = declared.iter().map(|one| (one.name, one.place, via)).collect();
        // What is declared elsewhere: only what can be nothing else.
        let is_elsewhere = routes.is_empty() && !OWN_METHODS.contains(&method) && !method.starts_with("with");
        let unknown = clients.iter().filter(|one| is_elsewhere && one.1);
        let paths: Vec<String> =
            unknown.map(|one| format!("/{}/{}", self.text(one.0), bare.unwrap_or(method))).collect();
        (!routes.is_empty() || !paths.is_empty()).then_some(ClientCall { routes, paths })
    }

    /// Returns the services whose clients an expression may denote, and whether it can be nothing else.
    fn clients_in(&self, expr: ExprId, scope: DefId, line: u32, depth: u32) -> Vec<(Sym, bool)> {
        if let Some((name, is_certain)) = self.made_client(expr, (scope, line), 0) {
            return vec![(self.index.strings.intern(&name), is_certain)];
        }
        if let Expr::Call { callee, .. } = *self.file.expr(expr)
            && let Expr::Attribute { base, name } = *self.file.expr(callee)
            && self.file.text(name).starts_with("with")
            && depth < MAX_OPTIONS
        {
            return self.clients_in(base, scope, line, depth + 1);
        }
        let holder = self.router_key(expr, scope, line, 0);
        holder.map_or(Vec::new(), |key| self.services(key).iter().map(|one| (one.name, one.is_certain)).collect())
    }

    /// Adds the procedures that classes and objects of this file serve.
    pub(super) fn add_served(&self, found: &mut FileRoutes) {
        if self.file.is_prose() || !self.has_procedures() {
            return;
        }
        let facts = self.file.facts().clone();
        for (def, definition) in facts.definitions.iter().enumerate() {
            if !matches!(definition.kind, Kind::Method | Kind::Function) || definition.parent == 0 {
                continue;
            }
            let declared = self.procedures_named(&shared_form(self.file.text(definition.name)));
            let is_real = definition.flags & flags::ABSTRACT == 0;
            if declared.is_empty() || !is_real || self.file.outline(definition.parent).kind == Kind::Interface {
                continue;
            }
            let services = self.services_served(def as DefId, definition.parent);
            let symbol = self.file.symbols[def];
            for procedure in declared.iter().filter(|one| services.contains(&one.service)) {
                found.links.push(link(symbol, procedure, definition.name_line));
            }
        }
        for (service, server, (scope, line)) in self.registered_servers() {
            let Some(object) = self.object_in(server, scope, line) else { continue };
            let Expr::Elements { items, keys, .. } = self.file.expr(object) else { continue };
            for (&item, &key) in items.iter().zip(keys) {
                let declared = self.procedures_named(&shared_form(self.file.text(key)));
                let Some((symbol, _)) = self.handler_symbol(Handler::Expr(item), scope, line) else { continue };
                for procedure in declared.iter().filter(|one| self.text(one.service) == service) {
                    found.links.push(link(symbol, procedure, line));
                }
            }
        }
    }

    /// Returns the services that the class or object around a method serves.
    fn services_served(&self, method: DefId, parent: DefId) -> Vec<Sym> {
        let class = self.class_of(method);
        let bases = class.map_or(&[][..], |class| self.ancestors(class)).iter().filter_map(|base| match *base {
            Entity::Definition(symbol) => Some(symbol),
            _ => None,
        });
        let holders = bases.chain(class).chain([self.file.symbols[parent as usize]]);
        holders.flat_map(|symbol| self.services(self.served_key(symbol))).map(|one| one.name).collect()
    }

    /// Returns the object literal that an expression is or names.
    fn object_in(&self, expr: ExprId, scope: DefId, line: u32) -> Option<ExprId> {
        match *self.file.expr(expr) {
            Expr::Elements { .. } => Some(expr),
            Expr::Name(name) => {
                let bindings = &self.file.facts().bindings;
                let is_of = |target: ExprId| matches!(*self.file.expr(target), Expr::Name(other) if other == name);
                let mut known = bindings.iter().filter(|one| one.scope == scope || one.scope == 0);
                let value = known.rfind(|one| one.line <= line && is_of(one.target))?.value?;
                matches!(self.file.expr(value), Expr::Elements { .. }).then_some(value)
            }
            _ => None,
        }
    }
}

fn link(source: SymbolId, procedure: &Procedure, line: u32) -> Link {
    let (target, place) = (procedure.name, procedure.place);
    Link { source, kind: EdgeType::HandlesRoute, target, place, line, via: Strategy::RpcServer }
}
