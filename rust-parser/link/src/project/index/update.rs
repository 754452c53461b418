//! Updates of the index: removes and adds files, and collects the keys of queries whose answers may have changed.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::project::dependencies::{DependencyKind, add_differences, key, text_key};
use crate::project::file_entry::{FileEntry, SharedScope};
use crate::project::file_types::FileTypes;
use crate::project::flows::FileFlows;
use crate::project::index::{Claims, Container, Index};
use crate::project::names::{FileId, Sym, SymbolId};
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
        let mut before: FxHashMap<FileId, Vec<(u32, u64)>> = FxHashMap::default();
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
        }
        self.forget(&leaving, &before);
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
                let container = self.container(entry, scope);
                let place = (container, definition.name);
                self.shared.entry(place).or_default().push(symbol);
                touched.shared.insert(place);
            }
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

    fn container(&self, entry: &FileEntry, scope: SharedScope) -> Container {
        match scope {
            SharedScope::Folder => Container::Folder(self.strings.intern(folder_of(&entry.path))),
            SharedScope::Package(package) => Container::Package(package),
        }
    }

    /// Removes all entries of the files from the tables.
    fn forget(&mut self, leaving: &FxHashSet<FileId>, before: &FxHashMap<FileId, Vec<(u32, u64)>>) {
        if leaving.is_empty() {
            return;
        }
        let keys: FxHashSet<u32> = before.values().flatten().map(|&(key, _)| key).collect();
        let symbols = &self.symbols;
        let stays = |symbol: &SymbolId| !leaving.contains(&symbols.get(*symbol).file);
        drop_claims(&mut self.by_name, |name| keys.contains(&key(DependencyKind::Name, name, 0)), stays);
        drop_claims(&mut self.claims, |name| keys.contains(&key(DependencyKind::Uid, name, 0)), stays);
        self.shared.retain(|_, list| {
            list.retain(stays);
            !list.is_empty()
        });
        let keep = |list: &mut Vec<FileId>| {
            list.retain(|id| !leaving.contains(id));
            !list.is_empty()
        };
        self.global_imports.retain(|_, id| !leaving.contains(id));
        self.children.retain(|_, list| keep(list));
        self.file_names.retain(|_, list| keep(list));
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
    }
}

fn add_claim(claims: &mut FxHashMap<Sym, Claims>, name: Sym, symbol: SymbolId) {
    match claims.get_mut(&name) {
        None => drop(claims.insert(name, Claims::One(symbol))),
        Some(Claims::Many(symbols)) => symbols.push(symbol),
        Some(claims) => *claims = Claims::Many(vec![claims.as_slice()[0], symbol]),
    }
}

/// Removes, from the names for which `is_touched` holds, the symbols for which `stays` does not.
fn drop_claims(
    claims: &mut FxHashMap<Sym, Claims>,
    is_touched: impl Fn(Sym) -> bool,
    stays: impl Fn(&SymbolId) -> bool,
) {
    claims.retain(|&name, claims| {
        if !is_touched(name) {
            return true;
        }
        let mut left: Vec<SymbolId> = claims.as_slice().to_vec();
        left.retain(&stays);
        *claims = match left[..] {
            [] => return false,
            [only] => Claims::One(only),
            _ => Claims::Many(left),
        };
        true
    });
}

fn add_count<K: std::hash::Hash + Eq>(counts: &mut FxHashMap<K, u32>, place: K, by: i32) {
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
