//! The state of the walk over one file's tree: open scopes, claims of nodes, and access to nodes and their text for
//! hooks and recording stages.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::detect::detecting::Detecting;
use crate::detect::rules::FileRule;
use crate::documents::as_code;
use crate::facts_builder::FactsBuilder;
use crate::flat_tree::{FlatTree, NodeId};
use crate::language::Language;
use crate::query::matching::{Captures, Subject};
use crate::query::vocabulary::Role;
use crate::walk::drafts::{Layout, Placed, Wrapper};
use crate::walk::name_parts::LocalNames;
use atlas_facts::{DefId, ExprId, Kind, Name, Reference, ReferenceKind};

/// Largest nesting depth of targets, types and expressions.
pub const MAX_DEPTH: u32 = 200;
/// Flags of a node in `Walk::claims`.
pub const READ_CLAIMED: u8 = 1;
pub const CALL_CLAIMED: u8 = 2;
pub const TYPE_CLAIMED: u8 = 4;
/// Marks a node without an expression.
pub const NOT_MADE: ExprId = ExprId::MAX;

/// An open definition.
pub struct Scope {
    pub definition: DefId,
    /// First node after the scope.
    pub end: NodeId,
    /// Name of the parameter that denotes the object (false) or its class (true).
    pub receiver: Option<(Name, bool)>,
    /// Other parameters, which hide outer receivers.
    pub parameters: Vec<Name>,
}

/// A group of comments on consecutive lines.
#[derive(Debug, Clone, Copy)]
pub struct CommentRun {
    pub start: u32,
    pub end: u32,
    pub parent: NodeId,
    /// Line number, 0-based.
    pub first_line: u32,
    pub last_line: u32,
}

/// The state of the pass over one file.
pub struct Walk<'a> {
    pub language: &'a Language,
    pub tree: &'a FlatTree,
    pub source: &'a [u8],
    /// The source as text if it is valid UTF-8.
    pub text: Option<&'a str>,
    pub builder: FactsBuilder<'a>,
    pub scopes: Vec<Scope>,
    /// By definition: positions of its parts, for the digests.
    pub layouts: Vec<Layout>,
    /// Definitions by node; the flag tells whether the scope was opened.
    pub definition_of: FxHashMap<NodeId, (DefId, bool)>,
    pub wrappers: FxHashMap<NodeId, Wrapper>,
    pub pending_decorators: Vec<NodeId>,
    pub comments: Option<CommentRun>,
    /// Number of definitions by path and name.
    pub name_counts: FxHashMap<(Name, Name), u32>,
    pub paths: FxHashSet<Name>,
    pub expressions: Vec<ExprId>,
    /// Current recursion depth in expressions, types and targets.
    pub depth: u32,
    /// The same in operands of operators.
    pub operand_depth: u32,
    pub too_deep: bool,
    /// Names exported separately from their definitions, with the flags that this sets.
    pub exported: Vec<(Name, u32)>,
    /// Namespaces and classes that later definitions of the same name extend.
    pub reopenable: FxHashMap<(DefId, Name, Kind), DefId>,
    /// Extensions of what an expression denotes, by scope, expression and path of the members.
    pub objects: FxHashMap<(DefId, ExprId, Name), DefId>,
    /// Paths to which the members of definitions belong, where they differ from those of the definitions.
    pub member_prefixes: FxHashMap<DefId, Name>,
    /// Functions of ECMAScript whose types follow from where they stand.
    pub placed: Vec<Placed>,
    /// Names that hooks collected before the walk.
    pub noted: FxHashSet<String>,
    /// Texts that hooks collected before the walk, by name.
    pub noted_texts: FxHashMap<String, String>,
    /// Variables and parameters bound so far, by scope.
    locals: FxHashSet<(DefId, Name)>,
    pub local_names: LocalNames,
    claims: Vec<u8>,
    /// Whether types are read ahead of the place that records what they refer to.
    pub is_peeking: bool,
    /// By node: the inner node with the same meaning.
    same: FxHashMap<NodeId, NodeId>,
    pub spare_captures: Vec<Captures>,
    /// The node that the walk is at.
    pub visited: NodeId,
    pub has_left_out_imports: bool,
    /// The only string that a name of the file is assigned, and the call that creates a signal: made when first asked for.
    pub assigned_strings: OnceCell<FxHashMap<String, Option<NodeId>>>,
    pub assigned_signals: OnceCell<FxHashMap<String, NodeId>>,
    /// The texts that a name of the file is assigned, in their order.
    pub assigned_texts: OnceCell<FxHashMap<String, Vec<NodeId>>>,
    /// By name of a variable: the paths of names that it is set to, with their places.
    pub held_paths: OnceCell<FxHashMap<String, Vec<(String, NodeId)>>>,
    /// Number of texts that are being read inside of one another.
    pub text_depth: Cell<u32>,
    /// Default values of open definitions that run in the scope around them, the first one on top.
    pub outside: BinaryHeap<Reverse<NodeId>>,
    /// The rules of detectors that apply to the file.
    pub detecting: Option<Detecting<'a>>,
    pub file_rules: Option<&'a [(String, FileRule)]>,
    /// Whether the source is JSON, in whose strings the code is.
    pub is_notebook: bool,
}

