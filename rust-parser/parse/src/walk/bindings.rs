//! Records the bindings and imports that patterns describe.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::query::matching::{all, first};
use crate::query::vocabulary::{Capture, Role, TargetShape};
use crate::walk::definitions::holds_members;
use crate::walk::dotted;
use crate::walk::drafts::BindingDraft;
use crate::walk::state::{MAX_DEPTH, Walk};
use atlas_facts::{
    Arg, Binding, BindingKind, Expr, ExprId, Import, ImportKind, LiteralType, Name, PART, ReferenceKind, SLICE, flags,
};

/// Most imports of one file that are recorded.
const MOST_IMPORTS: usize = 20_000;

impl Walk<'_> {
    /// Records a match of `@binding.<kind>`. The value is `@value`, or one element of `@inner` (`yield from`).
    pub fn binding(&mut self, kind: BindingKind, node: NodeId, captures: &[(Capture, NodeId)]) {
        let value = match first(captures, Capture::Inner) {
            Some(source) => {
                let base = self.expression(source);
                Some(self.element_of(base))
            }
            None if kind == BindingKind::Assign => first(captures, Capture::Value).map(|value| self.bound_value(value)),
            None => first(captures, Capture::Value).map(|value| self.expression(value)),
        };
        let annotation = first(captures, Capture::Annotation).map(|node| self.annotation(node));
        let draft = BindingDraft { kind, value, annotation, line: self.tree.line(node) };
        if kind == BindingKind::Yield {
            let scope = self.scope() as usize;
            self.builder.facts.definitions[scope].flags |= flags::GENERATOR;
        }
        self.bind_all(draft, captures);
    }

    /// Returns the expression of a value that a name is bound to. A short text or number keeps its letters where a name may
    /// select an element of a table.
    pub fn bound_value(&mut self, value: NodeId) -> ExprId {
        let expr = self.expression(value);
        let settings = &self.language.settings.link;
        if !settings.stored_members && !settings.prototypes {
            return expr;
        }
        match self.builder.get(expr) {
            Expr::Literal(LiteralType::Str | LiteralType::Int) => match self.literal_key(value) {
                0 => expr,
                key => self.builder.expr(Expr::Key(key)),
            },
            _ => expr,
        }
    }

    /// Binds each captured target. A return or yield needs none.
    pub fn bind_all(&mut self, draft: BindingDraft, captures: &[(Capture, NodeId)]) {
        match draft.kind {
            BindingKind::Return | BindingKind::Yield => self.push_binding(UNKNOWN, draft),
            _ => {
                for target in all(captures, Capture::Target) {
                    self.bind(target, draft);
                }
            }
        }
    }

    /// Binds a target, which may be a pattern that unpacks the value.
    pub fn bind(&mut self, target: NodeId, draft: BindingDraft) {
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            return;
        }
        self.depth += 1;
        self.claim_read(target);
        let language = self.language;
        let rules = language.rules(self.tree.node(target).kind);
        match self.first_match(&rules.target, target) {
            Some((Role::Target(TargetShape::Unpack), captures)) => {
                let value = self.unpacked(draft);
                let items: Vec<NodeId> = all(&captures, Capture::Item).collect();
                self.recycle(captures);
                self.unpack(target, &items, BindingDraft { value, ..draft });
            }
            Some((Role::Target(TargetShape::Same), captures)) => {
                if let Some(inner) = first(&captures, Capture::Inner) {
                    self.bind(inner, draft);
                }
                self.recycle(captures);
            }
            Some((_, captures)) => {
                language.hooks.target(self, target, draft);
                self.recycle(captures);
            }
            None => {
                let expr = self.expression(target);
                if matches!(self.builder.get(expr), Expr::Name(_) | Expr::Attribute { .. } | Expr::Index { .. }) {
                    self.push_binding(expr, draft);
                }
            }
        }
        self.depth -= 1;
    }

    /// Binds the items of a pattern. An empty place (`[, b]`) counts; one that takes the rest has the elements from its
    /// position on, and those after it count from the end.
    fn unpack(&mut self, target: NodeId, items: &[NodeId], draft: BindingDraft) {
        let commas: Vec<NodeId> = self.tree.children(target).filter(|&child| self.bytes_of(child) == b",").collect();
        let mut after_rest = false;
        for (at, &item) in items.iter().enumerate() {
            let before = commas.iter().filter(|&&comma| comma < item).count();
            let position = (if commas.is_empty() { at } else { before }).min(u16::MAX.into()) as u16;
            let item_key = self.language.hooks.item_key(self, item);
            let (kind, value) = match draft.value {
                Some(base) if let Some(key) = item_key => {
                    let index = self.selector(key);
                    (BindingKind::Assign, Some(self.builder.expr(Expr::Index { base, index })))
                }
                Some(value) if after_rest => {
                    let key = self.builder.owned_name(format!("-{}", items.len() - at));
                    let index = self.builder.expr(Expr::Key(key));
                    (BindingKind::Assign, Some(self.builder.expr(Expr::Index { base: value, index })))
                }
                Some(value) if is_rest(self.kind_name(item)) => {
                    after_rest = true;
                    (BindingKind::Assign, Some(self.slice_of(value, position.to_string())))
                }
                value => (BindingKind::Unpack(position), value),
            };
            self.bind(item, BindingDraft { kind, value, annotation: None, line: draft.line });
        }
    }

    /// Returns the elements of a value from a position on; an empty position is unknown.
    pub fn slice_of(&mut self, base: ExprId, from: String) -> ExprId {
        let name = self.builder.name(SLICE);
        let callee = self.builder.attribute(base, name);
        let mut args = Vec::new();
        if !from.is_empty() {
            let key = self.builder.owned_name(from);
            args.push(Arg { keyword: None, value: self.builder.expr(Expr::Key(key)) });
        }
        self.builder.expr(Expr::Call { callee, args, new: false })
    }

    /// Returns the value to unpack: the value itself, one element of it for loops, or a position of it for nested
    /// patterns.
    pub fn unpacked(&mut self, draft: BindingDraft) -> Option<ExprId> {
        let value = draft.value?;
        Some(match draft.kind {
            BindingKind::Iterate => self.element_of(value),
            BindingKind::Unpack(position) => self.part_of(value, position),
            _ => value,
        })
    }

    /// Returns a position of a tuple.
    fn part_of(&mut self, base: ExprId, position: u16) -> ExprId {
        if let Expr::Elements { items, keys, .. } = self.builder.get(base)
            && keys.is_empty()
            && let Some(&item) = items.get(position as usize)
        {
            return item;
        }
        let name = self.builder.name(PART);
        let callee = self.builder.attribute(base, name);
        let key = self.builder.owned_name(position.to_string());
        let args = vec![Arg { keyword: None, value: self.builder.expr(Expr::Key(key)) }];
        self.builder.expr(Expr::Call { callee, args, new: false })
    }

    fn element_of(&mut self, base: ExprId) -> ExprId {
        let index = self.builder.literal(LiteralType::Int);
        self.builder.expr(Expr::Index { base, index })
    }

    /// Binds `name = value` in languages that declare variables: without a declaration, the name is a member of the
    /// enclosing class.
    pub fn bind_variable_or_member(&mut self, node: NodeId, draft: BindingDraft) {
        let name = self.name_of(node);
        let in_class = self.scopes.iter().any(|scope| holds_members(self.kind_of(scope.definition)));
        let target = if in_class && !self.is_local(name) {
            let this = self.builder.this(false);
            self.builder.attribute(this, name)
        } else {
            self.expression(node)
        };
        self.push_binding(target, draft);
    }

    /// Records a binding in the current scope.
    pub fn push_binding(&mut self, target: ExprId, draft: BindingDraft) {
        if let Expr::Name(name) = *self.builder.get(target) {
            self.note_local(name);
        }
        let scope = self.scope();
        let is_new = matches!(draft.kind, BindingKind::Assign | BindingKind::Unpack(_)) && draft.value.is_some();
        let replaces = if is_new { self.lines_after_assignment(self.visited, target) } else { (0, 0) };
        self.builder.facts.bindings.push(Binding {
            scope,
            kind: draft.kind,
            target,
            annotation: draft.annotation,
            value: draft.value,
            line: draft.line,
            replaces,
        });
    }

    /// Binds a name (part of a parameter, a type parameter) to an unknown value, so that it hides outer names.
    pub fn bind_name(&mut self, name: Name, annotation: Option<ExprId>, line: u32) {
        let target = self.builder.name_expr(name);
        self.push_binding(target, BindingDraft { kind: BindingKind::Assign, value: None, annotation, line });
    }

    /// Returns the type of what has several types at once; `None` for no types.
    pub fn all_of(&mut self, types: Vec<ExprId>) -> Option<ExprId> {
        match types[..] {
            [] => None,
            [only] => Some(only),
            _ => Some(self.union(types)),
        }
    }

    /// Returns the expression of a type and records a `Type` reference for each name in it.
    pub fn annotation(&mut self, node: NodeId) -> ExprId {
        let expr = self.type_expression(node);
        self.refer_types(expr, self.tree.line(node));
        expr
    }

    /// Records a `Type` reference for each name in a type expression.
    pub fn refer_types(&mut self, expr: ExprId, line: u32) {
        match self.builder.get(expr).clone() {
            // `Vec<_>`
            Expr::Name(name) if self.builder.text(name) == "_" => {}
            Expr::Name(_) | Expr::Attribute { .. } => self.refer(ReferenceKind::Type, expr, line),
            Expr::Generic { base, args } => {
                let is_mark = match *self.builder.get(base) {
                    Expr::Name(name) => matches!(self.builder.text(name), "typeof" | "is" | "asserts"),
                    _ => false,
                };
                let by_arity = self.language.settings.link.classes_by_arity;
                match *self.builder.get(base) {
                    _ if is_mark || self.builder.is_container(base) => {}
                    Expr::Name(_) | Expr::Attribute { .. } if by_arity => self.refer(ReferenceKind::Type, expr, line),
                    _ => self.refer_types(base, line),
                }
                for arg in args {
                    self.refer_types(arg, line);
                }
            }
            Expr::TypeUnion(items) | Expr::Elements { items, .. } => {
                for item in items {
                    self.refer_types(item, line);
                }
            }
            // the type of a function; in other languages it is an argument such as `Annotated[int, Gt(0)]`
            Expr::Call { callee, args, .. } if self.language.settings.link.callables.is_empty() => {
                for part in args.iter().map(|arg| arg.value).chain([callee]) {
                    self.refer_types(part, line);
                }
            }
            _ => {}
        }
    }

    /// Records an import whose parts a pattern captured.
    pub fn import(&mut self, kind: ImportKind, node: NodeId, captures: &[(Capture, NodeId)]) {
        let module = match first(captures, Capture::Module) {
            Some(node) => {
                let text = self.text_of(node);
                let bare = text.trim_matches(|c| matches!(c, '"' | '\'' | '`' | '<' | '>'));
                self.builder.owned_name(bare.to_owned())
            }
            None => 0,
        };
        let member = first(captures, Capture::Member).map(|node| self.name_of(node));
        let alias = first(captures, Capture::Alias).map(|node| self.name_of(node));
        self.push_import(Import {
            scope: 0,
            module,
            level: 0,
            member,
            alias: alias.or(match kind {
                ImportKind::Member => member,
                _ => None,
            }),
            kind,
            line: self.tree.line(node),
            type_only: false,
        });
    }

    /// Declares the package of the file. A second clause names a package below the first.
    pub fn declare_package(&mut self, name: NodeId) {
        let name = dotted::compact(self, name);
        let module = &mut self.builder.facts.module;
        if !module.is_empty() {
            module.push('.');
        }
        module.push_str(&name);
    }

    /// Records an import in the current scope.
    pub fn push_import(&mut self, import: Import) {
        let scope = self.scope();
        self.push_import_of_file(Import { scope, ..import });
    }

    /// Records an import in the scope that it names (0: the whole file); beyond a limit it is left out and reported once.
    pub fn push_import_of_file(&mut self, import: Import) {
        if self.builder.facts.imports.len() < MOST_IMPORTS {
            self.builder.facts.imports.push(import);
        } else if !std::mem::replace(&mut self.has_left_out_imports, true) {
            let message = format!("more than {MOST_IMPORTS} imports; the rest is left out");
            self.builder.problem(import.line + 1, "too-many-imports", &message);
        }
    }
}

/// Returns whether an item of a pattern takes all remaining elements.
fn is_rest(kind: &str) -> bool {
    matches!(
        kind,
        "rest_pattern" | "list_splat_pattern" | "list_splat" | "splat_pattern" | "rest_assignment" | "splat_argument"
    )
}
