//! The structure of a project: the unit with the project, its sub-projects, packages and external names, and what they
//! contain.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::emit::namespaces::{Namespaces, has_dotted_modules};
use crate::packages::files::ManifestFiles;
use crate::packages::projects::provided;
use crate::packages::{self, DependsOn, Imported, PackageNode};
use crate::project::dependencies::{DependencyKind, compact, digest_of, key};
use crate::project::file_entry::{FileEntry, SharedScope};
use crate::project::index::Index;
use crate::project::names::{EMPTY, FileId, Sym};
use crate::project::paths::{folder_of, join};
use atlas_facts::{DefId, ScopeRule};
use atlas_languages::ModuleRule;

/// Qualified name of the project's own node: its folder, as for sub-projects, because a module often has the plain
/// name.
pub const PROJECT_NODE: &str = "project:.";

/// A node without a file. Texts do not contain the project's prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StructureNode {
    pub qualified_name: String,
    pub label: &'static str,
    pub kind: &'static str,
    pub name: String,
    pub language: String,
    /// A JSON object, or "".
    pub properties: String,
}

/// Nodes sorted by qualified name, and CONTAINS edges sorted by (source, target).
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Structure {
    pub nodes: Vec<StructureNode>,
    pub contains: Vec<(String, String)>,
    pub depends: Vec<DependsOn>,
}

/// Builds the structure of a project from its files and the external symbols, events, variables and papers that their edges refer to.
/// Also returns the keys of the queries that this made.
pub fn build(index: &Index, project: &str, imported: &Imported, referents: FxHashSet<Sym>) -> (Structure, Box<[u32]>) {
    let (mut structure, mut dependencies) = (Structure::default(), Vec::new());
    structure.add(PROJECT_NODE.to_owned(), "Project", "project", project, "");
    structure.add_subprojects(index);
    structure.add_packages(index);
    let namespaces = Namespaces::of(index);
    structure.add_namespaces(index, &namespaces, &mut dependencies);
    for (id, entry) in index.present() {
        structure.add_file(index, id, entry, &namespaces, &mut dependencies);
    }
    structure.add_externals(index, imported);
    structure.add_provided(index);
    structure.add_referents(index, referents);
    structure.nodes.sort();
    structure.contains.sort();
    structure.contains.dedup();
    (structure, compact(dependencies))
}

/// Returns the digest of a file's own contribution to the structure. Beyond these, the structure depends only on names
/// (whose queries are recorded), the set of files and the set of external symbols.
pub fn part_of(entry: &FileEntry) -> u64 {
    let shared = |def: &usize| matches!(entry.shared_scope(*def as DefId), Some(SharedScope::Package(_)));
    let shared = (0..entry.outlines.len()).filter(|def| entry.is_node(*def as DefId)).filter(shared);
    let shared: Vec<_> = shared.map(|def| (entry.symbols[def], package_of(entry.shared_scope(def as DefId)))).collect();
    let first = entry.symbols.first();
    let rules = (entry.rules.family, entry.scope_rule as u8, &entry.language, entry.module);
    digest_of((rules, &entry.path, entry.file_symbol, first, entry.packages(), shared, &entry.manifest))
}

fn package_of(scope: Option<SharedScope>) -> Option<Sym> {
    match scope {
        Some(SharedScope::Package(package)) => Some(package),
        _ => None,
    }
}

impl Structure {
    fn add(&mut self, qualified_name: String, label: &'static str, kind: &'static str, name: &str, language: &str) {
        let (name, language, properties) = (name.to_owned(), language.to_owned(), String::new());
        self.nodes.push(StructureNode { qualified_name, label, kind, name, language, properties });
    }

    fn add_subprojects(&mut self, index: &Index) {
        for project in inner_projects(index) {
            let uid = project_uid(&project.folder);
            self.add(uid.clone(), "Project", "subproject", &project.name, "");
            self.contains.push((enclosing_project(index, folder_of(&project.folder)), uid));
        }
        self.nodes.dedup_by(|a, b| a.qualified_name == b.qualified_name);
    }

