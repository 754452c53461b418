//! The linker's state between processes: everything but the facts, which the facts cache holds.
//!
//! A restored linker behaves like the one that was saved. Ids keep their numbers, because recorded dependencies are
//! hashes of them. A snapshot holds the text of a string only if the current files refer to it: of all others, such as
//! names that were deleted or looked up in vain, it keeps a hash, by which the string gets its number back when it
//! appears again.

mod codec;
mod files;
mod values;

use std::io::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::inherit;
use crate::packages::files::SubProject;
use crate::project::index::Index;
use crate::project::names::{DEFAULT, Externals, FileId, Place, Strings, Sym, Symbols, text_hash};
use crate::snapshot::codec::{Reader, Stored, Writer};
use crate::snapshot::files::{read_entry, write_entry};
use crate::unit::UnitDigest;
use crate::{FileLink, Pending, Project};
use atlas_facts::cache::{CacheFile, ContentDigest};
use atlas_languages::Settings;

/// A table with more strings without text than this, and than twice those with text, is made anew.
const MANY_TEXTLESS: usize = 100_000;

/// Bytes of strings that are collected before they are written.
const DRAIN_BYTES: usize = 1 << 20;

/// What a store holds: the digests of content and graph by path, and the digest of the structure under "".
pub type Units = FxHashMap<String, (Option<ContentDigest>, UnitDigest)>;

impl Project {
    /// Writes the state, with a text that `restored` compares. Returns `None` if that fails, if updates are pending, or
    /// if the tables should rather be made anew.
    ///
    /// The files come first and the strings last, since only then it is known which strings the files refer to; the
    /// lengths of the two parts before the strings are at the end.
    pub fn snapshot(&self, made_with: &str, out: &mut dyn Write) -> Option<()> {
        let Pending { ids, keys, removed, is_restructured, is_reconfigured: _ } = &self.pending;
        if self.is_stale || *is_restructured || !(ids.is_empty() && keys.is_empty() && removed.is_empty()) {
            return None;
        }
        let mut body = Writer::default();
        body.plain(&self.structure_digest?);
        body.numbers(&self.structure_dependencies);
        body.number(self.index.files.len() as u32);
        let mut body_length = 0_u64;
        for id in 0..self.index.files.len() {
            self.write_file(id, &mut body)?;
            body_length += body.drain_to(out)?;
        }
        body_length += body.drain_to(out)?;
        let mut head = Writer { syms: std::mem::take(&mut body.syms), ..Writer::default() };
        write_externals(&self.index.externals, &body, &mut head);
        let (places, paths) = self.index.symbols.parts();
        head.numbers(&places.iter().map(|place| place.file).collect::<Vec<_>>());
        head.numbers(&places.iter().map(|place| place.def).collect::<Vec<_>>());
        head.numbers(paths);
        let head_length = head.drain_to(out)?;
        let mut last = Writer::default();
        last.text(made_with);
        last.text(&self.name);
        write_strings(&self.index.strings, &head, &mut last, out)?;
        last.bytes.extend_from_slice(&body_length.to_le_bytes());
        last.bytes.extend_from_slice(&head_length.to_le_bytes());
        last.drain_to(out)?;
        Some(())
    }

    fn write_file(&self, id: usize, out: &mut Writer) -> Option<()> {
        let Some(entry) = &self.index.files[id] else {
            out.number(0);
            return Some(());
        };
        let index = &self.index;
        out.number(1);
        write_entry(entry, out);
        index.ancestry.files.get(id)?.write(out);
        index.first_types[id].write(out);
        index.types[id].write(out);
        index.first_flows.files.get(id)?.write(out);
        index.flows.files.get(id)?.write(out);
        index.routing.routers.get(id)?.write(out);
        index.routing.routes.get(id)?.write(out);
        index.support[id].write(out);
        out.list(&index.fixtures[id]);
        self.links.get(id)?.write(out);
        Some(())
    }

