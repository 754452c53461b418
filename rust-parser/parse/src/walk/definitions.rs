//! Records definitions: names, paths, flags, parameters and bases. `signatures` adds signatures and documentation,
//! `enclosing_scopes` the scopes that only appear in names.

use crate::doc_text;
use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::query::matching::{Captures, all, first};
use crate::query::vocabulary::{Capture, Role};
use crate::walk::drafts::{BindingDraft, DefinitionDraft, Layout};
use crate::walk::state::{Scope, Walk};
use crate::walk::wrappers::captured_flags;
use atlas_facts::{BindingKind, DefId, Definition, Expr, ExprId, Kind, Name, Param, ParamKind, flags};
use atlas_languages::{DocStyle, Exported};

/// Largest nesting depth of recorded definitions.
const MAX_SCOPES: usize = 64;
/// Largest number of parameters of a function that hide outer names.
const MAX_HIDING: usize = 256;

/// Returns whether definitions of a kind have members.
pub fn holds_members(kind: Kind) -> bool {
    matches!(kind, Kind::Class | Kind::Interface | Kind::Struct | Kind::Trait | Kind::Enum | Kind::Extension)
}

pub fn is_value(kind: Kind) -> bool {
    matches!(kind, Kind::Field | Kind::Constant)
}

impl Walk<'_> {
    /// Records a match of `@definition.<kind>`.
    pub fn define(&mut self, kind: Kind, node: NodeId, captures: &[(Capture, NodeId)]) {
        let known = match self.definition_of.get_mut(&node) {
            Some((_, true)) => return,
            Some((definition, opened)) => {
                *opened = true;
                Some(*definition)
            }
            None => None,
        };
        if self.scopes.len() >= MAX_SCOPES {
            self.too_deep = true;
            return;
        }
        let extended: Vec<NodeId> = all(captures, Capture::Extends).collect();
        if !extended.is_empty() {
            self.open_extension(node, &extended, first(captures, Capture::Body));
        }
        let Some(draft) = self.draft(kind, node, captures) else {
            return;
        };
        let definition = known.or_else(|| self.reopened(&draft)).unwrap_or_else(|| self.record(&draft));
        for scope in all(captures, Capture::Scope).chain([node]) {
            self.definition_of.insert(scope, (definition, true));
        }
        if is_value(draft.kind) {
            self.open_value(definition, &draft);
        } else {
            self.open(definition, &draft);
        }
    }

    pub(crate) fn draft(
        &mut self,
        kind: Kind,
        node: NodeId,
        captures: &[(Capture, NodeId)],
    ) -> Option<DefinitionDraft> {
        let wrapper = self.wrappers.get(&node).cloned().unwrap_or_default();
        let outer = wrapper.outer.unwrap_or(node);
        let (flags, private) = captured_flags(captures);
        let mut decorators = wrapper.decorators.clone();
        let siblings = self.tree.node(outer).parent;
        let mut pending = std::mem::take(&mut self.pending_decorators);
        pending.retain(|&decorator| self.tree.node(decorator).parent == siblings);
        decorators.extend(pending);
        decorators.extend(all(captures, Capture::Decorator));
        let name_node = wrapper.name.or_else(|| first(captures, Capture::Name)).map(|name| self.named(name));
        if let Some(name) = name_node {
            self.claim_read(name);
        }
        let parent = self.scope();
        let in_class = holds_members(self.kind_of(parent));
        let bases: Vec<NodeId> = all(captures, Capture::Base).collect();
        let name = match (kind, bases.first()) {
            (Kind::Extension, Some(&extended)) => self.extended_name(extended),
            _ => name_node.map_or_else(String::new, |name| self.text_of(name).into_owned()),
        };
        let constructors = &self.language.settings.definitions.constructors;
        let kind = match kind {
            Kind::Lambda if wrapper.name.is_some() && in_class => Kind::Method,
            Kind::Lambda if wrapper.name.is_some() => Kind::Function,
            Kind::Function | Kind::Method if in_class && constructors.contains(&name) => Kind::Constructor,
            Kind::Function if in_class => Kind::Method,
            other => other,
        };
        let body = first(captures, Capture::Body)
            .or_else(|| is_value(kind).then(|| first(captures, Capture::Value)).flatten());
        let mut draft = DefinitionDraft {
            node,
            kind,
            name,
            name_node,
            parent,
            flags: flags | wrapper.flags,
            private: private || wrapper.private,
            body,
            parameters: first(captures, Capture::Parameters),
            receiver: first(captures, Capture::Receiver),
            decorators,
            bases,
            declared: first(captures, Capture::Returns).or_else(|| first(captures, Capture::Annotation)),
            wrapper,
        };
        self.language.hooks.define(self, &mut draft).then_some(draft)
    }

    /// Adds the definition with everything that does not depend on its scope.
    pub(crate) fn record(&mut self, draft: &DefinitionDraft) -> DefId {
        let definition = self.builder.facts.definitions.len() as DefId;
        let decorators = draft.decorators.iter().map(|&node| self.decorator(node)).collect();
        let (name, path) = self.unique_path(draft);
        let outer = draft.wrapper.outer.unwrap_or(draft.node);
        let mut first_node = outer;
        for &decorator in &draft.decorators {
            first_node = first_node.min(decorator);
        }
        let end = self.tree.node(outer).end;
        let head = self.tree.node(first_node).start;
        let (start, start_line, comment) = self.with_comment(outer, first_node);
        let docstring_node = match self.language.settings.docs.style {
            DocStyle::FirstString if !is_value(draft.kind) => self.language.hooks.documentation(self, draft),
            _ => None,
        };
        let docs = match docstring_node {
            Some(node) => doc_text::clean_string(&self.text_of(node)),
            None => comment.map_or_else(String::new, |text| doc_text::clean_comment(&text)),
        };
        let signature = self.signature(draft);
        let record = Definition {
            kind: draft.kind,
            name,
            path,
            parent: draft.parent,
            flags: draft.flags | self.exported(draft),
            start_byte: start,
            end_byte: end,
            start_line,
            end_line: self.line_of_end(outer),
            // The name of a table stands before the members that an extension spans.
            name_line: self.tree.line(draft.name_node.unwrap_or(draft.node)).max(start_line),
            signature: self.builder.long_text(signature),
            docstring: self.builder.long_text(doc_text::limited(&docs)),
            signature_digest: 0,
            body_digest: 0,
            docstring_digest: doc_text::text_digest(&docs),
            text_digest: 0,
            decorators,
            bases: Vec::new(),
            params: Vec::new(),
            declared_type: None,
        };
        if self.reopens(draft.kind) {
            self.reopenable.insert((draft.parent, name, draft.kind), definition);
        }
        self.builder.facts.definitions.push(record);
        self.layouts.push(Layout {
            head,
            body: draft.body.map_or(end, |body| self.tree.node(body).start),
            end,
            docstring: docstring_node,
        });
        definition
    }

    /// Returns the expression of a decorator, without its `@`.
    fn decorator(&mut self, node: NodeId) -> u32 {
        let content = self.contents(node).next();
        match self.expression(node) {
            UNKNOWN => content.map_or(UNKNOWN, |child| self.expression(child)),
            expr => expr,
        }
    }

    fn exported(&self, draft: &DefinitionDraft) -> u32 {
        let parent = &self.builder.facts.definitions[draft.parent as usize];
        let visible = match self.language.settings.definitions.exported {
            _ if draft.kind == Kind::Lambda || draft.private => false,
            Exported::Always => true,
            Exported::Underscore => {
                !draft.name.starts_with('_') || (draft.name.starts_with("__") && draft.name.ends_with("__"))
            }
            Exported::Capitalised => draft.name.chars().next().is_some_and(char::is_uppercase),
            Exported::Explicit => holds_members(parent.kind) && parent.flags & flags::EXPORTED != 0,
        };
        if visible { flags::EXPORTED } else { 0 }
    }

    pub(crate) fn open_value(&mut self, definition: DefId, draft: &DefinitionDraft) {
        if let Some(declared) = draft.declared {
            // The binding of a value records the reference to its annotation.
            let expr = match draft.kind {
                Kind::TypeAlias => self.annotation(declared),
                _ => self.type_expression(declared),
            };
            let expr = self.language.hooks.value_type(self, draft, expr);
            self.builder.facts.definitions[definition as usize].declared_type = Some(expr);
        }
    }

    /// Opens the scope and records the content of the definition's head.
    pub(crate) fn open(&mut self, definition: DefId, draft: &DefinitionDraft) {
        let class = self.language.hooks.receiver(self, draft);
        self.scopes.push(Scope {
            definition,
            end: self.tree.node(draft.node).next,
            receiver: None,
            parameters: Vec::new(),
        });
        let bases: Vec<ExprId> = draft.bases.iter().map(|&base| self.base(base, draft)).collect();
        let declared_type = draft.declared.map(|node| self.annotation(node));
        let record = &mut self.builder.facts.definitions[definition as usize];
        if draft.kind == Kind::Extension {
            record.bases.clear();
        }
        record.bases.extend(bases);
        record.declared_type = declared_type;
        let mut params = Vec::new();
        if let Some(list) = draft.receiver {
            params = self.parameters(list, Some(false));
        }
        if let Some(list) = draft.parameters {
            params.extend(self.parameters(list, class));
        }
        if !params.is_empty() {
            self.builder.facts.definitions[definition as usize].params = params;
        }
    }

    fn base(&mut self, node: NodeId, draft: &DefinitionDraft) -> u32 {
        let expr = self.type_expression(node);
        // Type arguments of a receiver are names that it binds.
        let binds = draft.kind == Kind::Extension && draft.name_node == Some(node);
        let line = self.tree.line(node);
        match self.builder.get(expr) {
            // The parts of an intersection, and the call signatures of an interface.
            _ if draft.kind == Kind::TypeAlias => self.refer_types(expr, line),
            Expr::Call { .. } if draft.kind == Kind::Interface => self.refer_types(expr, line),
            Expr::Generic { args, .. } if !binds => {
                for arg in args.clone() {
                    self.refer_types(arg, line);
                }
            }
            _ => {}
        }
        expr
    }

    fn parameters(&mut self, list: NodeId, receiver: Option<bool>) -> Vec<Param> {
        let language = self.language;
        let mut params = Vec::new();
        // A single parameter without parentheses (`x => x`) is its own list.
        let alone = self.tree.is_leaf(list) && language.is_content(self.tree.node(list).kind);
        let nodes: Vec<NodeId> = if alone { vec![list] } else { self.tree.children(list).collect() };
        for node in nodes {
            let rules = language.rules(self.tree.node(node).kind);
            let Some((Role::Parameter(kind), captures)) = self.first_match(&rules.parameter, node) else {
                continue;
            };
            let is_first = params.is_empty();
            let position = params.len();
            params.extend(self.parameter(kind, node, &captures, receiver.filter(|_| is_first), position));
            self.recycle(captures);
        }
        params
    }

    /// Returns the parameters of one node: several if names share a type.
    fn parameter(
        &mut self,
        kind: ParamKind,
        node: NodeId,
        captures: &Captures,
        receiver: Option<bool>,
        position: usize,
    ) -> Vec<Param> {
        let target = first(captures, Capture::Target);
        let annotation = first(captures, Capture::Annotation).map(|node| match receiver {
            Some(_) => self.type_expression(node),
            None => self.annotation(node),
        });
        // A default that is a name may look like one of the names.
        let default = first(captures, Capture::Default);
        let mut names: Vec<NodeId> = all(captures, Capture::Name).filter(|&name| Some(name) != default).collect();
        if names.is_empty() && target.is_none() && annotation.is_none() && self.tree.is_leaf(node) {
            names.push(node);
        }
        // Without name, target and type, the node itself is a destructuring pattern.
        let target = target.or((names.is_empty() && annotation.is_none()).then_some(node));
        let default = default.map(|node| self.default_value(node));
        // A parameter that is a pattern has a name that only the values of its parts refer to.
        let hidden = match self.language.settings.link.prototypes && target.is_some() {
            true => self.builder.owned_name(format!("#{position}")),
            false => 0,
        };
        if let Some(target) = target {
            let value = (hidden != 0).then(|| self.builder.name_expr(hidden));
            let kind = BindingKind::Assign;
            self.bind(target, BindingDraft { kind, value, annotation: None, line: self.tree.line(node) });
        }
        let kind = match receiver {
            Some(_) if kind == ParamKind::Normal => ParamKind::Receiver,
            _ => kind,
        };
        let mut params = Vec::new();
        let mut names: Vec<Name> = names.into_iter().map(|name| self.name_of(self.named(name))).collect();
        if names.is_empty() {
            names.push(hidden);
        }
        for name in names {
            self.note_local(name);
            if let Some(scope) = self.scopes.last_mut() {
                match receiver {
                    Some(class) if kind == ParamKind::Receiver => scope.receiver = Some((name, class)),
                    _ if kind == ParamKind::Receiver => scope.receiver = Some((name, false)),
                    _ if scope.parameters.len() < MAX_HIDING => scope.parameters.push(name),
                    _ => {}
                }
            }
            params.push(Param { name, annotation, default, kind });
        }
        params
    }

    /// Marks an anonymous function, passed as an argument, as a test.
    pub fn mark_test(&mut self, expr: u32) {
        if let Expr::Lambda(definition) = *self.builder.get(expr) {
            self.builder.facts.definitions[definition as usize].flags |= flags::TEST;
        }
    }
}
