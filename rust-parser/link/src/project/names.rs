//! Project-wide ids of strings, symbols (a file and a definition path) and external symbols.
//!
//! Ids are stable for the lifetime of a linker, so that results about a symbol of another file stay valid when that
//! file is parsed again. Their order is arbitrary: no output of the linker may depend on it.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};
use std::sync::{OnceLock, RwLock};

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use atlas_facts::DefId;

/// Id of a string of the project.
pub type Sym = u32;
/// Id of a file, by path; kept when the file is parsed again.
pub type FileId = u32;
/// Id of a definition, by file and definition path.
pub type SymbolId = u32;
/// Id of an external name, by package and dotted name.
pub type ExternalId = u32;

/// The empty string.
pub const EMPTY: Sym = 0;
/// `default`: the name under which `export default` is imported.
pub const DEFAULT: Sym = 1;
/// Represents the `File` node in fields of type [`DefId`].
pub const FILE_NODE: DefId = u32::MAX;

/// An append-only table of strings. Several threads can read and extend it; reading a string by id takes no lock.
pub struct Strings {
    numbers: RwLock<StringNumbers>,
    /// Chunk `k` holds `FIRST_CHUNK << k` strings and never moves.
    chunks: [OnceLock<Chunk>; CHUNKS],
}

type Chunk = Box<[OnceLock<Box<str>>]>;

#[derive(Default)]
struct StringNumbers {
    /// Ids by text; the strings are in the chunks.
    table: HashTable<Sym>,
    /// The next id.
    next: Sym,
    /// In a restored table, ids by the hash of their text: those of strings whose text was not kept.
    textless: FxHashMap<u128, Sym>,
}

const FIRST_CHUNK_BITS: u32 = 10;
const CHUNKS: usize = (u32::BITS - FIRST_CHUNK_BITS) as usize;

impl Default for Strings {
    fn default() -> Self {
        let strings = Strings { numbers: RwLock::default(), chunks: [const { OnceLock::new() }; CHUNKS] };
        strings.intern("");
        strings.intern("default");
        strings
    }
}

impl Strings {
    /// Returns the id of a string, which is added if it is new.
    pub fn intern(&self, text: &str) -> Sym {
        match self.find(text) {
            Some(sym) => sym,
            None => self.add(&mut self.numbers.write().expect("lock of the string table"), text),
        }
    }

    /// Returns the id of a known string.
    pub fn find(&self, text: &str) -> Option<Sym> {
        let numbers = self.numbers.read().expect("lock of the string table");
        let found = self.lookup(&numbers, text, hash_of(text));
        if found.is_some() || numbers.textless.is_empty() || !numbers.textless.contains_key(&text_hash(text)) {
            return found;
        }
        drop(numbers);
        Some(self.add(&mut self.numbers.write().expect("lock of the string table"), text))
    }

    fn lookup(&self, numbers: &StringNumbers, text: &str, hash: u64) -> Option<Sym> {
        numbers.table.find(hash, |&sym| self.text(sym) == text).copied()
    }

