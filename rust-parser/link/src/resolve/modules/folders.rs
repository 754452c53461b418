//! The module rule `folders`: the name in a manifest, and a folder below it.

use crate::entity::Entity;
use crate::project::file_entry::FileEntry;
use crate::project::names::EMPTY;
use crate::project::paths::join;
use crate::project::query::Query;

impl Query<'_> {
    /// Resolves the module of an import by the rule `folders`.
    pub(super) fn folder_module(&self, entry: &FileEntry, module: &str) -> Entity {
        let rules = &entry.rules;
        let projects = self.index.subprojects.iter().filter(|project| project.kind == rules.modules.manifest);
        let inside = projects.filter_map(|project| {
            let rest = module.strip_prefix(project.name.as_str())?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
            Some((project.name.len(), join(&project.folder, rest)))
        });
        match inside.max() {
            Some((_, folder)) => self.folder(rules.family, &folder).map_or(Entity::Missing, Entity::Folder),
            None => Entity::External(self.index.externals.intern(self.index.strings.intern(module), EMPTY)),
        }
    }
}
