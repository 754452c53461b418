//! Types that variables stand for: `T = TypeVar("T", bound=Base)`, `Items = list[Item]`, `Either = A | B`, and classes with
//! type arguments as values (`Manager[Response]`). Constants publish what they denote.

use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::{Bound, is_class};
use crate::project::file_types::ALIAS;
use crate::project::names::SymbolId;
use crate::project::query::Query;
use crate::resolve::types::published;
use atlas_facts::{Arg, DefId, Expr, ExprId, Kind, LiteralType};

impl Query<'_> {
    /// Returns the instances that a constant denotes as a type, by part.
    pub(super) fn alias_types(&self, def: DefId) -> Vec<(u16, Values)> {
        let outline = self.file.outline(def);
        if outline.kind != Kind::Constant || self.file.rules.type_variables.is_empty() {
            return Vec::new();
        }
        let entries = self.file.entries(outline.parent, outline.name).iter();
        let mut bindings = entries.filter_map(|entry| match entry.bound {
            Bound::Binding(binding) => Some(&self.file.facts().bindings[binding as usize]),
            _ => None,
        });
        let (Some(binding), None) = (bindings.next(), bindings.next()) else { return Vec::new() };
        let Some(value) = binding.value else { return Vec::new() };
        let scope = outline.parent;
        let values = match self.file.expr(value) {
            Expr::Call { callee, args, .. } if self.is_type_variable(*callee, scope, binding.line) => {
                self.bound_of(args, scope)
            }
            Expr::Index { base, index } => self.eval_generic(*base, self.indices(index), scope, 0),
            Expr::TypeUnion(_) => self.eval_type(value, scope, 0),
            _ => Values::new(),
        };
        let values = published(values, None);
        if values.is_empty() { Vec::new() } else { vec![(ALIAS, values)] }
    }

    fn is_type_variable(&self, callee: ExprId, scope: DefId, line: u32) -> bool {
        self.eval(callee, scope, line).iter().any(|value| match value.entity {
            Entity::External(external) => {
                let (package, name) = self.index.externals.name(external);
                let dotted = format!("{}.{}", self.text(package), self.text(name));
                self.file.rules.type_variables.contains(&dotted)
            }
            _ => false,
        })
    }

    /// Returns whether a name in a type is a type variable, or a type parameter of a function.
    pub(super) fn is_type_parameter_name(&self, name: ExprId, function: DefId) -> bool {
        let Expr::Name(own) = *self.file.expr(name) else { return false };
        let is_parameter = |bound: Bound| match bound {
            Bound::Binding(binding) => {
                let binding = &self.file.facts().bindings[binding as usize];
                binding.value.is_none() && binding.target == name
            }
            _ => false,
        };
        let entries = self.file.entries(function, self.file.sym(own));
        if !entries.is_empty() {
            return entries.iter().all(|entry| is_parameter(entry.bound));
        }
        let values = self.in_position(true, || self.eval(name, function, u32::MAX));
        values.iter().any(|value| match value.entity {
            Entity::Definition(symbol) => self.kind(symbol) == Kind::Constant && !self.denoted(symbol).is_empty(),
            _ => false,
        })
    }

    /// Returns instances of the bound of a type variable, or of all its constraints.
    fn bound_of(&self, args: &[Arg], scope: DefId) -> Values {
        let mut values = Values::new();
        for (position, arg) in args.iter().enumerate() {
            let is_bound = arg.keyword.is_some_and(|word| self.file.text(word) == "bound");
            if is_bound || arg.keyword.is_none() && position > 0 {
                merge(&mut values, self.eval_type(arg.value, scope, 0));
            }
        }
        values
    }

    /// Returns the type arguments in an index.
    fn indices<'e>(&'e self, index: &'e ExprId) -> &'e [ExprId] {
        match self.file.expr(*index) {
            Expr::Elements { kind: LiteralType::Tuple, items, .. } => items,
            _ => std::slice::from_ref(index),
        }
    }

    /// Returns a class with type arguments: `Manager[Response]`.
    pub(super) fn with_arguments(&self, class: Value, index: &ExprId, scope: DefId) -> Option<Value> {
        let Entity::Definition(symbol) = class.entity else { return None };
        if self.file.rules.type_variables.is_empty() || !is_class(self.kind(symbol)) {
            return None;
        }
        let instance = Value { entity: Entity::Instance(symbol), ..class };
        let applied = self.applied([instance].into_iter().collect(), self.indices(index), scope, 0);
        applied.first().map(|applied| Value { entity: class.entity, ..*applied })
    }

    /// Returns what a constant of any file denotes as a type.
    pub(super) fn denoted(&self, constant: SymbolId) -> Values {
        self.returned_as(constant, ALIAS).into()
    }
}