impl<'a> Walk<'a> {
    pub fn new(
        language: &'a Language,
        tree: &'a FlatTree,
        source: &'a [u8],
        text: Option<&'a str>,
        builder: FactsBuilder<'a>,
    ) -> Self {
        Walk {
            language,
            tree,
            source,
            text,
            builder,
            scopes: vec![Scope { definition: 0, end: NodeId::MAX, receiver: None, parameters: Vec::new() }],
            layouts: Vec::new(),
            definition_of: FxHashMap::default(),
            wrappers: FxHashMap::default(),
            pending_decorators: Vec::new(),
            comments: None,
            name_counts: FxHashMap::default(),
            paths: FxHashSet::default(),
            expressions: vec![NOT_MADE; tree.len() as usize],
            depth: 0,
            operand_depth: 0,
            too_deep: false,
            exported: Vec::new(),
            reopenable: FxHashMap::default(),
            objects: FxHashMap::default(),
            member_prefixes: FxHashMap::default(),
            is_peeking: false,
            placed: Vec::new(),
            noted: FxHashSet::default(),
            noted_texts: FxHashMap::default(),
            locals: FxHashSet::default(),
            local_names: LocalNames::default(),
            claims: vec![0; tree.len() as usize],
            same: FxHashMap::default(),
            spare_captures: Vec::new(),
            visited: 0,
            has_left_out_imports: false,
            assigned_strings: OnceCell::new(),
            assigned_signals: OnceCell::new(),
            assigned_texts: OnceCell::new(),
            held_paths: OnceCell::new(),
            text_depth: Cell::new(0),
            outside: BinaryHeap::new(),
            detecting: None,
            file_rules: None,
            is_notebook: false,
        }
    }

    /// Matches one of the language's patterns at a node. Returns true, with the captures appended, on a match.
    pub fn matches(&self, number: u16, node: NodeId, captures: &mut Captures) -> bool {
        let subject = Subject { tree: self.tree, source: self.source, content_kinds: &self.language.content_kinds };
        subject.matches(&self.language.patterns[number as usize], node, captures)
    }

    /// Returns the first of the given patterns that matches a node, with its captures.
    pub fn first_match(&mut self, numbers: &[u16], node: NodeId) -> Option<(Role, Captures)> {
        let mut captures = self.spare_captures.pop().unwrap_or_default();
        for &number in numbers {
            if self.matches(number, node, &mut captures) {
                return Some((self.language.patterns[number as usize].role, captures));
            }
        }
        self.spare_captures.push(captures);
        None
    }

    /// Takes back a list of captures for reuse.
    pub fn recycle(&mut self, mut captures: Captures) {
        captures.clear();
        self.spare_captures.push(captures);
    }

    /// Returns the definition of the innermost scope.
    pub fn scope(&self) -> DefId {
        self.scopes.last().map_or(0, |scope| scope.definition)
    }

    /// Records a variable of the innermost scope.
    pub fn note_local(&mut self, name: Name) {
        if self.language.hooks.needs_locals() {
            let scope = self.scope();
            self.locals.insert((scope, self.plain_name(name)));
        }
    }

    /// Returns whether the name was bound as a variable before, in the enclosing function or in anonymous functions
    /// inside it.
    pub fn is_local(&self, name: Name) -> bool {
        for scope in self.scopes.iter().rev() {
            if self.locals.contains(&(scope.definition, name)) {
                return true;
            }
            if self.kind_of(scope.definition) != Kind::Lambda {
                return false;
            }
        }
        false
    }

