//! Names that belong to no class, package or module of the project: members of what they denote are never the project's,
//! so that no rule may guess them.

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::is_class;
use crate::project::names::Sym;
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind};

/// Longest dotted path that is followed to its beginning.
const MAX_PATH: u32 = 12;
/// Largest number of definitions of a name that are examined.
const MAX_NAMED: usize = 64;

impl Query<'_> {
    /// Returns whether an expression can only be a class, package or module that is unknown to the project, whose
    /// members are therefore not the project's: a name that nothing binds, where the language writes those of classes in
    /// capitals, binds all names, or marks the beginning of a path.
    pub(crate) fn is_foreign(&self, expr: ExprId, scope: DefId, line: u32) -> bool {
        match *self.file.expr(expr) {
            Expr::Name(name) => {
                let name = self.file.sym(name);
                self.is_foreign_name(name) && self.resolve_name(scope, name, line).is_none()
            }
            Expr::Scope(name) => {
                let name = self.file.sym(name);
                !self.names_class(name)
                    && self.resolve_scope_name(scope, name).is_empty()
                    && self.resolve_name(scope, name, line).is_none()
            }
            // `com.example.Type`
            Expr::Attribute { base, name } => {
                self.file.rules.capitalised_classes
                    && self.is_foreign_name(self.file.sym(name))
                    && self.is_foreign_path(base, scope, line)
            }
            _ => false,
        }
    }

    /// Returns whether a name is foreign if nothing binds it: no class or module of the project has it.
    pub(super) fn is_foreign_name(&self, name: Sym) -> bool {
        let rules = &self.file.rules;
        let is_marked =
            rules.closed_names || (rules.capitalised_classes && self.text(name).starts_with(char::is_uppercase));
        is_marked && !self.names_class(name)
    }

    /// Returns whether a class, alias or module of the project has a name. The record of the name covers its definitions.
    fn names_class(&self, name: Sym) -> bool {
        self.named(name).iter().take(MAX_NAMED).any(|&symbol| {
            let place = self.index.symbols.get(symbol);
            let kind = self.index.file(place.file).outlines.get(place.def as usize).map(|outline| outline.kind);
            kind.is_some_and(|kind| is_class(kind) || matches!(kind, Kind::TypeAlias | Kind::Module | Kind::Namespace))
        })
    }

    /// Returns the value of a name that nothing binds.
    pub(super) fn unbound_value(&self, name: Sym) -> Values {
        let is_foreign = (self.file.rules.known_types || !self.in_type.get()) && self.is_foreign_name(name);
        is_foreign.then(|| Value::new(Entity::Opaque, Strategy::Local)).into_iter().collect()
    }

    fn is_foreign_path(&self, expr: ExprId, scope: DefId, line: u32) -> bool {
        let mut here = expr;
        for _ in 0..MAX_PATH {
            match *self.file.expr(here) {
                Expr::Attribute { base, .. } => here = base,
                Expr::Name(name) => return self.resolve_name(scope, self.file.sym(name), line).is_none(),
                _ => return false,
            }
        }
        false
    }
}
