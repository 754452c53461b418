//! Project-wide names as small numbers: strings, symbols (a file and a definition path) and external symbols.
//!
//! Numbers are stable for the life of a linker, so that what one file's result says about another file's symbol stays true
//! when that file is parsed again. Their order means nothing: nothing that leaves the linker may depend on it.

use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;

use crate::facts::DefId;

/// A string of the project.
pub type Sym = u32;
/// A file of the project, by path; kept when the file is parsed again.
pub type FileId = u32;
/// A definition of the project, by file and definition path.
pub type SymbolId = u32;
/// A name outside the project, by package and dotted name.
pub type ExternalId = u32;

/// The empty string.
pub const EMPTY: Sym = 0;
/// Stands for the `File` node in places that hold a [`DefId`].
pub const FILE_NODE: DefId = u32::MAX;

/// Append-only table of strings; readable and extendable from several threads.
pub struct Strings {
    inner: RwLock<StringTable>,
}

#[derive(Default)]
struct StringTable {
    numbers: FxHashMap<Arc<str>, Sym>,
    texts: Vec<Arc<str>>,
}

impl StringTable {
    fn intern(&mut self, text: &str) -> Sym {
        if let Some(&sym) = self.numbers.get(text) {
            return sym;
        }
        let sym = self.texts.len() as Sym;
        let owned: Arc<str> = Arc::from(text);
        self.texts.push(owned.clone());
        self.numbers.insert(owned, sym);
        sym
    }
}

impl Default for Strings {
    fn default() -> Self {
        let mut table = StringTable::default();
        table.intern("");
        Strings { inner: RwLock::new(table) }
    }
}

impl Strings {
    /// The number of a string, added when new.
    pub fn intern(&self, text: &str) -> Sym {
        match self.find(text) {
            Some(sym) => sym,
            None => self.inner.write().expect("string table").intern(text),
        }
    }

    /// The number of a string that is already known.
    pub fn find(&self, text: &str) -> Option<Sym> {
        let table = self.inner.read().expect("string table");
        table.numbers.get(text).copied()
    }

    /// Numbers of many strings under one lock; `None` stays [`EMPTY`].
    pub fn intern_all<'a>(&self, texts: impl Iterator<Item = Option<&'a str>>) -> Vec<Sym> {
        let mut table = self.inner.write().expect("string table");
        texts.map(|text| text.map_or(EMPTY, |text| table.intern(text))).collect()
    }

    /// The text of a number.
    pub fn text(&self, sym: Sym) -> Arc<str> {
        self.inner.read().expect("string table").texts[sym as usize].clone()
    }
}

/// Names outside the project.
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
    /// The number of `name` (dotted, may be empty) in an external package.
    pub fn intern(&self, package: Sym, name: Sym) -> ExternalId {
        let found = self.inner.read().expect("external table").numbers.get(&(package, name)).copied();
        if let Some(id) = found {
            return id;
        }
        let mut table = self.inner.write().expect("external table");
        let next = table.names.len() as ExternalId;
        let id = *table.numbers.entry((package, name)).or_insert(next);
        if id == next {
            table.names.push((package, name));
        }
        id
    }

    /// (package, dotted name) of a number.
    pub fn name(&self, id: ExternalId) -> (Sym, Sym) {
        self.inner.read().expect("external table").names[id as usize]
    }

    /// The number of a member of an external name.
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

/// Where a symbol is now; `def` is [`FILE_NODE`] for the `File` node.
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
}

/// Path number under which a file's own node is kept.
const FILE_PATH: Sym = u32::MAX;

impl Symbols {
    /// The number of a definition, moved to its present place.
    pub fn place(&mut self, file: FileId, path: Sym, def: DefId) -> SymbolId {
        let next = self.places.len() as SymbolId;
        let id = *self.numbers.entry((file, path)).or_insert(next);
        let place = Place { file, def };
        if id == next {
            self.places.push(place);
        } else {
            self.places[id as usize] = place;
        }
        id
    }

    /// The number of a file's own node.
    pub fn place_file(&mut self, file: FileId) -> SymbolId {
        self.place(file, FILE_PATH, FILE_NODE)
    }

    pub fn get(&self, id: SymbolId) -> Place {
        self.places[id as usize]
    }
}
