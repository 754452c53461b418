//! The module rule `paths`: relative paths; names that configuration files explain; packages by the name in their
//! manifest.

use crate::configuration::npm::split_package;
use crate::configuration::patterns::{Place, best};
use crate::entity::Entity;
use crate::packages::files::around;
use crate::project::file_entry::FileEntry;
use crate::project::names::FileId;
use crate::project::paths::{folder_of, join, normalised, shared_prefix};
use crate::project::query::Query;
use crate::rules::LanguageRules;

/// Beginnings of the names of folders with what a build makes from the sources of a package.
const BUILT: [&str; 14] = [
    "dist", "build", "lib", "out", "output", "es", "esm", "cjs", "umd", "types", "typings", "module", "commonjs",
    "compiled",
];
/// Folders of the sources of a package.
const SOURCES: [&str; 4] = ["src", "", "source", "lib"];
/// Largest number of folders of a build around a file: `dist/esm/node/index.js`.
const MAX_BUILT: usize = 3;
/// Endings of declarations that a build makes.
pub const DECLARATIONS: [&str; 3] = [".d.ts", ".d.mts", ".d.cts"];

impl Query<'_> {
    /// Resolves the module of an import by the rule `paths`.
    pub(super) fn path_module(&self, file: FileId, entry: &FileEntry, written: &str) -> Entity {
        // `./x.svg?raw`
        let module = written.split('?').next().unwrap_or(written);
        if module.is_empty() {
            return Entity::Definition(self.module_symbol(file));
        }
        if module.starts_with('.') {
            let path = normalised(folder_of(&entry.path), module);
            let found = path.and_then(|path| {
                let own = self.source_file(&entry.rules, &path);
                own.or_else(|| self.file_of_other_root(entry, &path)).or_else(|| self.source_of_output(entry, &path))
            });
            return found.map_or(Entity::Missing, |found| Entity::Definition(self.module_symbol(found)));
        }
        self.named_module(entry, module, 0)
    }

    /// Resolves a name that is no relative path.
    pub(super) fn named_module(&self, entry: &FileEntry, module: &str, depth: usize) -> Entity {
        let aliased = self.aliased_module(entry, module, depth);
        if let Some(found) = aliased.filter(|&found| found != Entity::Missing) {
            return found;
        }
        match self.module_of_manifest(entry, module) {
            Some(found) => Entity::Definition(self.module_symbol(found)),
            None => aliased.unwrap_or_else(|| self.external_path(&entry.rules, module)),
        }
    }

    /// Returns a package of the project, or a file below it. Of several packages with one name, it is the one that the
    /// package of the importing file names the folder of, else the nearest.
    fn module_of_manifest(&self, entry: &FileEntry, module: &str) -> Option<FileId> {
        let (name, below) = split_package(module);
        let configuration = &self.index.configuration;
        let folder = around(folder_of(&entry.path))
            .find_map(|folder| self.configured(&configuration.packages, folder)?.dependencies.get(name)?.clone());
        if let Some(found) = folder.and_then(|folder| self.package_module(&entry.rules, &folder, below)) {
            return Some(found);
        }
        let named = configuration.named(&entry.rules.modules.manifest, name).iter();
        let mut folders: Vec<&String> = named.collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(shared_prefix(&join(folder, "x"), &entry.path)));
        folders.into_iter().find_map(|folder| self.package_module(&entry.rules, folder, below))
    }

    /// Returns the file of a package, or of a path below it, by what its manifest offers, else by the usual places.
    fn package_module(&self, rules: &LanguageRules, folder: &str, below: &str) -> Option<FileId> {
        let settings = &rules.modules;
        let file = |path: &str| self.source_file(rules, &join(folder, path));
        // What runs in place of sources that a build compiles: `module.exports = require("./dist/a.js")`.
        let (mut stand_in, mut is_compiled) = (None, false);
        if let Some(package) = self.configured(&self.index.configuration.packages, folder) {
            let offered = if below.is_empty() { ".".to_owned() } else { format!("./{below}") };
            let export = best(&package.exports, &offered);
            let places = export.iter().flat_map(|(pattern, rest)| pattern.places.iter().map(|place| place.with(rest)));
            let entries = package.entries.iter().filter(|_| below.is_empty()).cloned().map(Place::Name);
            for place in places.chain(entries) {
                let Place::Name(written) = place else { continue };
                match self.built_file(rules, folder, &written) {
                    Some(found) if self.is_compiled_form(rules, found) => stand_in = stand_in.or(Some(found)),
                    Some(found) => return Some(found),
                    None => is_compiled |= is_built(written.trim_start_matches("./")),
                }
            }
        }
        if below.is_empty() {
            let mut entries = settings.entries.iter();
            let sources = settings.entries.iter().filter(|entry| is_compiled && entry.starts_with("src/"));
            return sources
                .into_iter()
                .find_map(|entry| file(entry))
                .or(stand_in)
                .or_else(|| entries.find_map(|entry| file(entry)));
        }
        if stand_in.is_some() {
            return stand_in;
        }
        let found = settings.roots.iter().find_map(|root| file(&join(root, below)));
        found.or_else(|| self.built_file(rules, folder, below))
    }

    /// Returns the file of a package that a path means, or the source of what a build writes there.
    pub(super) fn built_file(&self, rules: &LanguageRules, folder: &str, written: &str) -> Option<FileId> {
        let path = normalised(folder, written)?;
        if let Some(found) = self.source_file(rules, &path) {
            return Some(found);
        }
        let inside = if folder.is_empty() { &path } else { path.strip_prefix(folder)?.strip_prefix('/')? };
        let inside = DECLARATIONS.iter().find_map(|ending| inside.strip_suffix(ending)).unwrap_or(inside);
        let parts: Vec<&str> = inside.split('/').collect();
        let built = parts.iter().take_while(|part| is_built(part)).count().min(MAX_BUILT);
        (1..=built.min(parts.len() - 1)).find_map(|start| {
            let rest = parts[start..].join("/");
            SOURCES.iter().find_map(|root| self.source_file(rules, &join(&join(folder, root), &rest)))
        })
    }

    fn is_compiled_form(&self, rules: &LanguageRules, file: FileId) -> bool {
        let path = &self.index.file(file).path;
        rules.modules.compiled_endings.iter().any(|ending| path.ends_with(ending.as_str()))
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
    pub(super) fn source_file(&self, rules: &LanguageRules, path: &str) -> Option<FileId> {
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

/// Returns whether a path begins with a folder that a build writes.
fn is_built(path: &str) -> bool {
    let bare = path.trim_start_matches(['.', '_']);
    let mut rests = BUILT.iter().filter_map(|name| bare.strip_prefix(name));
    rests.any(|rest| !rest.starts_with(char::is_alphabetic))
}
