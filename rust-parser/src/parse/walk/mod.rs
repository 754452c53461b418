//! The one pass over a file's tree: keeps the scopes, looks up what the language says about each kind of node, and calls
//! `definitions`, `bindings` and `expressions` to record the facts.

pub mod bindings;
pub mod definition_paths;
pub mod definitions;
pub mod dotted;
pub mod enclosing_scopes;
pub mod expressions;
pub mod signatures;
pub mod wrappers;

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::{DefId, Expr, ExprId, Kind, Name, Reference, ReferenceKind};
use crate::parse::deadline::Deadline;
use crate::parse::facts_builder::Collector;
use crate::parse::flat_tree::{FlatTree, NodeId};
use crate::parse::language::Language;
use crate::parse::query::matching::{Captures, Subject, all};
use crate::parse::query::vocabulary::{Capture, Role};
use crate::parse::walk::definitions::Layout;
use crate::parse::walk::wrappers::Wrap;

/// Nodes between two looks at the clock.
const CLOCK_INTERVAL: u32 = 1024;
/// Blanks before a comment that can still begin its line.
const MAX_INDENT: usize = 400;
/// Marks of a node in `Walk::claims`.
const READ_CLAIMED: u8 = 1;
const CALL_CLAIMED: u8 = 2;
/// No expression was made for the node yet.
pub const NOT_MADE: ExprId = ExprId::MAX;

/// An open definition.
pub struct Scope {
    pub definition: DefId,
    /// First node after the scope.
    pub end: NodeId,
    /// Name of the parameter that stands for the object (false) or its class (true).
    pub receiver: Option<(Name, bool)>,
    /// Other parameters; they hide outer receivers.
    pub parameters: Vec<Name>,
}

/// Comments directly below each other.
#[derive(Debug, Clone, Copy)]
pub struct CommentRun {
    pub start: u32,
    pub end: u32,
    pub parent: NodeId,
    /// 0-based.
    pub first_line: u32,
    pub last_line: u32,
}

/// State of the pass over one file.
pub struct Walk<'a> {
    pub language: &'a Language,
    pub tree: &'a FlatTree,
    pub source: &'a [u8],
    /// The source as text if it is valid UTF-8.
    pub text: Option<&'a str>,
    pub collect: Collector<'a>,
    pub scopes: Vec<Scope>,
    /// By definition: where its parts are, for digests.
    pub layouts: Vec<Layout>,
    /// Definitions by node; the flag says that its scope was opened.
    pub definition_of: FxHashMap<NodeId, (DefId, bool)>,
    pub wraps: FxHashMap<NodeId, Wrap>,
    pub pending_decorators: Vec<NodeId>,
    pub comments: Option<CommentRun>,
    /// How many definitions of a name there are below a path.
    pub name_counts: FxHashMap<(Name, Name), u32>,
    pub paths: FxHashSet<Name>,
    pub expressions: Vec<ExprId>,
    /// Current depth of recursion in expressions, types and targets.
    pub depth: u32,
    pub too_deep: bool,
    /// Names exported apart from their definitions, with the flags they get.
    pub exported: Vec<(Name, u32)>,
    /// Namespaces (and classes) that later definitions of their name add to.
    pub reopenable: FxHashMap<(DefId, Name, Kind), DefId>,
    /// What the language's code saw ahead of the walk.
    pub noted: FxHashSet<String>,
    /// Variables and parameters bound so far, by scope.
    locals: FxHashSet<(DefId, Name)>,
    claims: Vec<u8>,
    /// By node: the node inside that it is the same as.
    same: FxHashMap<NodeId, NodeId>,
    spare_captures: Vec<Captures>,
}

impl<'a> Walk<'a> {
    pub fn new(
        language: &'a Language,
        tree: &'a FlatTree,
        source: &'a [u8],
        text: Option<&'a str>,
        collect: Collector<'a>,
    ) -> Self {
        Walk {
            language,
            tree,
            source,
            text,
            collect,
            scopes: vec![Scope { definition: 0, end: NodeId::MAX, receiver: None, parameters: Vec::new() }],
            layouts: Vec::new(),
            definition_of: FxHashMap::default(),
            wraps: FxHashMap::default(),
            pending_decorators: Vec::new(),
            comments: None,
            name_counts: FxHashMap::default(),
            paths: FxHashSet::default(),
            expressions: vec![NOT_MADE; tree.len() as usize],
            depth: 0,
            too_deep: false,
            exported: Vec::new(),
            reopenable: FxHashMap::default(),
            noted: FxHashSet::default(),
            locals: FxHashSet::default(),
            claims: vec![0; tree.len() as usize],
            same: FxHashMap::default(),
            spare_captures: Vec::new(),
        }
    }

