//! Linking: all facts of a project to the graph of each file. Pure: the same facts give the same graph, in whatever order and
//! by however many threads they are taken in.
//!
//! `project` holds the facts, and is how one file's linking reads the rest, recording every question. `inherit`, `resolve::types` and
//! `emit::edges` are the stages, each reading only what earlier ones made; `resolve` says what expressions stand for; `emit` makes
//! edges, and the unit that is no file.

pub(crate) mod edge;
pub(crate) mod emit;
mod entity;
mod inherit;
pub(crate) mod project;
mod resolve;
mod rules;
mod strategy;

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::FileFacts;

use crate::link::edge::FileEdges;
use crate::link::emit::edges;
use crate::link::emit::structure::{self, Structure};
use crate::link::project::ancestry::FileBases;
use crate::link::project::dependencies::{add_differences, is_affected};
use crate::link::project::file_types::FileTypes;
use crate::link::project::index::{Index, SubProject};
use crate::link::project::names::{ExternalId, FileId};
use crate::link::project::query::{Query, STAGES, Stage};
use crate::link::resolve::types;
use crate::unit::{self, UnitDigest, UnitSource};

/// All facts of one project and the graph made from them.
pub struct Project {
    name: String,
    index: Index,
    links: Vec<FileLink>,
    structure: Structure,
    structure_digest: Option<UnitDigest>,
    /// Keys of the questions that the structure asked.
    structure_dependencies: Box<[u32]>,
    /// Linked under other sub-projects: everything is linked again.
    is_stale: bool,
    /// Taken in, but not linked yet.
    pending: Pending,
    /// Needs little memory and more time: facts are packed again and again.
    low_memory: bool,
}

/// What was taken in and out since the last update.
#[derive(Default)]
struct Pending {
    ids: FxHashSet<FileId>,
    /// What lookups may now see differently.
    keys: FxHashSet<u32>,
    removed: FxHashSet<FileId>,
    /// The structure may be another.
    is_restructured: bool,
}

/// A linker that must need little memory packs its facts again when those of more files are unpacked: some 15 KB each.
const LOW_MEMORY_FILES: usize = 2048;

/// Files that it links before it looks at that.
const LOW_MEMORY_BATCH: usize = 256;

/// What linking one file gave, and what it asked in each stage.
#[derive(Default)]
struct FileLink {
    dependencies: [Box<[u32]>; STAGES.len()],
    /// Kept until the linker rests.
    edges: Option<FileEdges>,
    /// External symbols that the edges reach.
    externals: Box<[ExternalId]>,
    digest: Option<UnitDigest>,
}

/// Result of one stage for one file.
enum Output {
    Bases(FileBases),
    Types(FileTypes),
    Edges(Option<FileEdges>, Box<[ExternalId]>, UnitDigest),
}

impl Project {
    pub fn new(name: &str, low_memory: bool) -> Project {
        Project {
            name: name.to_owned(),
            index: Index::default(),
            links: Vec::new(),
            structure: Structure::default(),
            structure_digest: None,
            structure_dependencies: Box::default(),
            is_stale: false,
            pending: Pending::default(),
            low_memory,
        }
    }

    /// Folders with manifests; the next update links everything again if they differ.
    pub fn set_subprojects(&mut self, mut subprojects: Vec<SubProject>) {
        subprojects.sort_by(|a, b| (&a.folder, &a.kind, &a.name).cmp(&(&b.folder, &b.kind, &b.name)));
        if subprojects != self.index.subprojects {
            self.index.subprojects = subprojects;
            self.is_stale = true;
        }
    }

    /// Take files in and out, to be linked by the next update. The last of several versions of a file counts.
    pub fn take(&mut self, changed: Vec<Arc<FileFacts>>, removed: &[String]) {
        let changed = last_of_each_path(changed);
        let parts: Vec<Option<u64>> = changed.iter().map(|facts| self.structure_part(&facts.path)).collect();
        self.pending.removed.extend(removed.iter().filter_map(|path| self.index.file_id(path)));
        // before the first update everything is new
        let is_first = self.structure_digest.is_none();
        let (ids, keys) = self.index.replace(changed, removed, !is_first);
        let mut is_restructured =
            ids.iter().zip(parts).any(|(&id, old)| old != Some(structure::part_of(self.index.file(id))));
        is_restructured |= !self.pending.removed.is_empty();
        self.pending.is_restructured |= is_restructured;
        self.pending.ids.extend(ids);
        self.pending.keys.extend(keys);
        self.pack_if_many();
    }

