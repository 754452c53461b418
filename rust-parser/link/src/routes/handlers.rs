//! Resolves handlers: functions, methods and classes, also behind wrappers and in strings.

use crate::entity::{Entity, Value};
use crate::project::file_entry::{is_callable, is_class};
use crate::project::names::{FILE_NODE, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Handler, Kind};

/// Parts of the paths of clients.
const CLIENT_FOLDERS: [&str; 8] = ["client", "sdk", "generated", "frontend", "web/", "webapp", "mobile", "test"];

/// Largest nesting of wrappers around a handler.
const MAX_WRAPPERS: u32 = 4;

impl Query<'_> {
    /// Returns the symbol of a handler, and how it was found. An anonymous function is represented by the node around
    /// it.
    pub(crate) fn handler_symbol(&self, handler: Handler, scope: DefId, line: u32) -> Option<(SymbolId, Strategy)> {
        match handler {
            Handler::None => None,
            Handler::Definition(def) => Some((self.node_symbol(def), Strategy::Local)),
            Handler::Expr(expr) => self.handler_value(expr, scope, line, 0),
            Handler::Text(name) => {
                let text = self.file.text(name);
                if self.file.is_prose() {
                    return self.operation_named(text);
                }
                let (class, method) = text.rsplit_once('.')?;
                self.method_named(class, method)
            }
        }
    }

    /// Returns the symbol of the node that represents a scope of this file.
    pub(crate) fn node_symbol(&self, scope: DefId) -> SymbolId {
        match self.file.node_of(scope) {
            Some(def) => self.file.symbols[def as usize],
            None => self.file.file_symbol,
        }
    }

    fn handler_value(&self, expr: ExprId, scope: DefId, line: u32, depth: u32) -> Option<(SymbolId, Strategy)> {
        if depth > MAX_WRAPPERS {
            return None;
        }
        match self.file.expr(expr) {
            Expr::Lambda(def) => Some((self.node_symbol(*def), Strategy::Local)),
            Expr::Name(_) | Expr::Attribute { .. } | Expr::Generic { .. } | Expr::Scope(_) => {
                let values = self.eval(expr, scope, line);
                values.iter().find_map(|value| self.handling(value, line))
            }
            Expr::Call { callee, args, .. } => {
                let (callee, args) = (*callee, args.clone());
                // `guard(handler)`: the last argument that is a handler.
                for arg in args.iter().rev() {
                    if let Some(found) = self.handler_value(arg.value, scope, line, depth + 1) {
                        return Some((found.0, Strategy::Alias));
                    }
                }
                // `Users.as_view()`, `users.show.bind(users)`
                if let Expr::Attribute { base, name } = *self.file.expr(callee)
                    && let Some(found) = self.handler_value(base, scope, line, depth + 1)
                {
                    let is_type = matches!(self.file.expr(base), Expr::Name(_) | Expr::Attribute { .. })
                        && self.file.text(name) != "as_view";
                    let own = self.handler_value(callee, scope, line, depth + 1);
                    return own.filter(|_| is_type).or(Some(found));
                }
                self.handler_value(callee, scope, line, depth + 1)
            }
            Expr::Elements { items, .. } | Expr::OneOf(items) => {
                let items = items.clone();
                items.iter().rev().find_map(|&item| self.handler_value(item, scope, line, depth + 1))
            }
            Expr::Await(inner) => self.handler_value(*inner, scope, line, depth + 1),
            _ => None,
        }
    }

    fn handling(&self, value: &Value, line: u32) -> Option<(SymbolId, Strategy)> {
        let symbol = match value.entity {
            Entity::Definition(symbol) => self.canonical(symbol),
            Entity::Instance(class) => class,
            _ => return None,
        };
        let place = self.index.symbols.get(symbol);
        if place.def == FILE_NODE {
            return None;
        }
        let kind = self.kind(symbol);
        if is_callable(kind) || is_class(kind) {
            return Some((symbol, value.via));
        }
        if matches!(kind, Kind::Constant | Kind::Field) && line != 0 {
            // A variable: what it holds, else itself.
            let held = self.stored_values(symbol);
            let inner = held.iter().find_map(|value| self.handling(value, 0));
            return Some(inner.unwrap_or((symbol, value.via)));
        }
        None
    }

    /// Returns the only function with the name of an operation that a description of routes has. Functions of generated
    /// clients have the same names.
    fn operation_named(&self, operation: &str) -> Option<(SymbolId, Strategy)> {
        let is_client = |path: &str| CLIENT_FOLDERS.iter().any(|word| path.to_ascii_lowercase().contains(word));
        let functions = self.named(self.index.strings.intern(operation)).iter().copied().filter(|&symbol| {
            let place = self.index.symbols.get(symbol);
            place.def != FILE_NODE && is_callable(self.kind(symbol)) && !is_client(&self.index.file(place.file).path)
        });
        match functions.collect::<Vec<_>>()[..] {
            [only] => Some((only, Strategy::NamedHandler)),
            _ => None,
        }
    }

    /// Returns the only method with a class's and a method's name; of a class without this method, the class.
    fn method_named(&self, class: &str, method: &str) -> Option<(SymbolId, Strategy)> {
        let class_name = class.rsplit('.').next().unwrap_or(class);
        let mut found = Vec::new();
        for &symbol in self.named(self.index.strings.intern(method)) {
            if self.index.symbols.get(symbol).def == FILE_NODE {
                continue;
            }
            let (file, definition) = self.definition(symbol);
            if is_callable(definition.kind) && self.text(file.outline(definition.parent).name) == class_name {
                found.push(symbol);
            }
        }
        if found.is_empty() {
            for &symbol in self.named(self.index.strings.intern(class_name)) {
                if self.index.symbols.get(symbol).def != FILE_NODE && is_class(self.kind(symbol)) {
                    found.push(symbol);
                }
            }
        }
        found.sort_by(|&a, &b| self.index.name_order(a).cmp(&self.index.name_order(b)));
        found.first().map(|&symbol| (symbol, Strategy::NamedHandler))
    }
}
