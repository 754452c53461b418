//! Resolves the written module of an import to a module, folder, package or external name: one file per rule of
//! `[modules]`.

mod aliases;
mod declared;
mod folders;
mod packages;
pub mod paths;
mod tree;

use crate::entity::Entity;
use crate::project::file_entry::FileEntry;
use crate::project::names::{EMPTY, ExternalId, FileId, Sym};
use crate::project::paths::{folder_of, join, normalised, shared_prefix};
use crate::project::query::Query;
use atlas_facts::{Import, ImportKind};
use atlas_languages::{IncludedName, ModuleRule};

impl Query<'_> {
    /// Returns the module of an import; [`Entity::Missing`] if it should be in the project and is not.
    pub fn module_of(&self, file: FileId, import: &Import) -> Entity {
        let entry = self.index.file(file);
        // Several names from one module are several imports.
        let place = (file, entry.sym(import.module), import.level, import.kind as u8);
        let find = || self.find_module(file, entry, import);
        self.following.look_up(&self.following.modules, place, None, find)
    }

    fn find_module(&self, file: FileId, entry: &FileEntry, import: &Import) -> Entity {
        let module = entry.text(import.module);
        if import.kind == ImportKind::Include {
            return self.included_file(entry, module);
        }
        match entry.rules.module_rule {
            ModuleRule::Packages if import.level > 0 => self.package_relative(entry, module, import.level),
            ModuleRule::Packages => {
                let found = self.package_absolute(file, entry, module).map(|(_, entity)| entity);
                let found = found.or_else(|| self.package_anywhere(&entry.rules, module));
                found.unwrap_or_else(|| self.external(module, '.'))
            }
            ModuleRule::Paths => self.path_module(file, entry, module),
            ModuleRule::Folders => self.folder_module(entry, module),
            ModuleRule::Tree => self.tree_module(file, module, import.level),
            ModuleRule::Declared => self.declared_module(entry, module),
            ModuleRule::None => Entity::Missing,
        }
    }

    /// Returns a file included by its path: relative to the including file, else by path suffix, nearest first.
    fn included_file(&self, entry: &FileEntry, written: &str) -> Entity {
        let folder = folder_of(&entry.path);
        for ending in &entry.rules.includes.endings {
            let name = format!("{written}{ending}");
            let relative = normalised(folder, &name);
            if let Some(found) = relative.and_then(|path| self.file_at(&path)) {
                return Entity::Definition(self.module_symbol(found));
            }
            let suffix = name.trim_start_matches(['.', '/']);
            let candidates = self.files_ending_in(suffix);
            let nearest = candidates.into_iter().max_by_key(|&id| {
                let path = &self.index.file(id).path;
                (shared_prefix(path, &entry.path), std::cmp::Reverse(path))
            });
            if let Some(found) = nearest {
                return Entity::Definition(self.module_symbol(found));
            }
        }
        if written.starts_with('.') {
            return Entity::Missing;
        }
        match entry.rules.includes.external {
            IncludedName::Whole => {
                Entity::External(self.index.externals.intern(self.index.strings.intern(written), EMPTY))
            }
            IncludedName::First => self.external(written, '/'),
        }
    }

    /// Returns `a.b.c` as external package `a` and name `b.c`.
    pub fn external(&self, name: &str, separator: char) -> Entity {
        let (package, rest) = name.split_once(separator).unwrap_or((name, ""));
        if package.is_empty() {
            return Entity::Missing;
        }
        let rest = rest.replace(separator, ".");
        let strings = &self.index.strings;
        Entity::External(self.index.externals.intern(strings.intern(package), strings.intern(&rest)))
    }

    /// Returns the external name of a built-in, or `None` if the language gives its built-ins no package.
    pub fn external_builtin(&self, name: Sym) -> Option<ExternalId> {
        let package = self.file.rules.builtin_package;
        if package == EMPTY || name == EMPTY {
            return None;
        }
        // `std::exception` names the package, `Exception` does not.
        let member = self.text(name).strip_prefix(self.text(package)).and_then(|rest| rest.strip_prefix('.'));
        let name = member.map_or(name, |member| self.index.strings.intern(member));
        Some(self.index.externals.intern(package, name))
    }

    /// Returns the first of the given files that a folder of the project has.
    fn module_file(&self, folder: &str, names: &[String]) -> Option<Entity> {
        let found = names.iter().find_map(|name| self.file_at(&join(folder, name)))?;
        Some(Entity::Definition(self.module_symbol(found)))
    }

    /// Returns a member of a module, by its name.
    fn module_like_member(&self, module: Entity, name: &str) -> Entity {
        let sym = self.index.strings.intern(name);
        let found = self.member_of_module_like(module, sym);
        found.first().map_or(Entity::Missing, |value| value.entity)
    }
}
