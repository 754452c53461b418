//! Builds a `FileFacts`: interns strings and shares equal expressions.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use atlas_facts::{Expr, ExprId, FileFacts, LiteralType, Name, Problem};

/// The unknown expression, which is always present.
pub const UNKNOWN: ExprId = 0;
/// Longest name in bytes.
const MAX_NAME_BYTES: usize = 1000;

/// A builder for [`FileFacts`].
pub struct FactsBuilder<'a> {
    pub facts: FileFacts,
    names: FxHashMap<Cow<'a, str>, Name>,
    name_exprs: FxHashMap<Name, ExprId>,
    scope_exprs: FxHashMap<Name, ExprId>,
    attribute_exprs: FxHashMap<(ExprId, Name), ExprId>,
    literal_exprs: [Option<ExprId>; 11],
    /// `this`, the class of `this`, `super`, the containers `list` and `dict`.
    fixed_exprs: [Option<ExprId>; 5],
}

impl<'a> FactsBuilder<'a> {
    pub fn new(facts: FileFacts) -> Self {
        let mut collector = FactsBuilder {
            facts,
            names: FxHashMap::default(),
            name_exprs: FxHashMap::default(),
            scope_exprs: FxHashMap::default(),
            attribute_exprs: FxHashMap::default(),
            literal_exprs: [None; 11],
            fixed_exprs: [None; 5],
        };
        collector.facts.exprs.push(Expr::Unknown);
        collector.name("");
        collector
    }

    /// Interns text that lives as long as the source, cut at the longest name.
    pub fn name(&mut self, text: &'a str) -> Name {
        if text.len() > MAX_NAME_BYTES {
            return self.owned_name(shorten(text, MAX_NAME_BYTES).to_owned());
        }
        if let Some(&name) = self.names.get(text) {
            return name;
        }
        self.insert(Cow::Borrowed(text))
    }

    /// Interns owned text without cutting it.
    pub fn owned_name(&mut self, text: String) -> Name {
        if let Some(&name) = self.names.get(text.as_str()) {
            return name;
        }
        self.insert(Cow::Owned(text))
    }

    /// Stores text that is unlikely to repeat (docstrings, signatures) without interning it.
    pub fn long_text(&mut self, text: String) -> Name {
        if text.is_empty() {
            return 0;
        }
        let name = self.facts.strings.len() as Name;
        self.facts.strings.push(&text);
        name
    }

    fn insert(&mut self, text: Cow<'a, str>) -> Name {
        let name = self.facts.strings.len() as Name;
        self.facts.strings.push(&text);
        self.names.insert(text, name);
        name
    }

    pub fn text(&self, name: Name) -> &str {
        &self.facts.strings[name as usize]
    }

    /// Adds an expression without sharing it.
    pub fn expr(&mut self, expr: Expr) -> ExprId {
        let id = self.facts.exprs.len() as ExprId;
        self.facts.exprs.push(expr);
        id
    }

    pub fn get(&self, id: ExprId) -> &Expr {
        &self.facts.exprs[id as usize]
    }

    pub fn name_expr(&mut self, name: Name) -> ExprId {
        if let Some(&id) = self.name_exprs.get(&name) {
            return id;
        }
        let id = self.expr(Expr::Name(name));
        self.name_exprs.insert(name, id);
        id
    }

    /// Returns the expression of the first segment of `a::b`.
    pub fn scope_expr(&mut self, name: Name) -> ExprId {
        if let Some(&id) = self.scope_exprs.get(&name) {
            return id;
        }
        let id = self.expr(Expr::Scope(name));
        self.scope_exprs.insert(name, id);
        id
    }

    pub fn attribute(&mut self, base: ExprId, name: Name) -> ExprId {
        if let Some(&id) = self.attribute_exprs.get(&(base, name)) {
            return id;
        }
        let id = self.expr(Expr::Attribute { base, name });
        self.attribute_exprs.insert((base, name), id);
        id
    }

    /// Returns the dotted text of an expression of names only.
    pub fn path_text(&self, expr: ExprId) -> Option<String> {
        match *self.get(expr) {
            Expr::Name(name) => Some(self.text(name).to_owned()),
            Expr::Attribute { base, name } => Some(format!("{}.{}", self.path_text(base)?, self.text(name))),
            _ => None,
        }
    }

    pub fn literal(&mut self, kind: LiteralType) -> ExprId {
        if let Some(id) = self.literal_exprs[kind as usize] {
            return id;
        }
        let id = self.expr(Expr::Literal(kind));
        self.literal_exprs[kind as usize] = Some(id);
        id
    }

    pub fn this(&mut self, class: bool) -> ExprId {
        self.fixed(usize::from(class), Expr::This { class })
    }

    pub fn super_expr(&mut self) -> ExprId {
        self.fixed(2, Expr::Super)
    }

    /// Returns the base type of a list (or map) that the language writes without a name.
    pub fn container(&mut self, is_map: bool) -> ExprId {
        let name = self.owned_name(if is_map { "dict" } else { "list" }.to_owned());
        self.fixed(3 + usize::from(is_map), Expr::Name(name))
    }

    /// Returns whether an expression is the base of a built-in list or map type.
    pub fn is_container(&self, expr: ExprId) -> bool {
        self.fixed_exprs[3..].contains(&Some(expr))
    }

    fn fixed(&mut self, place: usize, expr: Expr) -> ExprId {
        if let Some(id) = self.fixed_exprs[place] {
            return id;
        }
        let id = self.expr(expr);
        self.fixed_exprs[place] = Some(id);
        id
    }

    /// Converts a dotted name to a name and attributes.
    pub fn dotted(&mut self, text: &str) -> ExprId {
        let mut result = None;
        for part in text.split('.') {
            let name = self.owned_name(part.trim().to_owned());
            result = Some(match result {
                None => self.name_expr(name),
                Some(base) => self.attribute(base, name),
            });
        }
        result.unwrap_or(UNKNOWN)
    }

    /// Records a problem at a 1-based line.
    pub fn problem(&mut self, line: u32, code: &str, message: &str) {
        self.facts.problems.push(Problem { line, code: code.to_owned(), message: message.to_owned() });
    }
}

/// Returns the longest prefix of at most `limit` bytes that ends at a character boundary.
pub fn shorten(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
