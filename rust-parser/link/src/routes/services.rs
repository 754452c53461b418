//! What a file says about the services of remote procedures, by the names that generators give to clients and servers.
//!
//! Generated code is rarely part of an index, and where it is, each language has its own. The names are what all have in
//! common: a client of `Cart` is made by `NewCartClient(...)`, `CartStub(...)`, `CartGrpc.newBlockingStub(...)` or
//! `new Cart.CartClient(...)`, and a server extends `CartServicer`, `CartGrpc.CartImplBase` or `Cart.CartBase`. A name alone
//! makes no edge: a procedure of that service and method has to be declared (`procedures`).

use crate::entity::Entity;
use crate::project::file_entry::is_class;
use crate::project::names::{EMPTY, SymbolId};
use crate::project::query::Query;
use crate::routes::tables::{Procedure, RouterKey, Service};
use atlas_facts::{Arg, BindingKind, DefId, DetectionKind, Expr, ExprId, Kind, ReferenceKind};

/// The method of routes that are procedures.
pub const RPC: &str = "RPC";
/// Stands for the variable of a class that serves a service.
const SERVED: &str = "served service";

/// Endings of the types of clients; the first ones are those of no other types.
const STUBS: [&str; 6] = ["BlockingV2Stub", "BlockingStub", "FutureStub", "CoroutineStub", "AsyncStub", "Stub"];
const CLIENTS: [&str; 3] = ["PromiseClient", "ClientImpl", "Client"];
/// Functions of Java and of TypeScript that make clients.
const STUB_MAKERS: [&str; 4] = ["newStub", "newBlockingStub", "newBlockingV2Stub", "newFutureStub"];
const CLIENT_MAKERS: [&str; 3] = ["createClient", "createPromiseClient", "createCallbackClient"];
/// Endings and beginnings of what servers extend.
const BASES: [&str; 5] = ["Servicer", "CoroutineImplBase", "ImplBase", "Base", "Server"];
const UNIMPLEMENTED: [&str; 2] = ["Unimplemented", "Unsafe"];
/// Parts of the names of modules that generators write.
const GENERATED: [&str; 5] = ["pb", "proto", "grpc", "rpc", "connect"];
/// Largest nesting of types and calls that are looked through.
const MAX_NESTING: u32 = 4;

/// A service by name, and whether only a client has a name of this form.
type Named = (String, bool);

/// Returns the form of a method's name that all languages share: `GetCart`, `getCart` and `get_cart` are one.
pub(super) fn shared_form(name: &str) -> String {
    name.bytes().filter(|&byte| byte != b'_').map(|byte| byte.to_ascii_lowercase() as char).collect()
}

/// Returns the procedures that a description declares.
pub(super) fn procedures_of(query: &Query) -> Vec<Procedure> {
    let facts = query.file.facts();
    let is_procedure = |one: &&atlas_facts::Detection| {
        one.kind == DetectionKind::Route && query.file.is_prose() && query.file.text(one.methods) == RPC
    };
    let declared = facts.detections.iter().filter(is_procedure).filter_map(|one| {
        let path = query.file.text(one.path);
        let (service, method) = path.strip_prefix('/')?.split_once('/')?;
        let intern = |text: &str| query.index.strings.intern(text);
        let name = format!("route:{RPC} {path}");
        Some(Procedure {
            method: intern(&shared_form(method)),
            service: intern(service.rsplit('.').next().unwrap_or(service)),
            place: intern(&format!("{name}@{}", query.file.path)),
            name: intern(&name),
            is_test: query.file.is_test,
        })
    });
    declared.collect()
}