    pub fn kind_of(&self, definition: DefId) -> Kind {
        self.builder.facts.definitions[definition as usize].kind
    }

    pub fn bytes_of(&self, node: NodeId) -> &'a [u8] {
        let node = self.tree.node(node);
        &self.source[node.start as usize..node.end as usize]
    }

    /// Returns the text of a node. Invalid UTF-8 is replaced.
    pub fn text_of(&self, node: NodeId) -> Cow<'a, str> {
        let place = self.tree.node(node);
        if self.is_notebook {
            return Cow::Owned(self.written(place.start as usize, place.end as usize).into_owned());
        }
        match self.text.and_then(|text| text.get(place.start as usize..place.end as usize)) {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(self.bytes_of(node)),
        }
    }

    /// Returns the code between two positions. Invalid UTF-8 is replaced.
    pub fn written(&self, start: usize, end: usize) -> Cow<'a, str> {
        let text = String::from_utf8_lossy(&self.source[start..end]);
        if self.is_notebook { Cow::Owned(as_code(&text)) } else { text }
    }

    /// Returns the interned text of a node.
    pub fn name_of(&mut self, node: NodeId) -> Name {
        match self.text_of(node) {
            Cow::Borrowed(text) => self.builder.name(text),
            Cow::Owned(text) => self.builder.owned_name(text),
        }
    }

    /// Returns the first child in a field of the grammar.
    pub fn child(&self, node: NodeId, field: &str) -> Option<NodeId> {
        self.tree.child_by_field(node, self.language.field(field)?)
    }

    /// Returns all children in a field of the grammar.
    pub fn in_field(&self, node: NodeId, field: &str) -> impl Iterator<Item = NodeId> + use<'a> {
        let (tree, field) = (self.tree, self.language.field(field).unwrap_or(u16::MAX));
        tree.children(node).filter(move |&child| tree.node(child).field == field)
    }

    /// Returns the named children except comments.
    pub fn contents(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<'a> {
        let (tree, language) = (self.tree, self.language);
        tree.children(node).filter(move |&child| language.is_content(tree.node(child).kind))
    }

    /// Returns the named children after one of them, except comments.
    pub fn contents_after(&self, node: NodeId, child: NodeId) -> impl Iterator<Item = NodeId> + use<'a> {
        let (tree, language) = (self.tree, self.language);
        tree.children_after(node, child).filter(move |&child| language.is_content(tree.node(child).kind))
    }

    pub fn kind_name(&self, node: NodeId) -> &str {
        let grammar = self.language.grammar.as_ref();
        grammar.and_then(|grammar| grammar.node_kind_for_id(self.tree.node(node).kind)).unwrap_or("ERROR")
    }

    /// Marks the attribute at this node as not a read of its own: it is called, bound, or part of a longer one.
    pub fn claim_read(&mut self, node: NodeId) {
        let mut claimed = Some(node).filter(|_| !self.is_peeking);
        while let Some(node) = claimed {
            self.claims[node as usize] |= READ_CLAIMED;
            claimed = self.same.get(&node).copied();
        }
    }

    /// Marks a node as having the same meaning as an inner one, with which it shares its claims.
    pub fn note_same(&mut self, node: NodeId, inner: NodeId) {
        self.same.insert(node, inner);
        if self.is_claimed(node, READ_CLAIMED) {
            self.claim_read(inner);
        }
    }

    pub fn is_call_claimed(&self, node: NodeId) -> bool {
        self.is_claimed(node, CALL_CLAIMED)
    }

    /// Marks the call at this node as not to be recorded: it is an import, a declaration or similar.
    pub fn claim_call(&mut self, node: NodeId) {
        self.claims[node as usize] |= CALL_CLAIMED;
    }

    /// Marks a node as a type, in which operators make types.
    pub fn claim_type(&mut self, node: NodeId) {
        self.claim_read(node);
        self.claims[node as usize] |= TYPE_CLAIMED;
    }

    pub fn is_claimed(&self, node: NodeId, mark: u8) -> bool {
        self.claims[node as usize] & mark != 0
    }

    /// Records a reference in the current scope at a 1-based line.
    pub fn refer(&mut self, kind: ReferenceKind, expr: ExprId, line: u32) {
        let scope = self.scope();
        self.builder.facts.references.push(Reference { scope, kind, expr, line });
    }
}
