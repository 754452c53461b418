//! The method that another one overrides.

use std::cmp::Reverse;

use crate::entity::Entity;
use crate::project::file_entry::{Bound, FileEntry, is_callable};
use crate::project::names::{Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Definition, Expr, ExprId, LiteralType, Param, ParamKind};

/// What two types have to have in common to be taken for the same: their name without namespaces and parameters.
#[derive(PartialEq)]
enum TypeWord {
    Named(Sym),
    Literal(LiteralType),
}

impl Query<'_> {
    /// Returns the member that a method of `class` with this name overrides: the nearest one along the ancestors.
    pub fn overridden(&self, class: SymbolId, name: Sym) -> Option<SymbolId> {
        let found = self.ancestors(class).iter().find_map(|ancestor| match ancestor {
            Entity::Definition(symbol) => self.own_member(*symbol, name, Strategy::Override),
            _ => None,
        })?;
        found.into_iter().find_map(|value| match value.entity {
            Entity::Definition(symbol) if is_callable(self.kind(symbol)) => Some(symbol),
            _ => None,
        })
    }

    /// Returns the same where methods have overloads: of the nearest ancestor that has a method with as many parameters
    /// the one with most of the parameters of types with the same names. A method with another number of parameters is
    /// a further overload.
    pub fn overridden_overload(&self, class: SymbolId, method: &Definition) -> Option<SymbolId> {
        let name = self.file.sym(method.name);
        let own = parameters(method);
        self.ancestors(class).iter().find_map(|ancestor| {
            let Entity::Definition(base) = *ancestor else { return None };
            let scopes = std::iter::once(base).filter(|&scope| !self.is_scope_only(self.kind(scope)));
            let all = scopes.chain(self.extensions(base).iter().map(|extension| extension.symbol));
            let fitting = all.flat_map(|scope| self.with_as_many(scope, name, &own));
            let best = fitting.max_by_key(|&(file, def)| (self.same_types(&own, file, def), Reverse(def)));
            best.map(|(file, def)| self.canonical(file.symbols[def as usize]))
        })
    }

    fn with_as_many(&self, scope: SymbolId, name: Sym, own: &[&Param]) -> Vec<(&FileEntry, DefId)> {
        let (file, entries) = self.entries(scope, name);
        let methods = entries.iter().filter_map(|entry| match entry.bound {
            Bound::Definition(def) if is_callable(file.outline(def).kind) => Some(def),
            _ => None,
        });
        methods.filter(|&def| parameters(file.def(def)).len() == own.len()).map(|def| (file, def)).collect()
    }

    /// Returns how many parameters of a method have types with the same names as those of a method of this file.
    fn same_types(&self, own: &[&Param], file: &FileEntry, def: DefId) -> usize {
        let pairs = own.iter().zip(parameters(file.def(def)));
        pairs
            .filter(|(own, other)| match (own.annotation, other.annotation) {
                (Some(one), Some(two)) => type_word(self.file, one) == type_word(file, two),
                (one, two) => one.is_none() && two.is_none(),
            })
            .count()
    }
}

fn parameters(definition: &Definition) -> Vec<&Param> {
    definition.params.iter().filter(|param| param.kind != ParamKind::Receiver).collect()
}

fn type_word(file: &FileEntry, annotation: ExprId) -> Option<TypeWord> {
    match *file.expr(annotation) {
        Expr::Name(name) | Expr::Scope(name) | Expr::Attribute { name, .. } => Some(TypeWord::Named(file.sym(name))),
        Expr::Literal(kind) => Some(TypeWord::Literal(kind)),
        Expr::Generic { base, .. } => type_word(file, base),
        _ => None,
    }
}