/// Returns which variables of a file hold clients of services, and which classes serve one.
pub(super) fn services_of(query: &Query) -> Vec<Service> {
    let facts = query.file.facts().clone();
    if query.file.is_prose() || !facts.strings.iter().any(is_telling) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add = |holder: RouterKey, (name, is_certain): Named| {
        found.push(Service { holder, name: query.index.strings.intern(&name), is_certain });
    };
    for binding in &facts.bindings {
        let place = (binding.scope, binding.line);
        let made = binding.annotation.and_then(|one| query.client_type(one, place, 0));
        let Some(named) = made.or_else(|| query.made_client(binding.value?, place, 0)) else { continue };
        let holder = match binding.kind {
            BindingKind::Return => Some((query.file.symbols[binding.scope as usize], EMPTY)),
            _ => query.router_key(binding.target, binding.scope, binding.line, 0),
        };
        holder.into_iter().for_each(|holder| add(holder, named.clone()));
    }
    for (def, definition) in facts.definitions.iter().enumerate() {
        let (symbol, parent) = (query.file.symbols[def], query.file.symbols[definition.parent as usize]);
        let place = (definition.parent, definition.name_line);
        for param in &definition.params {
            if let Some(named) = param.annotation.and_then(|one| query.client_type(one, place, 0)) {
                add((symbol, query.file.sym(param.name)), named);
            }
        }
        if let Some(named) = definition.declared_type.and_then(|one| query.client_type(one, place, 0)) {
            match definition.kind {
                Kind::Function | Kind::Method => add((symbol, EMPTY), named),
                _ => add((parent, query.file.sym(definition.name)), named),
            }
        }
        let of_object = definition.declared_type.filter(|_| definition.kind == Kind::Constant);
        let bases = definition.bases.iter().copied().filter(|_| is_class(definition.kind)).chain(of_object);
        for name in bases.flat_map(|base| query.served_by(base)) {
            add(query.served_key(symbol), (name, false));
        }
    }
    for (name, server, (scope, line)) in query.registered_servers() {
        let values = query.eval(server, scope, line);
        let held = values.iter().filter_map(|value| match value.entity {
            Entity::Definition(symbol) => Some(query.stored_values(symbol)),
            _ => None,
        });
        for value in held.flatten().chain(values.iter().copied()) {
            if let Entity::Instance(symbol) | Entity::Definition(symbol) = value.entity {
                add(query.served_key(symbol), (name.clone(), false));
            }
        }
    }
    found.sort_unstable_by_key(|one| (one.holder, one.name, one.is_certain));
    found.dedup();
    found
}

/// Returns whether a text of a file may name a client or a server.
fn is_telling(text: &str) -> bool {
    let ends = |ending: &&str| text.ends_with(ending);
    STUBS[5..].iter().chain(&CLIENTS).chain(&BASES).any(ends)
        || text == "addService"
        || text.ends_with("_to_server")
        || text.contains("grpc")
}

fn before(name: &str, endings: &[&str]) -> Option<String> {
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending))?;
    stem.starts_with(|letter: char| letter.is_ascii_uppercase()).then(|| stem.to_owned())
}

/// Where an expression stands: its scope and line.
pub(super) type Place = (DefId, u32);