    /// Returns the ids of many strings under one lock. `None` gives [`EMPTY`].
    pub fn intern_all<'a>(&self, texts: impl Iterator<Item = Option<&'a str>>) -> Vec<Sym> {
        let mut numbers = self.numbers.write().expect("lock of the string table");
        texts.map(|text| text.map_or(EMPTY, |text| self.add(&mut numbers, text))).collect()
    }

    /// Returns the string of an id.
    pub fn text(&self, sym: Sym) -> &str {
        let (chunk, slot) = position(sym);
        let text = self.chunks[chunk].get().and_then(|chunk| chunk[slot].get());
        text.expect("id of a string in this table")
    }

    fn add(&self, numbers: &mut StringNumbers, text: &str) -> Sym {
        let hash = hash_of(text);
        if let Some(sym) = self.lookup(numbers, text, hash) {
            return sym;
        }
        let sym = match numbers.textless.is_empty() {
            true => None,
            false => numbers.textless.remove(&text_hash(text)),
        };
        let sym = sym.unwrap_or_else(|| {
            numbers.next += 1;
            numbers.next - 1
        });
        self.put(numbers, sym, text, hash);
        sym
    }

    fn put(&self, numbers: &mut StringNumbers, sym: Sym, text: &str, hash: u64) {
        let (chunk, slot) = position(sym);
        let size = 1_usize << (FIRST_CHUNK_BITS as usize + chunk);
        let texts = self.chunks[chunk].get_or_init(|| (0..size).map(|_| OnceLock::new()).collect());
        texts[slot].set(text.into()).expect("an unused slot");
        numbers.table.insert_unique(hash, sym, |&sym| hash_of(self.text(sym)));
    }

    /// Returns the string of each id, `None` for those of which only the hash is known.
    pub fn texts(&self) -> impl Iterator<Item = (Sym, Option<&str>)> {
        let next = self.numbers.read().expect("lock of the string table").next;
        (0..next).map(|sym| {
            let (chunk, slot) = position(sym);
            let text = self.chunks[chunk].get().and_then(|chunk| chunk[slot].get());
            (sym, text.map(|text| &**text))
        })
    }

    /// Returns the ids of which only the hash is known, with it.
    pub fn textless(&self) -> Vec<(Sym, u128)> {
        let numbers = self.numbers.read().expect("lock of the string table");
        numbers.textless.iter().map(|(&hash, &sym)| (sym, hash)).collect()
    }

    /// Creates a table with these strings, sorted by id, and with ids of which only the hash of the text is known; the
    /// next new string gets `next`. Returns `None` if these cannot be the strings of a table.
    pub fn restore<'a>(
        texts: impl ExactSizeIterator<Item = (Sym, &'a str)>,
        textless: FxHashMap<u128, Sym>,
        next: Sym,
    ) -> Option<Strings> {
        let strings = Strings::default();
        let mut numbers = strings.numbers.write().expect("lock of the string table");
        numbers.table.reserve(texts.len(), |&sym| hash_of(strings.text(sym)));
        let mut before = DEFAULT;
        for (sym, text) in texts {
            let hash = hash_of(text);
            match strings.lookup(&numbers, text, hash) {
                Some(known) if known == sym && sym <= DEFAULT => continue,
                None if before < sym && sym < next => strings.put(&mut numbers, sym, text, hash),
                _ => return None,
            }
            before = sym;
        }
        (numbers.next, numbers.textless) = (next.max(DEFAULT + 1), textless);
        drop(numbers);
        Some(strings)
    }
}

/// Returns a hash of a text that two texts of a project never share.
pub fn text_hash(text: &str) -> u128 {
    let part = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, text).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    part(0) << 64 | part(1)
}

