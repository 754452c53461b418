//! Nodes and edges of packages: DEPENDS_ON from a project to what its manifests declare, and which of the imported names
//! belong to which package.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::declared::{Declared, declared, is_itself};
use super::files::ManifestFiles;
use super::names::{ecosystem_of, import_names, normal, separator};
use super::projects::{Key, folder_named, folders_by_name};
use super::versions::Locks;
use crate::emit::structure::{enclosing_folder, project_uid};
use crate::project::index::Index;
use crate::project::names::ExternalId;
use crate::project::paths::folder_of;
use atlas_facts::{Ecosystem, Purpose, Role};

/// Largest number of further declarations that an edge lists.
const MAX_ALSO: usize = 20;

/// The names that code imports from other packages, with the languages of the importing files.
pub type Imported = FxHashMap<ExternalId, BTreeSet<Box<str>>>;

/// A package that is not part of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageNode {
    pub uid: String,
    pub name: String,
    /// A JSON object, or "".
    pub properties: String,
}

/// A dependency as an edge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DependsOn {
    pub source: String,
    pub target: String,
    pub line: u32,
    pub properties: String,
}

/// The part of the structure that manifests and imports determine.
#[derive(Debug, Default)]
pub struct PackageGraph {
    pub nodes: Vec<PackageNode>,
    pub depends: Vec<DependsOn>,
    pub contains: Vec<(String, String)>,
}

struct Imports<'i> {
    index: &'i Index,
    /// Names that are imported as packages, with the ecosystems of the importing languages.
    packages: BTreeMap<&'i str, BTreeSet<Ecosystem>>,
    /// Packages of standard libraries, with the languages.
    standard: BTreeMap<&'i str, BTreeSet<&'i str>>,
}

/// Returns the packages of a project.
pub fn build(index: &Index, imported: &Imported) -> PackageGraph {
    let files = ManifestFiles::of(index.manifests());
    let imports = Imports::of(index, imported);
    let mut all = declared(&files);
    all.retain(|one| !is_itself(one));
    let inner = InnerProjects::of(index, &files);
    let mut names: BTreeMap<Key, &str> = BTreeMap::new();
    for one in all.iter().filter(|one| inner.target(one).is_none()) {
        names.entry((one.ecosystem, normal(one.ecosystem, &one.dependency.name))).or_insert(&one.dependency.name);
    }
    let uids = imports.uids(&names);
    let mut graph = PackageGraph { depends: edges(index, &files, &all, &inner, &uids), ..PackageGraph::default() };
    imports.add_contents(imported, &all, &uids, &mut graph);
    imports.add_nodes(&names, &uids, &mut graph);
    graph
}

