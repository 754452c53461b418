//! The last resort for a call on an unknown receiver: the only definition with its name, or the root of the only family
//! of overrides with its name.

use crate::emit::callees::Site;
use crate::emit::collector::EdgeCollector;
use crate::entity::{Entity, Value};
use crate::project::file_entry::{FileEntry, Outline, is_callable, is_class};
use crate::project::names::{FILE_NODE, Sym, SymbolId};
use crate::resolve::modules::paths::DECLARATIONS;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, Kind, Name, flags};

/// Length of the shortest name that identifies a callee.
const MIN_UNIQUE_NAME: usize = 4;
/// Largest number of definitions of a name that are counted.
const MAX_NAMED: usize = 64;

impl EdgeCollector<'_, '_> {
    /// Returns the method that a call of `base.name` means if the name alone tells: one class of the project defines
    /// it, or all classes that do override one method.
    pub(super) fn unique_member(&self, base: ExprId, name: Sym, site: Site) -> Option<Value> {
        let query = self.query;
        // A method that passes a call on to a method of its own name wraps an object of another kind.
        let mut around = site.scope;
        while around != 0 {
            let outline = query.file.outline(around);
            if outline.name == name && is_callable(outline.kind) && !matches!(query.file.expr(base), Expr::This { .. })
            {
                return None;
            }
            around = outline.parent;
        }
        let mut named = self.candidates(name)?;
        if query.file.rules.prototypes && named.len() > 1 {
            named = self.without_declarations(named);
        }
        let (symbol, via) = match named[..] {
            [only] => (only, Strategy::UniqueName),
            // Members that are assigned to objects make no family.
            _ if query.file.rules.prototypes => return None,
            _ => (self.override_root(&named)?, Strategy::OverrideRoot),
        };
        let owner = self.owner_class(symbol)?;
        let is_open = query.ancestors(owner).iter().any(|ancestor| match *ancestor {
            Entity::External(external) => !query.is_marker(external),
            Entity::Missing => true,
            _ => false,
        });
        (!is_open).then(|| Value::new(Entity::Definition(symbol), via))
    }

    /// Returns the methods of a name without those that a file of declarations says of the only one: of the same class, or
    /// of the object that it is attached to, of which nothing is known.
    fn without_declarations(&self, named: Vec<SymbolId>) -> Vec<SymbolId> {
        let query = self.query;
        let is_declared = |&symbol: &SymbolId| is_declarations(query.definition(symbol).0);
        let (declared, made): (Vec<_>, Vec<_>) = named.iter().copied().partition(is_declared);
        let [only] = made[..] else { return named };
        let owner_of = |symbol: SymbolId| {
            let (file, definition) = query.definition(symbol);
            (file, definition.parent, file.outline(definition.parent))
        };
        let (file, parent, owner) = owner_of(only);
        let home = query.index.symbols.get(only).file;
        let extended = query.index.ancestry.extended_by(home, file.symbols[parent as usize]);
        let is_of_class = |&symbol: &SymbolId| match extended {
            Some(class) => owner_of(symbol).2.name == query.definition(class).1.name,
            None => owner.kind == Kind::Extension || owner_of(symbol).2.name == owner.name,
        };
        if declared.iter().all(is_of_class) { vec![only] } else { named }
    }

    /// Returns the method that the project adds to a type of the language, if its name alone tells which.
    pub(super) fn added_member(&self, name: Sym) -> Option<Value> {
        let query = self.query;
        let named = self.candidates(name)?;
        let (added, others): (Vec<_>, Vec<_>) = named.into_iter().partition(|&method| self.is_added(method));
        let is_of_trait = |method: SymbolId| {
            let (file, definition) = query.definition(method);
            matches!(file.outline(definition.parent).kind, Kind::Trait | Kind::Interface)
        };
        let declared: Vec<SymbolId> = others.into_iter().filter(|&method| is_of_trait(method)).collect();
        let method = match (&added[..], &declared[..]) {
            (&[only], _) => only,
            // Implementations for several types of the language, beside those for types of the project.
            (&[_, ..], &[declared]) => declared,
            _ => return None,
        };
        Some(Value::new(Entity::Definition(query.canonical(method)), Strategy::UniqueName))
    }

