//! The single pass over a file's tree: looks up the language's actions for each node kind and calls `definitions`,
//! `bindings` and `expressions` to record the facts.

pub mod additions;
pub mod bindings;
pub mod definition_paths;
pub mod definitions;
pub mod dotted;
pub mod drafts;
pub mod enclosing_scopes;
pub mod expressions;
pub mod local_names;
pub mod members;
pub mod name_parts;
mod narrowing;
pub mod operators;
mod sequence;
pub mod signatures;
pub mod state;
pub mod variables;
pub mod wrappers;

use rustc_hash::FxHashSet;

use crate::flat_tree::NodeId;
use crate::query::matching::all;
use crate::query::vocabulary::{Capture, Role, Shape};
use crate::walk::state::{CALL_CLAIMED, CommentRun, READ_CLAIMED, Walk};
use atlas_facts::{Expr, ExprId, FileFacts, Kind, Name, ReferenceKind};
use atlas_languages::deadline::Deadline;

/// Number of nodes between two checks of the deadline.
const CLOCK_INTERVAL: u32 = 1024;
/// Largest indentation of a comment that still begins its line.
const MAX_INDENT: usize = 400;

impl Walk<'_> {
    /// Visits all nodes. Returns false if the deadline passed before the end.
    pub fn run(&mut self, deadline: Deadline) -> bool {
        for node in 0..self.tree.len() {
            while self.scopes.last().is_some_and(|scope| node >= scope.end) {
                self.scopes.pop();
            }
            self.leave_head(node);
            if node.is_multiple_of(CLOCK_INTERVAL) && deadline.has_passed() {
                return false;
            }
            if !self.language.rules(self.tree.node(node).kind).is_ignored_kind() {
                self.visit(node);
            }
            if self.detecting.is_some() {
                self.detect(node);
            }
        }
        true
    }

    fn visit(&mut self, node: NodeId) {
        let language = self.language;
        self.visited = node;
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
        if rules.records_index && !self.is_claimed(node, READ_CLAIMED) {
            self.read_element(node);
        }
        if rules.records_attribute && !self.is_claimed(node, READ_CLAIMED) {
            self.read(node);
        }
    }

    /// Leaves out bare names whose members are read where the file has no property of that name.
    pub fn leave_out_owners(&mut self) {
        let FileFacts { definitions, exprs, references, .. } = &mut self.builder.facts;
        let properties = definitions.iter().filter(|one| one.kind == Kind::Property).map(|one| one.name);
        let properties: FxHashSet<Name> = properties.collect();
        references.retain(|reference| match exprs[reference.expr as usize] {
            Expr::Name(name) if reference.kind == ReferenceKind::Owner => properties.contains(&name),
            _ => true,
        });
    }

    /// Records a match. Returns true if the node has no further role.
    fn act(&mut self, role: Role, node: NodeId, captures: &[(Capture, NodeId)]) -> bool {
        let hooks = self.language.hooks;
        match role {
            Role::Definition(kind) => self.define(kind, node, captures),
            Role::Variable => self.define_variables(node, captures),
            Role::Wrapper { signature } => self.wrap(node, signature, captures),
            Role::PendingDecorator => self.pending_decorators.push(node),
            Role::Import(None) if hooks.import(self, node) => {
                self.claim_call(node);
                return true;
            }
            Role::Package => all(captures, Capture::Name).for_each(|name| self.declare_package(name)),
            Role::Import(Some(kind)) => self.import(kind, node, captures),
            Role::Binding(kind) => self.binding(kind, node, captures),
            Role::Hook => hooks.hook(self, node),
            Role::Operator => self.operator(node, captures),
            Role::Enter => self.enter(captures),
            Role::Expression(Shape::Operator) => {
                let call = self.expression(node);
                self.refer_operator(node, call);
            }
            Role::TypeName if !self.is_claimed(node, READ_CLAIMED) => {
                self.annotation(node);
            }
            _ => {}
        }
        for read in all(captures, Capture::Read) {
            self.read(read);
        }
        for owner in all(captures, Capture::OwnerRead) {
            let expr = self.expression(owner);
            let is_member = match *self.builder.get(expr) {
                Expr::Attribute { .. } => true,
                // A member of the object around, without `this`.
                Expr::Name(name) => self.language.settings.link.implicit_this && !self.is_local(name),
                _ => false,
            };
            if is_member {
                self.refer(ReferenceKind::Owner, expr, self.tree.line(owner));
            }
        }
        for raised in all(captures, Capture::RaiseRead) {
            let expr = self.expression(raised);
            let is_named = matches!(self.builder.get(expr), Expr::Name(_) | Expr::Attribute { .. });
            if is_named && !self.is_claimed(raised, READ_CLAIMED) {
                self.claim_read(raised);
                self.refer(ReferenceKind::Raise, expr, self.tree.line(raised));
            }
        }
        for node in all(captures, Capture::NoRead) {
            self.claim_read(node);
        }
        for node in all(captures, Capture::TypeReference) {
            self.annotation(node);
        }
        false
    }

    fn record_call(&mut self, node: NodeId) {
        let expr = self.expression(node);
        // A cast may have the syntax of a call.
        if matches!(self.builder.get(expr), Expr::Call { .. }) && !self.is_call_claimed(node) {
            self.refer(ReferenceKind::Call, expr, self.tree.line(node));
        }
    }

    /// Records that a value is read, once, if it is a name or attribute (or a choice of such) and no other role claims
    /// it.
    pub fn read(&mut self, node: NodeId) {
        if self.is_claimed(node, READ_CLAIMED) {
            return;
        }
        let expr = self.expression(node);
        if self.language.rules(self.tree.node(node).kind).records_index {
            self.read_element(node);
        }
        self.claim_read(node);
        self.read_expression(expr, self.tree.line(node));
    }

    fn read_expression(&mut self, expr: ExprId, line: u32) {
        match self.builder.get(expr) {
            Expr::Name(_) | Expr::Attribute { .. } => self.refer(ReferenceKind::Read, expr, line),
            Expr::OneOf(options) | Expr::TypeUnion(options) => {
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
        let is_shebang = place.start == 0 && bytes.starts_with(b"#!");
        if !is_doc || !alone || is_shebang {
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
