//! What the rules of detectors found in a file: routes, routers, events and commands, before receivers and handlers are
//! resolved.

use serde::{Deserialize, Serialize};

use super::ids::{DefId, ExprId, Name};

/// One match of a detector's rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    pub kind: DetectionKind,
    /// Name of the framework.
    pub framework: Name,
    /// Innermost enclosing definition.
    pub scope: DefId,
    pub line: u32,
    /// The router on which the rule's method is called; of a chain of calls its first object.
    pub receiver: Option<ExprId>,
    /// Where the result of the chain is kept: a variable of a scope; the scope itself if the name is empty.
    pub holder: (DefId, Name),
    /// Space-separated prefixes of dotted names, one of which the receiver must come from; empty: no condition.
    pub packages: Name,
    /// Space-separated names of receivers that are accepted if nothing is known about their value.
    pub receivers: Name,
    /// Space-separated HTTP methods; of events their kind.
    pub methods: Name,
    /// Path of a route or prefix of a router, with the prefixes of the scopes around it; of events their name.
    pub path: Name,
    pub handler: Handler,
    /// The mounted router.
    pub child: Handler,
    /// Whether the prefix replaces the router's own one.
    pub replaces: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DetectionKind {
    /// A registered route.
    Route,
    /// A router with a prefix of its own, or a group of another router.
    Router,
    /// A router that becomes part of another one.
    Mount,
    /// A handler of an event or command.
    Handles,
    /// An emitted event.
    Emits,
    /// A function that receives a router, as its handler: the path is the prefix of what it registers, which is already
    /// part of the paths in its text.
    Scope,
    /// A function that the framework calls to provide an argument of the scope.
    Injects,
    /// A fixture that the handler asks for.
    Requests,
    /// A call of a route by its URL, as the code writes it.
    Client,
    /// A read or a definition of an environment variable.
    Reads,
    Sets,
}

/// A function, class or router that a detection names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Handler {
    None,
    Expr(ExprId),
    Definition(DefId),
    /// The name of a class and of a method, or of a module.
    Text(Name),
}
