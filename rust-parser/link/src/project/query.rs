//! The queries by which linking a file reads the rest of the project. All are recorded, also those that find nothing.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::configuration::{Table, TsConfig};
use crate::entity::{Entity, Value, Values};
use crate::project::ancestry::Extension;
use crate::project::dependencies::{DependencyKind, compact, key, text_key};
use crate::project::file_entry::{FileEntry, NameEntry, Outline, is_class};
use crate::project::file_types::FileTypes;
use crate::project::index::{Container, Index};
use crate::project::names::{EMPTY, FILE_NODE, FileId, Sym, SymbolId};
use crate::project::paths::file_name_of;
use crate::resolve::following::Following;
use crate::rules::FamilyId;
use atlas_facts::{DefId, Kind, flags};

/// The stages of linking. Each reads only results of earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Base classes.
    Bases,
    /// Types of variables and results, without those of other variables and results.
    FirstTypes,
    /// What files hand to each other, given the first round of types.
    FirstFlows,
    /// Types of variables and results, given the first rounds.
    Types,
    /// What files hand to each other, given the second round of types.
    Flows,
    /// Mounts and prefixes of routers.
    Routers,
    /// Routes and events.
    Routes,
    /// What fixtures and helpers of tests call.
    Support,
    /// Edges.
    Edges,
}

pub const STAGES: [Stage; 9] = [
    Stage::Bases,
    Stage::FirstTypes,
    Stage::FirstFlows,
    Stage::Types,
    Stage::Flows,
    Stage::Routers,
    Stage::Routes,
    Stage::Support,
    Stage::Edges,
];

/// Number of recent queries that are not recorded again.
const RECENT: usize = 512;

/// Cached name lookups within one file and stage.
type Memo<K> = RefCell<FxHashMap<K, Rc<Values>>>;

/// One file's view of the project in one stage.
pub struct Query<'a> {
    pub index: &'a Index,
    pub home: FileId,
    pub file: &'a FileEntry,
    pub stage: Stage,
    dependencies: RefCell<Vec<u32>>,
    /// The last key of each slot, so that most repetitions of a query are not kept.
    recent: [Cell<u32>; RECENT],
    /// Values by function, name, and the assignments that reach the use.
    pub(crate) variables: Memo<(DefId, Sym, u32, u32)>,
    /// Values of parameters without annotation: see [`Query::contextual_values`].
    pub(crate) contextual: Memo<(DefId, u32)>,
    /// Results of the functions of this file, and variables of its modules and classes, during inference.
    pub(crate) results: Memo<DefId>,
    pub(crate) held: Memo<(SymbolId, Sym)>,
    /// What decorators make of the functions of this file.
    pub(crate) decorations: RefCell<FxHashMap<DefId, Rc<Values>>>,
    /// Whether the current member lookup is for a call.
    pub(crate) calling: Cell<bool>,
    /// By namespace around the use, name, whether a type is meant, and whether variables are left out.
    pub(crate) module_names: Memo<(DefId, Sym, bool, bool)>,
    /// Values that calls pass for the parameters of this file.
    pub(crate) passed: Memo<(DefId, u32)>,
    /// First parts of classes: see [`Query::first_part`].
    first_parts: RefCell<FxHashMap<SymbolId, SymbolId>>,
    /// Types by a namesake and a number of type parameters.
    pub(crate) namesakes: RefCell<FxHashMap<(SymbolId, usize), SymbolId>>,
    /// Whether names are resolved where a type stands.
    pub(crate) in_type: Cell<bool>,
    /// Whether a type parameter in a type is named by its position.
    pub(crate) names_parameters: Cell<bool>,
    /// Whether that includes the type parameters of functions.
    pub(crate) names_own: Cell<bool>,
    /// Imports being followed, and what is known of them.
    pub(crate) following: Following,
    /// Functions and variables whose inference waits for another one.
    pub(crate) waiting: Cell<u32>,
    /// Aliases being followed, to detect cycles.
    pub(crate) depth: RefCell<u32>,
    pub(crate) included: RefCell<Option<Rc<Vec<FileId>>>>,
    /// The projects that this file's project depends on, with the number of steps to each.
    pub(crate) reachable: OnceCell<FxHashMap<String, u32>>,
    /// The number of steps to the projects of files.
    pub(crate) distances: RefCell<FxHashMap<FileId, Option<u32>>>,
    /// Imports of other files that apply to this one.
    pub(crate) global_imports: OnceCell<Vec<(FileId, u32)>>,
    /// What the first parts of dotted names mean in a package.
    pub(crate) relative_names: RefCell<FxHashMap<(Sym, Sym), Option<Entity>>>,
    /// The settings of TypeScript that apply to files, by path.
    pub(crate) tsconfigs: RefCell<FxHashMap<String, Option<&'a TsConfig>>>,
    /// The namespaces of the project that the project file imports everywhere.
    pub(crate) used_namespaces: RefCell<Option<Rc<[Entity]>>>,
    /// The files that this file imports something from.
    pub(crate) imported_files: OnceCell<Vec<FileId>>,
}