    /// Returns the linker whose state the bytes are, if it was made with the same files and digests, and if the
    /// cache holds all facts undamaged. The project may have had another name then.
    pub fn restored<'a>(
        &self,
        languages: impl Iterator<Item = &'a Settings>,
        made_with: &str,
        units: &Units,
        cache: &CacheFile,
    ) -> Option<Project> {
        let bytes = cache.read_snapshot()?;
        let (body, head, last) = parts(&bytes)?;
        let mut from = Reader { rest: last, strings: 0, symbols: 0, externals: 0 };
        if from.text()? != made_with {
            return None;
        }
        let is_renamed = from.text()? != self.name;
        let strings = read_strings(&mut from)?;
        if !std::mem::replace(&mut from.rest, head).is_empty() {
            return None;
        }
        let mut index = Index::with_strings(languages, strings);
        index.externals = read_externals(&mut from)?;
        index.symbols = read_symbols(&mut from)?;
        if !std::mem::replace(&mut from.rest, body).is_empty() {
            return None;
        }
        let mut project = Project {
            name: self.name.clone(),
            index,
            links: Vec::new(),
            structure: Default::default(),
            structure_digest: Some(from.plain()?),
            structure_dependencies: from.numbers()?,
            is_stale: false,
            pending: Pending::default(),
            low_memory: self.low_memory,
            is_warm: false,
            has_all_edges: false,
            asked: None,
        };
        if units.get("")?.1 != project.structure_digest? {
            return None;
        }
        project.read_files(&mut from, units, cache)?;
        project.index.subprojects = Vec::<SubProject>::clone(&self.index.subprojects);
        project.index.reconfigure(&mut FxHashSet::default());
        // the project's own node has its name
        project.pending.is_restructured = is_renamed;
        from.rest.is_empty().then_some(project)
    }

    fn read_files(&mut self, from: &mut Reader, units: &Units, cache: &CacheFile) -> Option<()> {
        let index = &mut self.index;
        let (mut entries, mut bases) = (Vec::new(), Vec::new());
        let count = from.number()?;
        index.routing.grow(count as usize);
        for id in 0..count {
            index.first_types.push(Default::default());
            index.types.push(Default::default());
            index.first_flows.files.push(Default::default());
            index.flows.files.push(Default::default());
            index.support.push(Default::default());
            index.fixtures.push(Vec::new());
            self.links.push(FileLink::default());
            if from.number()? == 0 {
                entries.push(None);
                continue;
            }
            let (entry, at) = (read_entry(from, &index.rules)?, id as usize);
            bases.push((id as FileId, Stored::read(from)?));
            index.first_types[at] = Stored::read(from)?;
            index.types[at] = Stored::read(from)?;
            index.first_flows.restore(id as FileId, Stored::read(from)?);
            index.flows.restore(id as FileId, Stored::read(from)?);
            index.routing.routers[at] = Stored::read(from)?;
            index.routing.routes[at] = Stored::read(from)?;
            index.support[at] = Stored::read(from)?;
            index.fixtures[at] = from.list()?;
            self.links[at] = Stored::read(from)?;
            let &(digest, unit) = units.get(&*entry.path)?;
            if digest != Some(entry.packed.digest) || self.links[at].digest != Some(unit) {
                return None;
            }
            entries.push(Some(entry));
        }
        let wanted: Vec<_> = entries.iter().flatten().map(|entry| (&*entry.path, entry.packed.digest)).collect();
        if wanted.len() + 1 != units.len() {
            return None;
        }
        let facts = cache.packed_facts(&wanted)?;
        entries.iter_mut().flatten().zip(facts).for_each(|(entry, facts)| entry.packed.put_packed(facts));
        index.restore_files(entries);
        inherit::refresh(index, bases, &[]);
        (index.routing.has_new_routers, index.routing.has_new_routes) = (true, true);
        index.index_routers();
        index.index_routes();
        Some(())
    }
}