    /// Visit all nodes. False when the deadline passed before the end.
    pub fn run(&mut self, deadline: Deadline) -> bool {
        for node in 0..self.tree.len() {
            while self.scopes.last().is_some_and(|scope| node >= scope.end) {
                self.scopes.pop();
            }
            if node.is_multiple_of(CLOCK_INTERVAL) && deadline.has_passed() {
                return false;
            }
            if !self.language.rules(self.tree.node(node).kind).is_passive() {
                self.visit(node);
            }
        }
        true
    }

    fn visit(&mut self, node: NodeId) {
        let language = self.language;
        let rules = language.rules(self.tree.node(node).kind);
        if rules.is_comment {
            self.note_comment(node);
            return;
        }
        let mut captures = self.spare_captures.pop().unwrap_or_default();
        let (mut defined, mut wrapped, mut imported, mut bound) = (false, false, false, false);
        for &number in &rules.walk {
            let role = language.patterns[number as usize].role;
            let taken = match role {
                Role::Definition(_) | Role::Variable => &mut defined,
                Role::Wrapper { .. } => &mut wrapped,
                Role::Import(_) => &mut imported,
                Role::Binding(_) => &mut bound,
                _ => &mut false,
            };
            captures.clear();
            if *taken || !self.matches(number, node, &mut captures) {
                continue;
            }
            *taken = true;
            if self.act(role, node, &captures) {
                break;
            }
        }
        captures.clear();
        self.spare_captures.push(captures);
        if rules.records_call && !self.is_claimed(node, CALL_CLAIMED) {
            self.record_call(node);
        }
        if rules.records_attribute && !self.is_claimed(node, READ_CLAIMED) {
            self.read(node);
        }
    }

    /// Record what a match says. True: the node is nothing else besides.
    fn act(&mut self, role: Role, node: NodeId, captures: &[(Capture, NodeId)]) -> bool {
        let code = self.language.code;
        match role {
            Role::Definition(kind) => self.define(kind, node, captures),
            Role::Variable => self.define_variables(node, captures),
            Role::Wrapper { signature } => self.wrap(node, signature, captures),
            Role::PendingDecorator => self.pending_decorators.push(node),
            Role::Import(None) if code.import(self, node) => {
                self.claim_call(node);
                return true;
            }
            Role::Package => all(captures, Capture::Name).for_each(|name| self.declare_package(name)),
            Role::Import(Some(kind)) => self.import(kind, node, captures),
            Role::Binding(kind) => self.binding(kind, node, captures),
            Role::Hook => code.hook(self, node),
            Role::TypeName if !self.is_claimed(node, READ_CLAIMED) => {
                self.annotation(node);
            }
            _ => {}
        }
        for read in all(captures, Capture::Read) {
            self.read(read);
        }
        for node in all(captures, Capture::TypeReference) {
            self.annotation(node);
        }
        false
    }

    /// Try one of the language's patterns at a node; captures are appended.
    pub fn matches(&self, number: u16, node: NodeId, captures: &mut Captures) -> bool {
        let subject = Subject { tree: self.tree, source: self.source, content_kinds: &self.language.content_kinds };
        subject.matches(&self.language.patterns[number as usize], node, captures)
    }

    /// The first of some patterns that fits a node, with its captures.
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

    /// Give captures back for reuse.
    pub fn recycle(&mut self, mut captures: Captures) {
        captures.clear();
        self.spare_captures.push(captures);
    }

    /// Definition whose scope is innermost.
    pub fn scope(&self) -> DefId {
        self.scopes.last().map_or(0, |scope| scope.definition)
    }

    /// A variable of the innermost scope is bound.
    pub fn note_local(&mut self, name: Name) {
        if self.language.code.needs_locals() {
            let scope = self.scope();
            self.locals.insert((scope, name));
        }
    }

