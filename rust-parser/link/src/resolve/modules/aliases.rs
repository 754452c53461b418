//! Names of modules that configuration files give a meaning: `paths` and `baseUrl` of a `tsconfig.json`, `imports` of a
//! `package.json`, aliases of bundlers.

use crate::configuration::TsConfig;
use crate::configuration::npm::{may_be_package, split_package};
use crate::configuration::patterns::{Pattern, Place, best};
use crate::entity::Entity;
use crate::packages::files::around;
use crate::project::file_entry::FileEntry;
use crate::project::names::FileId;
use crate::project::paths::{folder_of, join};
use crate::project::query::Query;

/// Largest number of names that stand for one another.
const MAX_NAMES: usize = 8;

impl<'a> Query<'a> {
    /// Returns what a name that is no relative path means by the configuration files around a file; `None` if they do not
    /// say. [`Entity::Missing`] is a name that stands for paths, none of which is a file of the project.
    pub(super) fn aliased_module(&self, entry: &FileEntry, name: &str, depth: usize) -> Option<Entity> {
        if depth > MAX_NAMES {
            return None;
        }
        let mut is_alias = false;
        if name.starts_with('#') {
            match self.imported_inside(entry, name, depth) {
                Some(Entity::Missing) => is_alias = true,
                Some(found) => return Some(found),
                None => {}
            }
        }
        let config = self.tsconfig_of(&entry.path);
        let found = config.map(|config| self.by_patterns(entry, &config.paths, name, depth));
        match found.flatten() {
            Some(Entity::Missing) => is_alias = true,
            Some(found) => return Some(found),
            None => {}
        }
        let base = config.and_then(|config| config.base.as_deref());
        if let Some(found) = base.and_then(|base| self.source_file(&entry.rules, &join(base, name))) {
            return Some(self.module(found));
        }
        for folder in around(folder_of(&entry.path)) {
            let Some(aliases) = self.configured(&self.index.configuration.aliases, folder) else { continue };
            match self.by_patterns(entry, &aliases.patterns, name, depth) {
                Some(Entity::Missing) => is_alias = true,
                Some(found) => return Some(found),
                None => {}
            }
            let mut bases = aliases.bases.iter();
            if let Some(found) = bases.find_map(|base| self.source_file(&entry.rules, &join(base, name))) {
                return Some(self.module(found));
            }
        }
        (is_alias && !self.may_be_installed(entry, name)).then_some(Entity::Missing)
    }

    fn module(&self, file: FileId) -> Entity {
        Entity::Definition(self.module_symbol(file))
    }

    fn by_patterns(&self, entry: &FileEntry, patterns: &[Pattern], name: &str, depth: usize) -> Option<Entity> {
        let (pattern, rest) = best(patterns, name)?;
        let mut is_path = false;
        for place in &pattern.places {
            match place.with(rest) {
                Place::Path(path) => {
                    is_path = true;
                    if let Some(found) = self.source_file(&entry.rules, &path) {
                        return Some(self.module(found));
                    }
                }
                Place::Name(other) if other != name => return Some(self.named_module(entry, &other, depth + 1)),
                Place::Name(_) => {}
            }
        }
        (is_path && !pattern.is_any()).then_some(Entity::Missing)
    }

    /// Returns the file of a relative path below another of the folders that `rootDirs` joins.
    pub(super) fn file_of_other_root(&self, entry: &FileEntry, path: &str) -> Option<FileId> {
        let roots = &self.tsconfig_of(&entry.path)?.roots;
        let below =
            |root: &String| if root.is_empty() { Some(path) } else { path.strip_prefix(root)?.strip_prefix('/') };
        let rest = roots.iter().filter_map(below).min_by_key(|rest| rest.len())?;
        roots.iter().find_map(|root| self.source_file(&entry.rules, &join(root, rest)))
    }

    /// Returns the source of a file that the build of a project around it writes: `../core/dist/deep` for its `outDir`.
    pub(super) fn source_of_output(&self, entry: &FileEntry, path: &str) -> Option<FileId> {
        for folder in around(folder_of(path)) {
            let Some(here) = self.configured(&self.index.configuration.tsconfigs, folder) else { continue };
            for (output, roots) in here.iter().filter_map(|config| config.output.as_ref()) {
                let rest = path.strip_prefix(output.as_str()).and_then(|rest| rest.strip_prefix('/'));
                let mut found = rest.into_iter().flat_map(|rest| roots.iter().map(move |root| join(root, rest)));
                if let Some(found) = found.find_map(|source| self.source_file(&entry.rules, &source)) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Returns what a name means by the `imports` of the package around a file.
    fn imported_inside(&self, entry: &FileEntry, name: &str, depth: usize) -> Option<Entity> {
        let packages = &self.index.configuration.packages;
        let mut packages = around(folder_of(&entry.path)).map(|folder| (folder, self.configured(packages, folder)));
        let (folder, package) = packages.find_map(|(folder, package)| Some((folder, package?)))?;
        let (pattern, rest) = best(&package.imports, name)?;
        for place in &pattern.places {
            let Place::Name(written) = place.with(rest) else { continue };
            if !written.starts_with('.') {
                return Some(self.named_module(entry, &written, depth + 1));
            }
            if let Some(found) = self.built_file(&entry.rules, folder, &written) {
                return Some(self.module(found));
            }
        }
        Some(Entity::Missing)
    }

    /// Returns whether a name may be that of an installed package, although an alias fits it.
    fn may_be_installed(&self, entry: &FileEntry, name: &str) -> bool {
        let (package, _) = split_package(name);
        let packages = &self.index.configuration.packages;
        may_be_package(name)
            && around(folder_of(&entry.path)).any(|folder| {
                let found = self.configured(packages, folder);
                found.is_some_and(|found| found.dependencies.contains_key(package))
            })
    }

    /// Returns the settings that apply to a file: those of the nearest `tsconfig.json` that covers it, or of a project that
    /// this refers to or that is beside it; else the nearest that say where modules are.
    fn tsconfig_of(&self, path: &str) -> Option<&'a TsConfig> {
        // Each import of a file asks.
        if let Some(known) = self.tsconfigs.borrow().get(path) {
            return *known;
        }
        let found = self.find_tsconfig(path);
        self.tsconfigs.borrow_mut().insert(path.to_owned(), found);
        found
    }

    fn find_tsconfig(&self, path: &str) -> Option<&'a TsConfig> {
        let table = &self.index.configuration.tsconfigs;
        let mut nearest: Option<&TsConfig> = None;
        for folder in around(folder_of(path)) {
            let Some(here) = self.configured(table, folder) else { continue };
            let (main, others): (Vec<&TsConfig>, Vec<&TsConfig>) = here.iter().partition(|config| config.is_main());
            let referred = main.iter().flat_map(|config| &config.references).filter_map(|reference| {
                let there = self.configured(table, folder_of(reference))?;
                there.iter().find(|config| config.path == *reference)
            });
            let mut covering =
                main.iter().copied().chain(referred).chain(others.iter().copied()).filter(|config| config.covers(path));
            // One for tests or tools may cover the file without the aliases of the one beside it.
            if let Some(first) = covering.next() {
                let is_main = main.iter().any(|config| config.path == first.path);
                return Some(if first.has_places() || is_main {
                    first
                } else {
                    covering.find(|one| one.has_places()).unwrap_or(first)
                });
            }
            let told = here.iter().find(|config| config.has_places());
            nearest = nearest.filter(|known| known.has_places()).or(told).or(nearest).or(main.first().copied());
        }
        nearest
    }
}
