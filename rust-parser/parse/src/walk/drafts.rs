//! Drafts of definitions, bindings and wrappers: values that the walk, the recording stages and the hooks of languages
//! exchange before facts are recorded.

use crate::flat_tree::NodeId;
use atlas_facts::{BindingKind, DefId, ExprId, Kind};

/// Positions of a definition's parts, from which digests are computed after the walk.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Byte offsets: start of the signature with decorators, start of the body, end.
    pub head: u32,
    pub body: u32,
    pub end: u32,
    /// Node of the docstring inside the body.
    pub docstring: Option<NodeId>,
}

/// A definition before it is recorded. Hooks may change it.
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
    /// List that contains only the receiver.
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

/// A function with the type of its place, which is read in a scope at a line.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    pub node: NodeId,
    pub annotation: ExprId,
    pub scope: DefId,
    pub line: u32,
}

/// Properties that enclosing nodes add to a definition.
#[derive(Debug, Clone, Default)]
pub struct Wrapper {
    pub outer: Option<NodeId>,
    pub signature: Option<NodeId>,
    /// Name to which a function or class is assigned.
    pub name: Option<NodeId>,
    pub decorators: Vec<NodeId>,
    pub flags: u32,
    pub private: bool,
}
