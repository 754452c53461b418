//! A file in the linker: its facts, and their names as project-wide ids.

use std::sync::Arc;

use crate::project::given_names::given_names;
use crate::project::names::{EMPTY, FileId, Strings, Sym, SymbolId, Symbols};
use crate::project::packed_facts::{PackedFacts, UnpackedFacts};
use crate::rules::{LanguageRules, Rules};
use atlas_facts::{
    Binding, DefId, Definition, Expr, ExprId, FileFacts, Import, ImportKind, Kind, Manifest, Name, Role, ScopeRule,
    flags,
};

/// Bindings of a name in one scope beyond which their end is searched for instead of counted up to.
const FREQUENT: usize = 16;

/// The kind of a name's binding in a scope, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    Definition(DefId),
    Import(u32),
    Parameter(u32),
    Binding(u32),
}

/// One meaning of a name in a scope of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameEntry {
    pub scope: DefId,
    pub name: Sym,
    pub bound: Bound,
}

/// The properties of a definition that other files query most.
#[derive(Debug, Clone, Copy)]
pub struct Outline {
    pub kind: Kind,
    pub flags: u32,
    pub parent: DefId,
    pub name: Sym,
}

/// A file of the project. These fields stay in memory; the rest is unpacked during use.
pub struct FileEntry {
    pub path: Box<str>,
    pub language: Box<str>,
    pub scope_rule: ScopeRule,
    pub is_test: bool,
    /// Whether the file returns its module as a value, which is the base of its top-level scope.
    pub is_value: bool,
    /// Whether some of its imports apply to all files of its project.
    pub has_global_imports: bool,
    /// Functions that other languages know by another name.
    pub given_names: Box<[(DefId, Sym)]>,
    pub rules: Arc<LanguageRules>,
    /// By the file's [`Name`]; [`EMPTY`] for strings that are not names.
    pub(crate) syms: Box<[Sym]>,
    pub module: Sym,
    /// This field and the next two are indexed by [`DefId`].
    pub symbols: Box<[SymbolId]>,
    pub qualified_names: Box<[Sym]>,
    pub outlines: Box<[Outline]>,
    pub file_symbol: SymbolId,
    pub file_name: Sym,
    pub manifest: Option<Box<Manifest>>,
    pub(crate) packed: PackedFacts,
}

/// Returns whether other files can see the names of scopes of a kind. A constant may hold an object with
/// functions, a type alias may be an object type.
pub fn is_open_scope(kind: Kind) -> bool {
    is_class(kind)
        || matches!(kind, Kind::Module | Kind::Namespace | Kind::Extension | Kind::Constant | Kind::TypeAlias)
}

pub fn is_class(kind: Kind) -> bool {
    matches!(kind, Kind::Class | Kind::Interface | Kind::Struct | Kind::Trait | Kind::Enum)
}

pub fn is_callable(kind: Kind) -> bool {
    matches!(kind, Kind::Function | Kind::Method | Kind::Constructor | Kind::Property)
}