fn hash_of(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

fn position(sym: Sym) -> (usize, usize) {
    let shifted = u64::from(sym) + (1 << FIRST_CHUNK_BITS);
    let bits = shifted.ilog2();
    ((bits - FIRST_CHUNK_BITS) as usize, (shifted - (1 << bits)) as usize)
}

/// External names.
#[derive(Default)]
pub struct Externals {
    inner: RwLock<ExternalTable>,
}

#[derive(Default)]
struct ExternalTable {
    numbers: FxHashMap<(Sym, Sym), ExternalId>,
    names: Vec<(Sym, Sym)>,
}

impl Externals {
    /// Returns the id of `name` (dotted, may be empty) in an external package.
    pub fn intern(&self, package: Sym, name: Sym) -> ExternalId {
        let found = self.inner.read().expect("lock of the external table").numbers.get(&(package, name)).copied();
        if let Some(id) = found {
            return id;
        }
        let mut table = self.inner.write().expect("lock of the external table");
        let next = table.names.len() as ExternalId;
        let id = *table.numbers.entry((package, name)).or_insert(next);
        if id == next {
            table.names.push((package, name));
        }
        id
    }

    /// Returns package and dotted name of an id.
    pub fn name(&self, id: ExternalId) -> (Sym, Sym) {
        self.inner.read().expect("lock of the external table").names[id as usize]
    }

    /// Returns the id that the next new name gets.
    pub fn next(&self) -> ExternalId {
        self.inner.read().expect("lock of the external table").names.len() as ExternalId
    }

    /// Creates a table with these names; the next new one gets `next`. The ids must be less than that.
    pub fn restore(names: &[(ExternalId, Sym, Sym)], next: ExternalId) -> Externals {
        let mut table = ExternalTable { numbers: FxHashMap::default(), names: vec![(EMPTY, EMPTY); next as usize] };
        for &(id, package, name) in names {
            table.numbers.insert((package, name), id);
            table.names[id as usize] = (package, name);
        }
        Externals { inner: RwLock::new(table) }
    }

    /// Returns the id of a member of an external name.
    pub fn member(&self, strings: &Strings, id: ExternalId, name: &str) -> ExternalId {
        let (package, prefix) = self.name(id);
        let dotted = if prefix == EMPTY {
            strings.intern(name)
        } else {
            strings.intern(&format!("{}.{name}", strings.text(prefix)))
        };
        self.intern(package, dotted)
    }
}

/// The current position of a symbol; `def` is [`FILE_NODE`] for the `File` node.
#[derive(Clone, Copy)]
pub struct Place {
    pub file: FileId,
    pub def: DefId,
}

/// Symbols by (file, definition path).
#[derive(Default)]
pub struct Symbols {
    numbers: FxHashMap<(FileId, Sym), SymbolId>,
    places: Vec<Place>,
    paths: Vec<Sym>,
}

/// The path id of a file's own node.
const FILE_PATH: Sym = u32::MAX;

impl Symbols {
    /// Returns the id of a definition and updates its position.
    pub fn place(&mut self, file: FileId, path: Sym, def: DefId) -> SymbolId {
        let next = self.places.len() as SymbolId;
        let id = *self.numbers.entry((file, path)).or_insert(next);
        let place = Place { file, def };
        if id == next {
            self.places.push(place);
            self.paths.push(path);
        } else {
            self.places[id as usize] = place;
        }
        id
    }

    /// Returns the positions and the definition paths by id; the path of a file's own node is no string.
    pub fn parts(&self) -> (&[Place], &[Sym]) {
        (&self.places, &self.paths)
    }

    /// Creates a table from the parts of another one.
    pub fn restore(places: Vec<Place>, paths: Vec<Sym>) -> Symbols {
        let ids = places.iter().zip(&paths).zip(0..);
        let numbers = ids.map(|((place, &path), id)| ((place.file, path), id)).collect();
        Symbols { numbers, places, paths }
    }

    /// Returns the id of a file's own node.
    pub fn place_file(&mut self, file: FileId) -> SymbolId {
        self.place(file, FILE_PATH, FILE_NODE)
    }

    /// Returns the current position of a symbol.
    pub fn get(&self, id: SymbolId) -> Place {
        self.places[id as usize]
    }

    /// Returns the definition path of a symbol; `None` for a file's own node.
    pub fn path(&self, id: SymbolId) -> Option<Sym> {
        Some(self.paths[id as usize]).filter(|&path| path != FILE_PATH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_survive_growth_over_several_chunks() {
        let strings = Strings::default();
        let numbers: Vec<Sym> = (0..10_000).map(|number| strings.intern(&format!("name{number}"))).collect();
        for (number, &sym) in numbers.iter().enumerate() {
            assert_eq!(strings.text(sym), format!("name{number}"));
            assert_eq!(strings.find(&format!("name{number}")), Some(sym));
        }
        assert_eq!(strings.text(EMPTY), "");
        assert_eq!(strings.find("never seen"), None);
    }

    #[test]
    fn a_symbol_keeps_its_number_when_it_moves() {
        let mut symbols = Symbols::default();
        let first = symbols.place(1, 7, 3);
        let other = symbols.place(2, 7, 3);
        assert_ne!(first, other);
        assert_eq!(symbols.place(1, 7, 9), first);
        assert_eq!((symbols.get(first).file, symbols.get(first).def), (1, 9));
    }
}
