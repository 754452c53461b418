//! Positions of the tuples that functions return.

use crate::entity::{Values, merge};
use crate::project::names::{Sym, SymbolId};
use crate::project::query::Query;
use crate::resolve::types::published;
use atlas_facts::{DefId, Expr, ExprId, Kind, LiteralType};

/// Largest number of positions of a returned tuple.
const MAX_PARTS: usize = 4;
/// Largest number of parameters of a class or variant whose types are published.
const MAX_HELD: usize = 8;

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

    /// Returns what objects of a class, or a variant of an enumeration, hold by the position of its parameters.
    pub(super) fn held_parts(&self, def: DefId) -> Vec<(u16, Values)> {
        let definition = self.file.def(def);
        let params = definition.params.iter().map(|param| param.annotation).take(MAX_HELD).collect::<Vec<_>>();
        let types = if params.is_empty() { self.tuple_fields(def) } else { params };
        let held = (1..).zip(types).filter_map(|(part, annotation)| {
            let values = published(self.annotated(annotation?, def), None);
            (!values.is_empty()).then_some((part, values))
        });
        held.collect()
    }

    /// Returns the types of the fields of a class whose objects are tuples: `class Pair(NamedTuple)`.
    fn tuple_fields(&self, class: DefId) -> Vec<Option<ExprId>> {
        let bases = &self.file.rules.tuple_bases;
        let definition = self.file.def(class);
        let is_tuple = |&base: &ExprId| {
            self.eval(base, definition.parent, definition.name_line)
                .into_iter()
                .any(|value| self.dotted_name(value).is_some_and(|name| bases.contains(&*name)))
        };
        if bases.is_empty() || definition.bases.is_empty() || !definition.bases.iter().any(is_tuple) {
            return Vec::new();
        }
        let after = self.file.facts().definitions.iter().enumerate().skip(class as usize + 1);
        let outlines = &self.file.outlines;
        let fields = after.filter(|(def, member)| member.kind == Kind::Field && outlines[*def].parent == class);
        fields.map(|(_, field)| field.declared_type).take(MAX_HELD).collect()
    }

    /// Returns what a variant holds by a name.
    pub(super) fn held_by_name(&self, variant: SymbolId, name: Sym) -> Option<Values> {
        let place = self.index.symbols.get(variant);
        let (file, _) = self.definition(variant);
        let params = file.def(place.def).params.iter().take(MAX_HELD);
        let position = params.map(|param| file.sym(param.name)).position(|own| own == name)?;
        Some(self.returned_as(variant, position as u16 + 1).iter().copied().collect())
    }

    fn is_tuple(&self, base: ExprId) -> bool {
        match *self.file.expr(base) {
            Expr::Name(name) | Expr::Attribute { name, .. } => self.file.rules.tuples.contains(&self.file.sym(name)),
            _ => false,
        }
    }
}
