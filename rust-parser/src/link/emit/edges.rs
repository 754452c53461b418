//! The edges of one file: what it defines, imports, inherits and overrides; references are in `calls` and `docs`.

use crate::facts::{DefId, Kind};
use crate::link::emit::{calls, docs};
use crate::link::project::file_entry::{is_callable, is_class, is_star};
use crate::link::project::names::{EMPTY, ExternalId, FILE_NODE, Sym, SymbolId};
use crate::link::project::paths::is_package_file;
use crate::link::project::query::View;
use crate::link::rules::Family;
use crate::link::strategy::{EdgeType, Strategy, Values, What};

/// Far end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Symbol(SymbolId),
    External(ExternalId),
    Package(Sym),
}

/// An edge as it is kept: without texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// A definition of the file or [`FILE_NODE`].
    pub source: DefId,
    pub target: Target,
    pub line: u32,
    pub kind: EdgeType,
    pub via: Strategy,
}

/// The linked references of one file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileEdges {
    /// One per (source, type, target), by source, type, line and target uid.
    pub edges: Vec<Edge>,
    pub resolved: u32,
    pub unresolved: u32,
}

impl FileEdges {
    /// External symbols that the edges reach, each once.
    pub fn externals(&self) -> Box<[ExternalId]> {
        let mut found: Vec<ExternalId> = Vec::new();
        found.extend(self.edges.iter().filter_map(|edge| match edge.target {
            Target::External(external) => Some(external),
            _ => None,
        }));
        found.sort_unstable();
        found.dedup();
        found.into()
    }
}

/// Collects the edges of one file.
pub struct Collector<'v, 'a> {
    pub view: &'v View<'a>,
    pub edges: Vec<Edge>,
    pub resolved: u32,
    pub unresolved: u32,
}

/// All edges of a file, and the uid of each one's target without the project.
pub fn link_edges(view: &View) -> (FileEdges, Vec<String>) {
    let mut collector = Collector { view, edges: Vec::new(), resolved: 0, unresolved: 0 };
    view.ask_own_uids();
    collector.add_definitions();
    collector.add_children();
    if view.file.family == Family::Document {
        docs::add_references(&mut collector);
    } else {
        collector.add_extensions();
        collector.add_inheritance();
        collector.add_overrides();
        collector.add_imports();
        calls::add_references(&mut collector);
    }
    collector.finish()
}

impl Collector<'_, '_> {
    /// Node that stands for a scope.
    pub fn source(&self, scope: DefId) -> DefId {
        self.view.file.node_of(scope).unwrap_or(FILE_NODE)
    }

    pub fn add(&mut self, source: DefId, kind: EdgeType, target: Target, line: u32, via: Strategy) {
        self.edges.push(Edge { source, target, line, kind, via });
    }

    /// The node that a definition is shown as; None for what is never a node.
    pub fn target(&self, symbol: SymbolId) -> Option<Target> {
        let place = self.view.index.symbols.get(symbol);
        let file = self.view.index.file(place.file);
        if place.def == FILE_NODE || file.is_node(place.def) {
            return Some(Target::Symbol(symbol));
        }
        match file.outline(place.def).kind {
            Kind::Module => Some(Target::Symbol(file.file_symbol)),
            Kind::Namespace => Some(Target::Package(file.qualified_names[place.def as usize])),
            _ => None,
        }
    }

    fn add_definitions(&mut self) {
        let file = self.view.file;
        let is_document = file.family == Family::Document;
        for (def, definition) in file.facts().definitions.iter().enumerate() {
            let def = def as DefId;
            if !file.is_node(def) || (is_document && def == 0) {
                continue;
            }
            let target = Target::Symbol(file.symbols[def as usize]);
            if def == 0 {
                self.add(FILE_NODE, EdgeType::Defines, target, 1, Strategy::Structure);
                continue;
            }
            let around = definition.parent;
            if file.outline(around).kind == Kind::Extension && self.view.class_of(around).is_some() {
                continue; // belongs to the unit of the class
            }
            let parent = self.source(around);
            let is_member = parent != FILE_NODE && is_class(file.outline(parent).kind);
            let kind = match definition.kind {
                _ if is_document => EdgeType::Contains,
                kind if is_member && is_method(kind) => EdgeType::DefinesMethod,
                _ => EdgeType::Defines,
            };
            self.add(parent, kind, target, definition.name_line, Strategy::Structure);
        }
    }

