//! The module rule `folders`: the name in a manifest, and a folder below it.

use crate::entity::Entity;
use crate::packages::files::around;
use crate::project::file_entry::FileEntry;
use crate::project::names::EMPTY;
use crate::project::paths::{folder_of, join, shared_prefix};
use crate::project::query::Query;

/// Folder of a module with copies of the packages of others.
const COPIES: &str = "vendor";

impl Query<'_> {
    /// Resolves the module of an import by the rule `folders`: the longest name of a manifest or of a replaced module. Of
    /// several manifests with one name, the nearest that has the folder counts.
    pub(super) fn folder_module(&self, entry: &FileEntry, module: &str) -> Entity {
        let rules = &entry.rules;
        let configuration = &self.index.configuration;
        let tables: Vec<&(String, String)> = around(folder_of(&entry.path))
            .filter_map(|folder| self.configured(&configuration.replaced, folder))
            .flatten()
            .collect();
        let ends = module.match_indices('/').map(|(at, _)| at).chain([module.len()]);
        let mut is_inside = false;
        for end in ends.collect::<Vec<_>>().into_iter().rev() {
            let (name, rest) = (&module[..end], module[end..].trim_start_matches('/'));
            let replaced = tables.iter().filter(|(replaced, _)| replaced == name).map(|(_, folder)| folder);
            let mut named: Vec<&String> = configuration.named(&rules.modules.manifest, name).iter().collect();
            named.sort_by_key(|folder| std::cmp::Reverse(shared_prefix(&join(folder, "x"), &entry.path)));
            for folder in replaced.chain(named) {
                is_inside = true;
                if let Some(found) = self.folder(rules.family, &join(folder, rest)) {
                    return Entity::Folder(found);
                }
            }
            if is_inside {
                return Entity::Missing;
            }
        }
        let copied = around(folder_of(&entry.path))
            .find_map(|folder| self.folder(rules.family, &join(&join(folder, COPIES), module)));
        match copied {
            Some(folder) => Entity::Folder(folder),
            None => Entity::External(self.index.externals.intern(self.index.strings.intern(module), EMPTY)),
        }
    }
}
