//! Which overload a call means, as far as the number of its arguments tells. Types of arguments are not compared.

use crate::link::emit::collector::EdgeCollector;
use crate::link::project::arity::Arity;
use crate::link::project::file_entry::{Bound, is_callable};
use crate::link::project::names::SymbolId;
use crate::link::strategy::Strategy;

impl EdgeCollector<'_, '_> {
    /// The overload of `symbol` that takes this many arguments, and the rule that found it: `via` when only one does, else
    /// `overload` for the first of them that is not the caller itself (an overload calls its siblings more often than itself).
    pub fn overload(
        &self,
        symbol: SymbolId,
        via: Strategy,
        arguments: usize,
        caller: SymbolId,
    ) -> (SymbolId, Strategy) {
        let query = self.query;
        let (file, definition) = query.definition(symbol);
        if !file.family.has_overloads() {
            return (symbol, via);
        }
        let parent = file.symbols[definition.parent as usize];
        let (_, entries) = query.entries(parent, definition.name);
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
