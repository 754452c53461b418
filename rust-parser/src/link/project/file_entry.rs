//! One file as the linker keeps it: its facts, their names as project-wide numbers, and what it contributes to the project.

use std::sync::Arc;

use crate::facts::{DefId, Definition, Expr, ExprId, FileFacts, Import, ImportKind, Kind, Name, ScopeRule, flags};
use crate::link::project::arity::Arity;
use crate::link::project::dependencies::{Contributions, DependencyKind, digest_of, key, text_key};
use crate::link::project::names::{EMPTY, FileId, Strings, Sym, SymbolId, Symbols};
use crate::link::project::packed_facts::{PackedFacts, UnpackedFacts};
use crate::link::project::paths::{file_name_of, folder_of};
use crate::link::rules::{LanguageRules, Rules};

/// What a name is bound by in a scope; in order of precedence.
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

/// What other files ask most about a definition.
#[derive(Debug, Clone, Copy)]
pub struct Outline {
    pub kind: Kind,
    pub flags: u32,
    pub parent: DefId,
    pub name: Sym,
}

/// A file of the project. What is here stays in memory; the rest is unpacked while it is needed.
pub struct FileEntry {
    pub path: Box<str>,
    pub language: Box<str>,
    pub scope_rule: ScopeRule,
    pub is_test: bool,
    /// The module is what the file returns: the base of its top-level scope.
    pub is_value: bool,
    pub rules: Arc<LanguageRules>,
    /// By the file's [`Name`]; [`EMPTY`] for texts that are no names.
    syms: Box<[Sym]>,
    pub module: Sym,
    /// This and the next two by [`DefId`].
    pub symbols: Box<[SymbolId]>,
    pub qualified_names: Box<[Sym]>,
    pub outlines: Box<[Outline]>,
    pub file_symbol: SymbolId,
    pub file_name: Sym,
    packed: PackedFacts,
}

