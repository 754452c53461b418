//! Resolves the module-level names of any file: definitions, imports (followed through re-exports), star imports,
//! aliases and submodules.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::file_entry::{Bound, FileEntry, NameEntry, is_class};
use crate::project::index::Container;
use crate::project::names::{FILE_NODE, FileId, Sym, SymbolId};
use crate::project::paths::folder_of;
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{DefId, Expr, ExprId, ImportKind, Kind, Name};
use atlas_languages::ModuleRule;

/// Largest number of aliases that are followed.
const MAX_CHAIN: u32 = 24;
/// Largest number of definitions with the name of a package that are examined.
const MAX_AMBIENT: usize = 16;

impl Query<'_> {
    /// Returns a member of a module, folder, package, class or external name, without instances.
    pub fn member_of_module_like(&self, entity: Entity, name: Sym) -> Values {
        match entity {
            Entity::Definition(symbol) => match self.kind(symbol) {
                Kind::Module => self.module_member(symbol, name),
                Kind::Namespace => {
                    let (file, entries) = self.entries(symbol, name);
                    // The namespace continues in other files.
                    if entries.is_empty() && file.scope_rule == atlas_facts::ScopeRule::Declared {
                        return self.member_of_module_like(Entity::Package(self.index.qualified_name(symbol)), name);
                    }
                    let id = self.index.symbols.get(file.file_symbol).file;
                    self.bound_values(id, symbol, entries)
                }
                kind if is_class(kind) || self.is_object(kind) => {
                    self.class_member(symbol, name, Strategy::ClassAttribute)
                }
                _ => Values::new(),
            },
            Entity::Folder(folder) if self.file.rules.module_rule == ModuleRule::Folders => {
                let found = self.shared(Container::Folder(folder), name).first();
                found.map(|&symbol| Value::new(Entity::Definition(symbol), Strategy::Import)).into_iter().collect()
            }
            Entity::Folder(folder) => {
                let found = self.submodule(&self.file.rules, self.text(folder), self.text(name));
                found.map(|entity| Value::new(entity, Strategy::Import)).into_iter().collect()
            }
            Entity::Package(package) => {
                let found = self.package_member(package, name);
                found.map(|entity| Value::new(entity, Strategy::Import)).into_iter().collect()
            }
            Entity::External(external) => {
                let member = self.index.externals.member(&self.index.strings, external, self.text(name));
                smallvec![Value::new(Entity::External(member), Strategy::Import)]
            }
            _ => Values::new(),
        }
    }

    /// Returns the values of a name at the top level of a module: its own, an import, a star import, or a submodule.
    pub fn module_member(&self, module: SymbolId, name: Sym) -> Values {
        let (file, entries) = self.entries(module, name);
        let id = self.index.symbols.get(module).file;
        let own = self.bound_member(module, name);
        if !own.is_empty() {
            return own;
        }
        if entries.is_empty()
            && let Some(values) = self.starred_name(id, module, name)
        {
            return values;
        }
        self.member_below(file, name)
    }

    /// Returns the values of a name at the top level of a module by its own definitions and imports, without star
    /// imports.
    pub(super) fn bound_member(&self, module: SymbolId, name: Sym) -> Values {
        let exported = self.exported_member(module, name);
        if !exported.is_empty() {
            return exported;
        }
        let (_, entries) = self.entries(module, name);
        self.bound_values(self.index.symbols.get(module).file, module, entries)
    }

    /// Returns the submodule of a name that a module has by its file.
    pub(super) fn member_below(&self, file: &FileEntry, name: Sym) -> Values {
        let below = match file.rules.module_rule {
            ModuleRule::Packages if file.rules.is_package_file(&file.path) => {
                self.submodule(&file.rules, folder_of(&file.path), self.text(name))
            }
            ModuleRule::Tree => self.tree_child(file, self.text(name)),
            _ => None,
        };
        below.map(|entity| Value::new(entity, Strategy::Import)).into_iter().collect()
    }

    /// Returns the values of a name's bindings in a module, class or namespace of any file.
    /// `import` is the rule for definitions there, `re-export` for imports of the scope.
    pub fn bound_values(&self, file: FileId, scope: SymbolId, entries: &[NameEntry]) -> Values {
        let entry = self.index.file(file);
        let chosen = self.chosen_by_use(entry, entries);
        let own = chosen.first().copied();
        // `try: from x import name` with `name = None` in the other branch: the import takes precedence over the
        // constant.
        let is_import = own.is_some_and(|def| entry.outline(def).kind == Kind::Constant) && has_import(entries);
        let defined = chosen.iter().map(|&def| self.canonical(entry.symbols[def as usize]));
        let own: Values = defined.map(|symbol| Value::new(Entity::Definition(symbol), Strategy::Import)).collect();
        if !own.is_empty() && !is_import {
            return own;
        }
        for named in entries {
            if let Bound::Import(import) = named.bound {
                let values = self.follow_import(file, import);
                if !values.is_empty() {
                    return if file == self.home {
                        values
                    } else {
                        relabel(values, Strategy::Import, Strategy::ReExport, |value| {
                            !matches!(value.entity, Entity::External(_))
                        })
                    };
                }
            }
        }
        if !own.is_empty() {
            return own;
        }
        let mut values = Values::new();
        for named in entries {
            if let Bound::Binding(binding) = named.bound
                && let Some(value) = self.own_value(entry, binding, named.scope)
            {
                merge(&mut values, self.follow_path(file, value));
            }
        }
        if let Some(named) = entries.first().filter(|_| values.is_empty()) {
            values = self.variable(scope, named.name);
        }
        values
    }

    /// Returns the value of a binding, unless another scope binds the name: a function with names of its own.
    fn own_value(&self, file: &FileEntry, binding: u32, scope: DefId) -> Option<ExprId> {
        let binding = &file.facts().bindings[binding as usize];
        binding.value.filter(|_| binding.scope == scope || file.rules.prototypes)
    }

    /// Returns the definition of which a constant of any file is an alias: `Alias = other.path`.
    pub fn aliased(&self, constant: SymbolId) -> Values {
        let (file, definition) = self.definition(constant);
        let id = self.index.symbols.get(constant).file;
        let (_, entries) = self.entries(file.symbols[definition.parent as usize], definition.name);
        let mut values = Values::new();
        for entry in entries {
            if let Bound::Binding(binding) = entry.bound
                && let Some(value) = self.own_value(file, binding, entry.scope)
            {
                merge(&mut values, self.follow_path(id, value));
            }
        }
        values
    }

    /// Returns the values of a name through imports only: the meaning of a class's base with the name of the class.
    pub fn imported_in(&self, scope: DefId, name: Sym) -> Values {
        let entries = self.file.entries(scope, name).iter();
        let imports = entries.filter_map(|entry| match entry.bound {
            Bound::Import(import) => Some(import),
            _ => None,
        });
        imports.flat_map(|import| self.follow_import(self.home, import)).collect()
    }

    /// Returns what an import binds; [`Entity::Missing`] if its module should be in the project and is not.
    pub fn follow_import(&self, file: FileId, import: u32) -> Values {
        let key = (file, import, self.in_type.get());
        let follow = || self.following.enter((file, import), || self.import_values(file, import)).unwrap_or_default();
        self.following.look_up(&self.following.imports, key, Some(Values::new()), follow)
    }

    fn import_values(&self, file: FileId, import: u32) -> Values {
        let entry = self.index.file(file);
        let import = &entry.facts().imports[import as usize];
        let Some(member) = import.member else {
            let module = self.bound_module(file, entry, import);
            let returned = self.returned_by(module);
            return if returned.is_empty() { smallvec![Value::new(module, Strategy::Import)] } else { returned };
        };
        if entry.rules.sees_facades {
            let functions = self.facade_import(entry.text(import.module), entry.sym(member));
            if !functions.is_empty() {
                return functions;
            }
        }
        let module = self.module_of(file, import);
        if module == Entity::Missing {
            return smallvec![Value::new(Entity::Missing, Strategy::Import)];
        }
        if let Entity::External(_) = module
            && let Some(mut declared) = self.ambient_member(entry, import.module, member)
        {
            // The package remains what is imported.
            merge(&mut declared, self.member_of_module_like(module, entry.sym(member)));
            return declared;
        }
        let mut found = self.member_of_module_like(module, entry.sym(member));
        if found.is_empty() && matches!(module, Entity::Folder(_)) && entry.rules.module_rule == ModuleRule::Packages {
            // Folders below several roots may be parts of one package.
            let dotted = format!("{}.{}", entry.text(import.module), entry.text(member));
            let part = (import.level == 0).then(|| self.package_absolute(file, entry, &dotted)).flatten();
            found.extend(part.map(|(_, part)| Value::new(part, Strategy::Import)));
        }
        if found.is_empty() && import.kind == ImportKind::Default { self.returned_by(module) } else { found }
    }

    /// Returns what the only `declare module "name" { ... }` of the project says about a member of another package.
    fn ambient_member(&self, entry: &FileEntry, module: Name, member: Name) -> Option<Values> {
        if !entry.rules.prototypes {
            return None;
        }
        let named = self.named(self.index.strings.find(entry.text(module))?);
        let is_ambient = |symbol: &&SymbolId| {
            let place = self.index.symbols.get(**symbol);
            let (file, definition) = self.definition(**symbol);
            place.def != FILE_NODE && definition.kind == Kind::Namespace && file.path.ends_with(".d.ts")
        };
        let mut found = named.iter().take(MAX_AMBIENT).filter(is_ambient);
        let only = found.next().filter(|_| found.next().is_none())?;
        let members = self.member_of_module_like(Entity::Definition(*only), entry.sym(member));
        (!members.is_empty()).then_some(members)
    }

    /// Returns the value that a file declares as its module (Lua's `return M`); none if it is the file itself.
    pub(super) fn returned_by(&self, module: Entity) -> Values {
        let Entity::Definition(symbol) = module else { return Values::new() };
        let (file, definition) = self.definition(symbol);
        if definition.kind != Kind::Module || !file.is_value {
            return Values::new();
        }
        let value = file.def(0).bases[0];
        let values = self.follow_path(self.index.symbols.get(symbol).file, value).into_iter();
        let values = values.filter(|value| matches!(value.entity, Entity::Definition(_) | Entity::External(_)));
        values.map(|value| Value { via: Strategy::Import, ..value }).collect()
    }

    /// Returns the module that an import binds. For `import a.b` without another name, some languages bind the first
    /// part.
    fn bound_module(&self, file: FileId, entry: &FileEntry, import: &atlas_facts::Import) -> Entity {
        if entry.rules.modules.binds_first && import.level == 0 {
            let module = entry.text(import.module);
            if let Some((first, _)) = module.split_once('.')
                && import.alias.is_some_and(|alias| entry.text(alias) == first)
            {
                return match self.package_absolute(file, entry, module) {
                    Some((root, _)) => self.submodule(&entry.rules, &root, first).unwrap_or(Entity::Missing),
                    None => match self.package_absolute(file, entry, first) {
                        Some((_, entity)) => entity,
                        None => self.external(first, '.'),
                    },
                };
            }
        }
        self.module_of(file, import)
    }

    /// Resolves the path in `name = other.path` at the top level of a module or class of any file.
    pub(crate) fn follow_path(&self, file: FileId, expr: ExprId) -> Values {
        if *self.depth.borrow() >= MAX_CHAIN {
            return Values::new();
        }
        *self.depth.borrow_mut() += 1;
        let entry = self.index.file(file);
        let values = match *entry.expr(expr) {
            Expr::Name(name) | Expr::Scope(name) => {
                let module = self.module_symbol(file);
                let (_, entries) = self.entries(module, entry.sym(name));
                self.bound_values(file, module, entries)
            }
            Expr::Attribute { base, name } if entry.rules.prototypes && entry.text(name) == "prototype" => {
                self.follow_path(file, base)
            }
            Expr::Lambda(def) if entry.is_node(def) => {
                smallvec![Value::new(Entity::Definition(entry.symbols[def as usize]), Strategy::Alias)]
            }
            Expr::Attribute { base, name } => {
                let bases = self.follow_path(file, base);
                let name = entry.sym(name);
                bases.into_iter().flat_map(|value| self.member_of_module_like(value.entity, name)).collect()
            }
            _ => Values::new(),
        };
        *self.depth.borrow_mut() -= 1;
        let is_followed =
            |value: &Value| matches!(value.entity, Entity::Definition(_) | Entity::External(_) | Entity::Builtin(_));
        values.into_iter().filter(is_followed).map(|value| Value::new(value.entity, Strategy::Alias)).collect()
    }
}

fn has_import(entries: &[NameEntry]) -> bool {
    entries.iter().any(|entry| matches!(entry.bound, Bound::Import(_)))
}

/// Returns the values for which `applies` holds, with another rule.
pub fn relabel(values: Values, from: Strategy, to: Strategy, applies: impl Fn(&Value) -> bool) -> Values {
    let change = |value: Value| {
        if value.via == from && applies(&value) { Value { via: to, ..value } } else { value }
    };
    values.into_iter().map(change).collect()
}
