//! Classes as handlers: a route for each HTTP method that has a method of the class.

use crate::entity::Entity;
use crate::project::file_entry::{is_callable, is_class};
use crate::project::names::{FILE_NODE, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::Kind;

/// In a rule's `methods`: those of the class, else what follows.
const MARK: &str = "MEMBERS:";

/// Names of methods with the HTTP method that they serve.
const SERVING: [(&str, &str); 6] = [
    ("get", "GET"),
    ("post", "POST"),
    ("put", "PUT"),
    ("patch", "PATCH"),
    ("delete", "DELETE"),
    ("on_message", "WEBSOCKET"),
];

/// Endings of the names of base classes that serve nothing themselves.
const NEUTRAL: [&str; 8] = ["View", "APIView", "MethodView", "Resource", "Handler", "HTTPEndpoint", "Mixin", "object"];

/// A handler with the HTTP methods that it serves.
pub type Served = (String, Option<(SymbolId, Strategy)>);

impl Query<'_> {
    /// Returns the methods of a detection with their handlers.
    pub(super) fn served(&self, methods: &str, handler: Option<(SymbolId, Strategy)>) -> Vec<Served> {
        let Some(default) = methods.strip_prefix(MARK) else { return vec![(methods.to_owned(), handler)] };
        let class = handler
            .map(|(symbol, _)| symbol)
            .filter(|&symbol| self.index.symbols.get(symbol).def != FILE_NODE && is_class(self.kind(symbol)));
        let members = class.map(|class| self.serving_members(class)).unwrap_or_default();
        if !members.is_empty() {
            return members;
        }
        // What a class of another package serves is not known.
        let default = if class.is_some() { "ANY" } else { default };
        vec![(default.to_owned(), handler)]
    }

    fn serving_members(&self, class: SymbolId) -> Vec<Served> {
        let is_neutral = |base: &Entity| match base {
            Entity::External(external) => {
                let name = self.text(self.index.externals.name(*external).1);
                NEUTRAL.iter().any(|ending| name.ends_with(ending))
            }
            _ => true,
        };
        if !self.ancestors(class).iter().all(is_neutral) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (name, method) in SERVING {
            let name = self.index.strings.intern(name);
            let members = self.class_member(class, name, Strategy::ClassAttribute);
            let symbol = members.iter().find_map(|value| match value.entity {
                Entity::Definition(symbol) if is_callable(self.kind(symbol)) => Some(symbol),
                Entity::Definition(symbol) if self.kind(symbol) == Kind::Field => Some(class),
                _ => None,
            });
            if let Some(symbol) = symbol {
                found.push((method.to_owned(), Some((symbol, Strategy::ClassAttribute))));
            }
        }
        found
    }
}
