//! Which overload a call means, as far as the number of its arguments tells. Types of arguments are not compared.

use crate::facts::{Definition, ParamKind};
use crate::link::emit::edges::Collector;
use crate::link::project::file_entry::{Bound, is_callable};
use crate::link::project::names::SymbolId;
use crate::link::strategy::Strategy;

/// How many arguments a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arity {
    least: usize,
    /// None: any number from `least` on.
    most: Option<usize>,
}

impl Arity {
    pub fn of(definition: &Definition) -> Arity {
        let given = || definition.params.iter().filter(|param| param.kind != ParamKind::Receiver);
        let normal = || given().filter(|param| param.kind == ParamKind::Normal);
        let is_open = given().any(|param| param.kind != ParamKind::Normal);
        Arity {
            least: normal().filter(|param| param.default.is_none()).count(),
            most: (!is_open).then(|| normal().count()),
        }
    }

    fn takes(self, arguments: usize) -> bool {
        self.least <= arguments && self.most.is_none_or(|most| arguments <= most)
    }
}

impl Collector<'_, '_> {
    /// The overload of `symbol` that takes this many arguments, and the rule that found it: `via` when only one does, else
    /// `overload` for the first of them that is not the caller itself (an overload calls its siblings more often than itself).
    pub fn overload(
        &self,
        symbol: SymbolId,
        via: Strategy,
        arguments: usize,
        caller: SymbolId,
    ) -> (SymbolId, Strategy) {
        let view = self.view;
        let (file, definition) = view.definition(symbol);
        if !file.family.has_overloads() {
            return (symbol, via);
        }
        let parent = file.symbols[definition.parent as usize];
        let (_, entries) = view.entries(parent, definition.name);
        let siblings: Vec<SymbolId> = entries
            .iter()
            .filter_map(|entry| match entry.bound {
                Bound::Definition(def) if is_callable(file.outline(def).kind) => Some(def),
                _ => None,
            })
            .filter(|def| Arity::of(file.def(*def)).takes(arguments))
            .map(|def| file.symbols[def as usize])
            .collect();
        match siblings[..] {
            [] => (symbol, via),
            [only] => (only, via),
            [first, second, ..] => (if first == caller { second } else { first }, Strategy::Overload),
        }
    }
}
