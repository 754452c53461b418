//! The module rule `declared`: packages and namespaces that files declare, by dotted name.

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values};
use crate::project::file_entry::{FileEntry, is_class};
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_languages::{ExternalName, OuterPackages};

impl Query<'_> {
    /// Resolves `a.b.C`: the longest declared package, then members; else an external name.
    pub fn declared_module(&self, entry: &FileEntry, written: &str) -> Entity {
        let name = written.trim_start_matches(['\\', ':']).replace("::", ".").replace(['\\', '/'], ".");
        if let Some(symbol) = entry.rules.modules.whole_names.then(|| self.whole_module(entry, &name)).flatten() {
            return Entity::Definition(symbol);
        }
        if let Some(found) = self.relative_module(entry, &name) {
            return found;
        }
        let mut end = name.len();
        loop {
            if let Some(package) = self.package(&name[..end]) {
                let rest = name[end..].split('.').filter(|part| !part.is_empty());
                let mut entity = Entity::Package(package);
                for part in rest {
                    entity = self.module_like_member(entity, part);
                }
                return entity;
            }
            match name[..end].rfind('.') {
                Some(dot) => end = dot,
                None => break,
            }
        }
        self.external_declared(entry.rules.modules.external, &name)
    }

    /// Resolves a name whose first part is a package or member of the file's own package, or of an enclosing one.
    fn relative_module(&self, entry: &FileEntry, name: &str) -> Option<Entity> {
        if entry.rules.modules.outer != OuterPackages::Parents {
            return None;
        }
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let place = (entry.module, self.known(first));
        let known = self.relative_names.borrow().get(&place).copied();
        let found = known.unwrap_or_else(|| {
            let found = self.relative_name(place);
            self.relative_names.borrow_mut().insert(place, found);
            found
        })?;
        let parts = rest.split('.').filter(|part| !part.is_empty());
        Some(parts.fold(found, |entity, part| self.module_like_member(entity, part)))
    }

    /// Returns what a name means in a package, or in one around it.
    fn relative_name(&self, (package, name): (Sym, Sym)) -> Option<Entity> {
        let module = self.text(package);
        let ends = module.match_indices('.').map(|(at, _)| at).chain([module.len()]);
        let around: Vec<&str> = ends.map(|end| &module[..end]).filter(|package| !package.is_empty()).collect();
        let mut around = around.into_iter().rev();
        around.find_map(|package| self.package(package).and_then(|package| self.package_member(package, name)))
    }

    fn external_declared(&self, external: ExternalName, name: &str) -> Entity {
        let is_type = |part: &str| part.starts_with(char::is_uppercase);
        let parts: Vec<&str> = name.split('.').collect();
        let packages = match external {
            ExternalName::UntilType => parts.iter().position(|part| is_type(part)).unwrap_or(parts.len()),
            ExternalName::Whole => parts.len(),
            ExternalName::First => 1,
            ExternalName::None => return Entity::Missing,
        };
        let package = parts[..packages].join(".");
        if package.is_empty() {
            return Entity::Missing;
        }
        let strings = &self.index.strings;
        let rest = strings.intern(&parts[packages..].join("."));
        Entity::External(self.index.externals.intern(strings.intern(&package), rest))
    }

    /// Returns the module of a whole dotted name.
    fn whole_module(&self, entry: &FileEntry, name: &str) -> Option<SymbolId> {
        let symbol = self.owner(self.index.strings.intern(name))?;
        let (file, definition) = self.definition(symbol);
        (file.rules.family == entry.rules.family && is_class(definition.kind)).then_some(symbol)
    }

    /// Resolves a capitalized name in languages that name modules by their whole names: it has the same meaning
    /// everywhere.
    pub fn whole_name(&self, name: Sym) -> Option<Values> {
        let entity = match self.whole_module(self.file, self.text(name)) {
            Some(symbol) => Entity::Definition(symbol),
            None if self.file.rules.builtins.contains(&name) => Entity::Builtin(name),
            None => self.external_declared(self.file.rules.modules.external, self.text(name)),
        };
        Some(smallvec![Value::new(entity, Strategy::Import)])
    }

    /// Resolves a name with the global prefix, which is never relative to a namespace or import.
    pub fn global_name(&self, name: &str) -> Option<Values> {
        let known = self.known(name);
        let found = self.of_nearest_project(self.shared_in_package(EMPTY, known));
        let entity = match found {
            Some(symbol) => Entity::Definition(self.canonical(symbol)),
            None => match self.package(name) {
                Some(package) => Entity::Package(package),
                None if self.file.rules.builtins.contains(&known) => Entity::Builtin(known),
                None => self.external(name, '.'),
            },
        };
        Some(smallvec![Value::new(entity, Strategy::Import)])
    }

    /// Returns a member or sub-package of a declared package.
    pub fn package_member(&self, package: Sym, name: Sym) -> Option<Entity> {
        if let Some(symbol) = self.of_nearest_project(self.shared_in_package(package, name)) {
            return Some(Entity::Definition(self.canonical(symbol)));
        }
        let below = format!("{}.{}", self.text(package), self.text(name));
        if let Some(below) = self.package(&below) {
            return Some(Entity::Package(below));
        }
        if !self.file.rules.extension_functions {
            return None;
        }
        self.extensions_in(self.text(package), name).first().map(|&symbol| Entity::Definition(symbol))
    }
}
