//! Blocks: the terms of a segment in order, with their postings, cut into pieces that are read one by one. The terms
//! share the beginnings that they have in common.

use super::bytes::{Damaged, Reader, put_bytes, put_number};

/// Bytes of a block of postings: what fills a page of the store. A term with more has a block of its own.
const BLOCK_BYTES: usize = 4_000;

/// The number that a block's id has in the store: its segment and its place in it.
pub fn block_id(segment: i64, place: usize) -> i64 {
    segment << 32 | place as i64
}

/// The bytes of a block: terms with postings, and the positions of the same terms.
#[derive(Default)]
pub struct Block {
    pub words: Vec<u8>,
    pub places: Vec<u8>,
}

/// Writes blocks, terms in ascending order.
#[derive(Default)]
pub struct Writer {
    /// The complete blocks, to be taken.
    pub done: Vec<Block>,
    block: Block,
    term: String,
    firsts: Vec<u8>,
    count: u32,
    first: String,
}

impl Writer {
    pub fn add(&mut self, term: &str, words: &[u8], places: &[u8]) {
        if !self.block.words.is_empty() && self.block.words.len() + term.len() + words.len() > BLOCK_BYTES {
            self.done.push(std::mem::take(&mut self.block));
        }
        if self.block.words.is_empty() {
            self.term.clear();
            put_term(&mut self.firsts, &mut self.first, term);
            self.count += 1;
        }
        put_term(&mut self.block.words, &mut self.term, term);
        put_bytes(&mut self.block.words, words);
        put_bytes(&mut self.block.places, places);
    }

    /// Completes the last block and returns the bytes of a `Directory`.
    pub fn end(&mut self) -> Vec<u8> {
        if !self.block.words.is_empty() {
            self.done.push(std::mem::take(&mut self.block));
        }
        std::mem::take(&mut self.firsts)
    }
}

fn put_term(out: &mut Vec<u8>, before: &mut String, term: &str) {
    let shared = before.bytes().zip(term.bytes()).take_while(|(one, other)| one == other).count();
    put_number(out, shared as u32);
    put_bytes(out, &term.as_bytes()[shared..]);
    before.clear();
    before.push_str(term);
}

/// Most bytes of the first terms of all blocks of an index: those of a tree of tens of gigabytes. Terms share beginnings of
/// up to a thousand bytes, so that few bytes may stand for gigabytes.
pub const MOST_DIRECTORY_BYTES: usize = 128 << 20;

/// The first term of each block of a segment.
#[derive(Default)]
pub struct Directory {
    text: Vec<u8>,
    ends: Vec<u32>,
}

impl Directory {
    pub fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let (mut reader, mut term) = (Reader::new(bytes), Vec::new());
        let mut directory = Self::default();
        while !reader.rest.is_empty() {
            read_term(&mut reader, &mut term)?;
            directory.text.extend_from_slice(&term);
            if directory.size() > MOST_DIRECTORY_BYTES {
                return Err(Damaged);
            }
            directory.ends.push(directory.text.len() as u32);
        }
        Ok(directory)
    }

    /// Returns the place of the only block that can contain a term.
    pub fn find(&self, term: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.first(middle) <= term.as_bytes() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1)
    }

    /// Returns the number of bytes of its terms.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// Returns the number of blocks.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    fn first(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] as usize };
        &self.text[start..self.ends[place] as usize]
    }
}

fn read_term(reader: &mut Reader, term: &mut Vec<u8>) -> Result<(), Damaged> {
    let shared = reader.number()? as usize;
    if shared > term.len() {
        return Err(Damaged);
    }
    term.truncate(shared);
    term.extend_from_slice(reader.bytes()?);
    // A term of a thousand bytes is none: shared beginnings must not turn few bytes into many.
    if term.len() > MAX_TERM_BYTES { Err(Damaged) } else { Ok(()) }
}

/// Most bytes of a term; longer ones are cut.
pub const MAX_TERM_BYTES: usize = 1_000;

/// Postings and positions of a term.
pub type Lists<'a> = (&'a [u8], &'a [u8]);

/// Reads the terms of a block.
pub struct Terms<'a> {
    words: Reader<'a>,
    places: Option<Reader<'a>>,
    pub term: Vec<u8>,
}

impl<'a> Terms<'a> {
    pub fn new(words: &'a [u8], places: Option<&'a [u8]>) -> Self {
        Self { words: Reader::new(words), places: places.map(Reader::new), term: Vec::new() }
    }

    /// Moves to the next term and returns its postings and positions (empty if they are not read).
    pub fn read(&mut self) -> Result<Option<Lists<'a>>, Damaged> {
        if self.words.rest.is_empty() {
            return Ok(None);
        }
        read_term(&mut self.words, &mut self.term)?;
        let words = self.words.bytes()?;
        let places = match &mut self.places {
            None => &[],
            Some(places) => places.bytes()?,
        };
        Ok(Some((words, places)))
    }
}
