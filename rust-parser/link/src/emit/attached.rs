//! Calls of functions that the same scope assigns to an object of which nothing else is known, such as the prototype of a
//! class that a plug-in receives: `proto.of = function () {}` beside `proto.of()` and `this.of()`.

use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::entity::{Entity, Value};
use crate::project::file_entry::is_callable;
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind, flags};

/// Largest number of definitions of a name that are compared with the receiver.
const MAX_NAMED: usize = 256;

impl EdgeCollector<'_, '_> {
    /// Returns the only function with a name that a scope around a call assigns to the object of its receiver.
    pub(super) fn attached_member(&self, base: ExprId, name: Sym, site: Site) -> Option<Value> {
        let query = self.query;
        if !query.file.rules.prototypes {
            return None;
        }
        let named = query.named(name);
        if named.len() > MAX_NAMED {
            return None;
        }
        let (object, via) = match query.file.expr(base) {
            Expr::This { .. } => (self.object_of_this(site.scope)?, Strategy::This),
            Expr::Name(_) | Expr::Attribute { .. } => (base, Strategy::Local),
            _ => return None,
        };
        let attached = named.iter().copied().filter(|&symbol| self.is_attached(symbol, object, site.scope));
        let found: Vec<SymbolId> = attached.collect();
        let [only] = found[..] else { return None };
        Some(Value::new(Entity::Definition(query.canonical(only)), via))
    }

    /// Returns the object to which the innermost function with a `this` of its own is assigned.
    fn object_of_this(&self, scope: DefId) -> Option<ExprId> {
        let file = self.query.file;
        let mut here = scope;
        while here != 0 {
            let definition = file.outline(here);
            if is_callable(definition.kind) && definition.flags & flags::ARROW == 0 {
                let is_assigned = file.outline(definition.parent).kind == Kind::Extension;
                return is_assigned.then(|| file.def(definition.parent).bases.first().copied()).flatten();
            }
            here = definition.parent;
        }
        None
    }

    /// Returns whether a scope around a place assigns a function to the object that an expression of the file denotes.
    fn is_attached(&self, symbol: SymbolId, object: ExprId, scope: DefId) -> bool {
        let query = self.query;
        let place = query.index.symbols.get(symbol);
        if place.file != query.home || place.def == FILE_NODE {
            return false;
        }
        let definition = query.file.outline(place.def);
        let holder = query.file.outline(definition.parent);
        if !is_callable(definition.kind) || holder.kind != Kind::Extension {
            return false;
        }
        let is_same = query.file.def(definition.parent).bases.first() == Some(&object);
        is_same && self.is_around(holder.parent, scope)
    }

    fn is_around(&self, outer: DefId, scope: DefId) -> bool {
        let mut here = scope;
        while here != outer && here != 0 {
            here = self.query.file.outline(here).parent;
        }
        here == outer
    }
}