    /// Returns whether a method belongs to a type of the language that the project extends.
    fn is_added(&self, method: SymbolId) -> bool {
        let query = self.query;
        let (file, definition) = query.definition(method);
        let parent = file.symbols[definition.parent as usize];
        let owner = file.outline(definition.parent);
        match owner.kind {
            // What stands behind a namespace or class outside of it: `double detail::round(double value)`.
            Kind::Extension if file.rules.included_globals => false,
            Kind::Extension => {
                let is_named =
                    file.def(definition.parent).bases.first().is_some_and(|&base| self.is_built_in(file, base));
                let home = query.index.symbols.get(parent).file;
                // Objects of languages with prototypes are extensions, too.
                query.index.ancestry.extended_by(home, parent).is_none() && (is_named || !file.rules.prototypes)
            }
            kind => is_class(kind) && file.rules.open_classes && file.rules.builtins.contains(&owner.name),
        }
    }

    /// Returns whether an expression is the prototype of a class of the language: `String.prototype`.
    fn is_built_in(&self, file: &FileEntry, expr: ExprId) -> bool {
        let Expr::Attribute { base, name } = *file.expr(expr) else { return false };
        let is_known = |&class: &Name| file.rules.builtins.contains(&file.sym(class));
        file.text(name) == "prototype" && matches!(file.expr(base), Expr::Name(class) if is_known(class))
    }

    /// Returns the only function with a name that fits.
    pub(super) fn unique_function(&self, name: Sym, fits: impl Fn(&Outline) -> bool) -> Option<Value> {
        let [only] = self.candidates(name)?[..] else { return None };
        let (file, definition) = self.query.definition(only);
        let parent = file.outline(definition.parent).kind;
        let is_top = definition.parent == 0 || parent == Kind::Namespace;
        (is_top && fits(definition)).then(|| Value::new(Entity::Definition(only), Strategy::UniqueName))
    }

    /// Returns the callables of this family with a name, or `None` if the name is not distinctive: too short, common,
    /// or also that of a field. Definitions in tests do not concern other code.
    fn candidates(&self, name: Sym) -> Option<Vec<SymbolId>> {
        let query = self.query;
        let text = query.text(name);
        if text.len() < MIN_UNIQUE_NAME
            || text.starts_with("__")
            || query.file.rules.common_methods.contains(&name)
            || query.file.rules.builtins.contains(&name)
        {
            return None;
        }
        let named = query.named(name);
        if named.len() > MAX_NAMED {
            return None;
        }
        let mut found: Vec<SymbolId> = Vec::new();
        for &symbol in named {
            if query.index.symbols.get(symbol).def == FILE_NODE {
                continue;
            }
            let (file, definition) = query.definition(symbol);
            if file.rules.family != query.file.rules.family || (file.is_test && !query.file.is_test) {
                continue;
            }
            if definition.kind == Kind::Field {
                return None;
            }
            let symbol = query.canonical(symbol);
            if is_callable(definition.kind) && !found.contains(&symbol) {
                found.push(symbol);
            }
        }
        Some(found)
    }

    /// Returns the method that all others of the list override, if there is one.
    pub(super) fn override_root(&self, named: &[SymbolId]) -> Option<SymbolId> {
        let owners: Vec<SymbolId> = named.iter().map(|&symbol| self.owner_class(symbol)).collect::<Option<_>>()?;
        let is_root = |root: SymbolId| {
            let root = Entity::Definition(root);
            owners.iter().all(|&owner| Entity::Definition(owner) == root || self.query.ancestors(owner).contains(&root))
        };
        let at = owners.iter().position(|&owner| is_root(owner))?;
        // Two definitions in one class are not told apart.
        (owners.iter().filter(|&&owner| owner == owners[at]).count() == 1).then(|| named[at])
    }

    /// Returns the class of a method, also of one that an extension adds.
    pub(super) fn owner_class(&self, method: SymbolId) -> Option<SymbolId> {
        let query = self.query;
        let (file, definition) = query.definition(method);
        let parent: DefId = definition.parent;
        let symbol = file.symbols[parent as usize];
        match file.outline(parent).kind {
            // Members of a local object do not concern other code.
            Kind::Extension if file.rules.prototypes && file.outline(parent).flags & flags::EXPORTED == 0 => None,
            Kind::Extension => {
                query.index.ancestry.extended_by(query.index.symbols.get(symbol).file, symbol).or(Some(symbol))
            }
            kind => is_class(kind).then_some(symbol),
        }
    }
}

/// Returns whether a file only declares what code elsewhere defines.
fn is_declarations(file: &FileEntry) -> bool {
    DECLARATIONS.iter().any(|ending| file.path.ends_with(*ending))
}
