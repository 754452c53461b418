//! Selects the overload of a call by the number of its arguments. Argument types are not compared.

use crate::emit::collector::EdgeCollector;
use crate::project::arity::Arity;
use crate::project::file_entry::{Bound, FileEntry, is_callable};
use crate::project::names::SymbolId;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, ParamKind, flags};

impl EdgeCollector<'_, '_> {
    /// Returns the overload of `symbol` that accepts this many arguments, with its rule: `via` if only one does, else
    /// `overload` for the first that is not the caller itself (an overload calls its siblings more often than itself).
    pub fn overload(&self, symbol: SymbolId, via: Strategy, call: ExprId, caller: SymbolId) -> (SymbolId, Strategy) {
        let query = self.query;
        let (file, definition) = query.definition(symbol);
        // The object of an extension method is not among the arguments; `extension_method` counts them.
        if !file.rules.overloads || definition.flags & flags::EXTENSION != 0 {
            return (symbol, via);
        }
        let siblings = self.overloads_for(symbol, call);
        match siblings[..] {
            [] => (symbol, via),
            [only] => (only, via),
            [first, second, ..] => (if first == caller { second } else { first }, Strategy::Overload),
        }
    }

    /// Returns the functions with the name of `symbol`, in its scope, that accept the arguments of a call.
    pub fn overloads_for(&self, symbol: SymbolId, call: ExprId) -> Vec<SymbolId> {
        let query = self.query;
        let (file, definition) = query.definition(symbol);
        let parent = file.symbols[definition.parent as usize];
        let (_, entries) = query.entries(parent, definition.name);
        entries
            .iter()
            .filter_map(|entry| match entry.bound {
                Bound::Definition(def) if is_callable(file.outline(def).kind) => Some(def),
                _ => None,
            })
            .filter(|&def| self.takes(file, def, call))
            .filter(|&def| file.outline(def).flags & flags::OVERLOAD == 0)
            .map(|def| file.symbols[def as usize])
            .collect()
    }

    /// Returns whether a definition of any file accepts the number of arguments of a call, and its keyword arguments.
    pub fn takes(&self, file: &FileEntry, def: DefId, call: ExprId) -> bool {
        let args = match self.query.file.expr(call) {
            Expr::Call { args, .. } => args.as_slice(),
            _ => &[],
        };
        let definition = file.def(def);
        let is_named = |keyword: &str| {
            let mut params = definition.params.iter();
            params.any(|param| param.kind == ParamKind::Keywords || file.text(param.name) == keyword)
        };
        let is_spread = |keyword: &&str| matches!(*keyword, "*" | "**");
        let keywords = args.iter().filter_map(|arg| arg.keyword).map(|keyword| self.query.file.text(keyword));
        let takes = keywords.clone().any(|keyword| is_spread(&keyword)) || Arity::of(definition).takes(args.len());
        takes && keywords.filter(|keyword| !is_spread(keyword)).all(is_named)
    }
}
