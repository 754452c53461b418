//! Extensions of types outside the project (`fun String.shout()`), which are found by name where they are visible,
//! rather than through the type.

use crate::entity::{Entity, Value};
use crate::project::file_entry::{Bound, FileEntry, is_callable};
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, Kind};

/// Largest number of definitions of a name that are examined.
const MAX_NAMED: usize = 64;

/// The known type of a receiver.
pub struct Receiver {
    /// Names of the type and its ancestors.
    types: Vec<String>,
    others: Others,
}

impl Receiver {
    /// Returns the names of the type and its ancestors.
    pub fn names(&self) -> &[String] {
        &self.types
    }
}

/// The other types that a receiver may have.
enum Others {
    None,
    BuiltIn,
    Any,
}

/// A visible extension.
struct Extension<'q> {
    symbol: SymbolId,
    /// Name of the extended type, without its packages.
    receiver: &'q str,
    via: Strategy,
}

impl Query<'_> {
    /// Returns the members with this name in extensions directly in a package or class, for any extended type.
    pub fn extensions_in(&self, container: &str, name: Sym) -> Vec<SymbolId> {
        let named = self.named(name);
        if named.len() > MAX_NAMED {
            return Vec::new();
        }
        let mut found: Vec<SymbolId> =
            named.iter().copied().filter(|&symbol| self.container_of(symbol) == Some(container)).collect();
        found.sort_by(|&a, &b| self.index.name_order(a).cmp(&self.index.name_order(b)));
        found
    }

    /// Returns the extension with this name for a receiver: the one for its type, else the only one for a type that it
    /// may have, of which there may be overloads.
    pub fn extension_of(
        &self,
        receiver: &Receiver,
        name: Sym,
        scope: DefId,
        takes: impl Fn(&FileEntry, DefId) -> bool,
    ) -> Option<Value> {
        let mut visible = self.visible_extensions(name, scope);
        visible.retain(|extension| {
            let place = self.index.symbols.get(extension.symbol);
            takes(self.index.file(place.file), place.def)
        });
        let is_common = self.file.rules.common_methods.contains(&name);
        let is_builtin_type =
            |extension: &&Extension| self.file.rules.builtins.contains(&self.known(extension.receiver));
        // Members of built-in types take precedence over extensions.
        let is_of_type = |extension: &&Extension| {
            receiver.types.iter().any(|name| name == extension.receiver) && !(is_common && is_builtin_type(extension))
        };
        let by_type: Vec<&Extension> = visible.iter().filter(is_of_type).collect();
        let (chosen, via) = match by_type[..] {
            [only] => (only, only.via),
            [first, ..] => (first, Strategy::Overload),
            [] => {
                let may_fit = |extension: &&Extension| match receiver.others {
                    Others::Any => !is_common,
                    Others::BuiltIn => !is_common && is_builtin_type(extension),
                    Others::None => false,
                };
                let others: Vec<&Extension> = visible.iter().filter(may_fit).collect();
                match others[..] {
                    [] => return None,
                    [only] => (only, only.via),
                    // Overloads of one extension for one type.
                    [first, ..] => {
                        let is_other = |one: &&Extension| {
                            one.receiver != first.receiver || self.parent_of(one.symbol) != self.parent_of(first.symbol)
                        };
                        if others.iter().any(is_other) {
                            return None;
                        }
                        (first, Strategy::Overload)
                    }
                }
            }
        };
        Some(Value::new(Entity::Definition(chosen.symbol), via))
    }

    fn parent_of(&self, symbol: SymbolId) -> SymbolId {
        let (file, definition) = self.definition(symbol);
        file.symbols[definition.parent as usize]
    }

    /// Returns the known type of a receiver.
    pub fn receiver(&self, values: &[Value]) -> Receiver {
        let is_inside = |value: &Value| matches!(value.entity, Entity::Instance(_) | Entity::Definition(_));
        let is_built_in = |value: &Value| matches!(value.entity, Entity::Builtin(_));
        let others = match () {
            () if values.iter().any(is_inside) => Others::None,
            () if values.iter().any(is_built_in) => Others::BuiltIn,
            () => Others::Any,
        };
        let mut types = Vec::new();
        values.iter().for_each(|value| self.add_type_names(value.entity, &mut types));
        Receiver { types, others }
    }

    /// Returns the receiver of bare names in a scope: the enclosing classes and the extended type.
    pub fn implied_receiver(&self, scope: DefId) -> Receiver {
        let mut types = Vec::new();
        let mut here = scope;
        while let Some(around) = self.file.enclosing_class(here) {
            let definition = self.file.def(around);
            match self.class_of(around) {
                Some(class) => self.add_type_names(Entity::Instance(class), &mut types),
                None => {
                    let base = definition.bases.first().map(|&base| match self.file.expr(base) {
                        Expr::Generic { base, .. } => self.file.expr(*base),
                        base => base,
                    });
                    if let Some(Expr::Name(name) | Expr::Attribute { name, .. }) = base {
                        types.push(self.file.text(*name).to_owned());
                    }
                }
            }
            here = definition.parent;
        }
        Receiver { types, others: Others::None }
    }

    /// Returns the extensions with this name that the file imports, or that its package and the enclosing classes
    /// contain.
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

    /// Returns the package or class that contains a callable's extension, or `None` outside of extensions.
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

    /// Returns `T` of `container.T.name`.
    fn receiver_of(&self, symbol: SymbolId) -> &str {
        let place = self.index.symbols.get(symbol);
        let (file, _) = self.definition(symbol);
        let qualified = self.text(file.qualified_names[place.def as usize]);
        let mut parts = qualified.rsplit('.');
        parts.next();
        parts.next().unwrap_or("")
    }

    /// Adds the names of a type and its ancestors.
    fn add_type_names(&self, entity: Entity, names: &mut Vec<String>) {
        let class_name = |class: SymbolId| self.text(self.definition(class).1.name).to_owned();
        let external_name = |external| {
            let name = self.text(self.index.externals.name(external).1);
            name.rsplit('.').next().unwrap_or("").to_owned()
        };
        match entity {
            Entity::Instance(class) => {
                names.push(class_name(class));
                for ancestor in self.ancestors(class) {
                    match *ancestor {
                        Entity::Definition(base) => names.push(class_name(base)),
                        Entity::External(external) => names.push(external_name(external)),
                        _ => {}
                    }
                }
            }
            Entity::ExternalInstance(external) => names.push(external_name(external)),
            _ => {}
        }
    }
}