impl Query<'_> {
    pub(super) fn served_key(&self, class: SymbolId) -> RouterKey {
        (class, self.index.strings.intern(SERVED))
    }

    /// Returns the service whose client an expression makes.
    pub(super) fn made_client(&self, expr: ExprId, place: Place, depth: u32) -> Option<Named> {
        if depth > MAX_NESTING {
            return None;
        }
        match self.file.expr(expr) {
            &Expr::Call { callee, ref args, new } => {
                let (name, owner) = self.last_names(callee)?;
                if CLIENT_MAKERS.contains(&name) {
                    let (service, _) = self.last_names(args.first().filter(|_| args.len() > 1)?.value)?;
                    return Some((service.to_owned(), self.imports_any(&["connect"])));
                }
                if let Some(service) = name.strip_prefix("New").and_then(|rest| before(rest, &CLIENTS)) {
                    return Some((service, owner.is_some_and(|owner| self.is_generated(owner))));
                }
                if STUB_MAKERS.contains(&name) {
                    return Some((before(owner?, &["Grpc"])?, true));
                }
                if let Some(named) = self.client_named(name, owner) {
                    return Some(named).filter(|_| !self.is_written(callee, place));
                }
                // `new shop.Cart(address, credentials)`: a client that is made when the program runs
                let is_capital = name.starts_with(|letter: char| letter.is_ascii_uppercase());
                if new && is_capital && owner.is_some() && args.len() > 1 && self.imports_any(&["grpc"]) {
                    return Some((name.to_owned(), false));
                }
                match *self.file.expr(callee) {
                    // `stub.withDeadlineAfter(...)`
                    Expr::Attribute { base, .. } if name.starts_with("with") => {
                        self.made_client(base, place, depth + 1)
                    }
                    _ => None,
                }
            }
            &Expr::Await(inner) => self.made_client(inner, place, depth + 1),
            Expr::OneOf(items) => items.iter().find_map(|&item| self.made_client(item, place, depth + 1)),
            _ => None,
        }
    }

    /// Returns the service whose client has a type.
    fn client_type(&self, expr: ExprId, place: Place, depth: u32) -> Option<Named> {
        if depth > MAX_NESTING {
            return None;
        }
        match self.file.expr(expr) {
            Expr::Name(_) | Expr::Attribute { .. } => {
                let (name, owner) = self.last_names(expr)?;
                self.client_named(name, owner).filter(|_| !self.is_written(expr, place))
            }
            Expr::Generic { base, args } => {
                let own = self.client_type(*base, place, depth + 1);
                own.or_else(|| args.iter().find_map(|&arg| self.client_type(arg, place, depth + 1)))
            }
            Expr::TypeUnion(items) | Expr::OneOf(items) => {
                items.iter().find_map(|&item| self.client_type(item, place, depth + 1))
            }
            _ => None,
        }
    }

    fn client_named(&self, name: &str, owner: Option<&str>) -> Option<Named> {
        if let Some(service) = before(name, &STUBS) {
            return Some((service, true));
        }
        let service = before(name, &CLIENTS)?;
        let is_certain = match owner {
            Some(owner) => owner == service,
            None => self.is_generated(name),
        };
        Some((service, is_certain))
    }

    /// Returns whether a class is the project's own and no generator has written it.
    fn is_written(&self, class: ExprId, (scope, line): Place) -> bool {
        let meant = self.in_position(true, || self.eval(class, scope, line));
        meant.iter().any(|value| match value.entity {
            Entity::Definition(symbol) => {
                let (file, _) = self.definition(symbol);
                is_class(self.kind(symbol)) && !file.facts().is_generated
            }
            _ => false,
        })
    }

    /// Returns the services that a class with this base may serve.
    fn served_by(&self, base: ExprId) -> Vec<String> {
        let Some((name, _)) = self.last_names(base) else { return Vec::new() };
        let bare = UNIMPLEMENTED.iter().find_map(|beginning| name.strip_prefix(beginning));
        if let Some(bare) = bare {
            return before(bare, &["Server", "Handler"]).into_iter().collect();
        }
        let interface = name.strip_prefix('I').and_then(|rest| before(rest, &["Server"]));
        before(name, &BASES).into_iter().chain(interface).collect()
    }

    /// Returns the objects that are registered as servers, with the names of their services.
    pub(super) fn registered_servers(&self) -> Vec<(String, ExprId, Place)> {
        let facts = self.file.facts();
        if !facts.strings.iter().any(is_telling) {
            return Vec::new();
        }
        let calls = facts.references.iter().filter(|one| one.kind == ReferenceKind::Call);
        let registered = calls.filter_map(|one| {
            let Expr::Call { callee, args, .. } = self.file.expr(one.expr) else { return None };
            let (services, server) = self.registered(self.last_names(*callee)?.0, args)?;
            Some(services.into_iter().map(move |service| (service, server, (one.scope, one.line))))
        });
        registered.flatten().collect()
    }

    fn registered(&self, name: &str, args: &[Arg]) -> Option<(Vec<String>, ExprId)> {
        let arg = |at: usize| args.get(at).filter(|arg| arg.keyword.is_none()).map(|arg| arg.value);
        // `server.addService(shop.Cart.service, {...})`, `server.addService(CartService, ...)`, `router.service(Cart, {...})`
        if name == "addService" || (name == "service" && self.imports_any(&["connect"])) {
            let server = arg(1)?;
            let (last, owner) = self.last_names(arg(0)?)?;
            let written = if last == "service" { owner? } else { last };
            let bare = written.strip_suffix("Service").filter(|bare| last != "service" && !bare.is_empty());
            return Some(([written].into_iter().chain(bare).map(str::to_owned).collect(), server));
        }
        let between = |beginning: &str, ending: &str| name.strip_prefix(beginning)?.strip_suffix(ending);
        let (service, at) = match () {
            () if let Some(service) = between("add_", "Servicer_to_server") => (service, 0),
            () if let Some(service) = between("Register", "Server") => (service, 1),
            () => (between("New", "Handler")?, 0),
        };
        Some((vec![service.to_owned()], arg(at)?))
    }

    /// Returns the last name of a dotted one, and the name before it.
    fn last_names(&self, expr: ExprId) -> Option<(&str, Option<&str>)> {
        match *self.file.expr(expr) {
            Expr::Name(name) | Expr::Scope(name) => Some((self.file.text(name), None)),
            Expr::Attribute { base, name } => Some((self.file.text(name), self.last_names(base).map(|found| found.0))),
            Expr::Generic { base, .. } => self.last_names(base),
            _ => None,
        }
    }

    /// Returns whether a name, or the module that it is imported from, is called as generated code is.
    fn is_generated(&self, name: &str) -> bool {
        let is_so = |text: &str| GENERATED.iter().any(|part| text.to_ascii_lowercase().contains(part));
        let facts = self.file.facts();
        let mut imports =
            facts.imports.iter().filter(|one| one.alias.is_some_and(|alias| self.file.text(alias) == name));
        is_so(name) || imports.any(|one| is_so(self.file.text(one.module)))
    }

    fn imports_any(&self, parts: &[&str]) -> bool {
        let mut modules = self.file.facts().imports.iter().map(|one| self.file.text(one.module));
        modules.any(|module| parts.iter().any(|part| module.contains(part)))
    }
}
