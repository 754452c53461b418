//! How values become bytes of a snapshot and back. The writer notes which strings and external names the values refer
//! to: a snapshot keeps the text of no others. The reader refuses ids that the snapshot does not define.

use std::io::Write;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::project::names::{ExternalId, Sym, SymbolId};

/// A value that a snapshot contains.
pub trait Stored: Sized {
    fn write(&self, out: &mut Writer);

    /// Returns `None` for bytes that `write` does not produce.
    fn read(from: &mut Reader) -> Option<Self>;
}

/// Collects the bytes of values.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
    pub syms: Marks,
    pub externals: Marks,
}

/// A set of ids.
#[derive(Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    fn add(&mut self, id: u32) {
        let word = id as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (id % 64);
    }

    pub fn contains(&self, id: u32) -> bool {
        self.0.get(id as usize / 64).is_some_and(|word| word & (1 << (id % 64)) != 0)
    }
}

impl Writer {
    /// Moves the bytes to a file; returns their number.
    pub fn drain_to(&mut self, out: &mut dyn Write) -> Option<u64> {
        out.write_all(&self.bytes).ok()?;
        let length = self.bytes.len() as u64;
        self.bytes.clear();
        Some(length)
    }

    pub fn number(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub fn numbers(&mut self, numbers: &[u32]) {
        self.number(numbers.len() as u32);
        self.bytes.reserve(4 * numbers.len());
        numbers.iter().for_each(|number| self.bytes.extend_from_slice(&number.to_le_bytes()));
    }

    pub fn sym(&mut self, sym: Sym) {
        self.syms.add(sym);
        self.number(sym);
    }

    pub fn syms(&mut self, syms: &[Sym]) {
        syms.iter().for_each(|&sym| self.syms.add(sym));
        self.numbers(syms);
    }

    pub fn symbol(&mut self, symbol: SymbolId) {
        self.number(symbol);
    }

    pub fn external(&mut self, external: ExternalId) {
        self.externals.add(external);
        self.number(external);
    }

    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Writes a value without ids.
    pub fn plain(&mut self, value: &impl Serialize) {
        let bytes = std::mem::take(&mut self.bytes);
        self.bytes = postcard::to_extend(value, bytes).expect("plain values");
    }

    pub fn list<T: Stored>(&mut self, values: &[T]) {
        self.number(values.len() as u32);
        values.iter().for_each(|value| value.write(self));
    }
}

/// Reads what a [`Writer`] wrote.
pub struct Reader<'a> {
    pub rest: &'a [u8],
    /// The ids from these on are undefined.
    pub strings: Sym,
    pub symbols: SymbolId,
    pub externals: ExternalId,
}

impl<'a> Reader<'a> {
    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (found, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(found)
    }

    pub fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    pub fn numbers(&mut self) -> Option<Box<[u32]>> {
        let length = self.number()? as usize;
        let bytes = self.bytes(length.checked_mul(4)?)?;
        Some(bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    }

    pub fn sym(&mut self) -> Option<Sym> {
        self.number().filter(|&sym| sym < self.strings)
    }

    pub fn syms(&mut self) -> Option<Box<[Sym]>> {
        self.numbers().filter(|syms| syms.iter().all(|&sym| sym < self.strings))
    }

    pub fn symbol(&mut self) -> Option<SymbolId> {
        self.number().filter(|&symbol| symbol < self.symbols)
    }

    pub fn symbols(&mut self) -> Option<Box<[SymbolId]>> {
        self.numbers().filter(|symbols| symbols.iter().all(|&symbol| symbol < self.symbols))
    }

    pub fn external(&mut self) -> Option<ExternalId> {
        self.number().filter(|&external| external < self.externals)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        let length = self.number()? as usize;
        std::str::from_utf8(self.bytes(length)?).ok()
    }

    pub fn plain<T: DeserializeOwned>(&mut self) -> Option<T> {
        let (value, rest) = postcard::take_from_bytes(self.rest).ok()?;
        self.rest = rest;
        Some(value)
    }

    pub fn list<T: Stored>(&mut self) -> Option<Vec<T>> {
        let length = self.number()?;
        // Every value takes at least a byte, so a damaged length allocates little.
        let mut values = Vec::with_capacity((length as usize).min(self.rest.len()));
        for _ in 0..length {
            values.push(T::read(self)?);
        }
        Some(values)
    }
}