    /// Was the name bound as a variable before, in the function around or in anonymous functions inside it?
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
        self.collect.facts.definitions[definition as usize].kind
    }

    pub fn bytes_of(&self, node: NodeId) -> &'a [u8] {
        let node = self.tree.node(node);
        &self.source[node.start as usize..node.end as usize]
    }

    /// Text of a node; invalid UTF-8 is replaced.
    pub fn text_of(&self, node: NodeId) -> Cow<'a, str> {
        let place = self.tree.node(node);
        match self.text.and_then(|text| text.get(place.start as usize..place.end as usize)) {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(self.bytes_of(node)),
        }
    }

    /// Interned text of a node.
    pub fn name_of(&mut self, node: NodeId) -> Name {
        match self.text_of(node) {
            Cow::Borrowed(text) => self.collect.name(text),
            Cow::Owned(text) => self.collect.owned_name(text),
        }
    }

    /// First child in a field of the grammar.
    pub fn child(&self, node: NodeId, field: &str) -> Option<NodeId> {
        let field = self.language.grammar.as_ref()?.field_id_for_name(field)?;
        self.tree.child_by_field(node, field.into())
    }

    /// All children in a field of the grammar.
    pub fn in_field(&self, node: NodeId, field: &str) -> impl Iterator<Item = NodeId> + use<'a> {
        let field = self.language.grammar.as_ref().and_then(|grammar| grammar.field_id_for_name(field));
        let (tree, field) = (self.tree, field.map_or(u16::MAX, Into::into));
        tree.children(node).filter(move |&child| tree.node(child).field == field)
    }

    /// Named children that are not comments.
    pub fn contents(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<'a> {
        let (tree, language) = (self.tree, self.language);
        tree.children(node).filter(move |&child| language.is_content(tree.node(child).kind))
    }

    pub fn kind_name(&self, node: NodeId) -> &str {
        let grammar = self.language.grammar.as_ref();
        grammar.and_then(|grammar| grammar.node_kind_for_id(self.tree.node(node).kind)).unwrap_or("ERROR")
    }

    /// The attribute at this node is not a read of its own: it is called, bound, or part of a longer one.
    pub fn claim_read(&mut self, node: NodeId) {
        let mut claimed = Some(node);
        while let Some(node) = claimed {
            self.claims[node as usize] |= READ_CLAIMED;
            claimed = self.same.get(&node).copied();
        }
    }

    /// A node means the same as one inside it, and shares its claims.
    pub fn note_same(&mut self, node: NodeId, inner: NodeId) {
        self.same.insert(node, inner);
        if self.is_claimed(node, READ_CLAIMED) {
            self.claim_read(inner);
        }
    }

    pub fn is_call_claimed(&self, node: NodeId) -> bool {
        self.is_claimed(node, CALL_CLAIMED)
    }

    /// The call at this node is not recorded: it was an import, a declaration, ...
    pub fn claim_call(&mut self, node: NodeId) {
        self.claims[node as usize] |= CALL_CLAIMED;
    }

    fn is_claimed(&self, node: NodeId, mark: u8) -> bool {
        self.claims[node as usize] & mark != 0
    }

    pub fn refer(&mut self, kind: ReferenceKind, expr: ExprId, line: u32) {
        let scope = self.scope();
        self.collect.facts.references.push(Reference { scope, kind, expr, line });
    }

    fn record_call(&mut self, node: NodeId) {
        let expr = self.expression(node);
        // A cast may be written like a call.
        if matches!(self.collect.get(expr), Expr::Call { .. }) && !self.is_call_claimed(node) {
            self.refer(ReferenceKind::Call, expr, self.tree.line(node));
        }
    }

    /// Record once that a value is read, if it is a name or attribute (or a choice of such) and nothing else claimed it.
    pub fn read(&mut self, node: NodeId) {
        if self.is_claimed(node, READ_CLAIMED) {
            return;
        }
        let expr = self.expression(node);
        self.claim_read(node);
        self.read_expression(expr, self.tree.line(node));
    }

    fn read_expression(&mut self, expr: ExprId, line: u32) {
        match self.collect.get(expr) {
            Expr::Name(_) | Expr::Attribute { .. } => self.refer(ReferenceKind::Read, expr, line),
            Expr::OneOf(options) => {
                for option in options.clone() {
                    self.read_expression(option, line);
                }
            }
            _ => {}
        }
    }

    fn note_comment(&mut self, node: NodeId) {
        let place = *self.tree.node(node);
        let bytes = self.bytes_of(node);
        let prefixes = &self.language.settings.docs.prefixes;
        let is_doc = prefixes.is_empty() || prefixes.iter().any(|prefix| bytes.starts_with(prefix.as_bytes()));
        let before = self.source[..place.start as usize].iter().rev();
        let blank = before.clone().take(MAX_INDENT).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let alone = before.clone().nth(blank).is_none_or(|&byte| byte == b'\n' || byte == b'\r');
        if !is_doc || !alone {
            self.comments = None;
            return;
        }
        let breaks = bytes.trim_ascii_end().iter().filter(|&&b| b == b'\n').count() as u32;
        let (start, first_line) = match self.comments {
            Some(run) if run.parent == place.parent && run.last_line + 1 == place.line => (run.start, run.first_line),
            _ => (place.start, place.line),
        };
        self.comments = Some(CommentRun {
            start,
            end: place.end,
            parent: place.parent,
            first_line,
            last_line: place.line + breaks,
        });
    }
}
