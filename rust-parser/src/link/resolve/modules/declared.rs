//! The rule `declared`: packages and namespaces that files declare, by dotted name.

use smallvec::smallvec;

use crate::language_data::ExternalName;
use crate::link::entity::{Entity, Value, Values};
use crate::link::project::file_entry::FileEntry;
use crate::link::project::index::Container;
use crate::link::project::names::{EMPTY, Sym};
use crate::link::project::query::Query;
use crate::link::strategy::Strategy;

impl Query<'_> {
    /// `a.b.C`: the longest declared package, then members; else an external name.
    pub fn declared_module(&self, entry: &FileEntry, written: &str) -> Entity {
        let name = written.trim_start_matches(['\\', ':']).replace("::", ".").replace(['\\', '/'], ".");
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

    /// A name with the global prefix: never relative to a namespace or an import.
    pub fn global_name(&self, name: &str) -> Option<Values> {
        let known = self.known(name);
        let found = self.shared(Container::Package(EMPTY), known).first();
        let entity = match found {
            Some(&symbol) => Entity::Definition(self.canonical(symbol)),
            None => match self.package(name) {
                Some(package) => Entity::Package(package),
                None if self.file.rules.builtins.contains(&known) => Entity::Builtin(known),
                None => self.external(name, '.'),
            },
        };
        Some(smallvec![Value::new(entity, Strategy::Import)])
    }

    /// A member or sub-package of a declared package.
    pub fn package_member(&self, package: Sym, name: Sym) -> Option<Entity> {
        if let Some(&symbol) = self.shared(Container::Package(package), name).first() {
            return Some(Entity::Definition(self.canonical(symbol)));
        }
        let below = format!("{}.{}", self.text(package), self.text(name));
        self.package(&below).map(Entity::Package)
    }
}
