//! Declarations that share a name: overloads, and the namespaces and interfaces that TypeScript merges with a class,
//! function, enum or interface.

use crate::entity::{Entity, Values};
use crate::project::file_entry::{Bound, is_callable};
use crate::project::names::{Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{Arg, DefId, Definition, Expr, ExprId, Kind, LiteralType, ParamKind, flags};

/// Largest number of declarations of one name that are looked at.
const MAX_DECLARATIONS: usize = 32;

impl Query<'_> {
    /// Returns the other declarations of a definition's name in its scope that fit.
    fn declared_beside(&self, symbol: SymbolId, fits: impl Fn(Kind, u32) -> bool) -> Vec<(DefId, SymbolId)> {
        let (file, definition) = self.definition(symbol);
        if !file.rules.prototypes || definition.kind == Kind::Module {
            return Vec::new();
        }
        let parent = file.symbols[definition.parent as usize];
        let (_, entries) = self.entries(parent, definition.name);
        let all = entries.iter().take(MAX_DECLARATIONS).filter_map(|entry| match entry.bound {
            Bound::Definition(def) => Some((def, file.symbols[def as usize])),
            _ => None,
        });
        let fitting =
            all.filter(|&(def, other)| other != symbol && fits(file.outline(def).kind, file.outline(def).flags));
        fitting.collect()
    }

    /// Returns a member of the namespaces and interfaces that are merged with a definition.
    pub(super) fn merged_member(&self, symbol: SymbolId, name: Sym, via: Strategy) -> Option<Values> {
        let others = self.declared_beside(symbol, |kind, _| matches!(kind, Kind::Namespace | Kind::Interface));
        others.into_iter().find_map(|(_, other)| {
            let found = match self.kind(other) {
                Kind::Interface => self.own_member(other, name, via).unwrap_or_default(),
                _ => self.member_of_module_like(Entity::Definition(other), name),
            };
            (!found.is_empty()).then_some(found)
        })
    }

    /// Returns the signatures without a body that declare overloads of a function.
    pub(super) fn overload_signatures(&self, symbol: SymbolId) -> Vec<(DefId, SymbolId)> {
        let bodiless = flags::OVERLOAD | flags::DECLARATION;
        let is_signature = |kind: Kind, flags: u32| is_callable(kind) && flags & bodiless != 0;
        let mut found = self.declared_beside(symbol, is_signature);
        let (file, definition) = self.definition(symbol);
        if !found.is_empty() && is_signature(definition.kind, definition.flags) && file.rules.prototypes {
            found.push((self.index.symbols.get(symbol).def, symbol));
        }
        found.sort_unstable();
        found
    }

    /// Returns the overload that takes the arguments of a call, by their number and the kinds of literals.
    pub(super) fn chosen_overload(&self, symbol: SymbolId, args: &[Arg]) -> Option<SymbolId> {
        let (file, _) = self.definition(symbol);
        let signatures = self.overload_signatures(symbol);
        if signatures.len() < 2 {
            return None;
        }
        let shape = |value: ExprId| match self.file.expr(value) {
            Expr::Literal(kind) => Some(*kind),
            _ => None,
        };
        let given: Vec<Option<LiteralType>> = args.iter().map(|arg| shape(arg.value)).collect();
        let takes = |definition: &Definition| {
            let params = definition.params.iter().filter(|param| param.kind != ParamKind::Receiver);
            let params: Vec<_> = params.collect();
            let is_open = params.last().is_some_and(|last| last.kind == ParamKind::Variadic);
            let least =
                params.iter().filter(|param| param.kind == ParamKind::Normal && param.default.is_none()).count();
            let fits = |(&shape, param): (&Option<LiteralType>, &&atlas_facts::Param)| {
                let declared = param.annotation.map(|annotation| file.expr(annotation));
                !matches!((shape, declared), (Some(shape), Some(Expr::Literal(wanted))) if shape != *wanted)
            };
            (least <= given.len()) && (is_open || given.len() <= params.len()) && given.iter().zip(&params).all(fits)
        };
        signatures.into_iter().find(|&(def, _)| takes(file.def(def))).map(|(_, symbol)| symbol)
    }
}
