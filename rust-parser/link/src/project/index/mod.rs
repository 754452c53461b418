//! The index of a project: tables of files, folders, packages, shared scopes, and symbols by name and by qualified
//! name.
//!
//! The result depends only on the files, not on the order of updates: lists whose order matters are sorted by path and
//! position.

pub mod update;

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::configuration::Configuration;
use crate::edge::Target;
use crate::packages::files::{ManifestFile, ManifestFiles, SubProject};
use crate::project::ancestry::Ancestry;
use crate::project::file_entry::{FileEntry, Outline};
use crate::project::file_types::FileTypes;
use crate::project::flows::Flows;
use crate::project::names::{ExternalId, Externals, FILE_NODE, FileId, Strings, Sym, SymbolId, Symbols};
use crate::routes::tables::RouteTables;
use crate::rules::{FamilyId, Rules};
use crate::testing::file_support::{FileSupport, Fixture};
use atlas_facts::flags;
use atlas_languages::Settings;

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
    /// Number of existing files.
    count: usize,
    pub ancestry: Ancestry,
    /// By file: the results of the two rounds of type inference.
    pub first_types: Vec<FileTypes>,
    pub types: Vec<FileTypes>,
    /// What files hand to each other, after each round.
    pub first_flows: Flows,
    pub flows: Flows,
    pub routing: RouteTables,
    /// By file: what the supporting functions of tests call.
    pub support: Vec<FileSupport>,
    /// By file: its fixtures.
    pub fixtures: Vec<Vec<Fixture>>,
    pub subprojects: Vec<SubProject>,
    pub configuration: Configuration,
    /// Files with imports that apply to all files of their project, by path.
    pub global_imports: BTreeMap<Box<str>, FileId>,
    paths: FxHashMap<Box<str>, FileId>,
    /// Files by the last component of their path.
    file_names: FxHashMap<Sym, Vec<FileId>>,
    folders: FxHashMap<(FamilyId, Sym), u32>,
    pub packages: FxHashMap<Sym, u32>,
    /// Packages that are the files of a folder. Nobody else's name leads to them, but their uids are taken.
    folder_packages: FxHashMap<Sym, u32>,
    /// Modules and packages, or files of a package, directly in a folder.
    children: FxHashMap<(FamilyId, Sym), Vec<FileId>>,
    pub shared: FxHashMap<(Container, Sym), Vec<SymbolId>>,
    by_name: FxHashMap<Sym, Claims>,
    claims: FxHashMap<Sym, Claims>,
}

/// The symbols with one name.
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

impl Index {
    /// Creates the index of an empty project.
    pub fn new<'a>(languages: impl Iterator<Item = &'a Settings>) -> Index {
        Index::with_strings(languages, Strings::default())
    }

    /// Creates the index of an empty project over a table of strings.
    pub fn with_strings<'a>(languages: impl Iterator<Item = &'a Settings>, strings: Strings) -> Index {
        Index {
            rules: Rules::new(languages, &strings),
            strings,
            externals: Externals::default(),
            symbols: Symbols::default(),
            files: Vec::new(),
            count: 0,
            ancestry: Ancestry::default(),
            first_types: Vec::new(),
            types: Vec::new(),
            first_flows: Flows::default(),
            flows: Flows::default(),
            routing: RouteTables::default(),
            support: Vec::new(),
            fixtures: Vec::new(),
            subprojects: Vec::new(),
            configuration: Configuration::default(),
            global_imports: BTreeMap::new(),
            paths: FxHashMap::default(),
            file_names: FxHashMap::default(),
            folders: FxHashMap::default(),
            packages: FxHashMap::default(),
            folder_packages: FxHashMap::default(),
            children: FxHashMap::default(),
            shared: FxHashMap::default(),
            by_name: FxHashMap::default(),
            claims: FxHashMap::default(),
        }
    }
}

impl Index {
    /// Returns an existing file. Panics if the file was removed.
    pub fn file(&self, id: FileId) -> &FileEntry {
        self.files[id as usize].as_ref().expect("file of the project")
    }

    /// Returns the number of existing files.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the existing files in arbitrary order.
    pub fn present(&self) -> impl Iterator<Item = (FileId, &FileEntry)> {
        let numbered = self.files.iter().enumerate();
        numbered.filter_map(|(id, entry)| entry.as_ref().map(|entry| (id as FileId, entry)))
    }

