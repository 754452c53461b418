//! Namespace packages: folders without a file of their own whose name is part of those of modules (PEP 420). Only folders
//! inside a package, or with packages in them, count: other folders hold scripts.

use std::collections::{BTreeMap, BTreeSet};

use crate::project::file_entry::FileEntry;
use crate::project::index::Index;
use crate::project::names::EMPTY;
use crate::project::paths::{file_name_of, folder_of, join};
use atlas_facts::ScopeRule;
use atlas_languages::ModuleRule;

/// Folders of namespace packages with their dotted names.
#[derive(Default)]
pub struct Namespaces {
    names: BTreeMap<String, String>,
}

impl Namespaces {
    pub fn of(index: &Index) -> Namespaces {
        let mut folders: BTreeMap<String, String> = BTreeMap::new();
        let (mut regular, mut with_packages) = (BTreeSet::new(), BTreeSet::new());
        for (_, entry) in index.present().filter(|(_, entry)| has_dotted_modules(entry)) {
            let is_package = entry.rules.is_package_file(&entry.path);
            let mut folder = folder_of(&entry.path);
            if is_package {
                regular.insert(folder);
                folder = folder_of(folder);
                with_packages.insert(folder);
            }
            let mut module = index.strings.text(entry.module).rsplit_once('.').map_or("", |(parent, _)| parent);
            while !module.is_empty() && module.rsplit('.').next() == Some(file_name_of(folder)) {
                if !is_regular(index, entry, folder) && !folders.contains_key(folder) {
                    folders.insert(folder.to_owned(), module.to_owned());
                }
                folder = folder_of(folder);
                module = module.rsplit_once('.').map_or("", |(parent, _)| parent);
            }
        }
        // From the innermost folder outwards: a namespace package makes the folder around it one, too.
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut outer: BTreeSet<&str> = BTreeSet::new();
        for (folder, module) in folders.iter().rev() {
            let has_inner = outer.contains(folder.as_str());
            let is_free = index.owner(index.strings.intern(module)).is_none();
            if is_free
                && !folder.is_empty()
                && (with_packages.contains(folder.as_str()) || regular.contains(folder_of(folder)) || has_inner)
            {
                outer.insert(folder_of(folder));
                names.insert(folder.clone(), module.clone());
            }
        }
        Namespaces { names }
    }

    /// Returns folders and dotted names, sorted by folder.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(folder, name)| (folder.as_str(), name.as_str()))
    }

    /// Returns the namespace package of a folder.
    pub fn at(&self, folder: &str) -> Option<&str> {
        self.names.get(folder).map(String::as_str)
    }
}

/// Returns whether the modules of a file's language have dotted names that are those of their folders.
pub fn has_dotted_modules(entry: &FileEntry) -> bool {
    let rules = &entry.rules;
    rules.module_rule == ModuleRule::Packages
        && rules.modules.binds_first
        && entry.scope_rule == ScopeRule::File
        && entry.module != EMPTY
}

fn is_regular(index: &Index, entry: &FileEntry, folder: &str) -> bool {
    entry.rules.index_files.iter().any(|name| index.file_id(&join(folder, name)).is_some())
}
