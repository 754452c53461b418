//! A syntax tree in one vector of nodes in preorder: children are contiguous, a subtree is a range, and traversal needs
//! no recursion. Created from a tree-sitter tree in one cursor pass, independent of the language.

use tree_sitter::Node;

use crate::rewriting::Reading;
use atlas_languages::deadline::Deadline;

/// Largest number of syntax problems reported per file.
const MAX_SYNTAX_PROBLEMS: usize = 20;
/// Number of nodes between two checks of the deadline.
const CLOCK_INTERVAL: usize = 4096;

/// Index of a node; 0 is the root.
pub type NodeId = u32;

/// One node of the flat tree.
#[derive(Debug, Clone, Copy)]
pub struct FlatNode {
    pub kind: u16,
    /// Field of the parent in which this node is; 0 for none.
    pub field: u16,
    pub parent: NodeId,
    /// Index after the last node of this subtree.
    pub next: NodeId,
    pub start: u32,
    pub end: u32,
    /// 0-based line of the start.
    pub line: u32,
}

/// The nodes of a file in preorder. Never empty.
#[derive(Default)]
pub struct FlatTree {
    nodes: Vec<FlatNode>,
    /// A bit for each node: whether a child is in a field. Those with most children, such as blocks, have none.
    with_fields: Vec<u64>,
    /// The first syntax errors: 0-based line, and whether a token is missing.
    pub errors: Vec<(u32, bool)>,
    /// Whether the deadline passed before the whole tree was read; later nodes are then absent.
    pub cut: bool,
}

impl FlatTree {
    /// Copies a tree with positions in the file. Stops at the deadline and keeps the nodes read so far.
    pub fn new(reading: &Reading, deadline: Deadline) -> Self {
        let root = reading.tree.root_node();
        let broken = root.has_error();
        let mut flat = FlatTree { nodes: Vec::with_capacity(root.descendant_count() + 1), ..FlatTree::default() };
        let mut cursor = root.walk();
        let mut open: Vec<NodeId> = Vec::new();
        loop {
            let node = cursor.node();
            let id = flat.push(reading, &node, cursor.field_id().map_or(0, Into::into), open.last().copied());
            if broken {
                flat.note_error(&node, id);
            }
            if flat.nodes.len().is_multiple_of(CLOCK_INTERVAL) && deadline.has_passed() {
                flat.cut = true;
                break;
            }
            if cursor.goto_first_child() {
                open.push(id);
                continue;
            }
            while !cursor.goto_next_sibling() {
                let Some(parent) = open.pop() else {
                    return flat;
                };
                flat.nodes[parent as usize].next = flat.nodes.len() as NodeId;
                cursor.goto_parent();
            }
        }
        let end = flat.nodes.len() as NodeId;
        for parent in open {
            flat.nodes[parent as usize].next = end;
        }
        flat
    }

    fn push(&mut self, reading: &Reading, node: &Node, field: u16, parent: Option<NodeId>) -> NodeId {
        let id = self.nodes.len() as NodeId;
        if id.is_multiple_of(u64::BITS) {
            self.with_fields.push(0);
        }
        if let Some(parent) = parent.filter(|_| field != 0) {
            self.with_fields[(parent / u64::BITS) as usize] |= 1 << (parent % u64::BITS);
        }
        let places = &reading.places;
        let (start, end) = places.span(node.start_byte(), node.end_byte());
        self.nodes.push(FlatNode {
            kind: node.kind_id(),
            field,
            parent: parent.unwrap_or(0),
            next: id + 1,
            start,
            end,
            line: if places.are_same() { node.start_position().row as u32 } else { places.line(start) },
        });
        id
    }

    fn note_error(&mut self, node: &Node, id: NodeId) {
        if self.errors.len() < MAX_SYNTAX_PROBLEMS && (node.is_error() || node.is_missing()) {
            self.errors.push((self.node(id).line, node.is_missing()));
        }
    }

    pub fn len(&self) -> NodeId {
        self.nodes.len() as NodeId
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    #[inline]
    pub fn node(&self, id: NodeId) -> &FlatNode {
        &self.nodes[id as usize]
    }

    /// Returns the 1-based line of the node's start.
    pub fn line(&self, id: NodeId) -> u32 {
        self.node(id).line + 1
    }

    pub fn is_leaf(&self, id: NodeId) -> bool {
        self.node(id).next == id + 1
    }

    /// Returns the direct children in source order.
    pub fn children(&self, id: NodeId) -> Children<'_> {
        Children { tree: self, current: id + 1, end: self.node(id).next }
    }

    /// Returns the children after one of them, without a step for each one before it.
    pub fn children_after(&self, id: NodeId, child: NodeId) -> Children<'_> {
        Children { tree: self, current: self.node(child).next, end: self.node(id).next }
    }

    /// Returns the first child in a field.
    pub fn child_by_field(&self, id: NodeId, field: u16) -> Option<NodeId> {
        let has_fields = self.with_fields[(id / u64::BITS) as usize] & (1 << (id % u64::BITS)) != 0;
        has_fields.then(|| self.children(id).find(|&child| self.node(child).field == field)).flatten()
    }

    /// Returns the first child of a kind.
    pub fn child_of_kind(&self, id: NodeId, kind: u16) -> Option<NodeId> {
        self.children(id).find(|&child| self.node(child).kind == kind)
    }

    /// Returns the first node in preorder that starts at or after a byte.
    pub fn first_from(&self, byte: u32) -> NodeId {
        self.nodes.partition_point(|node| node.start < byte) as NodeId
    }
}

/// Iterator over the direct children of a node.
pub struct Children<'a> {
    tree: &'a FlatTree,
    current: NodeId,
    end: NodeId,
}

impl Iterator for Children<'_> {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        if self.current >= self.end {
            return None;
        }
        let id = self.current;
        self.current = self.tree.node(id).next;
        Some(id)
    }
}
