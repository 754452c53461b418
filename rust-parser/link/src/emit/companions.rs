//! Functions of a class's companion that a call of the class's name runs: `apply` in Scala, `invoke` in Kotlin.

use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::project::arity::Arity;
use crate::project::file_entry::{Bound, is_callable};
use crate::project::names::SymbolId;
use atlas_facts::Expr;

/// In the signature of a class whose constructor may be called without `new`.
const CASE_CLASS: &str = "case class";

impl EdgeCollector<'_, '_> {
    /// Returns the function that `T(...)` runs instead of a constructor.
    pub(super) fn companion_maker(&self, class: SymbolId, site: Site) -> Option<SymbolId> {
        let query = self.query;
        let name = query.file.rules.companion_maker?;
        let Expr::Call { args, new: false, .. } = query.file.expr(site.expr) else { return None };
        let (file, entries) = query.entries(class, name);
        let found = entries.iter().find_map(|entry| match entry.bound {
            Bound::Definition(def) if is_callable(file.outline(def).kind) && self.takes(file, def, site.expr) => {
                Some(def)
            }
            _ => None,
        })?;
        let def = query.index.symbols.get(class).def;
        let definition = file.def(def);
        let is_constructible = !file.rules.case_classes || file.text(definition.signature).contains(CASE_CLASS);
        // A function that is passed for a parameter that takes none.
        let takes_function = |position: usize| {
            let declared = definition.params.get(position).and_then(|param| param.annotation);
            declared.is_none_or(|declared| matches!(file.expr(declared), Expr::Call { .. } | Expr::Unknown))
        };
        let is_misfit = args.last().is_some_and(|arg| matches!(query.file.expr(arg.value), Expr::Lambda(_)))
            && !takes_function(args.len() - 1);
        let fits = is_constructible && Arity::of(definition).takes(args.len()) && !is_misfit;
        (!fits).then(|| file.symbols[found as usize])
    }
}