impl FileEntry {
    pub fn new(
        facts: Arc<FileFacts>,
        id: FileId,
        rules: &Rules,
        strings: &Strings,
        symbols: &mut Symbols,
    ) -> FileEntry {
        let syms = number_names(&facts, strings);
        let prefix = match facts.scope_rule {
            ScopeRule::Document | ScopeRule::Text => String::new(),
            _ => facts.module.clone(),
        };
        let mut qualified = Vec::with_capacity(facts.definitions.len());
        for definition in &facts.definitions {
            let path = &facts.strings[definition.path as usize];
            qualified.push(match definition.kind.is_note() {
                true => path.to_owned(),
                false => qualified_name(&facts, &prefix, path),
            });
        }
        let qualified_names = strings.intern_all(qualified.iter().map(|name| Some(name.as_str())));
        let numbers: Box<[SymbolId]> = facts
            .definitions
            .iter()
            .enumerate()
            .map(|(def, definition)| symbols.place(id, syms[definition.path as usize], def as DefId))
            .collect();
        let outline = |definition: &Definition| Outline {
            kind: definition.kind,
            flags: definition.flags,
            parent: definition.parent,
            name: syms[definition.name as usize],
        };
        FileEntry {
            path: facts.path.as_str().into(),
            language: facts.language.as_str().into(),
            scope_rule: facts.scope_rule,
            is_test: facts.is_test,
            given_names: given_names(&facts).map(|(def, name)| (def, strings.intern(name))).collect(),
            is_value: facts.definitions.first().is_some_and(|top| !top.bases.is_empty()),
            has_global_imports: rules.of(&facts.language).modules.global_imports && facts.imports.iter().any(is_global),
            rules: rules.of(&facts.language),
            module: strings.intern(&facts.module),
            file_symbol: symbols.place_file(id),
            file_name: strings.intern(&facts.path),
            symbols: numbers,
            qualified_names: qualified_names.into(),
            outlines: facts.definitions.iter().map(outline).collect(),
            syms: syms.into(),
            manifest: facts.manifest.clone(),
            packed: PackedFacts::new(facts),
        }
    }

    pub fn is_document(&self) -> bool {
        self.scope_rule == ScopeRule::Document
    }

    /// Returns whether the file says where modules are.
    pub fn is_configuration(&self) -> bool {
        self.manifest.as_ref().is_some_and(|manifest| manifest.role != Role::Lock)
    }

    /// Returns the number of type parameters that a class declares after its name.
    pub fn type_parameters(&self, class: &Definition) -> usize {
        let signature = self.text(class.signature);
        let name = self.text(class.name);
        let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
        let is_whole =
            |at: &usize| !signature[..*at].ends_with(is_part) && !signature[*at + name.len()..].starts_with(is_part);
        let place = signature.match_indices(name).map(|(at, _)| at).find(is_whole);
        let after = place.map(|at| signature[at + name.len()..].trim_start());
        let list = after.and_then(|after| after.strip_prefix('<')).and_then(|after| after.split('>').next());
        list.map_or(0, |list| list.matches(',').count() + 1)
    }

    /// Returns whether the file defines nothing that code can refer to.
    pub fn is_prose(&self) -> bool {
        matches!(self.scope_rule, ScopeRule::Document | ScopeRule::Text)
    }

    fn unpacked(&self) -> &UnpackedFacts {
        self.packed.unpacked(self)
    }

    /// Returns the facts and unpacks them if necessary.
    pub fn facts(&self) -> &Arc<FileFacts> {
        &self.unpacked().facts
    }

    /// Returns all names, sorted by (scope, name, precedence). Instance attributes are in the scope of their class.
    pub fn names(&self) -> &[NameEntry] {
        &self.unpacked().names
    }

    /// Returns (scope, import) of star imports.
    pub fn stars(&self) -> &[(DefId, u32)] {
        &self.unpacked().stars
    }

    /// Returns the bindings that store elements in a variable of this file.
    pub fn stores(&self, scope: DefId, name: Sym) -> &[(DefId, Sym, u32)] {
        let stores = &self.unpacked().stores;
        let start = stores.partition_point(|known| (known.0, known.1) < (scope, name));
        let length = stores[start..].partition_point(|known| (known.0, known.1) == (scope, name));
        &stores[start..start + length]
    }

    /// Returns (function, binding) of `return` statements, sorted.
    pub fn returns(&self) -> &[(DefId, u32)] {
        &self.unpacked().returns
    }

    /// Returns the call that a function is an argument of, and its position.
    pub fn callback(&self, function: DefId) -> Option<(ExprId, u16)> {
        let callbacks = &self.unpacked().callbacks;
        let at = callbacks.partition_point(|known| known.0 < function);
        callbacks.get(at).filter(|known| known.0 == function).map(|&(_, call, position)| (call, position))
    }