    /// A Python package contains the modules of its folder.
    fn add_children(&mut self) {
        let path = &self.view.file.path;
        if self.view.file.family != Family::Python || !is_package_file(path) {
            return;
        }
        for &child in self.view.children(Family::Python, crate::link::project::paths::folder_of(path)) {
            let module = self.view.module_symbol(child);
            self.add(0, EdgeType::Contains, Target::Symbol(module), 0, Strategy::Structure);
        }
    }

    /// Members that `impl` blocks, receivers and partial classes add to the classes of this file.
    fn add_extensions(&mut self) {
        let view = self.view;
        for (def, definition) in view.file.facts().definitions.iter().enumerate() {
            if !is_class(definition.kind) {
                continue;
            }
            for extension in view.extensions(view.file.symbols[def]) {
                let place = view.index.symbols.get(extension.symbol);
                let file = view.index.file(place.file);
                for base in &extension.bases {
                    self.add_base(def as DefId, base.what, definition.name_line, base.via);
                }
                for (member, inner) in file.facts().definitions.iter().enumerate() {
                    if inner.parent != place.def || !file.is_node(member as DefId) {
                        continue;
                    }
                    let line = if place.file == view.home { inner.name_line } else { 0 };
                    let kind = if is_method(inner.kind) { EdgeType::DefinesMethod } else { EdgeType::Defines };
                    let target = Target::Symbol(file.symbols[member]);
                    self.add(def as DefId, kind, target, line, Strategy::Structure);
                }
            }
        }
    }

    fn add_inheritance(&mut self) {
        let view = self.view;
        for (class, bases) in view.index.ancestry.classes(view.home) {
            let def = view.index.symbols.get(*class).def;
            let line = view.file.def(def).name_line;
            for base in bases {
                if base.what == What::Missing {
                    self.unresolved += 1;
                }
                self.add_base(def, base.what, line, base.via);
            }
        }
        for (def, definition) in view.file.facts().definitions.iter().enumerate() {
            if view.file.family == Family::Go && is_class(definition.kind) {
                let embedded = view.ancestors(view.file.symbols[def]);
                let implemented = view.interfaces(view.file.symbols[def]).iter();
                for &interface in implemented.filter(|&&symbol| !embedded.contains(&What::Definition(symbol))) {
                    self.add_base(def as DefId, What::Definition(interface), definition.name_line, Strategy::MethodSet);
                }
            }
        }
    }

    fn add_base(&mut self, class: DefId, base: What, line: u32, via: Strategy) {
        let target = match base {
            What::Definition(symbol) => self.target(symbol),
            What::External(external) => Some(Target::External(external)),
            What::Package(package) => Some(Target::Package(package)),
            _ => None,
        };
        if let Some(target) = target {
            self.resolved += 1;
            self.add(class, EdgeType::Inherits, target, line, via);
        }
    }

    fn add_overrides(&mut self) {
        let view = self.view;
        for (def, definition) in view.file.facts().definitions.iter().enumerate() {
            if !matches!(definition.kind, Kind::Method | Kind::Property) {
                continue;
            }
            let name = view.file.text(definition.name);
            let is_private = view.file.family == Family::Python && name.starts_with("__") && !name.ends_with("__");
            let parent = view.file.outline(definition.parent).kind;
            if is_private || !(is_class(parent) || parent == Kind::Extension) {
                continue;
            }
            let Some(class) = view.class_of(definition.parent) else { continue };
            if view.file.family == Family::Go {
                for symbol in view.implemented_methods(class, view.file.sym(definition.name)) {
                    if let Some(target) = self.target(symbol) {
                        self.add(def as DefId, EdgeType::Overrides, target, definition.name_line, Strategy::MethodSet);
                    }
                }
            }
            if let Some(symbol) = view.overridden(class, view.file.sym(definition.name))
                && symbol != view.file.symbols[def]
            {
                let target = Target::Symbol(symbol);
                self.add(def as DefId, EdgeType::Overrides, target, definition.name_line, Strategy::Override);
            }
        }
    }

