//! The project as tables: files, folders, packages, shared scopes, symbols by name and by qualified name.
//!
//! Built from files alone, in any order: lists whose order matters are kept sorted by path and position.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::{FileFacts, Kind, flags};
use crate::link::edge::Target;
use crate::link::project::ancestry::Ancestry;
use crate::link::project::dependencies::{DependencyKind, add_differences, key, text_key};
use crate::link::project::file_entry::{FileEntry, Outline, SharedScope};
use crate::link::project::file_types::FileTypes;
use crate::link::project::names::{ExternalId, Externals, FILE_NODE, FileId, Strings, Sym, SymbolId, Symbols};
use crate::link::project::paths::{file_name_of, folder_of, is_package_file};
use crate::link::rules::{Family, Rules};

/// A folder with a manifest of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubProject {
    pub folder: String,
    /// python npm go rust maven dotnet php
    pub kind: String,
    pub name: String,
}

/// A scope that several files share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Container {
    Folder(Sym),
    Package(Sym),
}

/// All files of a project and the tables over them.
pub struct Index {
    pub strings: Strings,
    pub externals: Externals,
    pub symbols: Symbols,
    pub rules: Rules,
    pub files: Vec<Option<FileEntry>>,
    pub ancestry: Ancestry,
    /// By file: results of the two rounds of type inference.
    pub first_types: Vec<FileTypes>,
    pub types: Vec<FileTypes>,
    pub subprojects: Vec<SubProject>,
    paths: FxHashMap<Box<str>, FileId>,
    /// Files by the last part of their path.
    file_names: FxHashMap<Sym, Vec<FileId>>,
    folders: FxHashMap<(Family, Sym), u32>,
    pub packages: FxHashMap<Sym, u32>,
    /// Python modules and packages, or Go files, directly in a folder.
    children: FxHashMap<(Family, Sym), Vec<FileId>>,
    pub shared: FxHashMap<(Container, Sym), Vec<SymbolId>>,
    by_name: FxHashMap<Sym, Claims>,
    claims: FxHashMap<Sym, Claims>,
}

/// Symbols that have one name.
enum Claims {
    One(SymbolId),
    Many(Vec<SymbolId>),
}

impl Claims {
    fn as_slice(&self) -> &[SymbolId] {
        match self {
            Claims::One(symbol) => std::slice::from_ref(symbol),
            Claims::Many(symbols) => symbols,
        }
    }
}

impl Default for Index {
    fn default() -> Self {
        let strings = Strings::default();
        Index {
            rules: Rules::new(&strings),
            strings,
            externals: Externals::default(),
            symbols: Symbols::default(),
            files: Vec::new(),
            ancestry: Ancestry::default(),
            first_types: Vec::new(),
            types: Vec::new(),
            subprojects: Vec::new(),
            paths: FxHashMap::default(),
            file_names: FxHashMap::default(),
            folders: FxHashMap::default(),
            packages: FxHashMap::default(),
            children: FxHashMap::default(),
            shared: FxHashMap::default(),
            by_name: FxHashMap::default(),
            claims: FxHashMap::default(),
        }
    }
}

impl Index {
    pub fn file(&self, id: FileId) -> &FileEntry {
        self.files[id as usize].as_ref().expect("file of the project")
    }

    /// Files that exist, in no order.
    pub fn present(&self) -> impl Iterator<Item = (FileId, &FileEntry)> {
        let numbered = self.files.iter().enumerate();
        numbered.filter_map(|(id, entry)| entry.as_ref().map(|entry| (id as FileId, entry)))
    }

    /// Keep the facts of all files packed until they are asked for again.
    pub fn pack(&mut self) {
        self.files.par_iter_mut().flatten().for_each(FileEntry::pack);
    }

    /// Number of files whose facts are not only packed.
    pub fn unpacked(&self) -> usize {
        self.present().filter(|(_, file)| file.is_unpacked()).count()
    }

    pub fn file_id(&self, path: &str) -> Option<FileId> {
        let id = *self.paths.get(path)?;
        self.files[id as usize].is_some().then_some(id)
    }

    /// Files whose path ends in a name, in no order.
    pub fn files_named(&self, name: &str) -> &[FileId] {
        let list = self.strings.find(name).and_then(|name| self.file_names.get(&name));
        list.map_or(&[], Vec::as_slice)
    }

    pub fn has_folder(&self, family: Family, folder: &str) -> Option<Sym> {
        let sym = self.strings.find(folder)?;
        self.folders.contains_key(&(family, sym)).then_some(sym)
    }

    pub fn children_of(&self, family: Family, folder: Sym) -> &[FileId] {
        self.children.get(&(family, folder)).map_or(&[], Vec::as_slice)
    }

    pub fn shared_in(&self, container: Container, name: Sym) -> &[SymbolId] {
        self.shared.get(&(container, name)).map_or(&[], Vec::as_slice)
    }

    pub fn with_name(&self, name: Sym) -> &[SymbolId] {
        self.by_name.get(&name).map_or(&[], Claims::as_slice)
    }

