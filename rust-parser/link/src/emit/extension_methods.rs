//! Static methods that add a member to the type of their first parameter: `static string Cut(this string text)`.

use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::FileEntry;
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, ParamKind, flags};

/// Largest number of definitions of a name that are examined.
const MAX_NAMED: usize = 64;

/// How the type of an extension's first parameter relates to a receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The receiver is unknown, or the type is a type parameter.
    Possible,
    Exact,
}

impl EdgeCollector<'_, '_> {
    /// Returns the extension method that a call on a receiver without such a member runs.
    pub(super) fn extension_method(&self, bases: &Values, name: Sym, site: Site) -> Option<Value> {
        let query = self.query;
        if !query.file.rules.extension_methods {
            return None;
        }
        let named = query.named(name);
        if named.is_empty() || named.len() > MAX_NAMED {
            return None;
        }
        let has_member = |value: &Value| {
            let members = query.called_attribute(*value, name);
            members.iter().any(|member| matches!(member.entity, Entity::Definition(_)))
        };
        if bases.iter().any(has_member) {
            return None;
        }
        let mut found: Vec<(Fit, SymbolId)> =
            named.iter().filter_map(|&symbol| Some((self.fit(symbol, bases, site)?, symbol))).collect();
        let best = found.iter().map(|&(fit, _)| fit).max()?;
        found.retain(|&(fit, _)| fit == best);
        found.sort_by(|&(_, a), &(_, b)| query.index.name_order(a).cmp(&query.index.name_order(b)));
        let is_common = query.file.rules.common_methods.contains(&name);
        match found[..] {
            [(fit, only)] if fit == Fit::Exact || !is_common => {
                Some(Value::new(Entity::Definition(only), Strategy::Annotation))
            }
            [(fit, first), (_, second), ..] if fit == Fit::Exact || !is_common => {
                // Overloads of one extension; one does not call itself.
                let is_other = |&(_, symbol): &(Fit, SymbolId)| !self.is_overload(symbol, first);
                let caller = query.node_symbol(site.scope);
                let chosen = if first == caller { second } else { first };
                let value = Value::new(Entity::Definition(chosen), Strategy::Overload);
                (!found.iter().any(is_other)).then_some(value)
            }
            _ => None,
        }
    }

    /// Returns whether two extensions of a class add to the same type, by the names of the type and its arguments.
    fn is_overload(&self, one: SymbolId, other: SymbolId) -> bool {
        let query = self.query;
        let of = |symbol: SymbolId| {
            let (file, definition) = query.definition(symbol);
            let receiver = file.def(query.index.symbols.get(symbol).def).params.first()?.annotation?;
            let word = |expr: ExprId| match *file.expr(expr) {
                Expr::Name(name) => Some(file.sym(name)),
                _ => None,
            };
            let (base, arguments) = match file.expr(receiver) {
                Expr::Generic { base, args } => (*base, args.iter().map(|&arg| word(arg)).collect()),
                _ => (receiver, Vec::new()),
            };
            Some((file.symbols[definition.parent as usize], word(base)?, arguments))
        };
        of(one).is_some() && of(one) == of(other)
    }

    fn fit(&self, symbol: SymbolId, bases: &Values, site: Site) -> Option<Fit> {
        let query = self.query;
        let place = query.index.symbols.get(symbol);
        if place.def == FILE_NODE {
            return None;
        }
        let (file, definition) = query.definition(symbol);
        if definition.flags & flags::EXTENSION == 0 || file.rules.family != query.file.rules.family {
            return None;
        }
        let Expr::Call { args, .. } = query.file.expr(site.expr) else { return None };
        let params = &file.def(place.def).params;
        let others = params.get(1..)?;
        let is_open = others.iter().any(|param| param.kind != ParamKind::Normal);
        let required = others.iter().filter(|param| param.default.is_none() && param.kind == ParamKind::Normal).count();
        if args.len() < required || (!is_open && args.len() > others.len()) {
            return None;
        }
        let receiver = query.receiver(bases);
        let fits = |value: &Value| self.fits(file, place.def, params[0].annotation?, value, receiver.names());
        if bases.is_empty() {
            return Some(Fit::Possible);
        }
        bases.iter().filter_map(fits).max()
    }

    /// Compares the declared type of the first parameter with a possible receiver.
    fn fits(&self, file: &FileEntry, def: DefId, declared: ExprId, value: &Value, names: &[String]) -> Option<Fit> {
        let declared = match *file.expr(declared) {
            Expr::Generic { base, .. } => base,
            _ => declared,
        };
        let name = match *file.expr(declared) {
            Expr::Name(name) | Expr::Attribute { name, .. } => file.sym(name),
            Expr::Literal(_) => {
                return matches!(value.entity, Entity::Builtin(_) | Entity::Nothing).then_some(Fit::Exact);
            }
            _ => return Some(Fit::Possible),
        };
        if !file.entries(def, name).is_empty() {
            return Some(Fit::Possible);
        }
        match value.entity {
            Entity::Elements(_) => file.rules.sequences.contains(&name).then_some(Fit::Exact),
            Entity::Mapped(_) => file.rules.mappings.contains(&name).then_some(Fit::Exact),
            Entity::Instance(_) | Entity::ExternalInstance(_) => {
                let text = self.query.text(name);
                names.iter().any(|known| known == text).then_some(Fit::Exact)
            }
            // A container of what is outside the project.
            Entity::Builtin(_) if file.rules.sequences.contains(&name) => Some(Fit::Possible),
            Entity::Opaque => Some(Fit::Possible),
            _ => None,
        }
    }
}
