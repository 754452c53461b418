//! Updates of the index: removes and adds files, and collects the keys of queries whose answers may have changed.

use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::project::dependencies::{Contributions, DependencyKind, add_differences, key, text_key};
use crate::project::file_entry::{FileEntry, SharedScope};
use crate::project::file_types::FileTypes;
use crate::project::flows::FileFlows;
use crate::project::index::{Claims, Container, Index};
use crate::project::names::{FileId, Strings, Sym, SymbolId};
use crate::project::paths::{file_name_of, folder_of};
use crate::rules::FamilyId;
use crate::testing::file_support::{FileSupport, fixtures_key};
use atlas_facts::FileFacts;

impl Index {
    /// Removes and adds files. Returns the ids of the added files and, if `with_keys`, the keys of queries whose
    /// answers may have changed.
    pub fn replace(
        &mut self,
        changed: Vec<Arc<FileFacts>>,
        removed: &[String],
        with_keys: bool,
    ) -> (Vec<FileId>, FxHashSet<u32>) {
        let mut keys = FxHashSet::default();
        let mut before: FxHashMap<FileId, Contributions> = FxHashMap::default();
        let mut left: Vec<FileEntry> = Vec::new();
        let mut presence = Presence::default();
        let mut leaving = FxHashSet::default();
        for path in removed.iter().map(String::as_str).chain(changed.iter().map(|facts| facts.path.as_str())) {
            if let Some(id) = self.file_id(path) {
                leaving.insert(id);
            }
        }
        for &id in &leaving {
            let entry = self.files[id as usize].take().expect("file of the project");
            before.insert(id, entry.contributions());
            self.count_places(&entry, -1, &mut presence);
            left.push(entry);
        }
        self.forget(&leaving, &left);
        drop(left);
        let mut touched = Touched::default();
        let mut ids = Vec::with_capacity(changed.len());
        for facts in changed {
            let id = self.number_of(&facts.path);
            let entry = FileEntry::new(facts, id, &self.rules, &self.strings, &mut self.symbols);
            self.count_places(&entry, 1, &mut presence);
            self.enter(id, &entry, &mut touched);
            self.files[id as usize] = Some(entry);
            ids.push(id);
        }
        self.count = self.count + ids.len() - leaving.len();
        self.sort_touched(touched);
        let replaced: FxHashSet<FileId> = leaving.iter().chain(&ids).copied().collect();
        keys.extend(replaced.into_iter().filter(|&id| self.put_fixtures(id)).map(fixtures_key));
        if !with_keys {
            return (ids, keys);
        }
        presence.changed_keys(self, &mut keys);
        for &id in &leaving {
            let old = before.remove(&id).unwrap_or_default();
            let new = self.files[id as usize].as_ref().map(FileEntry::contributions).unwrap_or_default();
            add_differences(old, new, &mut keys);
        }
        for &id in ids.iter().filter(|id| !leaving.contains(id)) {
            keys.extend(self.file(id).contributions().into_iter().map(|(key, _)| key));
        }
        (ids, keys)
    }

    /// Adds files to an index without files; their ids are their positions.
    pub fn restore_files(&mut self, entries: Vec<Option<FileEntry>>) {
        let (mut presence, mut touched) = (Presence::default(), Touched::default());
        for (id, entry) in (0..).zip(&entries) {
            let Some(entry) = entry else { continue };
            self.paths.insert(entry.path.clone(), id);
            self.count_places(entry, 1, &mut presence);
            self.enter(id, entry, &mut touched);
            self.count += 1;
        }
        self.files = entries;
        self.sort_touched(touched);
    }

    fn number_of(&mut self, path: &str) -> FileId {
        if let Some(&id) = self.paths.get(path) {
            return id;
        }
        let id = self.files.len() as FileId;
        self.paths.insert(path.into(), id);
        self.files.push(None);
        self.first_types.push(FileTypes::default());
        self.first_flows.files.push(FileFlows::default());
        self.flows.files.push(FileFlows::default());
        self.types.push(FileTypes::default());
        self.support.push(FileSupport::default());
        self.fixtures.push(Vec::new());
        id
    }

