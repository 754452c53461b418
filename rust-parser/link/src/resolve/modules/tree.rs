//! The module rule `tree`: parents declare their modules, from the root of a project down; `::` separates the parts of
//! paths.

use crate::entity::Entity;
use crate::packages::files::around;
use crate::project::file_entry::FileEntry;
use crate::project::names::FileId;
use crate::project::paths::{file_name_of, folder_of, join};
use crate::project::query::Query;
use crate::rules::LanguageRules;

impl Query<'_> {
    /// Resolves the module of an import by the rule `tree`; `level` is the number of leading `super`.
    pub(super) fn tree_module(&self, file: FileId, module: &str, level: u32) -> Entity {
        let mut here = Entity::Definition(self.module_symbol(file));
        let mut segments = module.split("::").filter(|segment| !segment.is_empty()).peekable();
        for _ in 0..level {
            here = self.parent_module(here);
        }
        if level == 0 {
            here = match segments.peek().copied() {
                None => return here,
                Some("crate") => {
                    segments.next();
                    self.tree_root(file)
                }
                Some("self" | "super") => here,
                Some(first) => {
                    let first = first.to_owned();
                    segments.next();
                    match self.first_segment(file, &first) {
                        Entity::External(_) => return self.external(&module.replace("::", "."), '.'),
                        found => found,
                    }
                }
            };
        }
        for segment in segments {
            here = match segment {
                "self" => here,
                "super" => self.parent_module(here),
                _ => self.module_like_member(here, segment),
            };
        }
        here
    }

    /// Resolves the first segment of an imported path: a module declared here, another part of the project, or an
    /// external package.
    fn first_segment(&self, file: FileId, name: &str) -> Entity {
        let here = Entity::Definition(self.module_symbol(file));
        let child = self.module_like_member(here, name);
        if child != Entity::Missing {
            return child;
        }
        self.tree_project(file, name).unwrap_or_else(|| self.external(name, '.'))
    }

    /// Returns another part of the project by the name that paths in a file use for it: the one that its own package gives to
    /// a dependency, else the one in a manifest.
    pub fn tree_project(&self, file: FileId, name: &str) -> Option<Entity> {
        let rules = &*self.file.rules;
        let table = &self.index.configuration.crates;
        let mut crates =
            around(folder_of(&self.index.file(file).path)).filter_map(|folder| self.configured(table, folder));
        let dependency = crates.find_map(|one| one.dependencies.iter().find(|(known, _)| known == name));
        if let Some(found) = dependency.and_then(|(_, folder)| self.root_below(rules, folder)) {
            return Some(found);
        }
        let projects = self.index.subprojects.iter().filter(|project| project.kind == rules.modules.manifest);
        let mut named = projects.filter(|project| project.name.replace('-', "_") == name);
        // A root without a package of its own has the name of its folder, which may be that of a package below it.
        named.find_map(|project| self.root_below(rules, &project.folder))
    }

    /// Returns the folder of the modules that a file declares.
    fn children_folder(&self, entry: &FileEntry) -> String {
        match self.is_library(entry) {
            true => folder_of(&entry.path).to_owned(),
            false => children_folder(&entry.rules, &entry.path),
        }
    }

    pub fn tree_parent(&self) -> Entity {
        self.parent_module(Entity::Definition(self.module_symbol(self.home)))
    }

    /// Returns the file that declares, directly or indirectly, the module of a file.
    pub fn tree_root(&self, file: FileId) -> Entity {
        let entry = self.index.file(file);
        let rules = &*entry.rules;
        let mut folder = folder_of(&entry.path);
        if self.is_library(entry) {
            return Entity::Definition(self.module_symbol(file));
        }
        loop {
            let here = self.module_file(folder, &rules.entry_files);
            if let Some(root) = here.or_else(|| self.root_below(rules, folder)) {
                return root;
            }
            if folder.is_empty() {
                return Entity::Definition(self.module_symbol(file));
            }
            folder = folder_of(folder);
        }
    }

    /// Returns whether a manifest names a file as that of its library.
    fn is_library(&self, entry: &FileEntry) -> bool {
        self.configured(&self.index.configuration.libraries, &entry.path).is_some()
    }

    fn root_below(&self, rules: &LanguageRules, folder: &str) -> Option<Entity> {
        let library = self.configured(&self.index.configuration.crates, folder).and_then(|one| one.library.as_ref());
        if let Some(found) = library.and_then(|path| self.file_at(path)) {
            return Some(Entity::Definition(self.module_symbol(found)));
        }
        rules.modules.roots.iter().find_map(|root| self.module_file(&join(folder, root), &rules.entry_files))
    }

    fn parent_module(&self, module: Entity) -> Entity {
        let Entity::Definition(symbol) = module else { return Entity::Missing };
        let place = self.index.symbols.get(symbol);
        let entry = self.index.file(place.file);
        if place.def != 0 {
            let parent = entry.outline(place.def).parent;
            return Entity::Definition(entry.symbols[parent as usize]);
        }
        let own_folder = self.children_folder(entry);
        let folder = folder_of(&own_folder);
        let rules = &*entry.rules;
        let mut crates = around(folder).filter_map(|one| self.configured(&self.index.configuration.crates, one));
        let library = crates.find_map(|one| one.library.as_deref()).filter(|path| folder_of(path) == folder);
        let by_name = (!folder.is_empty()).then(|| self.module_file("", &with_endings(rules, folder))).flatten();
        by_name
            .or_else(|| self.module_file(folder, &rules.index_files))
            .or_else(|| Some(Entity::Definition(self.module_symbol(self.file_at(library?)?))))
            .or_else(|| self.module_file(folder, &rules.entry_files))
            .unwrap_or(Entity::Missing)
    }

    /// Returns a module with a file of its own, declared by a file.
    pub fn tree_child(&self, entry: &FileEntry, name: &str) -> Option<Entity> {
        let rules = &*entry.rules;
        if rules.modules.endings.iter().any(|ending| name.ends_with(ending.as_str())) {
            // `#[path = "unix/file.rs"]`
            return self.module_file("", &[join(folder_of(&entry.path), name)]);
        }
        let path = join(&self.children_folder(entry), name);
        self.module_file("", &with_endings(rules, &path)).or_else(|| self.module_file(&path, &rules.index_files))
    }
}

fn with_endings(rules: &LanguageRules, stem: &str) -> Vec<String> {
    rules.modules.endings.iter().map(|ending| format!("{stem}{ending}")).collect()
}

/// Returns the folder of the modules that a file declares: its own if the file represents the folder, else one of the
/// file's name.
fn children_folder(rules: &LanguageRules, path: &str) -> String {
    let (folder, name) = (folder_of(path), file_name_of(path));
    if rules.index_files.iter().chain(&rules.entry_files).any(|file| file == name) {
        return folder.to_owned();
    }
    let stem = rules.modules.endings.iter().find_map(|ending| name.strip_suffix(ending.as_str())).unwrap_or(name);
    join(folder, stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::names::Strings;
    use crate::rules::Rules;
    use atlas_languages::read_all;

    #[test]
    fn children_of_files_are_in_their_folder() {
        let languages = read_all(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../../atlas/languages").to_owned()]).unwrap();
        let settings = languages.iter().map(|folder| &folder.settings);
        let rules = Rules::new(settings, &Strings::default()).of("rust");
        assert_eq!(children_folder(&rules, "src/lib.rs"), "src");
        assert_eq!(children_folder(&rules, "src/a/mod.rs"), "src/a");
        assert_eq!(children_folder(&rules, "src/a.rs"), "src/a");
    }
}