    /// Notes which packages each project provides: another repository may depend on them.
    fn add_provided(&mut self, index: &Index) {
        let files = ManifestFiles::of(index.manifests());
        let provided = provided(&files, |folder| project_uid(&enclosing_folder(index, folder)));
        for node in self.nodes.iter_mut().filter(|node| node.label == "Project") {
            if let Some(properties) = provided.get(&node.qualified_name) {
                node.properties.clone_from(properties);
            }
        }
    }

    fn add_packages(&mut self, index: &Index) {
        let mut packages: FxHashMap<Sym, (&str, &FileEntry)> = FxHashMap::default();
        for (_, entry) in index.present() {
            for declared in declared_packages(index, entry) {
                let path = &*entry.path;
                let first = packages.entry(declared).or_insert((path, entry));
                if path < first.0 {
                    *first = (path, entry);
                }
            }
        }
        for (&package, (path, entry)) in &packages {
            let text = index.strings.text(package);
            let kind = if entry.rules.has_namespaces() { "namespace" } else { "package" };
            let name = text.rsplit('.').next().unwrap_or(text);
            self.add(text.to_string(), "Package", kind, name, &entry.language);
            let parents = text.match_indices('.').rev().map(|(at, _)| &text[..at]);
            let mut known = parents
                .filter(|parent| index.strings.find(parent).is_some_and(|parent| packages.contains_key(&parent)));
            let around = match known.next() {
                Some(parent) => parent.to_owned(),
                None if entry.scope_rule == ScopeRule::Directory => enclosing_project(index, folder_of(path)),
                None => PROJECT_NODE.to_owned(),
            };
            self.contains.push((around, text.to_string()));
        }
    }

    fn add_namespaces(&mut self, index: &Index, namespaces: &Namespaces, dependencies: &mut Vec<u32>) {
        for (folder, name) in namespaces.iter() {
            dependencies.push(key(DependencyKind::Uid, index.strings.intern(name), 0));
            self.add(name.to_owned(), "Package", "namespace", name.rsplit('.').next().unwrap_or(name), "");
            let around = namespaces.at(folder_of(folder)).map(str::to_owned);
            let around = around.unwrap_or_else(|| enclosing_project(index, folder_of(folder)));
            self.contains.push((around, name.to_owned()));
        }
    }

    fn add_file(
        &mut self,
        index: &Index,
        id: FileId,
        entry: &FileEntry,
        namespaces: &Namespaces,
        dependencies: &mut Vec<u32>,
    ) {
        let path = &entry.path;
        let first = entry.symbols.first().copied();
        let node = first.filter(|_| entry.is_document()).unwrap_or(entry.file_symbol);
        let mut uid_of = |symbol| {
            dependencies.push(key(DependencyKind::Uid, index.qualified_name(symbol), 0));
            index.uid(symbol)
        };
        let uid = uid_of(node);
        debug_assert_eq!(index.symbols.get(node).file, id);
        if entry.scope_rule == ScopeRule::Directory && entry.module != EMPTY {
            self.contains.push((index.strings.text(entry.module).to_owned(), uid));
        } else if let Some(namespace) = namespaces.at(entry.rules.listed_in(path)).filter(|_| has_dotted_modules(entry))
        {
            self.contains.push((namespace.to_owned(), uid_of(entry.symbols[0])));
        } else if !has_enclosing_package(index, entry) {
            let around = enclosing_project(index, folder_of(path));
            if entry.rules.is_package_file(path) && entry.is_node(0) {
                self.contains.push((around.clone(), uid_of(entry.symbols[0])));
            }
            self.contains.push((around, uid));
        }
        for def in 0..entry.outlines.len() {
            if !entry.is_node(def as DefId) {
                continue;
            }
            if let Some(SharedScope::Package(package)) = entry.shared_scope(def as DefId)
                && package != EMPTY
            {
                let package = index.strings.text(package).to_string();
                self.contains.push((package, uid_of(entry.symbols[def])));
            }
        }
    }

