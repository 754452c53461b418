//! The texts of a segment: the node of each, its length in words, and what filters ask about it.

use super::bytes::{Damaged, Reader, put_bytes, put_difference, put_number};

/// Flags of a text, below its label.
pub const TEST: u16 = 1;
pub const GENERATED: u16 = 2;
const FLAG_BITS: u16 = 2;
const MAX_LABELS: usize = 1 << 12;

/// Parallel arrays, sorted by node.
#[derive(Default)]
pub struct Nodes {
    pub ids: Vec<u32>,
    pub lengths: Vec<u32>,
    pub files: Vec<u32>,
    /// The place of the label in `labels`, and flags.
    pub kinds: Vec<u16>,
    pub labels: Vec<String>,
}

impl Nodes {
    /// Appends a text whose node is greater than all others.
    pub fn push(&mut self, node: u32, length: u32, file: u32, label: &str, flags: u16) {
        let known = self.labels.iter().position(|one| one == label);
        let place = known.unwrap_or_else(|| {
            self.labels.push(label.to_owned());
            self.labels.len() - 1
        });
        self.ids.push(node);
        self.lengths.push(length);
        self.files.push(file);
        self.kinds.push((place.min(MAX_LABELS) as u16) << FLAG_BITS | flags);
    }

    pub fn count(&self) -> u32 {
        self.ids.len() as u32
    }

    /// Returns the label and the flags of a text.
    pub fn label_and_flags(&self, text: usize) -> (&str, u16) {
        let kind = self.kinds[text];
        (&self.labels[usize::from(kind >> FLAG_BITS)], kind & (TEST | GENERATED))
    }

    /// Returns whether texts of a kind pass, by kind.
    pub fn allowed_kinds(&self, labels: Option<&[String]>, without: u16) -> Vec<bool> {
        let passes = |label: &String| labels.is_none_or(|labels| labels.contains(label));
        let kinds = 0..1 << FLAG_BITS;
        self.labels.iter().flat_map(|label| kinds.clone().map(|flags| passes(label) && flags & without == 0)).collect()
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.ids.len() * 6);
        put_number(&mut out, self.labels.len() as u32);
        self.labels.iter().for_each(|label| put_bytes(&mut out, label.as_bytes()));
        let (mut next, mut file) = (0, 0);
        for text in 0..self.ids.len() {
            put_number(&mut out, self.ids[text] - next);
            put_number(&mut out, self.lengths[text]);
            put_difference(&mut out, file, self.files[text]);
            put_number(&mut out, u32::from(self.kinds[text]));
            (next, file) = (self.ids[text] + 1, self.files[text]);
        }
        out
    }

    pub fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut reader = Reader::new(bytes);
        let mut nodes = Self::default();
        for _ in 0..reader.number()? {
            let label = String::from_utf8(reader.bytes()?.to_vec()).map_err(|_| Damaged)?;
            nodes.labels.push(label);
        }
        let (mut next, mut file) = (0u32, 0);
        while !reader.rest.is_empty() {
            let id = next.checked_add(reader.number()?).ok_or(Damaged)?;
            nodes.ids.push(id);
            nodes.lengths.push(reader.number()?);
            file = reader.after(file)?;
            nodes.files.push(file);
            let kind = u16::try_from(reader.number()?).map_err(|_| Damaged)?;
            if usize::from(kind >> FLAG_BITS) >= nodes.labels.len() {
                return Err(Damaged);
            }
            nodes.kinds.push(kind);
            next = id.checked_add(1).ok_or(Damaged)?;
        }
        Ok(nodes)
    }
}

/// Returns sorted ids as bytes.
pub fn ids_bytes(ids: &[u32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ids.len() * 2);
    let mut before = 0;
    for &id in ids {
        put_number(&mut out, id - before);
        before = id;
    }
    out
}

/// Inverse of `ids_bytes`.
pub fn read_ids(bytes: &[u8]) -> Result<Vec<u32>, Damaged> {
    let (mut reader, mut ids, mut before) = (Reader::new(bytes), Vec::new(), 0u32);
    while !reader.rest.is_empty() {
        before = before.checked_add(reader.number()?).ok_or(Damaged)?;
        ids.push(before);
    }
    Ok(ids)
}