    /// Link what was taken in, and what depends on it. Returns the sorted paths whose units changed, without removed ones,
    /// "" for the structure. The result equals that of a new project with the same files. `keep_edges`: units that
    /// changed will be asked for; else their edges are found again then, and a project that is linked whole needs less memory.
    pub fn update(&mut self, keep_edges: bool) -> Vec<String> {
        let Pending { ids, mut keys, removed, mut is_restructured } = std::mem::take(&mut self.pending);
        self.links.resize_with(self.index.files.len(), FileLink::default);
        let (mut dirty, removed): (FxHashSet<FileId>, Vec<FileId>) = (
            ids.into_iter().filter(|&id| self.index.files[id as usize].is_some()).collect(),
            removed.into_iter().filter(|&id| self.index.files[id as usize].is_none()).collect(),
        );
        for &id in &removed {
            self.links[id as usize] = FileLink::default();
            self.index.first_types[id as usize] = FileTypes::default();
            self.index.types[id as usize] = FileTypes::default();
        }
        is_restructured |= dirty.len() == self.index.present().count();
        if std::mem::take(&mut self.is_stale) {
            is_restructured = true;
            dirty.extend(self.index.present().map(|(id, _)| id));
        }
        let mut before: FxHashMap<FileId, Option<UnitDigest>> = FxHashMap::default();
        for stage in STAGES {
            is_restructured |= self.run_stage(stage, keep_edges, &mut dirty, &mut keys, &removed, &mut before);
        }
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

    /// Run a stage for the dirty files and those that asked for something that changed; add the keys that change with its results.
    /// Does a file reach other external symbols than before?
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
        for (id, _) in self.index.present() {
            if !dirty.contains(&id) && is_affected(&self.links[id as usize].dependencies[stage as usize], keys) {
                dirty.insert(id);
            }
        }
        let mut todo: Vec<FileId> = dirty.iter().copied().collect();
        // neighbours ask the same files
        todo.sort_unstable();
        let is_all = todo.len() == self.index.present().count();
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
                Output::Edges(edges, externals, digest) => {
                    reaches_others |= externals != link.externals;
                    link.externals = externals;
                    link.edges = edges;
                    before.insert(id, link.digest.replace(digest));
                }
            }
        }
        if stage == Stage::Bases {
            keys.extend(inherit::refresh(&mut self.index, bases, removed));
        }
        reaches_others
    }

    fn pack_if_many(&mut self) {
        if self.low_memory && self.index.unpacked() > LOW_MEMORY_FILES {
            self.index.pack();
        }
    }

    /// What the structure now says because of a file; None for an unknown one.
    fn structure_part(&self, path: &str) -> Option<u64> {
        self.index.file_id(path).map(|id| structure::part_of(self.index.file(id)))
    }

    fn refresh_structure(&mut self) -> bool {
        let externals = self.links.iter().flat_map(|link| link.externals.iter().copied()).collect();
        let (structure, dependencies) = structure::build(&self.index, &self.name, externals);
        self.structure_dependencies = dependencies;
        if self.structure_digest.is_some() && structure == self.structure {
            return false;
        }
        self.structure = structure;
        let digest = unit::structure_source(&self.name, &self.structure).digest();
        self.structure_digest.replace(digest) != Some(digest)
    }

    /// The graph of a file, or of the structure for "".
    pub fn unit(&self, path: &str) -> Option<UnitSource> {
        if path.is_empty() {
            return Some(unit::structure_source(&self.name, &self.structure));
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

    /// Keep the facts packed until they are asked for again.
    pub fn pack(&mut self) {
        self.index.pack();
    }

    /// Give back memory until the next update: facts are packed, edges are found again when a unit is asked for.
    pub fn rest(&mut self) {
        self.index.pack();
        for link in &mut self.links {
            link.edges = None;
        }
    }

    /// Unit digests by path, "" included.
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
        Stage::Edges => {
            let (edges, uids) = edges::link_edges(query);
            let digest = unit::file_source(project, query.index, query.home, &edges, uids).digest();
            let externals = edges.externals();
            // a unit that is as it was is hardly asked for
            let is_kept = keep_edges && old != Some(digest);
            Output::Edges(is_kept.then_some(edges), externals, digest)
        }
    }
}

fn last_of_each_path(changed: Vec<Arc<FileFacts>>) -> Vec<Arc<FileFacts>> {
    let mut seen = FxHashSet::default();
    let mut last: Vec<Arc<FileFacts>> =
        changed.into_iter().rev().filter(|facts| seen.insert(facts.path.clone())).collect();
    last.reverse();
    last
}