    /// The symbol that has a qualified name without a suffix; `None` when a package has it or nobody.
    pub fn owner(&self, qualified_name: Sym) -> Option<SymbolId> {
        if self.packages.contains_key(&qualified_name) {
            return None;
        }
        let claims = self.claims.get(&qualified_name)?.as_slice();
        claims.iter().copied().min_by_key(|&symbol| self.claim_order(symbol))
    }

    pub fn qualified_name(&self, symbol: SymbolId) -> Sym {
        let place = self.symbols.get(symbol);
        let file = self.file(place.file);
        if place.def == FILE_NODE { file.file_name } else { file.qualified_names[place.def as usize] }
    }

    /// Uid of a symbol without the project: its qualified name, with `@<path>` when another symbol has that name.
    pub fn uid(&self, symbol: SymbolId) -> String {
        let mut uid = String::new();
        self.push_uid(symbol, &mut uid);
        uid
    }

    /// Uid of a symbol with the project.
    pub fn full_uid(&self, project: &str, symbol: SymbolId) -> String {
        let mut uid = String::with_capacity(project.len() + 60);
        uid.push_str(project);
        uid.push(':');
        self.push_uid(symbol, &mut uid);
        uid
    }

    fn push_uid(&self, symbol: SymbolId, uid: &mut String) {
        let name = self.qualified_name(symbol);
        uid.push_str(self.strings.text(name));
        if self.owner(name) != Some(symbol) {
            uid.push('@');
            uid.push_str(&self.file(self.symbols.get(symbol).file).path);
        }
    }

    /// Uid of a name outside the project, without the project.
    pub fn external_uid(&self, external: ExternalId) -> String {
        let (package, name) = self.externals.name(external);
        let package = self.strings.text(package);
        match self.strings.text(name) {
            "" => ["ext:", package].concat(),
            name => ["ext:", package, ".", name].concat(),
        }
    }

    /// Uid of the far end of an edge, without the project.
    pub fn target_uid(&self, target: Target) -> String {
        match target {
            Target::Symbol(symbol) => self.uid(symbol),
            Target::External(external) => self.external_uid(external),
            Target::Package(package) => self.strings.text(package).to_owned(),
        }
    }

    fn claim_order(&self, symbol: SymbolId) -> (bool, bool, &str, u32) {
        let place = self.symbols.get(symbol);
        let file = self.file(place.file);
        let is_declaration = place.def != FILE_NODE && file.outline(place.def).flags & flags::DECLARATION != 0;
        (is_declaration, file.is_test, &file.path, place.def.wrapping_add(1))
    }

    /// Place of a symbol for sorting: by path, then by position.
    pub fn source_order(&self, symbol: SymbolId) -> (&str, u32) {
        let place = self.symbols.get(symbol);
        (&self.file(place.file).path, place.def)
    }

    pub fn definition(&self, symbol: SymbolId) -> (&FileEntry, &Outline) {
        let place = self.symbols.get(symbol);
        let file = self.file(place.file);
        (file, file.outline(place.def))
    }

    /// Take files in and out; return, if `with_keys`, what lookups may now see differently.
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
            let entry = FileEntry::new(facts, id, &self.strings, &mut self.symbols);
            self.count_places(&entry, 1, &mut presence);
            self.enter(id, &entry, &mut touched);
            self.files[id as usize] = Some(entry);
            ids.push(id);
        }
        self.sort_touched(touched);
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

    fn number_of(&mut self, path: &str) -> FileId {
        if let Some(&id) = self.paths.get(path) {
            return id;
        }
        let id = self.files.len() as FileId;
        self.paths.insert(path.into(), id);
        self.files.push(None);
        self.first_types.push(FileTypes::default());
        self.types.push(FileTypes::default());
        id
    }

    fn count_places(&mut self, entry: &FileEntry, by: i32, presence: &mut Presence) {
        let mut folder = &*entry.path;
        while !folder.is_empty() {
            folder = folder_of(folder);
            let place = (entry.family, self.strings.intern(folder));
            presence.folders.entry(place).or_insert_with(|| self.folders.contains_key(&place));
            add_count(&mut self.folders, place, by);
        }
        for declared in entry.packages() {
            // Parents exist with their children, as in `import com.example` of `com.example.app`.
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
        let last = self.strings.intern(file_name_of(&entry.path));
        self.file_names.entry(last).or_default().push(id);
        if entry.outlines.first().is_none_or(|top| !matches!(top.kind, Kind::DocFile | Kind::Adr)) {
            add_claim(&mut self.claims, entry.file_name, entry.file_symbol);
        }
        if matches!(entry.family, Family::Python | Family::Go) {
            let folder = (entry.family, self.child_folder(&entry.path));
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

    /// Folder under which a Python file is listed: its own, or the one around it for a package's file.
    fn child_folder(&self, path: &str) -> Sym {
        let folder = folder_of(path);
        self.strings.intern(if is_package_file(path) { folder_of(folder) } else { folder })
    }

    /// Drop everything that belongs to the files from the tables.
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

/// Lists to sort once all files are in.
#[derive(Default)]
struct Touched {
    shared: FxHashSet<(Container, Sym)>,
    children: FxHashSet<(Family, Sym)>,
}

/// Which folders and packages existed before an update.
#[derive(Default)]
struct Presence {
    folders: FxHashMap<(Family, Sym), bool>,
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

/// Keep of the names that `is_touched` only the symbols that stay.
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