    fn count_places(&mut self, entry: &FileEntry, by: i32, presence: &mut Presence) {
        let mut folder = &*entry.path;
        while !folder.is_empty() {
            folder = folder_of(folder);
            let place = (entry.rules.family, self.strings.intern(folder));
            presence.folders.entry(place).or_insert_with(|| self.folders.contains_key(&place));
            add_count(&mut self.folders, place, by);
        }
        if let Some(package) = entry.folder_package() {
            presence.folder_packages.entry(package).or_insert_with(|| self.folder_packages.contains_key(&package));
            add_count(&mut self.folder_packages, package, by);
        }
        for declared in entry.packages() {
            // Parent packages exist, too: `com.example.app` allows `import com.example`.
            let text = self.strings.text(declared);
            let ends = text.match_indices('.').map(|(at, _)| at).chain([text.len()]);
            for end in ends {
                let package = self.strings.intern(&text[..end]);
                presence.packages.entry(package).or_insert_with(|| self.packages.contains_key(&package));
                add_count(&mut self.packages, package, by);
            }
        }
    }

    fn enter(&mut self, id: FileId, entry: &FileEntry, touched: &mut Touched) {
        for (def, definition) in entry.outlines.iter().enumerate() {
            let symbol = entry.symbols[def];
            if entry.is_node(def as u32) {
                add_claim(&mut self.by_name, definition.name, symbol);
                add_claim(&mut self.claims, entry.qualified_names[def], symbol);
            }
            if let Some(scope) = entry.shared_scope(def as u32) {
                let place = (container(&self.strings, entry, scope), definition.name);
                self.shared.entry(place).or_default().push(symbol);
                touched.shared.insert(place);
            }
        }
        for &(def, name) in &entry.given_names {
            add_claim(&mut self.by_name, name, entry.symbols[def as usize]);
        }
        if entry.has_global_imports {
            self.global_imports.insert(entry.path.clone(), id);
        }
        let last = self.strings.intern(file_name_of(&entry.path));
        self.file_names.entry(last).or_default().push(id);
        if entry.outlines.first().is_none_or(|top| !top.kind.is_document()) {
            add_claim(&mut self.claims, entry.file_name, entry.file_symbol);
        }
        if entry.rules.lists_folders() {
            let folder = (entry.rules.family, self.strings.intern(entry.rules.listed_in(&entry.path)));
            self.children.entry(folder).or_default().push(id);
            touched.children.insert(folder);
        }
    }

    /// Removes all entries of the files from the tables: undoes `enter`.
    fn forget(&mut self, leaving: &FxHashSet<FileId>, left: &[FileEntry]) {
        let symbols = &self.symbols;
        let stays = |symbol: &SymbolId| !leaving.contains(&symbols.get(*symbol).file);
        let (mut shared, mut folders, mut last) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        for entry in left {
            for (def, definition) in entry.outlines.iter().enumerate() {
                if entry.is_node(def as u32) {
                    drop_claims(&mut self.by_name, definition.name, stays);
                    drop_claims(&mut self.claims, entry.qualified_names[def], stays);
                }
                if let Some(scope) = entry.shared_scope(def as u32) {
                    shared.insert((container(&self.strings, entry, scope), definition.name));
                }
            }
            for &(_, name) in &entry.given_names {
                drop_claims(&mut self.by_name, name, stays);
            }
            drop_claims(&mut self.claims, entry.file_name, stays);
            self.global_imports.remove(&entry.path);
            last.insert(self.strings.intern(file_name_of(&entry.path)));
            folders.insert((entry.rules.family, self.strings.intern(entry.rules.listed_in(&entry.path))));
        }
        let stays_file = |id: &FileId| !leaving.contains(id);
        shared.into_iter().for_each(|place| retain_in(&mut self.shared, place, stays));
        folders.into_iter().for_each(|folder| retain_in(&mut self.children, folder, stays_file));
        last.into_iter().for_each(|name| retain_in(&mut self.file_names, name, stays_file));
    }