/// Returns the files, the other numbers, and the strings.
fn parts(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (rest, head_length) = bytes.split_last_chunk()?;
    let (rest, body_length) = rest.split_last_chunk()?;
    let (body, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*body_length)).ok()?)?;
    let (head, last) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*head_length)).ok()?)?;
    Some((body, head, last))
}

impl Stored for FileLink {
    fn write(&self, out: &mut Writer) {
        // Edges are made again on request.
        let FileLink { dependencies, edges: _, externals, referents, digest } = self;
        dependencies.iter().for_each(|keys| out.numbers(keys));
        out.number(externals.len() as u32);
        externals.iter().for_each(|&external| out.external(external));
        out.syms(referents);
        out.plain(digest);
    }

    fn read(from: &mut Reader) -> Option<Self> {
        let mut link = FileLink::default();
        for keys in &mut link.dependencies {
            *keys = from.numbers()?;
        }
        link.externals = (0..from.number()?).map(|_| from.external()).collect::<Option<_>>()?;
        link.referents = from.syms()?;
        link.digest = from.plain()?;
        Some(link)
    }
}

fn write_strings(strings: &Strings, marked: &Writer, out: &mut Writer, file: &mut dyn Write) -> Option<()> {
    let (mut texts, mut textless) = (Vec::new(), strings.textless());
    let mut next: Sym = 0;
    for (sym, text) in strings.texts() {
        next = sym + 1;
        match text {
            Some(text) if marked.syms.contains(sym) => texts.push((sym, text)),
            Some(text) => textless.push((sym, text_hash(text))),
            None => {}
        }
    }
    if textless.len() > MANY_TEXTLESS.max(2 * texts.len()) {
        return None;
    }
    out.number(next);
    out.number(texts.len() as u32);
    for (sym, text) in texts {
        out.number(sym);
        out.text(text);
        if out.bytes.len() >= DRAIN_BYTES {
            out.drain_to(file)?;
        }
    }
    out.number(textless.len() as u32);
    for (sym, hash) in textless {
        out.number(sym);
        out.bytes.extend_from_slice(&hash.to_le_bytes());
    }
    Some(())
}

fn read_strings(from: &mut Reader) -> Option<Strings> {
    from.strings = from.number()?;
    let mut texts = Vec::new();
    for _ in 0..from.number()? {
        texts.push((from.number()?, from.text()?));
    }
    let mut textless = FxHashMap::default();
    for _ in 0..from.number()? {
        let sym = from.sym()?;
        textless.insert(u128::from_le_bytes(from.bytes(16)?.try_into().ok()?), sym);
    }
    // The constants of the table always have their text.
    textless.retain(|_, sym| *sym > DEFAULT);
    Strings::restore(texts.into_iter(), textless, from.strings)
}

fn write_externals(externals: &Externals, marked: &Writer, out: &mut Writer) {
    out.number(externals.next());
    let used: Vec<_> = (0..externals.next()).filter(|&id| marked.externals.contains(id)).collect();
    out.number(used.len() as u32);
    for id in used {
        let (package, name) = externals.name(id);
        out.number(id);
        out.sym(package);
        out.sym(name);
    }
}

fn read_externals(from: &mut Reader) -> Option<Externals> {
    from.externals = from.number()?;
    let mut names = Vec::new();
    for _ in 0..from.number()? {
        names.push((from.external()?, from.sym()?, from.sym()?));
    }
    Some(Externals::restore(&names, from.externals))
}

fn read_symbols(from: &mut Reader) -> Option<Symbols> {
    let (files, defs, paths) = (from.numbers()?, from.numbers()?, from.numbers()?);
    if files.len() != defs.len() || files.len() != paths.len() {
        return None;
    }
    from.symbols = files.len() as u32;
    let places = files.iter().zip(&defs).map(|(&file, &def)| Place { file, def }).collect();
    Some(Symbols::restore(places, paths.into()))
}