    fn add_referents(&mut self, index: &Index, referents: FxHashSet<Sym>) {
        for referent in referents {
            let uid = index.strings.text(referent);
            if let Some(("arxiv" | "doi", identifier)) = uid.split_once(':') {
                self.add(uid.to_owned(), "Paper", "paper", identifier, "");
                continue;
            }
            if let Some(name) = uid.strip_prefix("env:") {
                self.add(uid.to_owned(), "EnvVar", "env_var", name, "");
                continue;
            }
            let mut parts = uid.splitn(3, ':').skip(1);
            let (kind, name) = (event_kind(parts.next().unwrap_or("")), parts.next().unwrap_or(""));
            self.add(uid.to_owned(), "Event", kind, name, "");
        }
    }

    fn add_externals(&mut self, index: &Index, imported: &Imported) {
        for &external in imported.keys() {
            let (package, name) = index.externals.name(external);
            if name != EMPTY {
                let uid = index.external_uid(external);
                let text = index.strings.text(name);
                let last = text.rsplit('.').next().unwrap_or(text);
                self.add(uid.clone(), "ExternalSymbol", "external_symbol", last, "");
                self.contains.push((index.external_uid(index.externals.intern(package, EMPTY)), uid));
            }
        }
        let packages = packages::build(index, imported);
        for PackageNode { uid, name, properties } in packages.nodes {
            self.add(uid, "ExternalPackage", "external_package", &name, "");
            self.nodes.last_mut().expect("the node just added").properties = properties;
        }
        self.contains.extend(packages.contains);
        self.depends = packages.depends;
        // A package and a symbol of a shorter package may have the same name ("a/b.c" in Go): the package wins.
        self.nodes.sort();
        self.nodes.dedup_by(|later, first| later.qualified_name == first.qualified_name);
    }
}

/// The kinds of events.
fn event_kind(kind: &str) -> &'static str {
    match kind {
        "command" => "command",
        "signal" => "signal",
        "task" => "task",
        "message" => "message",
        "dom" => "dom_event",
        _ => "event",
    }
}

/// Returns the packages and namespaces that a file declares, including parents.
fn declared_packages(index: &Index, entry: &FileEntry) -> Vec<Sym> {
    match entry.scope_rule {
        ScopeRule::Directory => entry.folder_package().into_iter().collect(),
        ScopeRule::Declared => {
            let mut all = Vec::new();
            for package in entry.packages() {
                let text = index.strings.text(package);
                let ends = text.match_indices('.').map(|(at, _)| at).chain([text.len()]);
                all.extend(ends.filter_map(|end| index.strings.find(&text[..end])));
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Returns the sub-projects other than the project itself.
fn inner_projects(index: &Index) -> impl Iterator<Item = &crate::packages::files::SubProject> {
    index.subprojects.iter().filter(|project| !matches!(project.folder.as_str(), "" | "."))
}

/// Returns the qualified name of the project of a folder.
pub fn project_uid(folder: &str) -> String {
    if folder.is_empty() { PROJECT_NODE.to_owned() } else { format!("project:{folder}") }
}

/// Returns the sub-project that contains a folder, or the project.
fn enclosing_project(index: &Index, folder: &str) -> String {
    project_uid(&enclosing_folder(index, folder))
}

/// Returns the folder of the sub-project that contains a folder, "" for that of the project.
pub fn enclosing_folder(index: &Index, folder: &str) -> String {
    let holds = |project: &&crate::packages::files::SubProject| {
        folder.strip_prefix(project.folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let nearest = inner_projects(index).filter(holds).max_by_key(|project| project.folder.len());
    nearest.map_or_else(String::new, |project| project.folder.clone())
}

/// Returns whether the module of a file is contained in an enclosing package.
fn has_enclosing_package(index: &Index, entry: &FileEntry) -> bool {
    let (rules, path) = (&entry.rules, &entry.path);
    if rules.module_rule != ModuleRule::Packages || (rules.is_package_file(path) && folder_of(path).is_empty()) {
        return false;
    }
    let around = rules.listed_in(path);
    rules.index_files.iter().any(|name| index.file_id(&join(around, name)).is_some())
}
