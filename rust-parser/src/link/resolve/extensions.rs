//! Extensions of types outside the project (`fun String.shout()`): found by name where they are visible, not through the type.

use crate::facts::{DefId, Expr, Kind};
use crate::link::entity::{Entity, Value};
use crate::link::project::file_entry::{Bound, FileEntry, is_callable};
use crate::link::project::names::{FILE_NODE, Sym, SymbolId};
use crate::link::project::query::Query;
use crate::link::strategy::Strategy;

/// Names with more definitions than this are not looked through.
const MAX_NAMED: usize = 64;

/// A visible extension.
struct Extension<'q> {
    symbol: SymbolId,
    /// Name of the extended type, without its packages.
    receiver: &'q str,
    via: Strategy,
}

impl Query<'_> {
    /// Members of the name that extensions directly in a package or class add, whatever type they extend.
    pub fn extensions_in(&self, container: &str, name: Sym) -> Vec<SymbolId> {
        let named = self.named(name);
        if named.len() > MAX_NAMED {
            return Vec::new();
        }
        let mut found: Vec<SymbolId> =
            named.iter().copied().filter(|&symbol| self.container_of(symbol) == Some(container)).collect();
        found.sort_by(|&a, &b| self.index.source_order(a).cmp(&self.index.source_order(b)));
        found
    }

    /// The extension of a name that may be called on receivers: the one for a type of theirs, else the only one for a type
    /// that is not in the project.
    pub fn extension_of(
        &self,
        receivers: &[Value],
        name: Sym,
        scope: DefId,
        takes: impl Fn(&FileEntry, DefId) -> bool,
    ) -> Option<Value> {
        let mut visible = self.visible_extensions(name, scope);
        visible.retain(|extension| {
            let place = self.index.symbols.get(extension.symbol);
            takes(self.index.file(place.file), place.def)
        });
        let types = self.type_names(receivers);
        let is_of_type = |extension: &&Extension| types.iter().any(|name| name == extension.receiver);
        let is_built_in = receivers.iter().any(|value| matches!(value.entity, Entity::Builtin(_)));
        let is_inside =
            receivers.iter().any(|value| matches!(value.entity, Entity::Instance(_) | Entity::Definition(_)));
        let fits = |extension: &&Extension| {
            let is_builtin_type = self.file.rules.builtins.contains(&self.known(extension.receiver));
            !is_inside && (!is_built_in || is_builtin_type)
        };
        let by_type: Vec<&Extension> = visible.iter().filter(is_of_type).collect();
        let others: Vec<&Extension> = visible.iter().filter(fits).collect();
        let (chosen, via) = match (&by_type[..], &others[..]) {
            ([only], _) => (only, only.via),
            ([first, ..], _) => (first, Strategy::Overload),
            ([], [only]) => (only, only.via),
            _ => return None,
        };
        Some(Value::new(Entity::Definition(chosen.symbol), via))
    }

    /// Extensions of the name that the file imports, of its package, and of the classes around the scope.
    fn visible_extensions(&self, name: Sym, scope: DefId) -> Vec<Extension<'_>> {
        let file = self.file;
        let mut places: Vec<(&str, Sym, Strategy)> = Vec::new();
        for entry in file.entries(0, name) {
            if let Bound::Import(import) = entry.bound
                && let import = &file.facts().imports[import as usize]
                && let Some(member) = import.member
            {
                places.push((file.text(import.module), file.sym(member), Strategy::Import));
            }
        }
        let mut here = scope;
        while here != 0 {
            places.push((self.text(file.qualified_names[here as usize]), name, Strategy::Inherited));
            here = file.outline(here).parent;
        }
        places.push((self.text(file.module), name, Strategy::SamePackage));
        for &(_, import) in file.stars() {
            let module = file.facts().imports[import as usize].module;
            places.push((file.text(module), name, Strategy::StarImport));
        }
        let mut found: Vec<Extension> = Vec::new();
        for (container, name, via) in places {
            for symbol in self.extensions_in(container, name) {
                if !found.iter().any(|known| known.symbol == symbol) {
                    found.push(Extension { symbol, receiver: self.receiver_of(symbol), via });
                }
            }
        }
        found
    }

    /// The package or class in which the extension around a callable stands; None for what is not in an extension.
    fn container_of(&self, symbol: SymbolId) -> Option<&str> {
        let place = self.index.symbols.get(symbol);
        if place.def == FILE_NODE {
            return None;
        }
        let (file, outline) = self.definition(symbol);
        let extension = file.outline(outline.parent);
        if extension.kind != Kind::Extension
            || !is_callable(outline.kind)
            || file.rules.family != self.file.rules.family
        {
            return None;
        }
        Some(match extension.parent {
            0 => self.text(file.module),
            around => self.text(file.qualified_names[around as usize]),
        })
    }

    /// `T` of `container.T.name`.
    fn receiver_of(&self, symbol: SymbolId) -> &str {
        let place = self.index.symbols.get(symbol);
        let (file, _) = self.definition(symbol);
        let qualified = self.text(file.qualified_names[place.def as usize]);
        let mut parts = qualified.rsplit('.');
        parts.next();
        parts.next().unwrap_or("")
    }

    /// Names of the types that receivers are known to have, and of their ancestors.
    fn type_names(&self, receivers: &[Value]) -> Vec<String> {
        let last = |text: &'_ str| text.rsplit('.').next().unwrap_or("").to_owned();
        let mut found: Vec<String> = Vec::new();
        for value in receivers {
            match value.entity {
                Entity::Instance(class) => {
                    found.push(self.class_name(class));
                    for ancestor in self.ancestors(class) {
                        match *ancestor {
                            Entity::Definition(base) => found.push(self.class_name(base)),
                            Entity::External(external) => {
                                found.push(last(self.text(self.index.externals.name(external).1)))
                            }
                            _ => {}
                        }
                    }
                }
                Entity::ExternalInstance(external) => {
                    found.push(last(self.text(self.index.externals.name(external).1)))
                }
                _ => {}
            }
        }
        found
    }

    fn class_name(&self, class: SymbolId) -> String {
        self.text(self.definition(class).1.name).to_owned()
    }

    /// The extension that a bare name means inside an extension of the same type.
    pub fn extension_of_this(&self, name: Sym, scope: DefId) -> Option<Value> {
        let around = self.file.class_around(scope)?;
        let definition = self.file.def(around);
        let base = *definition.bases.first().filter(|_| definition.kind == Kind::Extension)?;
        let receiver = match *self.file.expr(base) {
            Expr::Name(name) | Expr::Attribute { name, .. } => self.file.text(name),
            _ => return None,
        };
        let visible = self.visible_extensions(name, scope);
        let found = visible.into_iter().find(|extension| extension.receiver == receiver)?;
        Some(Value::new(Entity::Definition(found.symbol), found.via))
    }
}