    fn sort_touched(&mut self, touched: Touched) {
        for place in touched.shared {
            if let Some(mut list) = self.shared.remove(&place) {
                list.sort_by(|&a, &b| self.source_order(a).cmp(&self.source_order(b)));
                self.shared.insert(place, list);
            }
        }
        for folder in touched.children {
            if let Some(mut list) = self.children.remove(&folder) {
                list.sort_by(|&a, &b| self.file(a).path.cmp(&self.file(b).path));
                self.children.insert(folder, list);
            }
        }
    }
}

/// Lists to sort after all files are added.
#[derive(Default)]
struct Touched {
    shared: FxHashSet<(Container, Sym)>,
    children: FxHashSet<(FamilyId, Sym)>,
}

/// Which folders and packages existed before an update.
#[derive(Default)]
struct Presence {
    folders: FxHashMap<(FamilyId, Sym), bool>,
    packages: FxHashMap<Sym, bool>,
    folder_packages: FxHashMap<Sym, bool>,
}

impl Presence {
    fn changed_keys(&self, index: &Index, keys: &mut FxHashSet<u32>) {
        for (&(family, folder), &existed) in &self.folders {
            if existed != index.folders.contains_key(&(family, folder)) {
                keys.insert(text_key(DependencyKind::Folder, family as u8, index.strings.text(folder)));
            }
        }
        for (&package, &existed) in &self.packages {
            if existed != index.packages.contains_key(&package) {
                keys.insert(text_key(DependencyKind::Package, 0, index.strings.text(package)));
                keys.insert(key(DependencyKind::Uid, package, 0));
            }
        }
        for (&package, &existed) in &self.folder_packages {
            if existed != index.folder_packages.contains_key(&package) {
                keys.insert(key(DependencyKind::Uid, package, 0));
            }
        }
    }
}

fn container(strings: &Strings, entry: &FileEntry, scope: SharedScope) -> Container {
    match scope {
        SharedScope::Folder => Container::Folder(strings.intern(folder_of(&entry.path))),
        SharedScope::Package(package) => Container::Package(package),
    }
}

fn add_claim(claims: &mut FxHashMap<Sym, Claims>, name: Sym, symbol: SymbolId) {
    match claims.get_mut(&name) {
        None => drop(claims.insert(name, Claims::One(symbol))),
        Some(Claims::Many(symbols)) => symbols.push(symbol),
        Some(claims) => *claims = Claims::Many(vec![claims.as_slice()[0], symbol]),
    }
}

/// Removes, from the symbols with a name, those for which `stays` does not hold.
fn drop_claims(claims: &mut FxHashMap<Sym, Claims>, name: Sym, stays: impl Fn(&SymbolId) -> bool) {
    let Some(known) = claims.get_mut(&name) else { return };
    let mut left: Vec<SymbolId> = known.as_slice().to_vec();
    left.retain(&stays);
    match left[..] {
        [] => drop(claims.remove(&name)),
        [only] => *known = Claims::One(only),
        _ => *known = Claims::Many(left),
    }
}

/// Removes, from the list of a key, the elements for which `stays` does not hold, and the list if it is empty then.
fn retain_in<K: Hash + Eq, V>(lists: &mut FxHashMap<K, Vec<V>>, key: K, stays: impl Fn(&V) -> bool) {
    if let Entry::Occupied(mut list) = lists.entry(key) {
        list.get_mut().retain(stays);
        if list.get().is_empty() {
            list.remove();
        }
    }
}

fn add_count<K: Hash + Eq>(counts: &mut FxHashMap<K, u32>, place: K, by: i32) {
    let count = counts.get(&place).copied().unwrap_or(0) as i32 + by;
    if count > 0 {
        counts.insert(place, count as u32);
    } else {
        counts.remove(&place);
    }
}

/// Keeps the last version of each file.
pub fn last_of_each_path(changed: Vec<Arc<FileFacts>>) -> Vec<Arc<FileFacts>> {
    let mut seen = FxHashSet::default();
    let mut last: Vec<Arc<FileFacts>> =
        changed.into_iter().rev().filter(|facts| seen.insert(facts.path.clone())).collect();
    last.reverse();
    last
}
