//! The module rule `paths`: relative paths; other names are packages by the name in their manifest.

use crate::entity::Entity;
use crate::project::file_entry::FileEntry;
use crate::project::names::FileId;
use crate::project::paths::{folder_of, join, normalised};
use crate::project::query::Query;
use crate::rules::LanguageRules;

impl Query<'_> {
    /// Resolves the module of an import by the rule `paths`.
    pub(super) fn path_module(&self, file: FileId, entry: &FileEntry, module: &str) -> Entity {
        if module.is_empty() {
            return Entity::Definition(self.module_symbol(file));
        }
        if module.starts_with('.') {
            let path = normalised(folder_of(&entry.path), module);
            let found = path.and_then(|path| self.source_file(&entry.rules, &path));
            return found.map_or(Entity::Missing, |found| Entity::Definition(self.module_symbol(found)));
        }
        match self.module_of_manifest(&entry.rules, module) {
            Some(found) => Entity::Definition(self.module_symbol(found)),
            None => self.external_path(&entry.rules, module),
        }
    }

    /// Returns a package of the project, or a file below it.
    fn module_of_manifest(&self, rules: &LanguageRules, module: &str) -> Option<FileId> {
        let settings = &rules.modules;
        let projects = self.index.subprojects.iter().filter(|project| project.kind == settings.manifest);
        projects.filter_map(|project| Some((project, module.strip_prefix(project.name.as_str())?))).find_map(
            |(project, rest)| {
                let file = |path: &str| self.source_file(rules, &join(&project.folder, path));
                match rest.strip_prefix('/') {
                    Some(rest) => settings.roots.iter().find_map(|root| file(&join(root, rest))),
                    None if rest.is_empty() => settings.entries.iter().find_map(|entry| file(entry)),
                    None => None,
                }
            },
        )
    }

    /// Splits `package/below` or `@scope/package/below`.
    fn external_path(&self, rules: &LanguageRules, module: &str) -> Entity {
        let mut bare = rules.modules.prefixes.iter().filter_map(|prefix| module.strip_prefix(prefix.as_str()));
        let bare = bare.next().unwrap_or(module);
        match bare.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
            Some((scope, rest)) => {
                let (name, below) = rest.split_once('/').unwrap_or((rest, ""));
                let strings = &self.index.strings;
                let package = strings.intern(&format!("@{scope}/{name}"));
                Entity::External(self.index.externals.intern(package, strings.intern(&below.replace('/', "."))))
            }
            None => self.external(bare, '/'),
        }
    }

    /// Returns the file of a path without its extension, with the extension of its compiled form, or of a folder.
    fn source_file(&self, rules: &LanguageRules, path: &str) -> Option<FileId> {
        if let Some(found) = self.file_at(path).filter(|&id| self.index.file(id).rules.family == rules.family) {
            return Some(found);
        }
        let settings = &rules.modules;
        let with_endings =
            |stem: &str| settings.endings.iter().find_map(|ending| self.file_at(&format!("{stem}{ending}")));
        let stem = settings.compiled_endings.iter().find_map(|ending| path.strip_suffix(ending.as_str()));
        with_endings(path)
            .or_else(|| stem.and_then(with_endings))
            .or_else(|| with_endings(&join(path, &settings.index)))
    }
}