impl<'a> Query<'a> {
    /// Creates the view of the file `home` in a stage, with no queries recorded.
    pub fn new(index: &'a Index, home: FileId, stage: Stage) -> Query<'a> {
        Query {
            index,
            home,
            file: index.file(home),
            stage,
            dependencies: RefCell::default(),
            // No key has a slot whose number ends in another bit.
            recent: std::array::from_fn(|slot| Cell::new(slot as u32 ^ 1)),
            variables: RefCell::default(),
            contextual: RefCell::default(),
            results: RefCell::default(),
            held: RefCell::default(),
            decorations: RefCell::default(),
            calling: Cell::new(false),
            module_names: RefCell::default(),
            passed: RefCell::default(),
            first_parts: RefCell::default(),
            namesakes: RefCell::default(),
            in_type: Cell::new(false),
            names_parameters: Cell::new(false),
            names_own: Cell::new(false),
            following: Following::default(),
            waiting: Cell::new(0),
            depth: RefCell::default(),
            included: RefCell::default(),
            reachable: OnceCell::new(),
            distances: RefCell::default(),
            global_imports: OnceCell::new(),
            relative_names: RefCell::default(),
            tsconfigs: RefCell::default(),
            used_namespaces: RefCell::default(),
            imported_files: OnceCell::new(),
        }
    }

    /// Keys of all queries made.
    pub fn into_dependencies(self) -> Box<[u32]> {
        compact(self.dependencies.into_inner())
    }

    pub(crate) fn record(&self, key: u32) {
        if self.recent[key as usize % RECENT].replace(key) != key {
            self.dependencies.borrow_mut().push(key);
        }
    }

    /// Returns the row of a folder in a table of the configuration.
    pub(crate) fn configured<const NUMBER: u8, T>(&self, table: &'a Table<NUMBER, T>, folder: &str) -> Option<&'a T> {
        self.record(Table::<NUMBER, T>::key(folder));
        table.get(folder)
    }

    /// Records a query about a symbol, unless the symbol is in this file, which is linked again anyway.
    fn record_about(&self, kind: DependencyKind, symbol: SymbolId, second: u32) {
        if self.index.symbols.get(symbol).file != self.home {
            self.record(key(kind, symbol, second));
        }
    }

    pub fn text(&self, sym: Sym) -> &'a str {
        self.index.strings.text(sym)
    }

    /// Returns the file at a path.
    pub fn file_at(&self, path: &str) -> Option<FileId> {
        self.record(text_key(DependencyKind::Path, 0, path));
        self.index.file_id(path)
    }

    /// Returns the files whose path is `suffix` or ends in `/suffix`, sorted by path.
    pub fn files_ending_in(&self, suffix: &str) -> Vec<FileId> {
        let name = file_name_of(suffix);
        self.record(text_key(DependencyKind::Path, 1, name));
        let ends = |path: &str| path.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let all = self.index.files_named(name).iter().copied();
        let mut found: Vec<FileId> = all.filter(|&id| ends(&self.index.file(id).path)).collect();
        found.sort_by(|&a, &b| self.index.file(a).path.cmp(&self.index.file(b).path));
        found
    }

    /// Returns a folder that contains files of the family, at any depth.
    pub fn folder(&self, family: FamilyId, path: &str) -> Option<Sym> {
        self.record(text_key(DependencyKind::Folder, family as u8, path));
        self.index.has_folder(family, path)
    }

    /// Returns a declared package or namespace by dotted name.
    pub fn package(&self, name: &str) -> Option<Sym> {
        self.record(text_key(DependencyKind::Package, 0, name));
        let sym = self.index.strings.find(name)?;
        self.index.packages.contains_key(&sym).then_some(sym)
    }

    /// Returns the meanings of a name in a module, class or namespace.
    pub fn entries(&self, scope: SymbolId, name: Sym) -> (&'a FileEntry, &'a [NameEntry]) {
        self.record_about(DependencyKind::Member, scope, name);
        let place = self.index.symbols.get(scope);
        let file = self.index.file(place.file);
        (file, file.entries(place.def, name))
    }

    /// Returns the only class that a function defines, as a mixin does.
    pub fn made_class(&self, function: SymbolId) -> Option<SymbolId> {
        self.record_about(DependencyKind::Member, function, EMPTY);
        let place = self.index.symbols.get(function);
        let file = self.index.file(place.file);
        let made = file.outlines.iter().zip(&file.symbols).skip(place.def as usize + 1);
        let mut made = made.filter(|(outline, _)| outline.parent == place.def && outline.kind == Kind::Class);
        let (_, &class) = made.next()?;
        made.next().is_none().then_some(class)
    }

    /// Returns the indices of the star imports at the top level of a module.
    pub fn stars(&self, module: SymbolId) -> Vec<u32> {
        self.record_about(DependencyKind::Star, module, 0);
        let place = self.index.symbols.get(module);
        let stars = self.index.file(place.file).stars();
        stars.iter().filter(|star| star.0 == place.def).map(|star| star.1).collect()
    }

    /// Returns the symbols of a name in a shared scope, by path and position.
    pub fn shared(&self, container: Container, name: Sym) -> &'a [SymbolId] {
        match container {
            Container::Folder(folder) => {
                let place = format!("{}\0{}", self.text(folder), self.text(name));
                self.record(text_key(DependencyKind::Shared, 0, &place));
            }
            Container::Package(package) => self.record(key(DependencyKind::Shared, package, name)),
        }
        self.index.shared_in(container, name)
    }