    /// Returns the binding that gives a function a type, or returns it.
    pub fn bound_function(&self, function: DefId) -> Option<&Binding> {
        let unpacked = self.unpacked();
        let at = unpacked.bound_functions.partition_point(|known| known.0 < function);
        let found = unpacked.bound_functions.get(at).filter(|known| known.0 == function)?;
        Some(&unpacked.facts.bindings[found.1 as usize])
    }

    /// Returns whether `pack` would free memory.
    pub fn is_unpacked(&self) -> bool {
        self.packed.is_unpacked()
    }

    /// Packs the facts until their next use.
    pub fn pack(&mut self) {
        self.packed.pack();
    }

    pub fn outline(&self, id: DefId) -> &Outline {
        &self.outlines[id as usize]
    }

    pub fn sym(&self, name: Name) -> Sym {
        self.syms[name as usize]
    }

    pub fn def(&self, id: DefId) -> &Definition {
        &self.facts().definitions[id as usize]
    }

    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.facts().exprs[id as usize]
    }

    /// Returns whether a type alias is written as an object type or a function type, possibly as one of several options
    /// that are none otherwise.
    pub fn is_shaped(&self, alias: DefId) -> bool {
        let definition = self.def(alias);
        let Some(declared) = definition.declared_type else { return true };
        match self.expr(declared) {
            Expr::Unknown => {
                let is_member = |entry: &NameEntry| matches!(entry.bound, Bound::Definition(_));
                !definition.bases.is_empty() || self.scope_entries(alias).iter().any(is_member)
            }
            Expr::Call { new: false, .. } => true,
            Expr::TypeUnion(options) => {
                let is_function = |&option: &ExprId| matches!(self.expr(option), Expr::Call { new: false, .. });
                let is_plain = |&option: &ExprId| is_function(&option) || matches!(self.expr(option), Expr::Literal(_));
                options.iter().any(is_function) && options.iter().all(is_plain)
            }
            _ => false,
        }
    }

    pub fn text(&self, name: Name) -> &str {
        &self.facts().strings[name as usize]
    }

    /// Returns the bindings of a name in one scope, best first.
    pub fn entries(&self, scope: DefId, name: Sym) -> &[NameEntry] {
        let names = self.scope_entries(scope);
        let start = names.partition_point(|entry| entry.name < name);
        let is_frequent = names.get(start + FREQUENT).is_some_and(|entry| entry.name == name);
        let length = match is_frequent {
            true => names[start..].partition_point(|entry| entry.name == name),
            false => names[start..].iter().take_while(|entry| entry.name == name).count(),
        };
        &names[start..start + length]
    }

    /// Returns all bindings in one scope.
    pub fn scope_entries(&self, scope: DefId) -> &[NameEntry] {
        let unpacked = self.unpacked();
        &unpacked.names[unpacked.scopes[scope as usize] as usize..unpacked.scopes[scope as usize + 1] as usize]
    }

    /// Returns whether the definition is a node of this file's unit.
    pub fn is_node(&self, def: DefId) -> bool {
        match self.outline(def).kind {
            Kind::Lambda | Kind::Extension => false,
            Kind::Module => self.scope_rule == ScopeRule::File,
            Kind::Namespace => self.scope_rule != ScopeRule::Declared,
            _ => true,
        }
    }

    /// Returns the nearest enclosing node: the definition itself if it is one; `None` represents the file's own node.
    pub fn node_of(&self, mut def: DefId) -> Option<DefId> {
        loop {
            if self.is_node(def) {
                return Some(def);
            }
            if def == 0 {
                return None;
            }
            def = self.outline(def).parent;
        }
    }

    /// Returns the nearest class or extension around a scope.
    pub fn enclosing_class(&self, mut scope: DefId) -> Option<DefId> {
        while scope != 0 {
            let definition = self.outline(scope);
            if is_class(definition.kind) || definition.kind == Kind::Extension {
                return Some(scope);
            }
            scope = definition.parent;
        }
        None
    }

    /// Returns whether the definition, or an enclosing one, is marked as a test.
    pub fn is_in_test(&self, mut scope: DefId) -> bool {
        loop {
            let definition = self.outline(scope);
            if definition.flags & flags::TEST != 0 {
                return true;
            }
            if scope == 0 {
                return false;
            }
            scope = definition.parent;
        }
    }

    /// Returns the scope shared by several files in which the definition is (Go package, namespace, C globals), if any.
    pub fn shared_scope(&self, def: DefId) -> Option<SharedScope> {
        let definition = self.outline(def);
        if def == 0 || matches!(definition.kind, Kind::Extension | Kind::Lambda) {
            return None;
        }
        let parent = self.outline(definition.parent);
        match self.scope_rule {
            ScopeRule::Directory if definition.parent == 0 => Some(SharedScope::Folder),
            ScopeRule::Declared if definition.parent == 0 => Some(SharedScope::Package(self.module)),
            ScopeRule::Declared if parent.kind == Kind::Namespace => {
                Some(SharedScope::Package(self.qualified_names[definition.parent as usize]))
            }
            _ => None,
        }
    }

    /// Returns the package that the files of its folder are.
    pub fn folder_package(&self) -> Option<Sym> {
        (self.scope_rule == ScopeRule::Directory && self.module != EMPTY).then_some(self.module)
    }

    /// Returns the declared packages of the file: its own and those of its namespaces, by dotted name.
    pub fn packages(&self) -> Vec<Sym> {
        if self.scope_rule != ScopeRule::Declared {
            return Vec::new();
        }
        let mut packages = vec![self.module];
        for (def, definition) in self.outlines.iter().enumerate() {
            if definition.kind == Kind::Namespace {
                packages.push(self.qualified_names[def]);
            }
        }
        packages.retain(|&package| package != EMPTY);
        packages.sort_unstable();
        packages.dedup();
        packages
    }
}

