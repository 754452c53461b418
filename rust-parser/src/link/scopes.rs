//! What a bare name means: local scopes, the module, its imports (followed through re-exports), star imports, shared scopes.

use std::rc::Rc;

use super::file::{Bound, FileEntry, NameEntry, folder_of, is_class};
use super::index::Container;
use super::modules::package_folder;
use super::names::{EMPTY, FileId, Sym, SymbolId};
use super::rules::Family;
use super::strategy::{Strategy, Value, Values, What, merge};
use super::view::View;
use crate::facts::{BindingKind, DefId, Expr, ExprId, ImportKind, Kind, flags};

/// Re-exports, star imports and aliases followed in a row.
const MAX_CHAIN: u32 = 24;

impl View<'_> {
    /// Possible meanings of a bare name, seen from a scope of this file at a line; None when nothing binds it.
    pub fn resolve_name(&self, scope: DefId, name: Sym, line: u32) -> Option<Values> {
        if self.file.family == Family::Php
            && let Some(global) = self.text(name).strip_prefix('\\')
        {
            return self.php_global(global);
        }
        let mut here = scope;
        while here != 0 {
            let kind = self.file.def(here).kind;
            if is_class(kind) || kind == Kind::Extension {
                if let Some(values) = self.name_in_class(scope, here, name) {
                    return Some(values);
                }
            } else {
                let entries = self.file.entries(here, name);
                if !entries.is_empty() && !self.is_outer(entries) {
                    return Some(self.local_values(here, entries, line));
                }
            }
            here = self.file.def(here).parent;
        }
        self.resolve_module_name(scope, name)
    }

    /// A class's names are visible in its own body; in its methods only where `this` is implied.
    fn name_in_class(&self, scope: DefId, class: DefId, name: Sym) -> Option<Values> {
        let entries = self.file.entries(class, name);
        if scope == class && self.file.def(class).kind != Kind::Extension {
            let own = entries.iter().any(|entry| !self.is_instance_only(entry));
            return own.then(|| self.local_values(class, entries, u32::MAX));
        }
        if !self.file.family.has_implicit_this() {
            return None;
        }
        let symbol = self.class_of(scope)?;
        let values = self.class_member(symbol, name, Strategy::This);
        if let Some(class) = values.iter().find_map(|value| self.constructed_by(value)) {
            return Some(vec![Value::new(What::Definition(class), Strategy::Local)]);
        }
        let is_found = values.iter().any(|value| matches!(value.what, What::Definition(_) | What::Instance(_)));
        (is_found || !entries.is_empty()).then_some(values)
    }

    /// Bound as `self.x`, which the body of the class does not see.
    fn is_instance_only(&self, entry: &NameEntry) -> bool {
        match entry.bound {
            Bound::Binding(binding) => {
                let target = self.file.facts.bindings[binding as usize].target;
                matches!(self.file.expr(target), Expr::Attribute { .. })
            }
            _ => false,
        }
    }

    /// `global x`, `nonlocal x`.
    fn is_outer(&self, entries: &[NameEntry]) -> bool {
        entries.iter().any(|entry| match entry.bound {
            Bound::Binding(binding) => self.file.facts.bindings[binding as usize].kind == BindingKind::Outer,
            _ => false,
        })
    }

    fn resolve_module_name(&self, scope: DefId, name: Sym) -> Option<Values> {
        // Namespaces and usings around the scope matter only where packages are declared.
        let is_plain = self.file.facts.scope_rule != crate::facts::ScopeRule::Declared;
        if is_plain && let Some(known) = self.module_names.borrow().get(&name) {
            return (!known.is_empty()).then(|| known.as_ref().clone());
        }
        let found = self.find_module_name(scope, name);
        if is_plain {
            // An empty list is kept for "nothing binds it"; bound but unknown names are looked up again.
            match &found {
                Some(values) if values.is_empty() => {}
                values => {
                    let kept = values.clone().unwrap_or_default();
                    self.module_names.borrow_mut().insert(name, Rc::new(kept));
                }
            }
        }
        found
    }

    fn find_module_name(&self, scope: DefId, name: Sym) -> Option<Values> {
        let module = *self.file.symbols.first()?;
        let entries = self.file.entries(0, name);
        if !entries.is_empty() {
            let values = self.bound_values(self.home, module, entries);
            return Some(relabel(
                values,
                Strategy::Import,
                Strategy::SameModule,
                |value| matches!(value.what, What::Definition(symbol) if self.index.symbols.get(symbol).file == self.home),
            ));
        }
        if let Some(values) = self.shared_name(scope, name) {
            return Some(values);
        }
        if let Some(values) = self.starred_name(self.home, module, name) {
            return Some(values);
        }
        if self.file.family == Family::Rust
            && let Some(values) = self.rust_path_start(name)
        {
            return Some(values);
        }
        if self.index.rules.is_builtin(self.file.family, name) {
            return Some(vec![Value::new(What::Builtin(name), Strategy::Local)]);
        }
        None
    }

    /// Names of the same Go package, Java or PHP package, C++ or Ruby namespace, or C globals.
    fn shared_name(&self, scope: DefId, name: Sym) -> Option<Values> {
        match self.file.facts.scope_rule {
            crate::facts::ScopeRule::Directory => {
                let folder = self.known(folder_of(&self.file.facts.path));
                let found = self.shared(Container::Folder(folder), name).first()?;
                Some(vec![Value::new(What::Definition(*found), Strategy::SamePackage)])
            }
            crate::facts::ScopeRule::Declared => {
                let around = self.packages_around(scope);
                let found = around.into_iter().find_map(|package| self.shared_in_package(package, name));
                found.or_else(|| {
                    // The first part of `com.example.Type`.
                    let text = self.text(name);
                    self.package(text).map(|package| vec![Value::new(What::Package(package), Strategy::SamePackage)])
                })
            }
            _ => None,
        }
    }

    /// Innermost first: namespaces around a scope, the declared package and its parents, the global scope.
    fn packages_around(&self, scope: DefId) -> Vec<Sym> {
        let mut packages = Vec::new();
        let mut here = scope;
        while here != 0 {
            if self.file.def(here).kind == Kind::Namespace {
                packages.push(self.file.qualified_names[here as usize]);
            }
            here = self.file.def(here).parent;
        }
        packages.push(self.file.module);
        let has_parents = matches!(self.file.family, Family::CSharp | Family::C | Family::Ruby);
        if has_parents {
            let module = self.text(self.file.module);
            let dots = module.match_indices('.').map(|(at, _)| at).collect::<Vec<_>>();
            packages.extend(dots.into_iter().rev().filter_map(|at| self.index.strings.find(&module[..at])));
            packages.push(EMPTY);
        } else if self.file.family == Family::Php {
            packages.push(EMPTY);
        }
        packages.dedup();
        packages
    }

    fn shared_in_package(&self, package: Sym, name: Sym) -> Option<Values> {
        let found = self.shared(Container::Package(package), name);
        if self.file.family == Family::C {
            return self.visible_global(found);
        }
        let via = if package == self.file.module { Strategy::SamePackage } else { Strategy::Inherited };
        let via = if via == Strategy::Inherited { Strategy::SamePackage } else { via };
        found.first().map(|&symbol| vec![Value::new(What::Definition(self.canonical(symbol)), via)])
    }

    /// A C or C++ name of another file: declared in an included header, or defined exactly once and not `static`.
    fn visible_global(&self, found: &[SymbolId]) -> Option<Values> {
        if found.is_empty() {
            return None;
        }
        let included = self.included_files();
        let file_of = |symbol: SymbolId| self.index.symbols.get(symbol).file;
        if let Some(&symbol) = found.iter().find(|&&symbol| included.contains(&file_of(symbol))) {
            return Some(vec![Value::new(What::Definition(self.canonical(symbol)), Strategy::Include)]);
        }
        let mut real: Vec<SymbolId> = Vec::new();
        for &symbol in found {
            let symbol = self.canonical(symbol);
            let is_private = self.definition(symbol).1.flags & flags::STATIC != 0;
            if !is_private && !real.contains(&symbol) {
                real.push(symbol);
            }
        }
        match real[..] {
            [only] => Some(vec![Value::new(What::Definition(only), Strategy::UniqueName)]),
            [] => None,
            _ => Some(vec![Value::new(What::Missing, Strategy::UniqueName)]),
        }
    }

    /// Files that this file includes, directly or not, in the order in which they are reached.
    fn included_files(&self) -> Rc<Vec<FileId>> {
        if let Some(known) = self.included.borrow().as_ref() {
            return known.clone();
        }
        let mut files = vec![self.home];
        let mut next = 0;
        while next < files.len() && files.len() < 200 {
            let id = files[next];
            next += 1;
            let module = self.module_symbol(id);
            self.stars(module);
            let entry = self.index.file(id);
            for import in entry.facts.imports.iter().filter(|import| import.kind == ImportKind::Include) {
                if let What::Definition(symbol) = self.module_of(id, import) {
                    let file = self.index.symbols.get(symbol).file;
                    if !files.contains(&file) {
                        files.push(file);
                    }
                }
            }
        }
        let files = Rc::new(files);
        *self.included.borrow_mut() = Some(files.clone());
        files
    }

    /// A name that a star import of a module brings in.
    fn starred_name(&self, file: FileId, module: SymbolId, name: Sym) -> Option<Values> {
        let stars = self.stars(module);
        if stars.is_empty() || (self.index.file(file).family == Family::Python && self.text(name).starts_with('_')) {
            return None;
        }
        for import in stars {
            let place = (file, import);
            if self.following.borrow().contains(&place) || self.following.borrow().len() as u32 >= MAX_CHAIN {
                continue;
            }
            self.following.borrow_mut().push(place);
            let target = self.module_of(file, &self.index.file(file).facts.imports[import as usize]);
            let found = match target {
                What::External(_) => Vec::new(),
                target => self.member_of_module_like(target, name),
            };
            self.following.borrow_mut().pop();
            let found: Values = found.into_iter().filter(|value| value.what != What::Missing).collect();
            if !found.is_empty() {
                return Some(super::strategy::via(found, Strategy::StarImport));
            }
        }
        None
    }

    /// A member of a module, folder, package, class or external name, without looking at instances.
    pub fn member_of_module_like(&self, what: What, name: Sym) -> Values {
        match what {
            What::Definition(symbol) => match self.kind(symbol) {
                Kind::Module => self.module_member(symbol, name),
                Kind::Namespace => {
                    let (file, entries) = self.entries(symbol, name);
                    // The namespace goes on in other files.
                    if entries.is_empty() && file.facts.scope_rule == crate::facts::ScopeRule::Declared {
                        return self.member_of_module_like(What::Package(self.index.qualified_name(symbol)), name);
                    }
                    let id = self.index.symbols.get(file.file_symbol).file;
                    self.bound_values(id, symbol, entries)
                }
                kind if is_class(kind) => self.class_member(symbol, name, Strategy::ClassAttribute),
                _ => Vec::new(),
            },
            What::Folder(folder) if self.file.family == Family::Go => {
                let found = self.shared(Container::Folder(folder), name).first();
                found.map(|&symbol| Value::new(What::Definition(symbol), Strategy::Import)).into_iter().collect()
            }
            What::Folder(folder) => {
                let found = self.python_submodule(self.text(folder), self.text(name));
                found.map(|what| Value::new(what, Strategy::Import)).into_iter().collect()
            }
            What::Package(package) => {
                let found = self.package_member(package, name);
                found.map(|what| Value::new(what, Strategy::Import)).into_iter().collect()
            }
            What::External(external) => {
                let member = self.index.externals.member(&self.index.strings, external, self.text(name));
                vec![Value::new(What::External(member), Strategy::Import)]
            }
            _ => Vec::new(),
        }
    }

    /// A name at the top of a module: its own, an import, a star import, or a module below it.
    pub fn module_member(&self, module: SymbolId, name: Sym) -> Values {
        let (file, entries) = self.entries(module, name);
        let id = self.index.symbols.get(module).file;
        let mut values = self.bound_values(id, module, entries);
        if values.is_empty() && entries.is_empty() {
            values = self.starred_name(id, module, name).unwrap_or_default();
        }
        if !values.is_empty() {
            return values;
        }
        let below = match file.family {
            Family::Python => {
                package_folder(&file.facts.path).and_then(|folder| self.python_submodule(folder, self.text(name)))
            }
            Family::Rust => self.rust_child_file(&file.facts.path, self.text(name)),
            _ => None,
        };
        below.map(|what| Value::new(what, Strategy::Import)).into_iter().collect()
    }

    /// What the bindings of a name in a module, class or namespace (of any file) stand for.
    /// `import` marks what is defined there, `re-export` what the scope imports itself.
    pub fn bound_values(&self, file: FileId, scope: SymbolId, entries: &[NameEntry]) -> Values {
        let entry = self.index.file(file);
        let own = best_definition(entry, entries);
        // `try: from x import name` with `name = None` in the other branch: the import says more than the constant.
        let is_import = own.is_some_and(|def| entry.def(def).kind == Kind::Constant) && has_import(entries);
        let own =
            own.map(|def| Value::new(What::Definition(self.canonical(entry.symbols[def as usize])), Strategy::Import));
        if let Some(value) = own.filter(|_| !is_import) {
            return vec![value];
        }
        for named in entries {
            if let Bound::Import(import) = named.bound {
                let values = self.follow_import(file, import);
                if !values.is_empty() {
                    return if file == self.home {
                        values
                    } else {
                        relabel(values, Strategy::Import, Strategy::ReExport, |value| {
                            !matches!(value.what, What::External(_))
                        })
                    };
                }
            }
        }
        if let Some(value) = own {
            return vec![value];
        }
        let mut values = Vec::new();
        for named in entries {
            if let Bound::Binding(binding) = named.bound
                && let Some(value) = entry.facts.bindings[binding as usize].value
            {
                merge(&mut values, self.follow_path(file, value));
            }
        }
        if let Some(named) = entries.first().filter(|_| values.is_empty()) {
            values.extend_from_slice(self.variable(scope, named.name));
        }
        values
    }

    /// `Alias = other.path`: what a constant of any file is another name of.
    pub fn aliased(&self, constant: SymbolId) -> Values {
        let (file, definition) = self.definition(constant);
        let id = self.index.symbols.get(constant).file;
        let (_, entries) = self.entries(file.symbols[definition.parent as usize], file.sym(definition.name));
        let mut values = Vec::new();
        for entry in entries {
            if let Bound::Binding(binding) = entry.bound
                && let Some(value) = file.facts.bindings[binding as usize].value
            {
                merge(&mut values, self.follow_path(id, value));
            }
        }
        values
    }

    /// Bindings of a name through imports only: what a class's base of its own name means.
    pub fn imported_in(&self, scope: DefId, name: Sym) -> Values {
        let entries = self.file.entries(scope, name).iter();
        let imports = entries.filter_map(|entry| match entry.bound {
            Bound::Import(import) => Some(import),
            _ => None,
        });
        imports.flat_map(|import| self.follow_import(self.home, import)).collect()
    }

    /// What an import binds; [`What::Missing`] when its module should be in the project and is not.
    pub fn follow_import(&self, file: FileId, import: u32) -> Values {
        let place = (file, import);
        if self.following.borrow().contains(&place) || self.following.borrow().len() as u32 >= MAX_CHAIN {
            return Vec::new();
        }
        // What is found while other imports are being followed may be cut short by them: not remembered.
        let is_outermost = self.following.borrow().is_empty();
        if is_outermost && let Some(known) = self.imports.borrow().get(&place) {
            return known.as_ref().clone();
        }
        self.following.borrow_mut().push(place);
        let values = self.import_values(file, import);
        self.following.borrow_mut().pop();
        if is_outermost {
            self.imports.borrow_mut().insert(place, Rc::new(values.clone()));
        }
        values
    }

    fn import_values(&self, file: FileId, import: u32) -> Values {
        let entry = self.index.file(file);
        let import = &entry.facts.imports[import as usize];
        let Some(member) = import.member else {
            return vec![Value::new(self.bound_module(file, entry, import), Strategy::Import)];
        };
        let module = self.module_of(file, import);
        if module == What::Missing {
            return vec![Value::new(What::Missing, Strategy::Import)];
        }
        self.member_of_module_like(module, entry.sym(member))
    }

    /// The module that an import binds: for Python's `import a.b` without `as` the first part.
    fn bound_module(&self, file: FileId, entry: &FileEntry, import: &crate::facts::Import) -> What {
        if entry.family == Family::Python && import.level == 0 {
            let module = entry.text(import.module);
            if let Some((first, _)) = module.split_once('.')
                && import.alias.is_some_and(|alias| entry.text(alias) == first)
            {
                return match self.python_absolute(file, entry, module) {
                    Some((root, _)) => self.python_submodule(&root, first).unwrap_or(What::Missing),
                    None => match self.python_absolute(file, entry, first) {
                        Some((_, what)) => what,
                        None => self.external(first, '.'),
                    },
                };
            }
        }
        self.module_of(file, import)
    }

    /// `name = other.path` at the top of a module or class of any file: what the path means there.
    fn follow_path(&self, file: FileId, expr: ExprId) -> Values {
        if *self.depth.borrow() >= MAX_CHAIN {
            return Vec::new();
        }
        *self.depth.borrow_mut() += 1;
        let entry = self.index.file(file);
        let values = match *entry.expr(expr) {
            Expr::Name(name) => {
                let module = self.module_symbol(file);
                let (_, entries) = self.entries(module, entry.sym(name));
                self.bound_values(file, module, entries)
            }
            Expr::Attribute { base, name } => {
                let bases = self.follow_path(file, base);
                let name = entry.sym(name);
                bases.into_iter().flat_map(|value| self.member_of_module_like(value.what, name)).collect()
            }
            _ => Vec::new(),
        };
        *self.depth.borrow_mut() -= 1;
        let is_followed =
            |value: &Value| matches!(value.what, What::Definition(_) | What::External(_) | What::Builtin(_));
        values.into_iter().filter(is_followed).map(|value| Value::new(value.what, Strategy::Alias)).collect()
    }

    /// `crate`, `super`, `self`, a child module or another crate of the project at the start of a Rust path.
    fn rust_path_start(&self, name: Sym) -> Option<Values> {
        let text = self.text(name);
        let what = match text {
            "crate" => self.rust_crate_root(self.home),
            "self" => What::Definition(self.module_symbol(self.home)),
            "super" => self.rust_super(),
            _ => self.rust_child_file(&self.file.facts.path, text).or_else(|| self.rust_crate(text))?,
        };
        Some(vec![Value::new(what, Strategy::Import)])
    }
}

fn has_import(entries: &[NameEntry]) -> bool {
    entries.iter().any(|entry| matches!(entry.bound, Bound::Import(_)))
}

/// The definition a name stands for: the first with a body, else the first.
pub fn best_definition(file: &FileEntry, entries: &[NameEntry]) -> Option<DefId> {
    let defs = entries.iter().filter_map(|entry| match entry.bound {
        Bound::Definition(def) => Some(def),
        _ => None,
    });
    let is_bodiless = |def: &DefId| file.def(*def).flags & (flags::DECLARATION | flags::OVERLOAD) != 0;
    defs.clone().find(|def| !is_bodiless(def)).or_else(|| defs.clone().next())
}

fn relabel(values: Values, from: Strategy, to: Strategy, applies: impl Fn(&Value) -> bool) -> Values {
    let change = |value: Value| {
        if value.via == from && applies(&value) { Value { via: to, ..value } } else { value }
    };
    values.into_iter().map(change).collect()
}
