//! The module rule `packages`: dotted names are paths below a root.

use crate::configuration::SearchPaths;
use crate::entity::Entity;
use crate::packages::files::around;
use crate::project::file_entry::FileEntry;
use crate::project::names::FileId;
use crate::project::paths::{folder_of, join};
use crate::project::query::Query;
use crate::rules::LanguageRules;

impl Query<'_> {
    pub(super) fn package_relative(&self, entry: &FileEntry, module: &str, level: u32) -> Entity {
        let mut folder = folder_of(&entry.path);
        for _ in 1..level {
            folder = folder_of(folder);
        }
        self.submodule(&entry.rules, folder, &module.replace('.', "/")).unwrap_or(Entity::Missing)
    }

    /// Returns the root and the module of an absolute name. Roots are the ancestors of the importing file that are not
    /// packages themselves (a search path contains no packages), and their `roots`, nearest first; files take
    /// precedence over folders without files of their own.
    pub fn package_absolute(&self, file: FileId, entry: &FileEntry, module: &str) -> Option<(String, Entity)> {
        let path = module.replace('.', "/");
        let own = Entity::Definition(self.module_symbol(file));
        let roots = self.package_roots(entry);
        let as_file = roots.iter().find_map(|root| {
            let found = self.package_file(&entry.rules, &join(root, &path)).filter(|&found| found != own)?;
            Some((root.clone(), found))
        });
        as_file.or_else(|| {
            let as_folder =
                |root: &String| Some((root.clone(), self.package_folder(&entry.rules, &join(root, &path))?));
            roots.iter().find_map(as_folder)
        })
    }

    /// Returns, where the search path is unknown, the only file whose path ends with a dotted name.
    pub(super) fn package_anywhere(&self, rules: &LanguageRules, module: &str) -> Option<Entity> {
        if !rules.modules.anywhere || !module.contains('.') {
            return None;
        }
        let path = module.replace('.', "/");
        let endings = rules.modules.endings.iter().map(|ending| format!("{path}{ending}"));
        let mut names = endings.chain(rules.index_files.iter().map(|index| format!("{path}/{index}")));
        let files = names.find_map(|name| Some(self.files_ending_in(&name)).filter(|files| !files.is_empty()))?;
        match files[..] {
            [only] => Some(Entity::Definition(self.module_symbol(only))),
            _ => None,
        }
    }

    fn package_roots(&self, entry: &FileEntry) -> Vec<String> {
        let rules = &*entry.rules;
        let mut roots = Vec::new();
        let mut folder = folder_of(&entry.path);
        loop {
            if folder.is_empty() || !self.is_package(rules, folder) {
                roots.push(folder.to_owned());
                let layouts = rules.modules.roots.iter().map(|layout| join(folder, layout));
                roots.extend(
                    layouts.filter(|root| self.package_folder(rules, root).is_some() && !self.is_package(rules, root)),
                );
            }
            if folder.is_empty() {
                break;
            }
            folder = folder_of(folder);
        }
        self.add_configured_roots(entry, &mut roots);
        roots
    }

    /// Adds the roots that the configuration of the folders around a file names, then those of the projects of the tree that
    /// are installed with them.
    fn add_configured_roots(&self, entry: &FileEntry, roots: &mut Vec<String>) {
        if !entry.rules.modules.binds_first {
            return;
        }
        let table = &self.index.configuration.search_paths;
        let around: Vec<&SearchPaths> =
            around(folder_of(&entry.path)).filter_map(|folder| self.configured(table, folder)).collect();
        let mut more: Vec<String> = around.iter().flat_map(|paths| paths.roots.iter().cloned()).collect();
        for folder in around.iter().flat_map(|paths| &paths.installed) {
            let configured = self.configured(table, folder).map(|paths| paths.roots.as_slice()).unwrap_or_default();
            more.extend(configured.iter().cloned());
            more.extend(entry.rules.modules.roots.iter().map(|layout| join(folder, layout)));
            more.push(folder.clone());
        }
        for root in more {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
    }

    fn is_package(&self, rules: &LanguageRules, folder: &str) -> bool {
        rules.index_files.iter().any(|file| self.file_at(&format!("{folder}/{file}")).is_some())
    }

    fn package_file(&self, rules: &LanguageRules, path: &str) -> Option<Entity> {
        if path.is_empty() || path.ends_with('/') {
            return self
                .module_file("", &rules.index_files.iter().map(|file| format!("{path}{file}")).collect::<Vec<_>>());
        }
        let indexes =
            rules.index_files.iter().map(|file| Some(format!("{path}/{file}"))).chain(std::iter::repeat(None));
        let mut candidates = indexes
            .zip(&rules.modules.endings)
            .flat_map(|(index, ending)| index.into_iter().chain([format!("{path}{ending}")]));
        let found = candidates.find_map(|candidate| self.file_at(&candidate))?;
        Some(Entity::Definition(self.module_symbol(found)))
    }

    fn package_folder(&self, rules: &LanguageRules, path: &str) -> Option<Entity> {
        self.folder(rules.family, path).map(Entity::Folder)
    }

    /// Returns a module inside a package file's folder, or inside a folder without one.
    pub fn submodule(&self, rules: &LanguageRules, folder: &str, name: &str) -> Option<Entity> {
        let path = join(folder, name);
        self.package_file(rules, &path).or_else(|| self.package_folder(rules, &path))
    }
}
