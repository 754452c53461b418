//! Calls on unknown receivers whose name tells their class: `schema_editor.execute()`.

use crate::emit::collector::EdgeCollector;
use crate::entity::{Entity, Value};
use crate::project::file_entry::is_callable;
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::strategy::Strategy;
use atlas_facts::{Expr, ExprId, LOCAL_MARK};

/// Length of the shortest receiver that tells its class.
const MIN_RECEIVER: usize = 4;
/// Largest number of definitions of a name whose classes are compared with the receiver.
const MAX_NAMED: usize = 256;
/// Beginnings of the names of classes from which all of their kind inherit.
const GENERAL: [&str; 2] = ["Base", "Abstract"];

/// How the name of a class relates to that of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// `OracleSchemaEditor` for `schema_editor`.
    Kind,
    /// `BaseDatabaseSchemaEditor` for `schema_editor`.
    General,
    /// `SchemaEditor` for `schema_editor`.
    Same,
}

impl EdgeCollector<'_, '_> {
    /// Returns the method that a call of `base.name` means if `base` has the name of a class with such a method. Of
    /// several classes, the one whose method the others override.
    pub(super) fn named_receiver(&self, base: ExprId, name: Sym) -> Option<Value> {
        let query = self.query;
        // In tests, such receivers are often stand-ins.
        if !query.file.rules.named_receivers || query.file.is_test {
            return None;
        }
        let (Expr::Name(receiver) | Expr::Attribute { name: receiver, .. }) = *query.file.expr(base) else {
            return None;
        };
        let receiver = query.file.text(receiver);
        // The number of a variable that is visible in a part of its function is no part of its name.
        let plain = receiver.rfind(LOCAL_MARK).filter(|&at| at > 0).map_or(receiver, |at| &receiver[..at]);
        let receiver = plain.replace('_', "").to_lowercase();
        let named = query.named(name);
        if receiver.len() < MIN_RECEIVER || named.len() > MAX_NAMED {
            return None;
        }
        let found: Vec<(Likeness, SymbolId)> =
            named.iter().filter_map(|&symbol| self.likely(symbol, &receiver)).collect();
        let best = found.iter().map(|&(likeness, _)| likeness).max()?;
        // The general class counts only if the methods of all its kinds override its own.
        let counts = |likeness: Likeness| best != Likeness::Same || likeness == Likeness::Same;
        let mut methods: Vec<SymbolId> = Vec::new();
        for &(_, method) in found.iter().filter(|&&(likeness, _)| counts(likeness)) {
            let method = query.canonical(method);
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        let method = match methods[..] {
            [only] => only,
            _ => self.override_root(&methods)?,
        };
        let is_best = found.iter().any(|&(likeness, one)| likeness == best && query.canonical(one) == method);
        if best == Likeness::Kind || !is_best {
            return None;
        }
        Some(Value::new(Entity::Definition(method), Strategy::ReceiverName))
    }

    /// Returns a method if its class has the name of the receiver.
    fn likely(&self, method: SymbolId, receiver: &str) -> Option<(Likeness, SymbolId)> {
        let query = self.query;
        if query.index.symbols.get(method).def == FILE_NODE {
            return None;
        }
        let (file, definition) = query.definition(method);
        let is_foreign = file.rules.family != query.file.rules.family || file.is_test;
        if is_foreign || !is_callable(definition.kind) {
            return None;
        }
        let owner = self.owner_class(method)?;
        let (_, class) = query.definition(owner);
        // Members of a local class do not concern other code.
        if class.parent != 0 {
            return None;
        }
        let text = query.text(class.name);
        let plain = text.replace('_', "").to_lowercase();
        if plain == receiver {
            return Some((Likeness::Same, method));
        }
        let begins_word =
            || text.get(text.len().checked_sub(receiver.len())?..)?.chars().next().map(char::is_uppercase);
        let is_kind = plain.ends_with(receiver) && begins_word() == Some(true);
        let is_general = GENERAL.iter().any(|word| text.starts_with(word));
        is_kind.then_some((if is_general { Likeness::General } else { Likeness::Kind }, method))
    }
}
