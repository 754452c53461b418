//! Parses a type in a string, as in Python's forward references: dotted names, `Base[Args]`, `A | B`, `[A, B]` and
//! nested strings. Anything else is unknown, not an error.

use crate::facts_builder::{FactsBuilder, UNKNOWN};
use atlas_facts::{Expr, ExprId, LiteralType};

/// Largest nesting depth.
const MAX_DEPTH: u32 = 32;

/// Returns the expression of a type's text, or `UNKNOWN` if it is not a type.
pub fn parse(builder: &mut FactsBuilder, text: &str) -> ExprId {
    let mut reader = Reader { builder, rest: text, depth: 0 };
    let expr = reader.union();
    reader.skip_blank();
    match (expr, reader.rest) {
        (Some(expr), "") => expr,
        _ => UNKNOWN,
    }
}

struct Reader<'c, 'a, 't> {
    builder: &'c mut FactsBuilder<'a>,
    rest: &'t str,
    depth: u32,
}

impl Reader<'_, '_, '_> {
    fn skip_blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_blank();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn union(&mut self) -> Option<ExprId> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut options = vec![self.single()?];
        while self.take('|') {
            options.push(self.single()?);
        }
        self.depth -= 1;
        match options.as_slice() {
            [one] => Some(*one),
            _ => Some(self.builder.expr(Expr::TypeUnion(options))),
        }
    }

    fn single(&mut self) -> Option<ExprId> {
        self.skip_blank();
        let quote = self.rest.chars().next()?;
        if quote == '"' || quote == '\'' {
            let (inner, rest) = self.rest[1..].split_once(quote)?;
            let inner = inner.to_owned();
            self.rest = rest;
            let expr = parse(self.builder, &inner);
            return Some(expr);
        }
        if self.take('[') {
            let items = self.items()?;
            let kind = LiteralType::List;
            return Some(self.builder.expr(Expr::Elements { kind, items, keys: Vec::new() }));
        }
        if let Some(rest) = self.rest.strip_prefix("...") {
            self.rest = rest;
            return Some(UNKNOWN);
        }
        let base = self.dotted()?;
        if !self.take('[') {
            return Some(base);
        }
        let args = self.items()?;
        Some(self.builder.expr(Expr::Generic { base, args }))
    }

    /// Reads comma-separated types up to `]`.
    fn items(&mut self) -> Option<Vec<ExprId>> {
        let mut items = Vec::new();
        while !self.take(']') {
            items.push(self.union()?);
            self.take(',');
        }
        Some(items)
    }

    fn dotted(&mut self) -> Option<ExprId> {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        let starts_well = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !starts_well || text.ends_with('.') || text.contains("..") {
            return None;
        }
        self.rest = rest;
        if text == "None" {
            return Some(self.builder.literal(LiteralType::None));
        }
        Some(self.builder.dotted(text))
    }
}
