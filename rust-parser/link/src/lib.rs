//! Linking: from all facts of a project to the graph of each file. The result depends on the facts alone, not on the
//! order of updates or the number of threads.
//!
//! `project` holds the facts and provides the recorded queries by which linking a file reads other files. `inherit`,
//! `resolve::types`, `resolve::flows` (what files hand to each other, after each round of types), `routes`,
//! `testing::support` and `emit::edges` are the stages, each of which reads only results of earlier ones. `resolve`
//! determines the values of expressions; `emit` creates edges and the unit of the project structure; `unit` turns each
//! file's part of the graph into rows.
//!
//! ```
//! use std::time::Duration;
//!
//! use atlas_link::Project;
//! use atlas_parse::{Limits, Registry, parse_content};
//!
//! let languages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../atlas/languages").to_owned();
//! let registry = Registry::load(&[languages], ".knowledge", &[]).unwrap();
//! let limits = Limits { timeout: Duration::from_secs(5), generated: false };
//! let read = |path, text: &str| parse_content(&registry, path, text.as_bytes(), limits).facts;
//!
//! let mut project = Project::new("demo", registry.settings(), false);
//! project.take(vec![read("a.py", "def f(): pass\n"), read("b.py", "from a import f\nf()\n")], &[]);
//! assert_eq!(project.update(true), ["", "a.py", "b.py"]);
//! assert_eq!(project.unit("b.py").unwrap().resolved, 2); // the import and the call
//!
//! // `b.py` depends on a name that is gone: it is linked again.
//! project.take(vec![read("a.py", "def g(): pass\n")], &[]);
//! assert!(project.update(true).contains(&"b.py".to_owned()));
//! assert!(project.unit("b.py").unwrap().resolved < 2);
//! ```

#![forbid(unsafe_code)]

mod configuration;
mod edge;
mod emit;
mod entity;
mod inherit;
mod method_signature;
mod packages;
pub mod project;
mod resolve;
mod routes;
mod rules;
mod snapshot;
mod strategy;
mod structure_unit;
mod testing;
pub mod unit;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use atlas_facts::FileFacts;
use atlas_languages::Settings;

use crate::edge::FileEdges;
use crate::emit::edges;
use crate::emit::structure::{self, Structure};
pub use crate::packages::files::SubProject;
use crate::project::ancestry::FileBases;
use crate::project::dependencies::{AskedKeys, add_differences, is_affected};
use crate::project::file_types::FileTypes;
use crate::project::flows::FileFlows;
use crate::project::index::Index;
use crate::project::index::update::last_of_each_path;
use crate::project::names::{ExternalId, FileId, Sym};
use crate::project::query::{Query, STAGES, Stage};
use crate::resolve::flows::link_flows;
use crate::resolve::types;
use crate::routes::composed::link_routes;
pub use crate::routes::fit::{Template, best_fits};
use crate::routes::routers::link_routers;
use crate::routes::tables::{FileRouters, FileRoutes};
use crate::testing::file_support::FileSupport;
use crate::testing::support::link_support;
use crate::unit::{UnitDigest, UnitSource};

/// All facts of one project and their graph.
pub struct Project {
    name: String,
    index: Index,
    links: Vec<FileLink>,
    /// Built when it is requested or may have changed.
    structure: OnceLock<Structure>,
    structure_digest: Option<UnitDigest>,
    /// Keys of the queries that the structure made.
    structure_dependencies: Box<[u32]>,
    /// Set when the sub-projects have changed: everything is linked again.
    is_stale: bool,
    /// Updates that are not linked yet.
    pending: Pending,
    /// Whether to trade time for memory: facts are packed again during linking.
    low_memory: bool,
    /// Whether this process has linked the project before.
    is_warm: bool,
    /// Whether the edges of all files are kept, so that no unit needs the facts of another file.
    has_all_edges: bool,
    /// What the files have asked for, from the second update on: collecting it costs about as much as it saves once.
    asked: Option<AskedKeys>,
}

/// The updates since the last linking.
#[derive(Default)]
struct Pending {
    ids: FxHashSet<FileId>,
    /// Keys of queries whose answers may have changed.
    keys: FxHashSet<u32>,
    removed: FxHashSet<FileId>,
    /// Whether the structure may have changed.
    is_restructured: bool,
    /// Whether a configuration file may have changed.
    is_reconfigured: bool,
}

