//! Positions of the tuples that functions return.

use crate::entity::{Values, merge};
use crate::project::query::Query;
use crate::resolve::types::published;
use atlas_facts::{DefId, Expr, ExprId, LiteralType};

/// Largest number of positions of a returned tuple.
const MAX_PARTS: usize = 4;

impl Query<'_> {
    /// Returns the possible values of each position of a returned tuple.
    pub(super) fn infer_parts(&self, function: DefId) -> Vec<Values> {
        let definition = self.file.def(function);
        if let Some(declared) = definition.declared_type {
            let items = match self.file.expr(declared) {
                Expr::Elements { kind: LiteralType::Tuple | LiteralType::List, items, .. } => items.as_slice(),
                Expr::Generic { base, args } if self.is_tuple(*base) => args,
                _ => &[],
            };
            let part = |&item: &ExprId| published(self.eval_type(item, function, 0), None);
            if !items.is_empty() {
                return items.iter().take(MAX_PARTS).map(part).collect();
            }
        }
        let class = self.class_of(function);
        let mut parts: Vec<Values> = Vec::new();
        for (value, line) in self.returned_values(function) {
            let Expr::Elements { kind: LiteralType::Tuple | LiteralType::List, items, .. } = self.file.expr(value)
            else {
                continue;
            };
            for (position, &item) in items.iter().take(MAX_PARTS).enumerate() {
                if parts.len() <= position {
                    parts.push(Values::new());
                }
                merge(&mut parts[position], self.eval(item, function, line));
            }
        }
        parts.into_iter().map(|values| published(values, class)).collect()
    }

    fn is_tuple(&self, base: ExprId) -> bool {
        match *self.file.expr(base) {
            Expr::Name(name) | Expr::Attribute { name, .. } => self.file.rules.tuples.contains(&self.file.sym(name)),
            _ => false,
        }
    }
}
