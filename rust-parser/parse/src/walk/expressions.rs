//! Builds expressions and types from nodes, by the language's patterns.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::query::matching::{Captures, all, first};
use crate::query::vocabulary::{Capture, Role, Shape};
use crate::walk::state::{MAX_DEPTH, NOT_MADE, READ_CLAIMED, Walk};
use atlas_facts::{Arg, Expr, ExprId, KEY_MARK, Kind, LiteralType, Name};

/// Largest number of arguments of a call, elements of a display or options of a choice.
const MAX_PARTS: usize = 256;
/// Longest literal key that is kept.
const MAX_KEY_BYTES: usize = 60;

impl Walk<'_> {
    /// Returns the expression of a node, which is built once.
    pub fn expression(&mut self, node: NodeId) -> ExprId {
        let known = self.expressions[node as usize];
        if known != NOT_MADE {
            return known;
        }
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            return UNKNOWN;
        }
        self.depth += 1;
        let expr = self.make(node, false);
        self.depth -= 1;
        self.expressions[node as usize] = expr;
        expr
    }

    /// Returns the expression of a node in a type position.
    pub fn type_expression(&mut self, node: NodeId) -> ExprId {
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            return UNKNOWN;
        }
        self.depth += 1;
        self.claim_type(node);
        let expr = self.make(node, true);
        self.depth -= 1;
        expr
    }

    fn part(&mut self, node: NodeId, in_type: bool) -> ExprId {
        if in_type { self.type_expression(node) } else { self.expression(node) }
    }

    fn make(&mut self, node: NodeId, in_type: bool) -> ExprId {
        let language = self.language;
        let rules = language.rules(self.tree.node(node).kind);
        let found = if in_type && !rules.types.is_empty() {
            self.first_match(&rules.types, node).or_else(|| self.first_match(&rules.expression, node))
        } else {
            self.first_match(&rules.expression, node)
        };
        let Some((role, captures)) = found else {
            return UNKNOWN;
        };
        let expr = match role {
            Role::Expression(shape) => self.shape(shape, node, &captures, in_type),
            Role::Type(shape) => self.shape(shape, node, &captures, true),
            Role::Definition(_) => {
                let definition = self.lambda(node, &captures);
                definition.map_or(UNKNOWN, |id| self.builder.expr(Expr::Lambda(id)))
            }
            _ => UNKNOWN,
        };
        self.recycle(captures);
        expr
    }

    fn shape(&mut self, shape: Shape, node: NodeId, captures: &Captures, in_type: bool) -> ExprId {
        if matches!(shape, Shape::Attribute | Shape::Call { .. } | Shape::Super)
            && let Some(expr) = self.language.hooks.expression(self, node)
        {
            return expr;
        }
        match shape {
            Shape::Name => self.name_shape(node, in_type),
            Shape::This { class } => self.builder.this(class),
            Shape::Super => self.builder.super_expr(),
            Shape::Attribute => self.attribute_shape(captures, in_type),
            Shape::Call { new } => self.call_shape(captures, new),
            Shape::Operator => self.operator_call(captures),
            Shape::Index => {
                let base = self.captured(captures, Capture::Base, false);
                let several: Vec<NodeId> = all(captures, Capture::Index).take(MAX_PARTS).collect();
                if several.len() > 1 {
                    let items = several.into_iter().map(|node| self.part(node, false)).collect();
                    let index = Expr::Elements { kind: LiteralType::Tuple, items, keys: Vec::new() };
                    let index = self.builder.expr(index);
                    return self.builder.expr(Expr::Index { base, index });
                }
                let index = first(captures, Capture::Index).map_or(UNKNOWN, |node| self.selector(node));
                self.builder.expr(Expr::Index { base, index })
            }
            Shape::Slice => {
                let base = self.captured(captures, Capture::Base, false);
                let from = first(captures, Capture::Index).map(|node| self.text_of(node).into_owned());
                let from = from.unwrap_or_default();
                let from = match from.split_once(':') {
                    Some((from, to)) if !to.contains(':') && from.trim().is_empty() => "0",
                    Some((from, to)) if !to.contains(':') => from.trim(),
                    _ => "",
                };
                let is_number = from.bytes().all(|byte| byte.is_ascii_digit());
                let from = if is_number { from.to_owned() } else { String::new() };
                self.slice_of(base, from)
            }
            Shape::Await => {
                let inner = self.captured(captures, Capture::Inner, false);
                self.builder.expr(Expr::Await(inner))
            }
            Shape::Literal(kind) => self.builder.literal(kind),
            Shape::OneOf => {
                let options = self.parts(captures, Capture::Option, in_type);
                self.builder.expr(Expr::OneOf(options))
            }
            Shape::Elements(kind) => self.display(kind, captures, in_type),
            Shape::Spread => {
                let base = self.captured(captures, Capture::Inner, in_type);
                self.builder.expr(Expr::Index { base, index: UNKNOWN })
            }
            Shape::Generic => {
                let base = self.captured(captures, Capture::Base, true);
                let args = self.parts(captures, Capture::Argument, true);
                if args.is_empty() {
                    return base;
                }
                self.builder.expr(Expr::Generic { base, args })
            }
            Shape::List | Shape::Map => {
                let base = self.builder.container(shape == Shape::Map);
                let args = self.parts(captures, Capture::Argument, true);
                self.builder.expr(Expr::Generic { base, args })
            }
            Shape::Cast => {
                self.claim_call(node);
                self.cast_shape(captures)
            }
            Shape::Union => {
                let options = self.parts(captures, Capture::Option, true);
                self.union(options)
            }
            Shape::Same => {
                if let Some(inner) = first(captures, Capture::Inner) {
                    self.note_same(node, inner);
                }
                self.captured(captures, Capture::Inner, in_type)
            }
            Shape::Text => self.language.hooks.type_text(self, node),
            Shape::Lambda | Shape::Unknown => UNKNOWN,
        }
    }

    fn captured(&mut self, captures: &Captures, wanted: Capture, in_type: bool) -> ExprId {
        first(captures, wanted).map_or(UNKNOWN, |node| self.part(node, in_type))
    }

    fn parts(&mut self, captures: &Captures, wanted: Capture, in_type: bool) -> Vec<ExprId> {
        all(captures, wanted).take(MAX_PARTS).map(|node| self.part(node, in_type)).collect()
    }

    /// Builds a display. `@key` stands for the item before it in the order of the captures; a spread one has none.
    fn display(&mut self, kind: LiteralType, captures: &Captures, in_type: bool) -> ExprId {
        let keyed: Vec<NodeId> = all(captures, Capture::Key).take(MAX_PARTS).collect();
        let mut items = self.parts(captures, Capture::Item, in_type);
        let mut keys: Vec<Name> = match keyed.len() == items.len() {
            true => keyed.into_iter().map(|node| self.display_key(node)).collect(),
            false => Vec::new(),
        };
        let spread: Vec<NodeId> = all(captures, Capture::Inner).take(MAX_PARTS).collect();
        for node in spread {
            let base = self.part(node, in_type);
            items.push(self.builder.expr(Expr::Index { base, index: UNKNOWN }));
            keys.resize(items.len(), 0);
        }
        if items.iter().all(|&item| !self.is_followed(item)) {
            return self.builder.literal(kind);
        }
        if keys.iter().all(|&key| key == 0) {
            keys.clear();
        }
        self.builder.expr(Expr::Elements { kind, items, keys })
    }

    /// Returns the text of a key in a display, which some languages write as a bare name.
    fn display_key(&mut self, node: NodeId) -> Name {
        match self.kind_name(node) {
            "property_identifier" | "shorthand_property_identifier" => self.name_of(node),
            "computed_property_name" => self.contents(node).next().map_or(0, |inner| self.stated_key(inner)),
            _ => self.stated_key(node),
        }
    }

    /// Returns the expression that selects an element: a literal, or any other.
    pub fn selector(&mut self, node: NodeId) -> ExprId {
        match self.literal_key(node) {
            0 => self.part(node, false),
            key => self.builder.expr(Expr::Key(key)),
        }
    }

    /// Returns the text of a key: a literal, or a path of names after [`KEY_MARK`]; 0 for any other expression.
    pub fn stated_key(&mut self, node: NodeId) -> Name {
        let key = self.literal_key(node);
        if key != 0 {
            return key;
        }
        let expr = self.part(node, false);
        match self.builder.path_text(expr) {
            Some(path) => self.builder.owned_name(format!("{KEY_MARK}{path}")),
            None => 0,
        }
    }

    /// Returns the text of a literal string or number that selects an element; 0 for any other expression.
    pub fn literal_key(&mut self, node: NodeId) -> Name {
        let text = self.text_of(node);
        let inner = match text.as_bytes() {
            [first @ (b'"' | b'\'' | b'`'), inner @ .., last] if first == last => inner,
            [b':', inner @ ..] => inner,
            bytes => match bytes.strip_prefix(b"-").unwrap_or(bytes) {
                [] => return 0,
                digits if digits.iter().all(u8::is_ascii_digit) => bytes,
                _ => return 0,
            },
        };
        let is_plain =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b' ' | b'*');
        if inner.is_empty() || inner.len() > MAX_KEY_BYTES || !inner.iter().all(is_plain) {
            return 0;
        }
        let key = String::from_utf8_lossy(inner).into_owned();
        self.builder.owned_name(key)
    }

    /// Builds a union. Nested unions are flattened.
    pub fn union(&mut self, options: Vec<ExprId>) -> ExprId {
        let mut flat = Vec::with_capacity(options.len());
        for option in options {
            match self.builder.get(option) {
                Expr::TypeUnion(items) => flat.extend_from_slice(items),
                _ => flat.push(option),
            }
        }
        flat.truncate(MAX_PARTS);
        self.builder.expr(Expr::TypeUnion(flat))
    }

    /// Returns whether an element of a display is kept: anything but unknown expressions and literals.
    fn is_followed(&self, expr: ExprId) -> bool {
        !matches!(self.builder.get(expr), Expr::Unknown | Expr::Literal(_))
    }

    fn name_shape(&mut self, node: NodeId, in_type: bool) -> ExprId {
        let plain = self.name_of(node);
        let name = if in_type { plain } else { self.local_name(plain, node) };
        if !in_type
            && name == plain
            && let Some(class) = self.receiver(name)
        {
            return self.builder.this(class);
        }
        let class_names = &self.language.settings.definitions.class_names;
        if class_names.iter().any(|class_name| class_name == self.builder.text(name)) {
            return self.builder.this(true);
        }
        self.builder.name_expr(name)
    }

    /// Returns whether a name denotes the object (false) or the class (true) of the enclosing method.
    fn receiver(&self, name: Name) -> Option<bool> {
        for scope in self.scopes.iter().rev() {
            match scope.receiver {
                Some((receiver, class)) if receiver == name => return Some(class),
                _ => {}
            }
            if scope.parameters.contains(&name) {
                return None;
            }
            if !matches!(
                self.kind_of(scope.definition),
                Kind::Function | Kind::Method | Kind::Constructor | Kind::Property | Kind::Lambda
            ) {
                return None;
            }
        }
        None
    }

    /// Builds a value of a type as a call of its constructor.
    fn cast_shape(&mut self, captures: &Captures) -> ExprId {
        let callee = first(captures, Capture::Annotation).map_or(UNKNOWN, |node| self.annotation(node));
        match self.builder.get(callee) {
            Expr::Unknown => self.captured(captures, Capture::Inner, false),
            Expr::Literal(_) => callee,
            _ => self.builder.expr(Expr::Call { callee, args: Vec::new(), new: true }),
        }
    }

    fn attribute_shape(&mut self, captures: &Captures, in_type: bool) -> ExprId {
        let base = match (first(captures, Capture::Base), first(captures, Capture::Scope)) {
            (Some(node), _) => {
                let is_element = self.language.rules(self.tree.node(node).kind).records_index;
                if is_element && !in_type && !self.is_claimed(node, READ_CLAIMED) {
                    self.read_element(node);
                }
                self.claim_read(node);
                self.part(node, in_type)
            }
            (None, Some(node)) => self.scope_shape(node),
            (None, None) => UNKNOWN,
        };
        let name = match first(captures, Capture::Name) {
            Some(node) => {
                self.claim_read(node);
                self.name_of(node)
            }
            None => 0,
        };
        self.builder.attribute(base, name)
    }

    /// Returns the expression of the first segment of `a::b`.
    fn scope_shape(&mut self, node: NodeId) -> ExprId {
        self.claim_read(node);
        let expr = self.expression(node);
        match *self.builder.get(expr) {
            // A path begins with a namespace, module or type.
            Expr::Name(name) => {
                let name = self.plain_name(name);
                self.builder.scope_expr(name)
            }
            _ => expr,
        }
    }

    fn call_shape(&mut self, captures: &Captures, new: bool) -> ExprId {
        let callee = match first(captures, Capture::Callee) {
            Some(node) => {
                self.claim_read(node);
                if new { self.made_type(node) } else { self.expression(node) }
            }
            // The grammar has no separate node for `base.name` in `base.name()`.
            None if first(captures, Capture::Base).is_some() => self.attribute_shape(captures, false),
            None => first(captures, Capture::Name).map_or(UNKNOWN, |node| self.name_shape(node, false)),
        };
        let mut args = self.arguments(first(captures, Capture::Arguments));
        for node in all(captures, Capture::Argument).take(MAX_PARTS) {
            args.push(self.argument(node));
        }
        self.builder.expr(Expr::Call { callee, args, new })
    }

    /// Returns the arguments in a list.
    pub fn arguments(&mut self, list: Option<NodeId>) -> Vec<Arg> {
        let parts: Vec<NodeId> = list.into_iter().flat_map(|list| self.contents(list)).take(MAX_PARTS).collect();
        parts.into_iter().map(|part| self.argument(part)).collect()
    }

    /// Returns the type that a constructor call instantiates and records references to its type arguments.
    pub fn made_type(&mut self, node: NodeId) -> ExprId {
        let callee = self.type_expression(node);
        if let Expr::Generic { args, .. } = self.builder.get(callee) {
            for arg in args.clone() {
                self.refer_types(arg, self.tree.line(node));
            }
        }
        callee
    }

    fn argument(&mut self, node: NodeId) -> Arg {
        let language = self.language;
        let rules = language.rules(self.tree.node(node).kind);
        let Some((role, captures)) = self.first_match(&rules.argument, node) else {
            let value = self.expression(node);
            return Arg { keyword: None, value };
        };
        let keyword = match role {
            Role::SpreadArgument { keywords } => {
                Some(self.builder.owned_name(if keywords { "**" } else { "*" }.to_owned()))
            }
            _ => first(&captures, Capture::Keyword).map(|node| self.name_of(node)),
        };
        let value = self.captured(&captures, Capture::Value, false);
        self.recycle(captures);
        Arg { keyword, value }
    }
}