impl<'i> Imports<'i> {
    fn of(index: &'i Index, imported: &'i Imported) -> Imports<'i> {
        let mut imports = Imports { index, packages: BTreeMap::new(), standard: BTreeMap::new() };
        for (&external, languages) in imported {
            let package = index.strings.text(index.externals.name(external).0);
            let ecosystems = imports.packages.entry(package).or_default();
            for language in languages {
                ecosystems.extend(ecosystem_of(language));
                if index.rules.of(language).is_standard(package) {
                    imports.standard.entry(package).or_default().insert(language);
                }
            }
        }
        imports
    }

    fn is_imported(&self, ecosystem: Ecosystem, name: &str) -> bool {
        !self.standard.contains_key(name) && self.packages.get(name).is_some_and(|found| found.contains(&ecosystem))
    }

    /// Returns the uid of each declared package: that of the name under which it is imported, where this is a single
    /// word, else its own. Of several packages with one imported name, the one of that name has it, else the first.
    fn uids(&self, names: &BTreeMap<Key, &str>) -> BTreeMap<Key, String> {
        let mut uids: BTreeMap<Key, String> = BTreeMap::new();
        let mut taken: FxHashSet<(Ecosystem, String)> = FxHashSet::default();
        let root_of = |(ecosystem, key): &Key, name: &str| -> String {
            if !matches!(ecosystem, Ecosystem::Python | Ecosystem::Rust | Ecosystem::Ruby) {
                return name.to_owned();
            }
            let roots: Vec<String> =
                import_names(*ecosystem, name).into_iter().filter(|root| !root.contains(['.', '/'])).collect();
            let is_other = |root: &str| {
                let root = normal(*ecosystem, root);
                root != *key && names.contains_key(&(*ecosystem, root))
            };
            let used = roots.iter().find(|root| self.is_imported(*ecosystem, root) && !is_other(root));
            match (used, ecosystem) {
                (Some(used), _) => used.clone(),
                (None, Ecosystem::Ruby) => name.to_owned(),
                (None, _) => roots.into_iter().next().unwrap_or_else(|| key.clone()),
            }
        };
        for is_own_name in [true, false] {
            for (key, name) in names {
                let root = root_of(key, name);
                if uids.contains_key(key) || (normal(key.0, &root) == key.1) != is_own_name {
                    continue;
                }
                let is_free = taken.insert((key.0, root.clone()));
                uids.insert(key.clone(), format!("ext:{}", if is_free { &root } else { &key.1 }));
            }
        }
        uids
    }

    /// Adds, to each declared package, the imported packages and symbols that belong to it.
    fn add_contents(
        &self,
        imported: &Imported,
        all: &[Declared],
        uids: &BTreeMap<Key, String>,
        graph: &mut PackageGraph,
    ) {
        let mut roots: FxHashMap<(Ecosystem, String), BTreeSet<(usize, &str)>> = FxHashMap::default();
        for one in all {
            let Some(uid) = uids.get(&(one.ecosystem, normal(one.ecosystem, &one.dependency.name))) else { continue };
            let alias = (!one.dependency.import.is_empty()).then(|| one.dependency.import.replace('-', "_"));
            let names = alias.into_iter().chain(import_names(one.ecosystem, &one.dependency.name));
            for (rank, root) in names.enumerate() {
                let root =
                    if one.ecosystem == Ecosystem::Npm { one_of_npm(&one.dependency.import, root) } else { root };
                roots.entry((one.ecosystem, root)).or_default().insert((rank, uid));
            }
        }
        // The package whose name is most likely that one; none where several are as likely.
        let owner = |ecosystem: Ecosystem, name: &str| -> Option<&str> {
            let found = roots.get(&(ecosystem, name.to_owned()))?;
            let best = found.first()?;
            let mut others = found.iter().filter(|other| other.0 == best.0 && other.1 != best.1);
            others.next().is_none().then_some(best.1)
        };
        let of = |ecosystem: Ecosystem, whole: &str| {
            prefixes(whole, separator(ecosystem)).find_map(|prefix| owner(ecosystem, prefix))
        };
        for (&package, ecosystems) in &self.packages {
            let uid = format!("ext:{package}");
            let owners = ecosystems.iter().filter_map(|&ecosystem| of(ecosystem, package));
            graph.contains.extend(owners.filter(|owner| *owner != uid).map(|owner| (owner.to_owned(), uid.clone())));
        }
        for (&external, languages) in imported {
            let (package, name) = self.index.externals.name(external);
            let (package, name) = (self.index.strings.text(package), self.index.strings.text(name));
            for ecosystem in languages.iter().filter_map(|language| ecosystem_of(language)) {
                let whole = format!("{package}{}{name}", separator(ecosystem));
                // Where the package belongs to the owner, so do its symbols.
                let found = of(ecosystem, &whole).filter(|&owner| Some(owner) != of(ecosystem, package));
                if let Some(owner) = found.filter(|_| !name.is_empty()) {
                    graph.contains.push((owner.to_owned(), self.index.external_uid(external)));
                }
            }
        }
    }

    fn add_nodes(&self, names: &BTreeMap<Key, &str>, uids: &BTreeMap<Key, String>, graph: &mut PackageGraph) {
        let mut nodes: BTreeMap<String, (String, BTreeSet<Ecosystem>)> = BTreeMap::new();
        for package in self.packages.keys() {
            nodes.insert(format!("ext:{package}"), ((*package).to_owned(), self.packages[package].clone()));
        }
        for (key, uid) in uids {
            let node = nodes.entry(uid.clone()).or_default();
            names[key].clone_into(&mut node.0);
            node.1.insert(key.0);
        }
        let declared: FxHashSet<&String> = uids.values().collect();
        for (uid, (name, ecosystems)) in nodes {
            let mut properties = Map::new();
            let import = &uid["ext:".len()..];
            if import != name {
                properties.insert("import_name".to_owned(), import.into());
            }
            let ecosystems: Vec<&str> = ecosystems.iter().map(|one| one.name()).collect();
            if !ecosystems.is_empty() {
                properties.insert("ecosystem".to_owned(), ecosystems.join(" ").into());
            }
            if let Some(languages) = self.standard.get(import).filter(|_| !declared.contains(&uid)) {
                let languages: Vec<&str> = languages.iter().copied().collect();
                properties.insert("standard".to_owned(), languages.join(" ").into());
            }
            let properties = if properties.is_empty() { String::new() } else { Value::Object(properties).to_string() };
            graph.nodes.push(PackageNode { uid, name, properties });
        }
    }
}

/// npm's packages are imported under their own names, unless they are renamed.
fn one_of_npm(import: &str, root: String) -> String {
    if import.is_empty() { root } else { import.to_owned() }
}

/// Returns a name and its prefixes that end at a separator, longest first.
fn prefixes(name: &str, separator: char) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), move |name| name.rfind(separator).map(|at| &name[..at]))
}