/// Number of files with unpacked facts (some 15 KB each) after which a linker with low memory packs them again.
const LOW_MEMORY_FILES: usize = 2048;

/// Number of files linked between two checks of that limit.
const LOW_MEMORY_BATCH: usize = 256;

/// The results of linking one file, and the queries of each stage.
#[derive(Default)]
struct FileLink {
    dependencies: [Box<[u32]>; STAGES.len()],
    /// Kept until `rest`.
    edges: Option<FileEdges>,
    /// External symbols that the edges refer to.
    externals: Box<[ExternalId]>,
    /// Uids of the events and papers that the edges refer to.
    referents: Box<[Sym]>,
    digest: Option<UnitDigest>,
}

/// The result of one stage for one file.
enum Output {
    Bases(FileBases),
    Types(FileTypes),
    Flows(FileFlows),
    Routers(FileRouters),
    Routes(FileRoutes),
    Support(FileSupport),
    Edges(Option<FileEdges>, Box<[ExternalId]>, Box<[Sym]>, UnitDigest),
}

impl Project {
    /// Creates an empty project. With `low_memory`, linking packs facts again and takes longer.
    pub fn new<'a>(name: &str, languages: impl Iterator<Item = &'a Settings>, low_memory: bool) -> Project {
        Project {
            name: name.to_owned(),
            index: Index::new(languages),
            links: Vec::new(),
            structure: OnceLock::new(),
            structure_digest: None,
            structure_dependencies: Box::default(),
            is_stale: false,
            pending: Pending::default(),
            low_memory,
            is_warm: false,
            has_all_edges: false,
            asked: None,
        }
    }

    /// Sets the folders with manifests. If they differ, the next update links everything again.
    pub fn set_subprojects(&mut self, mut subprojects: Vec<SubProject>) {
        subprojects.sort_by(|a, b| (&a.folder, &a.kind, &a.name).cmp(&(&b.folder, &b.kind, &b.name)));
        if subprojects != self.index.subprojects {
            self.index.subprojects = subprojects;
            self.is_stale = true;
        }
    }

    /// Adds and removes files, which the next update links. Of several versions of a file, the last one counts.
    pub fn take(&mut self, changed: Vec<Arc<FileFacts>>, removed: &[String]) {
        let changed = last_of_each_path(changed);
        let parts: Vec<Option<u64>> = changed.iter().map(|facts| self.structure_part(&facts.path)).collect();
        self.pending.removed.extend(removed.iter().filter_map(|path| self.index.file_id(path)));
        let paths = removed.iter().chain(changed.iter().map(|facts| &facts.path));
        self.pending.is_reconfigured |= paths
            .map(String::as_str)
            .any(|path| self.index.file_id(path).is_some_and(|id| self.index.file(id).is_configuration()));
        // Before the first update everything is new.
        let is_first = self.structure_digest.is_none();
        let (ids, keys) = self.index.replace(changed, removed, !is_first);
        self.pending.is_reconfigured |= ids.iter().any(|&id| self.index.file(id).is_configuration());
        let mut is_restructured =
            ids.iter().zip(parts).any(|(&id, old)| old != Some(structure::part_of(self.index.file(id))));
        is_restructured |= !self.pending.removed.is_empty();
        self.pending.is_restructured |= is_restructured;
        self.pending.ids.extend(ids);
        self.pending.keys.extend(keys);
        self.pack_if_many();
    }

    /// Links the added files and the files that depend on them. Returns the sorted paths whose units changed, without
    /// removed ones, and "" for the structure. The result equals that of a new project with the same files. With
    /// `keep_edges`, edges of changed units are kept for the requests that follow; without, they are computed again on
    /// request, which takes less memory when a whole project is linked.
    pub fn update(&mut self, keep_edges: bool) -> Vec<String> {
        let Pending { ids, mut keys, removed, mut is_restructured, is_reconfigured } =
            std::mem::take(&mut self.pending);
        if is_reconfigured || self.is_stale {
            self.index.reconfigure(&mut keys);
        }
        self.links.resize_with(self.index.files.len(), FileLink::default);
        if std::mem::replace(&mut self.is_warm, true) && self.asked.is_none() {
            let mut asked = AskedKeys::default();
            self.links.iter().flat_map(|link| &link.dependencies).for_each(|keys| asked.add(keys));
            self.asked = Some(asked);
        }
        let (mut dirty, removed): (FxHashSet<FileId>, Vec<FileId>) = (
            ids.into_iter().filter(|&id| self.index.files[id as usize].is_some()).collect(),
            removed.into_iter().filter(|&id| self.index.files[id as usize].is_none()).collect(),
        );
        self.index.routing.grow(self.index.files.len());
        for &id in &removed {
            self.index.put_routers(id, FileRouters::default(), &mut keys);
            self.index.put_routes(id, FileRoutes::default(), &mut keys);
            self.index.put_support(id, FileSupport::default(), &mut keys);
            self.links[id as usize] = FileLink::default();
            self.index.first_flows.put(id, FileFlows::default(), &mut keys);
            self.index.flows.put(id, FileFlows::default(), &mut keys);
            self.index.first_types[id as usize] = FileTypes::default();
            self.index.types[id as usize] = FileTypes::default();
        }
        is_restructured |= dirty.len() == self.index.count();
        if std::mem::take(&mut self.is_stale) {
            is_restructured = true;
            dirty.extend(self.index.present().map(|(id, _)| id));
        }
        let mut before: FxHashMap<FileId, Option<UnitDigest>> = FxHashMap::default();
        for stage in STAGES {
            is_restructured |= self.run_stage(stage, keep_edges, &mut dirty, &mut keys, &removed, &mut before);
        }
        self.has_all_edges = self.links.iter().filter(|link| link.edges.is_some()).count() == self.index.count();
        let mut paths: BTreeSet<String> = BTreeSet::new();
        for (&id, &old) in &before {
            if self.links[id as usize].digest != old {
                paths.insert(self.index.file(id).path.to_string());
            }
        }
        if (is_restructured || is_affected(&self.structure_dependencies, &keys)) && self.refresh_structure() {
            paths.insert(String::new());
        }
        paths.into_iter().collect()
    }

    /// Runs a stage for the dirty files and for those that depend on a changed key. Adds the keys that change with its
    /// results.
    /// Returns whether the external symbols that a file refers to have changed.
    fn run_stage(
        &mut self,
        stage: Stage,
        keep_edges: bool,
        dirty: &mut FxHashSet<FileId>,
        keys: &mut FxHashSet<u32>,
        removed: &[FileId],
        before: &mut FxHashMap<FileId, Option<UnitDigest>>,
    ) -> bool {
        let mut reaches_others = false;
        self.add_affected(stage, keys, dirty);
        let mut todo: Vec<FileId> = dirty.iter().copied().collect();
        // Adjacent files query the same files.
        todo.sort_unstable();
        let is_all = todo.len() == self.index.count();
        let mut results: Vec<(FileId, Box<[u32]>, Output)> = Vec::with_capacity(todo.len());
        for part in todo.chunks(if self.low_memory { LOW_MEMORY_BATCH } else { todo.len().max(1) }) {
            results.par_extend(part.par_iter().map(|&id| {
                let query = Query::new(&self.index, id, stage);
                let output = run(&query, stage, &self.name, keep_edges, self.links[id as usize].digest);
                (id, query.into_dependencies(), output)
            }));
            self.pack_if_many();
        }
        let mut bases = Vec::new();
        for (id, dependencies, output) in results {
            let link = &mut self.links[id as usize];
            self.asked.iter_mut().for_each(|asked| asked.add(&dependencies));
            link.dependencies[stage as usize] = dependencies;
            match output {
                Output::Bases(found) => bases.push((id, found)),
                Output::Types(found) => {
                    let table = match stage {
                        Stage::FirstTypes => &mut self.index.first_types,
                        _ => &mut self.index.types,
                    };
                    let old = std::mem::replace(&mut table[id as usize], found);
                    if !is_all && old != table[id as usize] {
                        add_differences(old.contributions(), table[id as usize].contributions(), keys);
                    }
                }
                Output::Flows(found) => match stage {
                    Stage::FirstFlows => self.index.first_flows.put(id, found, keys),
                    _ => self.index.flows.put(id, found, keys),
                },
                Output::Routers(found) => self.index.put_routers(id, found, keys),
                Output::Routes(found) => self.index.put_routes(id, found, keys),
                Output::Support(found) => self.index.put_support(id, found, keys),
                Output::Edges(edges, externals, referents, digest) => {
                    reaches_others |= externals != link.externals || referents != link.referents;
                    link.referents = referents;
                    link.externals = externals;
                    link.edges = edges;
                    before.insert(id, link.digest.replace(digest));
                }
            }
        }
        match stage {
            Stage::Bases => keys.extend(inherit::refresh(&mut self.index, bases, removed)),
            Stage::Routers => self.index.index_routers(),
            Stage::Routes => self.index.index_routes(),
            _ => {}
        }
        reaches_others
    }

    /// Adds the files that depend on a changed key in a stage. Files without a link depend on nothing.
    fn add_affected(&self, stage: Stage, keys: &FxHashSet<u32>, dirty: &mut FxHashSet<FileId>) {
        let asked = self.asked.as_ref().map(|asked| asked.among(keys));
        let keys = asked.as_ref().unwrap_or(keys);
        if keys.is_empty() {
            return;
        }
        for (id, link) in (0..).zip(&self.links) {
            if is_affected(&link.dependencies[stage as usize], keys) && !dirty.contains(&id) {
                dirty.insert(id);
            }
        }
    }

    fn pack_if_many(&mut self) {
        if self.low_memory && self.index.unpacked() > LOW_MEMORY_FILES {
            self.index.pack();
        }
    }

    /// Returns a file's contribution to the structure, or `None` for an unknown file.
    fn structure_part(&self, path: &str) -> Option<u64> {
        self.index.file_id(path).map(|id| structure::part_of(self.index.file(id)))
    }

    /// Returns the graph of a file, or of the structure for "".
    pub fn unit(&self, path: &str) -> Option<UnitSource> {
        if path.is_empty() {
            return Some(self.structure_unit());
        }
        let id = self.index.file_id(path)?;
        let source = match &self.links[id as usize].edges {
            Some(edges) => {
                let uids = edges.edges.iter().map(|edge| self.index.target_uid(edge.target)).collect();
                unit::file_source(&self.name, &self.index, id, edges, uids)
            }
            None => {
                let (edges, uids) = edges::link_edges(&Query::new(&self.index, id, Stage::Edges));
                unit::file_source(&self.name, &self.index, id, &edges, uids)
            }
        };
        Some(source)
    }

    /// Packs all facts.
    pub fn pack(&mut self) {
        self.index.pack();
    }

    /// Frees memory until the next update: packs facts and drops edges, which are computed again when a unit is
    /// requested.
    pub fn rest(&mut self) {
        self.index.pack();
        self.has_all_edges = false;
        for link in &mut self.links {
            link.edges = None;
        }
    }

    /// Drops facts and edges of files whose units were requested and will not be again, and returns whether it could:
    /// then there must be no further update. It cannot if units of other files are still to be made from these facts.
    pub fn release(&mut self, paths: &[String]) -> bool {
        if self.has_all_edges {
            for path in paths {
                if let Some(id) = self.index.file_id(path) {
                    self.index.release(id);
                    self.links[id as usize].edges = None;
                }
            }
        }
        self.has_all_edges
    }

    /// Returns the digest of a linked file's unit, or of the structure for "".
    pub fn digest(&self, path: &str) -> Option<UnitDigest> {
        match path {
            "" => self.structure_digest,
            _ => self.links.get(self.index.file_id(path)? as usize)?.digest,
        }
    }

    /// Returns the unit digests by path, including "".
    pub fn digests(&self) -> Vec<(String, UnitDigest)> {
        let files = self
            .index
            .present()
            .filter_map(|(id, entry)| Some((entry.path.to_string(), self.links[id as usize].digest?)));
        let structure = self.structure_digest.map(|digest| (String::new(), digest));
        files.chain(structure).collect()
    }
}

fn run(query: &Query, stage: Stage, project: &str, keep_edges: bool, old: Option<UnitDigest>) -> Output {
    match stage {
        Stage::Bases => Output::Bases(inherit::link_bases(query)),
        Stage::FirstTypes | Stage::Types => Output::Types(types::infer(query)),
        Stage::FirstFlows | Stage::Flows => Output::Flows(link_flows(query)),
        Stage::Routers => Output::Routers(link_routers(query)),
        Stage::Routes => Output::Routes(link_routes(query)),
        Stage::Support => Output::Support(link_support(query)),
        Stage::Edges => {
            let (edges, uids) = edges::link_edges(query);
            let digest = unit::file_source(project, query.index, query.home, &edges, uids).digest();
            let (externals, referents) = (edges.externals(), edges.referents());
            // An unchanged unit is rarely requested.
            let is_kept = keep_edges && old != Some(digest);
            Output::Edges(is_kept.then_some(edges), externals, referents, digest)
        }
    }
}
