//! Members that an implicit class adds to the type of its parameter: `implicit class Rich(name: Name) { def shout }`.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{FileEntry, is_callable, is_class};
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, flags};

/// Largest number of definitions of a name that are examined.
const MAX_NAMED: usize = 64;

impl Query<'_> {
    /// Returns the member of the only visible implicit class that takes a value without a member of this name.
    pub(super) fn implicit_member(&self, value: Value, name: Sym) -> Option<Values> {
        if !self.file.rules.implicit_classes {
            return None;
        }
        let named = self.named(name);
        if named.is_empty() || named.len() > MAX_NAMED {
            return None;
        }
        let mut found = named.iter().copied().filter(|&symbol| self.is_implicit(symbol, value));
        let only = found.next().filter(|_| found.next().is_none())?;
        Some(smallvec![Value::new(Entity::Definition(only), Strategy::Annotation)])
    }

    fn is_implicit(&self, symbol: SymbolId, value: Value) -> bool {
        let place = self.index.symbols.get(symbol);
        let (file, definition) = self.definition(symbol);
        if place.def == FILE_NODE || !is_callable(definition.kind) || file.rules.family != self.file.rules.family {
            return false;
        }
        let class = definition.parent;
        let is_adding = is_class(file.outline(class).kind) && file.outline(class).flags & flags::EXTENSION != 0;
        is_adding && self.takes_value(file, class, value) && self.sees_members_of(file, file.outline(class).parent)
    }

    /// Compares the type of the only parameter of an implicit class with a value.
    fn takes_value(&self, file: &FileEntry, class: DefId, value: Value) -> bool {
        let params = &file.def(class).params;
        let [param] = &params[..] else { return false };
        let Some(mut declared) = param.annotation else { return false };
        if let Expr::Generic { base, .. } = *file.expr(declared) {
            declared = base;
        }
        let (Expr::Name(name) | Expr::Attribute { name, .. }) = *file.expr(declared) else {
            return matches!(value.entity, Entity::Builtin(_)) && matches!(file.expr(declared), Expr::Literal(_));
        };
        match value.entity {
            Entity::Builtin(_) => file.rules.builtins.contains(&file.sym(name)),
            Entity::Elements(_) => file.rules.sequences.contains(&file.sym(name)),
            Entity::Mapped(_) => file.rules.mappings.contains(&file.sym(name)),
            _ => self.receiver(&[value]).names().iter().any(|known| known == file.text(name)),
        }
    }

    /// Returns whether the names of an object or package of any file are visible here: around this file's code, or
    /// imported.
    fn sees_members_of(&self, file: &FileEntry, around: DefId) -> bool {
        let container = if around == 0 { file.module } else { file.qualified_names[around as usize] };
        let container = self.text(container);
        let own = self.text(self.file.module);
        let is_around = own == container || own.strip_prefix(container).is_some_and(|rest| rest.starts_with('.'));
        let is_same_file = file.path == self.file.path;
        is_around
            || is_same_file
            || self.file.facts().imports.iter().any(|import| {
                let module = self.file.text(import.module);
                let is_suffix = |module: &str| {
                    container == module || container.strip_suffix(module).is_some_and(|rest| rest.ends_with('.'))
                };
                let whole = || format!("{module}.{}", import.member.map_or("", |member| self.file.text(member)));
                is_suffix(module) || is_suffix(&whole())
            })
    }
}