    /// Returns the symbols that a name means in a declared package, of languages that can refer to this file's names.
    pub fn shared_in_package(&self, package: Sym, name: Sym) -> impl Iterator<Item = SymbolId> {
        let found = self.shared(Container::Package(package), name).iter().copied();
        found.filter(|&symbol| {
            let file = self.index.symbols.get(symbol).file;
            self.index.file(file).rules.family == self.file.rules.family
        })
    }

    /// Returns all nodes with a name, in arbitrary order.
    pub fn named(&self, name: Sym) -> &'a [SymbolId] {
        self.record(key(DependencyKind::Name, name, 0));
        self.index.with_name(name)
    }

    /// Returns the modules and packages, or the files of a package, directly in a folder, sorted by path.
    pub fn children(&self, family: FamilyId, folder: &str) -> &'a [FileId] {
        self.record(text_key(DependencyKind::Children, family as u8, folder));
        self.index.strings.find(folder).map_or(&[], |folder| self.index.children_of(family, folder))
    }

    /// Returns the file and the outline of a symbol.
    pub fn definition(&self, symbol: SymbolId) -> (&'a FileEntry, &'a Outline) {
        self.record_about(DependencyKind::Definition, symbol, 0);
        self.index.definition(symbol)
    }

    pub fn kind(&self, symbol: SymbolId) -> Kind {
        self.definition(symbol).1.kind
    }

    /// Returns the ancestors of a class in method resolution order, without the class itself.
    pub fn ancestors(&self, class: SymbolId) -> &'a [Entity] {
        if self.stage == Stage::Bases {
            return &[];
        }
        self.record(key(DependencyKind::Ancestors, class, 0));
        self.index.ancestry.ancestors(class)
    }

    /// Returns the classes in whose order of ancestors a class is followed by one that it does not inherit from.
    pub fn mixed_into(&self, class: SymbolId) -> &'a [SymbolId] {
        self.record(key(DependencyKind::Ancestors, class, 0));
        self.index.ancestry.mixed.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Returns the interfaces that a type implements.
    pub fn interfaces(&self, class: SymbolId) -> &'a [Entity] {
        self.record(key(DependencyKind::Ancestors, class, 0));
        self.index.ancestry.implemented(class)
    }

    /// Returns the extensions of a class, by path and position.
    pub fn extensions(&self, class: SymbolId) -> &'a [Extension] {
        if self.stage == Stage::Bases {
            return &[];
        }
        self.record(key(DependencyKind::Extension, class, 0));
        self.index.ancestry.extensions(class)
    }

    /// Returns the possible values of a variable of a module or class, from earlier stages.
    pub(crate) fn published_variable(&self, scope: SymbolId, name: Sym) -> &'a [Value] {
        let place = self.index.symbols.get(scope);
        let Some(types) = self.types_of(place.file) else { return &[] };
        self.record_about(DependencyKind::Variable, scope, name);
        types.variable(scope, name)
    }

    /// Returns the possible results of a function, from earlier stages.
    pub(crate) fn published_returns(&self, function: SymbolId) -> &'a [Value] {
        let place = self.index.symbols.get(function);
        let Some(types) = self.types_of(place.file) else { return &[] };
        self.record_about(DependencyKind::Returns, function, 0);
        types.returns(function, 0)
    }

    /// Returns the possible values of one part of a function's result: see [`FileTypes::returns`].
    pub fn returned_as(&self, function: SymbolId, part: u16) -> &'a [Value] {
        let place = self.index.symbols.get(function);
        let Some(types) = self.types_of(place.file) else { return &[] };
        self.record_about(DependencyKind::Returns, function, u32::from(part));
        types.returns(function, part)
    }

    fn types_of(&self, file: FileId) -> Option<&'a FileTypes> {
        match self.stage {
            Stage::Bases | Stage::FirstTypes => None,
            Stage::FirstFlows | Stage::Types => Some(&self.index.first_types[file as usize]),
            Stage::Flows | Stage::Routers | Stage::Routes | Stage::Support | Stage::Edges => {
                Some(&self.index.types[file as usize])
            }
        }
    }

    /// Returns the symbol whose uid is the qualified name without a suffix.
    pub fn owner(&self, qualified_name: Sym) -> Option<SymbolId> {
        self.record(key(DependencyKind::Uid, qualified_name, 0));
        self.index.owner(qualified_name)
    }

    /// Records that the uid of a symbol is used.
    pub fn record_uid(&self, symbol: SymbolId) {
        self.record(key(DependencyKind::Uid, self.index.qualified_name(symbol), 0));
    }

    /// Records the uids of the file's own nodes, which are part of its rows.
    pub fn record_own_uids(&self) {
        let own = self.file.qualified_names.iter().chain([&self.file.file_name]);
        own.for_each(|&name| self.record(key(DependencyKind::Uid, name, 0)));
    }

    /// Returns the definition of a declaration (stub, prototype), if the project has exactly one.
    pub fn canonical(&self, symbol: SymbolId) -> SymbolId {
        let (file, definition) = self.definition(symbol);
        if file.rules.open_classes && is_class(definition.kind) {
            return self.first_part(symbol);
        }
        if definition.flags & flags::DECLARATION == 0 || definition.flags & flags::ABSTRACT != 0 {
            return symbol;
        }
        let place = self.index.symbols.get(symbol);
        let Some(owner) = self.owner(file.qualified_names[place.def as usize]) else { return symbol };
        let (owner_file, owner_definition) = self.definition(owner);
        let is_real = owner_definition.flags & flags::DECLARATION == 0;
        if is_real && owner_file.rules.family == file.rules.family { owner } else { symbol }
    }

    /// Returns the first part of a class that is defined in several parts (`partial`, open classes), else the class
    /// itself.
    pub fn first_part(&self, class: SymbolId) -> SymbolId {
        let (file, definition) = self.definition(class);
        if !file.rules.open_classes || !is_class(definition.kind) {
            return class;
        }
        if let Some(&known) = self.first_parts.borrow().get(&class) {
            return known;
        }
        let first = self.find_first_part(class, file);
        self.first_parts.borrow_mut().insert(class, first);
        first
    }

    fn find_first_part(&self, class: SymbolId, file: &FileEntry) -> SymbolId {
        let place = self.index.symbols.get(class);
        let name = file.qualified_names[place.def as usize];
        if file.rules.classes_by_arity {
            return self.first_of_arity(class);
        }
        // `Planner#2` is the second part in one file.
        let first = self.text(name).split_once('#').and_then(|(first, _)| self.index.strings.find(first));
        let Some(owner) = self.owner_in_project(first.unwrap_or(name), place.file) else { return class };
        let (owner_file, first) = self.definition(owner);
        if owner_file.rules.family == file.rules.family && is_class(first.kind) { owner } else { class }
    }

    /// Returns the owner of a qualified name, or the first symbol of that name in the project of a file, where projects are
    /// compiled each by itself.
    fn owner_in_project(&self, name: Sym, file: FileId) -> Option<SymbolId> {
        let owner = self.owner(name)?;
        let project = |file: FileId| self.project_of(file);
        let of = |symbol: SymbolId| self.index.symbols.get(symbol).file;
        let own = project(file);
        if own.is_none() || project(of(owner)).is_none_or(|first| Some(first) == own) {
            return Some(owner);
        }
        let own = self.index.claimants(name).into_iter().find(|&symbol| project(of(symbol)) == own)?;
        // `Result` and `Result<T>` share a qualified name: in different projects, they remain one class.
        let type_parameters = |symbol: SymbolId| {
            let (file, _) = self.definition(symbol);
            let def = self.index.symbols.get(symbol).def;
            if def == FILE_NODE { 0 } else { file.type_parameters(file.def(def)) }
        };
        Some(if type_parameters(own) == type_parameters(owner) { own } else { owner })
    }

    /// Returns the class of `self` or `this` in a scope of this file.
    pub fn class_of(&self, scope: DefId) -> Option<SymbolId> {
        if self.file.rules.prototypes {
            return self.receiver_object(scope);
        }
        self.class_at(self.file.enclosing_class(scope)?)
    }

    /// Returns the class itself, or the one that an extension extends.
    fn class_at(&self, class: DefId) -> Option<SymbolId> {
        if self.file.outline(class).kind != Kind::Extension {
            return Some(self.first_part(self.file.symbols[class as usize]));
        }
        self.extended(class)
    }

    /// Returns what an extension of this file extends.
    pub fn extended(&self, extension: DefId) -> Option<SymbolId> {
        if self.stage == Stage::Bases {
            return None;
        }
        self.index.ancestry.extended_by(self.home, self.file.symbols[extension as usize])
    }

    /// Returns the symbol of a file's module (its top-level scope).
    pub fn module_symbol(&self, file: FileId) -> SymbolId {
        self.index.file(file).symbols.first().copied().unwrap_or(self.index.file(file).file_symbol)
    }
}