/// A scope whose names other files can see.
pub fn is_open_scope(kind: Kind) -> bool {
    is_class(kind) || matches!(kind, Kind::Module | Kind::Namespace | Kind::Extension)
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
            ScopeRule::Document => String::new(),
            _ => facts.module.clone(),
        };
        let mut qualified = Vec::with_capacity(facts.definitions.len());
        for definition in &facts.definitions {
            let path = &facts.strings[definition.path as usize];
            qualified.push(qualified_name(&facts, &prefix, path));
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
            is_value: facts.definitions.first().is_some_and(|top| !top.bases.is_empty()),
            rules: rules.of(&facts.language),
            module: strings.intern(&facts.module),
            file_symbol: symbols.place_file(id),
            file_name: strings.intern(&facts.path),
            symbols: numbers,
            qualified_names: qualified_names.into(),
            outlines: facts.definitions.iter().map(outline).collect(),
            syms: syms.into(),
            packed: PackedFacts::new(facts),
        }
    }

    pub fn is_document(&self) -> bool {
        self.scope_rule == ScopeRule::Document
    }

    fn unpacked(&self) -> &UnpackedFacts {
        self.packed.unpacked(self)
    }

    /// The facts, unpacked if need be.
    pub fn facts(&self) -> &Arc<FileFacts> {
        &self.unpacked().facts
    }

    /// Sorted by (scope, name, precedence); instance attributes are in their class.
    pub fn names(&self) -> &[NameEntry] {
        &self.unpacked().names
    }

    /// (scope, import) of star imports.
    pub fn stars(&self) -> &[(DefId, u32)] {
        &self.unpacked().stars
    }

    /// (function, binding) of `return` statements, sorted.
    pub fn returns(&self) -> &[(DefId, u32)] {
        &self.unpacked().returns
    }

    /// Are there facts that `pack` would give back?
    pub fn is_unpacked(&self) -> bool {
        self.packed.is_unpacked()
    }

    /// Keep the facts packed until they are asked for again.
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

    pub fn text(&self, name: Name) -> &str {
        &self.facts().strings[name as usize]
    }

    /// Meanings of a name in one scope, best first.
    pub fn entries(&self, scope: DefId, name: Sym) -> &[NameEntry] {
        let names = self.scope_entries(scope);
        let start = names.partition_point(|entry| entry.name < name);
        let length = names[start..].iter().take_while(|entry| entry.name == name).count();
        &names[start..start + length]
    }

    /// All meanings in one scope.
    pub fn scope_entries(&self, scope: DefId) -> &[NameEntry] {
        let unpacked = self.unpacked();
        &unpacked.names[unpacked.scopes[scope as usize] as usize..unpacked.scopes[scope as usize + 1] as usize]
    }

    /// Is the definition a node of this file's unit?
    pub fn is_node(&self, def: DefId) -> bool {
        match self.outline(def).kind {
            Kind::Lambda | Kind::Extension => false,
            Kind::Module => self.scope_rule == ScopeRule::File,
            Kind::Namespace => self.scope_rule != ScopeRule::Declared,
            _ => true,
        }
    }

    /// The nearest enclosing node: the definition itself if it is one; `None` stands for the file's own node.
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

    /// The nearest class or extension around a scope.
    pub fn class_around(&self, mut scope: DefId) -> Option<DefId> {
        while scope != 0 {
            let definition = self.outline(scope);
            if is_class(definition.kind) || definition.kind == Kind::Extension {
                return Some(scope);
            }
            scope = definition.parent;
        }
        None
    }

    /// Is the definition, or one around it, marked as a test?
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

    /// Does the definition live in a scope that several files share (Go package, namespace, C globals)? Its dotted name or folder.
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

    /// Declared packages of the file: its own and those of its namespaces, by dotted name.
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

    /// Everything about this file that lookups of other files can see, as (key, digest).
    pub fn contributions(&self) -> Contributions {
        let path = &*self.path;
        let mut out = vec![
            (text_key(DependencyKind::Path, 0, path), 1),
            (text_key(DependencyKind::Path, 1, file_name_of(path)), digest_of(path)),
        ];
        let file = digest_of((self.is_test, self.rules.family, self.module));
        for (def, definition) in self.outlines.iter().enumerate() {
            let symbol = self.symbols[def];
            let parent = self.symbols[definition.parent as usize];
            let params = is_class(definition.kind).then(|| self.params_digest(self.def(def as DefId)));
            let mut digest = digest_of((definition.kind, definition.flags, parent, symbol, file, params));
            if def == 0 && self.is_value {
                digest = digest_of((digest, self.path_digest(self.def(0).bases[0])));
            }
            out.push((key(DependencyKind::Definition, symbol, 0), digest));
            if self.is_node(def as DefId) {
                out.push((key(DependencyKind::Name, definition.name, 0), digest));
                out.push((key(DependencyKind::Uid, self.qualified_names[def], 0), digest));
            }
            match self.shared_scope(def as DefId) {
                Some(SharedScope::Folder) => {
                    let name = self.text(self.def(def as DefId).name);
                    let place = format!("{}\0{name}", folder_of(&self.path));
                    out.push((text_key(DependencyKind::Shared, 0, &place), digest));
                }
                Some(SharedScope::Package(package)) => {
                    out.push((key(DependencyKind::Shared, package, definition.name), digest));
                }
                None => {}
            }
        }
        out.push((key(DependencyKind::Uid, self.file_name, 0), digest_of((self.file_symbol, file))));
        for package in self.packages() {
            out.push((key(DependencyKind::Uid, package, 0), 1));
        }
        self.contribute_names(&mut out);
        if self.rules.lists_folders() {
            let key = text_key(DependencyKind::Children, self.rules.family as u8, self.rules.listed_in(&self.path));
            out.push((key, digest_of((self.file_symbol, file))));
        }
        out
    }

    /// What calls see of the parameters.
    fn params_digest(&self, definition: &Definition) -> u64 {
        let names: Vec<Sym> = definition.params.iter().map(|param| self.sym(param.name)).collect();
        digest_of((Arity::of(definition), names))
    }

    fn contribute_names(&self, out: &mut Contributions) {
        for group in self.names().chunk_by(|a, b| (a.scope, a.name) == (b.scope, b.name)) {
            let NameEntry { scope, name, .. } = group[0];
            if !is_open_scope(self.outline(scope).kind) {
                continue;
            }
            // One digest for the group: the order of its entries decides which of them is followed.
            let parts: Vec<u64> = group.iter().map(|entry| self.bound_digest(entry.bound)).collect();
            out.push((key(DependencyKind::Member, self.symbols[scope as usize], name), digest_of(parts)));
        }
        for (order, &(scope, import)) in self.stars().iter().enumerate() {
            let digest = digest_of((order, self.import_digest(&self.facts().imports[import as usize])));
            out.push((key(DependencyKind::Star, self.symbols[scope as usize], 0), digest));
        }
    }

    fn bound_digest(&self, bound: Bound) -> u64 {
        match bound {
            Bound::Definition(def) => {
                let definition = self.def(def);
                digest_of((1, self.symbols[def as usize], definition.flags, self.params_digest(definition)))
            }
            Bound::Import(import) => self.import_digest(&self.facts().imports[import as usize]),
            Bound::Parameter(_) => 2,
            Bound::Binding(binding) => match self.facts().bindings[binding as usize].value {
                Some(value) => digest_of((3, self.path_digest(value))),
                None => 4,
            },
        }
    }

    fn import_digest(&self, import: &Import) -> u64 {
        let member = import.member.map(|name| self.sym(name));
        let alias = import.alias.map(|name| self.sym(name));
        digest_of((self.sym(import.module), import.level, member, alias, import.kind as u8))
    }

    /// Digest of a dotted path (`a.b.c`); other expressions are all alike, as nobody follows them into another file.
    fn path_digest(&self, expr: ExprId) -> u64 {
        match *self.expr(expr) {
            Expr::Name(name) => digest_of((1, self.sym(name))),
            Expr::Attribute { base, name } => digest_of((2, self.path_digest(base), self.sym(name))),
            _ => 0,
        }
    }
}

/// See [`FileEntry::shared_scope`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedScope {
    Folder,
    Package(Sym),
}

/// An import that binds every name of its module.
pub fn is_star(import: &Import) -> bool {
    match import.kind {
        ImportKind::Star => true,
        ImportKind::ReExport => import.alias.is_none() && import.member.is_none(),
        _ => false,
    }
}

fn qualified_name(facts: &FileFacts, prefix: &str, path: &str) -> String {
    match (facts.scope_rule, path.is_empty()) {
        (ScopeRule::Document, true) => facts.path.clone(),
        (ScopeRule::Document, false) => [&facts.path, "#", path].concat(),
        (_, true) => prefix.to_owned(),
        (_, false) if prefix.is_empty() => path.to_owned(),
        (_, false) => [prefix, ".", path].concat(),
    }
}

/// Numbers of all strings that are used as names; signatures and docstrings stay out of the project's table.
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
            Expr::Name(name) | Expr::Attribute { name, .. } => mark(*name),
            _ => {}
        }
    }
    strings.intern_all(facts.strings.iter().zip(&used).map(|(text, &used)| used.then_some(text)))
}
