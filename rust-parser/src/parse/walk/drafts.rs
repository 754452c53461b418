//! Definitions, bindings and what wraps them, before they are recorded: values that the walk, the stages that record facts and the
//! hooks of languages pass to each other.

use crate::facts::{BindingKind, DefId, ExprId, Kind};
use crate::parse::flat_tree::NodeId;

/// Where the parts of a definition are; digests are made from them after the walk.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Bytes of the signature with decorators, then of the body.
    pub head: u32,
    pub body: u32,
    pub end: u32,
    /// Node of a docstring inside the body.
    pub docstring: Option<NodeId>,
}

/// A definition before it is recorded; a language's own code may change it.
#[derive(Debug, Clone)]
pub struct DefinitionDraft {
    pub node: NodeId,
    pub kind: Kind,
    pub name: String,
    pub name_node: Option<NodeId>,
    pub parent: DefId,
    pub flags: u32,
    pub private: bool,
    pub body: Option<NodeId>,
    pub parameters: Option<NodeId>,
    /// List with the receiver alone.
    pub receiver: Option<NodeId>,
    pub decorators: Vec<NodeId>,
    pub bases: Vec<NodeId>,
    /// Declared type, return type or aliased type.
    pub declared: Option<NodeId>,
    pub wrapper: Wrapper,
}

/// A binding without its target.
#[derive(Debug, Clone, Copy)]
pub struct BindingDraft {
    pub kind: BindingKind,
    pub value: Option<ExprId>,
    pub annotation: Option<ExprId>,
    pub line: u32,
}

/// What the nodes around a definition add to it.
#[derive(Debug, Clone, Default)]
pub struct Wrapper {
    pub outer: Option<NodeId>,
    pub signature: Option<NodeId>,
    /// Name given to a function or class that is a value.
    pub name: Option<NodeId>,
    pub decorators: Vec<NodeId>,
    pub flags: u32,
    pub private: bool,
}