    /// Returns the manifests and lock files in arbitrary order.
    pub fn manifests(&self) -> impl Iterator<Item = ManifestFile<'_>> {
        self.present()
            .filter_map(|(_, entry)| Some(ManifestFile { path: &entry.path, manifest: entry.manifest.as_deref()? }))
    }

    /// Packs the facts of all files.
    pub fn pack(&mut self) {
        self.files.par_iter_mut().flatten().for_each(FileEntry::pack);
    }

    /// Drops the facts of a file, which must not be read any more.
    pub fn release(&mut self, id: FileId) {
        self.files[id as usize].iter_mut().for_each(|file| file.packed.release());
    }

    /// Returns the number of files with unpacked facts.
    pub fn unpacked(&self) -> usize {
        self.present().filter(|(_, file)| file.is_unpacked()).count()
    }

    /// Returns the id of an existing file by its path.
    pub fn file_id(&self, path: &str) -> Option<FileId> {
        let id = *self.paths.get(path)?;
        self.files[id as usize].is_some().then_some(id)
    }

    /// Reads the configuration files again. Adds the keys of the queries whose answers differ.
    pub fn reconfigure(&mut self, keys: &mut FxHashSet<u32>) {
        let new = Configuration::of(&ManifestFiles::of(self.manifests()), &self.subprojects);
        new.differences(&self.configuration, keys);
        self.configuration = new;
    }

    /// Returns the files with a file name, in arbitrary order.
    pub fn files_named(&self, name: &str) -> &[FileId] {
        let list = self.strings.find(name).and_then(|name| self.file_names.get(&name));
        list.map_or(&[], Vec::as_slice)
    }

    /// Returns a folder that contains files of a language family, at any depth.
    pub fn has_folder(&self, family: FamilyId, folder: &str) -> Option<Sym> {
        let sym = self.strings.find(folder)?;
        self.folders.contains_key(&(family, sym)).then_some(sym)
    }

    /// Returns the modules and packages, or files of a package, directly in a folder, sorted by path.
    pub fn children_of(&self, family: FamilyId, folder: Sym) -> &[FileId] {
        self.children.get(&(family, folder)).map_or(&[], Vec::as_slice)
    }

    /// Returns the symbols with a name in a shared scope, by path and position.
    pub fn shared_in(&self, container: Container, name: Sym) -> &[SymbolId] {
        self.shared.get(&(container, name)).map_or(&[], Vec::as_slice)
    }

    /// Returns all nodes with a name, in arbitrary order.
    pub fn with_name(&self, name: Sym) -> &[SymbolId] {
        self.by_name.get(&name).map_or(&[], Claims::as_slice)
    }

    /// Returns the symbol whose uid is a qualified name without a suffix. Returns `None` if a package has this name, or
    /// no symbol.
    pub fn owner(&self, qualified_name: Sym) -> Option<SymbolId> {
        if self.packages.contains_key(&qualified_name) || self.folder_packages.contains_key(&qualified_name) {
            return None;
        }
        let claims = self.claims.get(&qualified_name)?.as_slice();
        claims.iter().copied().min_by_key(|&symbol| self.claim_order(symbol))
    }

    /// Returns whether several symbols have a qualified name.
    pub fn is_shared_name(&self, qualified_name: Sym) -> bool {
        matches!(self.claims.get(&qualified_name), Some(Claims::Many(_)))
    }

    /// Returns the symbols with a qualified name without a suffix, in the order in which they claim the uid.
    pub fn claimants(&self, qualified_name: Sym) -> Vec<SymbolId> {
        let mut found = self.claims.get(&qualified_name).map_or(Vec::new(), |claims| claims.as_slice().to_vec());
        found.sort_by(|&a, &b| self.claim_order(a).cmp(&self.claim_order(b)));
        found
    }

    /// Returns the path of the first other file that has a node with this qualified name.
    pub fn other_file(&self, qualified_name: Sym, home: FileId) -> Option<&str> {
        let claims = self.claims.get(&qualified_name)?.as_slice();
        let others = claims.iter().map(|&symbol| self.symbols.get(symbol).file).filter(|&file| file != home);
        others.map(|file| &*self.file(file).path).min()
    }

    /// Returns the qualified name of a symbol.
    pub fn qualified_name(&self, symbol: SymbolId) -> Sym {
        let place = self.symbols.get(symbol);
        let file = self.file(place.file);
        if place.def == FILE_NODE { file.file_name } else { file.qualified_names[place.def as usize] }
    }

    /// Returns the uid of a symbol without the project: its qualified name, followed by `@<path>` if another symbol has
    /// that name.
    pub fn uid(&self, symbol: SymbolId) -> String {
        let name = self.qualified_name(symbol);
        let mut uid = self.strings.text(name).to_owned();
        if self.owner(name) != Some(symbol) {
            uid.push('@');
            uid.push_str(&self.file(self.symbols.get(symbol).file).path);
        }
        uid
    }

    /// Returns the uid of an external name, without the project.
    pub fn external_uid(&self, external: ExternalId) -> String {
        let (package, name) = self.externals.name(external);
        let package = self.strings.text(package);
        match self.strings.text(name) {
            "" => ["ext:", package].concat(),
            name => ["ext:", package, ".", name].concat(),
        }
    }

    /// Returns the uid of an edge's target, without the project.
    pub fn target_uid(&self, target: Target) -> String {
        match target {
            Target::Symbol(symbol) => self.uid(symbol),
            Target::External(external) => self.external_uid(external),
            Target::Package(name) | Target::Stated(name) => self.strings.text(name).to_owned(),
        }
    }

    pub(crate) fn claim_order(&self, symbol: SymbolId) -> (bool, bool, &str, u32) {
        let place = self.symbols.get(symbol);
        let file = self.file(place.file);
        let is_declaration = place.def != FILE_NODE && file.outline(place.def).flags & flags::DECLARATION != 0;
        (is_declaration, file.is_test, &file.path, place.def.wrapping_add(1))
    }

    /// Returns the sort key of a symbol: path, then position. The position is no recorded query: only lists of the index,
    /// which is compared after each update, may be sorted by it.
    pub fn source_order(&self, symbol: SymbolId) -> (&str, u32) {
        let place = self.symbols.get(symbol);
        (&self.file(place.file).path, place.def)
    }

    /// Returns the sort key of a symbol by names only: an order that stays when another file is parsed again.
    pub fn name_order(&self, symbol: SymbolId) -> (&str, &str) {
        let path = self.symbols.path(symbol).map_or("", |path| self.strings.text(path));
        (&self.file(self.symbols.get(symbol).file).path, path)
    }

    /// Returns the file and the outline of a symbol, which must not be a file's own node.
    pub fn definition(&self, symbol: SymbolId) -> (&FileEntry, &Outline) {
        let place = self.symbols.get(symbol);
        let file = self.file(place.file);
        (file, file.outline(place.def))
    }
}