/// See [`FileEntry::shared_scope`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedScope {
    Folder,
    Package(Sym),
}

/// Returns whether an import applies to all files of its project, where the language has such imports.
pub fn is_global(import: &Import) -> bool {
    import.level > 0
}

/// Returns whether an import binds every name of its module.
pub fn is_star(import: &Import) -> bool {
    match import.kind {
        ImportKind::Star => true,
        ImportKind::ReExport => import.alias.is_none() && import.member.is_none(),
        _ => false,
    }
}

fn qualified_name(facts: &FileFacts, prefix: &str, path: &str) -> String {
    match (facts.scope_rule, path.is_empty()) {
        (ScopeRule::Document | ScopeRule::Text, true) => facts.path.clone(),
        (ScopeRule::Document | ScopeRule::Text, false) => [&facts.path, "#", path].concat(),
        (_, true) => prefix.to_owned(),
        (_, false) if prefix.is_empty() => path.to_owned(),
        (_, false) => [prefix, ".", path].concat(),
    }
}

/// Returns the ids of all strings that are names; signatures and docstrings are not part of the project's table.
fn number_names(facts: &FileFacts, strings: &Strings) -> Vec<Sym> {
    let mut used = vec![false; facts.strings.len()];
    let mut mark = |name: Name| used[name as usize] = true;
    for definition in &facts.definitions {
        mark(definition.name);
        mark(definition.path);
        definition.params.iter().for_each(|param| mark(param.name));
    }
    for import in &facts.imports {
        mark(import.module);
        import.member.into_iter().chain(import.alias).for_each(&mut mark);
    }
    for expr in &facts.exprs {
        match expr {
            Expr::Name(name) | Expr::Scope(name) | Expr::Attribute { name, .. } => mark(*name),
            _ => {}
        }
    }
    strings.intern_all(facts.strings.iter().zip(&used).map(|(text, &used)| used.then_some(text)))
}