/// The projects of the repository, by name and by folder.
struct InnerProjects<'i> {
    index: &'i Index,
    folders: FxHashMap<Key, String>,
    manifests: FxHashSet<&'i str>,
}

impl<'i> InnerProjects<'i> {
    fn of(index: &'i Index, files: &ManifestFiles<'i>) -> InnerProjects<'i> {
        let folders = folders_by_name(files);
        let manifests = files.iter().filter(|file| file.manifest.role == Role::Manifest).map(|file| file.folder());
        InnerProjects { index, folders, manifests: manifests.collect() }
    }

    /// Returns the uid of the project of the repository that a dependency leads to.
    fn target(&self, one: &Declared) -> Option<String> {
        if one.is_local {
            let folder = one.dependency.path.as_str();
            if self.manifests.contains(folder) {
                return Some(project_uid(&enclosing_folder(self.index, folder)));
            }
        }
        // Go and Cargo take a package from the repository only where its folder is named.
        if matches!(one.ecosystem, Ecosystem::Go | Ecosystem::Rust) {
            return None;
        }
        let folder = folder_named(&self.folders, one)?;
        Some(project_uid(&enclosing_folder(self.index, folder)))
    }
}

fn edges(
    index: &Index,
    files: &ManifestFiles,
    all: &[Declared],
    inner: &InnerProjects,
    uids: &BTreeMap<Key, String>,
) -> Vec<DependsOn> {
    let locks = Locks::of(files);
    let mut groups: BTreeMap<(String, String, Purpose), Vec<&Declared>> = BTreeMap::new();
    for one in all {
        let source = project_uid(&enclosing_folder(index, folder_of(&one.manifest)));
        let key = (one.ecosystem, normal(one.ecosystem, &one.dependency.name));
        let Some(target) = inner.target(one).or_else(|| uids.get(&key).cloned()) else { continue };
        if source != target {
            groups.entry((source, target, one.dependency.purpose)).or_default().push(one);
        }
    }
    // An edge is identified by its ends and its line: where two purposes are declared at equal lines of different files,
    // they share one.
    let mut places: FxHashMap<(String, String, u32), usize> = FxHashMap::default();
    let mut found: Vec<(String, String, &Declared, Vec<&Declared>)> = Vec::with_capacity(groups.len());
    for ((source, target, _), mut group) in groups {
        group.sort_by(|a, b| (&a.path, a.dependency.line).cmp(&(&b.path, b.dependency.line)));
        let place = |one: &Declared| (source.clone(), target.clone(), one.dependency.line);
        let Some(free) = group.iter().position(|one| !places.contains_key(&place(one))) else {
            found[places[&place(group[0])]].3.extend(group);
            continue;
        };
        let first = group.remove(free);
        // The same line may be included twice.
        let said = |one: &Declared| (one.path.clone(), one.dependency.line, one.dependency.group.clone());
        group.retain(|one| said(one) != said(first));
        places.insert(place(first), found.len());
        found.push((source.clone(), target.clone(), first, group));
    }
    let made = found.into_iter().map(|(source, target, one, others)| {
        let name = files.at(&one.manifest).map(|file| file.manifest.name.as_str()).unwrap_or_default();
        let project_folder = enclosing_folder(index, folder_of(&one.manifest));
        let (locked, lock) = locks.version(one, name, &project_folder);
        let properties = properties(one, &others, &locked, &lock);
        DependsOn { source, target, line: one.dependency.line, properties }
    });
    let mut edges: Vec<DependsOn> = made.collect();
    edges.sort();
    edges
}

fn properties(one: &Declared, others: &[&Declared], locked: &str, lock: &str) -> String {
    let dependency = &one.dependency;
    let mut properties = Map::new();
    let mut add = |key: &str, value: &str| {
        if !value.is_empty() {
            properties.insert(key.to_owned(), value.into());
        }
    };
    add("kind", dependency.purpose.name());
    add("ecosystem", one.ecosystem.name());
    add("package", &dependency.name);
    add("group", &dependency.group);
    add("range", &dependency.range);
    add("marker", &dependency.marker);
    add("locked", locked);
    add("lock", lock);
    add("path", &one.path);
    let also = others.iter().map(|other| {
        let Declared { path, dependency, .. } = other;
        let place = format!("{path}:{}", dependency.line);
        let parts = [&place, dependency.purpose.name(), &dependency.group, &dependency.range];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<&str>>().join(" ")
    });
    let also: BTreeSet<String> = also.collect();
    if !also.is_empty() {
        let also: Vec<Value> = also.into_iter().take(MAX_ALSO).map(Value::String).collect();
        properties.insert("also".to_owned(), Value::Array(also));
    }
    Value::Object(properties).to_string()
}