    fn add_imports(&mut self) {
        let view = self.view;
        let source = self.source(0);
        for (number, import) in view.file.facts().imports.iter().enumerate() {
            let is_whole = is_star(import) || import.member.is_none();
            let members: Values = if is_whole { Values::new() } else { view.follow_import(view.home, number as u32) };
            let mut is_found = false;
            for value in members {
                let via = if value.via == Strategy::Alias { Strategy::ReExport } else { value.via };
                is_found |= self.add_import(source, value.what, import.line, via);
            }
            if !is_found {
                let module = view.module_of(view.home, import);
                let is_known = self.add_import(source, module, import.line, Strategy::Import);
                if is_known {
                    self.resolved += 1;
                } else {
                    self.unresolved += 1;
                }
            } else {
                self.resolved += 1;
            }
        }
    }

    fn add_import(&mut self, source: DefId, what: What, line: u32, via: Strategy) -> bool {
        let target = match what {
            What::Definition(symbol) => self.target(symbol),
            What::External(external) => Some(Target::External(external)),
            What::Package(package) => Some(Target::Package(package)),
            What::Folder(folder) if self.view.file.family == Family::Go => {
                let first = self.view.children(Family::Go, self.view.text(folder)).first();
                let module = first.map(|&file| self.view.index.file(file).module);
                module.filter(|&module| module != EMPTY).map(Target::Package)
            }
            // A Python folder without a file of its own is no node.
            What::Folder(_) => return true,
            _ => None,
        };
        let Some(target) = target else { return false };
        if target != Target::Symbol(self.view.file.symbols[0]) {
            self.add(source, EdgeType::Imports, target, line, via);
        }
        true
    }

    /// One edge per (source, type, target): the first line, and the rule that is most certain.
    fn finish(mut self) -> (FileEdges, Vec<String>) {
        let certainty = |via: Strategy| (via.confidence() * 100.0) as u32;
        self.edges.retain(|edge| edge.kind != EdgeType::References || !is_self(self.view, edge));
        self.edges.sort_unstable_by_key(|edge| (edge.source, edge.kind, edge.target, edge.line, edge.via));
        self.edges.dedup_by(|later, first| {
            let is_same = (later.source, later.kind, later.target) == (first.source, first.kind, first.target);
            if is_same && certainty(later.via) > certainty(first.via) {
                first.via = later.via;
            }
            is_same
        });
        let view = self.view;
        let mut kept: Vec<(Edge, String)> =
            self.edges.into_iter().map(|edge| (edge, target_uid(view, edge.target))).collect();
        kept.sort_unstable_by(|(a, left), (b, right)| {
            let place = |edge: &Edge| (edge.source.wrapping_add(1), edge.kind, edge.line);
            place(a).cmp(&place(b)).then_with(|| left.cmp(right))
        });
        let (edges, uids) = kept.into_iter().unzip();
        (FileEdges { edges, resolved: self.resolved, unresolved: self.unresolved }, uids)
    }
}

/// A definition that mentions itself as a value says nothing.
fn is_self(view: &View, edge: &Edge) -> bool {
    edge.source != FILE_NODE && edge.target == Target::Symbol(view.file.symbols[edge.source as usize])
}

fn is_method(kind: Kind) -> bool {
    matches!(kind, Kind::Method | Kind::Constructor | Kind::Property)
}

/// Uid of the far end of an edge, without the project.
fn target_uid(view: &View, target: Target) -> String {
    if let Target::Symbol(symbol) = target {
        view.ask_uid(symbol);
    }
    view.index.target_uid(target)
}

/// Is a kind shown with the label `Method`, `Function` or `Class`, so that a mention of it as a value is worth an edge?
pub fn is_referable(kind: Kind) -> bool {
    is_class(kind) || is_callable(kind) || matches!(kind, Kind::Constant | Kind::Field | Kind::TypeAlias)
}
