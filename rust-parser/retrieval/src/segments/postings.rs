//! The postings of one term: for each text that contains it, how often in each column, and in a second list of bytes
//! the positions.
//!
//! A posting is a header, the gap to the text before unless it is the next one, and the counts of the columns in the
//! header's mask unless all are 1. The header 0 says how often the posting before repeats for the texts that follow
//! (the words of a path are the same for all texts of a file), and the positions are there once for all of them.

use std::ops::Range;

use super::bytes::{Damaged, Reader, put_number};

/// Columns of a text: name, qualified name, docstring, source and path.
pub const COLUMNS: usize = 5;

/// The columns that contain the term.
pub const MASK: u8 = (1 << COLUMNS) - 1;
/// A column contains it more than once.
const COUNTED: u8 = 32;
/// It is the first word of the name.
const FIRST: u8 = 64;
/// The text is the one after the text before.
const NEXT: u8 = 128;

const COLUMN_SHIFT: u32 = 29;
const MAX_POSITION: u32 = (1 << COLUMN_SHIFT) - 1;

/// Returns column and position as one number, ordered by both.
pub fn place(column: usize, position: u32) -> u32 {
    (column as u32) << COLUMN_SHIFT | position.min(MAX_POSITION)
}

/// Inverse of `place`.
pub fn column_and_position(place: u32) -> (usize, u32) {
    ((place >> COLUMN_SHIFT) as usize, place & MAX_POSITION)
}

/// Writes the postings of a term, texts in ascending order.
#[derive(Default)]
pub struct Writer {
    pub words: Vec<u8>,
    pub places: Vec<u8>,
    next: u32,
    repeats: u32,
    posting: Vec<u8>,
    positions: Vec<u8>,
    /// The posting before, to be compared with.
    last: (Vec<u8>, Vec<u8>),
}

impl Writer {
    /// Adds the places of a text, in ascending order and at least one.
    pub fn add(&mut self, text: u32, places: &[u32]) {
        let mut counts = [0u32; COLUMNS];
        let mut mask = 0;
        self.positions.clear();
        let mut before = (COLUMNS, 0);
        for &place in places {
            let (column, position) = column_and_position(place);
            let from = if before.0 == column { before.1 } else { 0 };
            put_number(&mut self.positions, position - from);
            before = (column, position);
            counts[column] += 1;
            mask |= 1 << column;
        }
        self.posting.clear();
        let first = if places[0] == 0 { FIRST } else { 0 };
        let counted = counts.iter().any(|&count| count > 1);
        self.posting.push(mask | first | if counted { COUNTED } else { 0 });
        if counted {
            counts.iter().filter(|&&count| count > 0).for_each(|&count| put_number(&mut self.posting, count));
        }
        self.push(text);
    }

    /// Adds a posting as `Postings` returned it, of a text with another number.
    pub fn copy(&mut self, text: u32, posting: &Posting) {
        self.posting.clear();
        self.posting.push(posting.header & !NEXT);
        self.posting.extend_from_slice(posting.counts);
        self.positions.clear();
        self.positions.extend_from_slice(posting.positions);
        self.push(text);
    }

    fn push(&mut self, text: u32) {
        let gap = text - self.next;
        self.next = text + 1;
        if gap == 0 && self.posting == self.last.0 && self.positions == self.last.1 {
            self.repeats += 1;
            return;
        }
        self.end();
        if gap == 0 {
            self.words.push(self.posting[0] | NEXT);
        } else {
            self.words.push(self.posting[0]);
            put_number(&mut self.words, gap);
        }
        self.words.extend_from_slice(&self.posting[1..]);
        self.places.extend_from_slice(&self.positions);
        std::mem::swap(&mut self.posting, &mut self.last.0);
        std::mem::swap(&mut self.positions, &mut self.last.1);
    }

    /// Completes `words` and `places`.
    pub fn end(&mut self) {
        if self.repeats > 0 {
            self.words.push(0);
            put_number(&mut self.words, self.repeats);
            self.repeats = 0;
        }
    }

    /// Starts the next term.
    pub fn clear(&mut self) {
        self.words.clear();
        self.places.clear();
        self.last.0.clear();
        self.last.1.clear();
        (self.next, self.repeats) = (0, 0);
    }
}

/// Calls `each` with runs of texts that have equal postings: their header, and the bytes of their counts. Faster than
/// `Postings` by far, and without positions. Texts ascend and are below `texts`.
pub fn each_run(words: &[u8], texts: u32, mut each: impl FnMut(Range<u32>, u8, &[u8])) -> Result<(), Damaged> {
    let (mut at, mut next, mut header, mut counts) = (0, 0u32, 0, 0..0);
    while let Some(&first) = words.get(at) {
        at += 1;
        let start;
        if first == 0 {
            let repeats = number_at(words, &mut at)?;
            start = next;
            next = next.checked_add(repeats).filter(|_| header != 0 && repeats > 0).ok_or(Damaged)?;
        } else {
            let gap = if first & NEXT == 0 { number_at(words, &mut at)? } else { 0 };
            header = first & !NEXT;
            counts = at..at;
            if first & COUNTED != 0 {
                for _ in 0..(first & MASK).count_ones() {
                    number_at(words, &mut at)?;
                }
                counts.end = at;
            }
            start = next.checked_add(gap).filter(|_| header & MASK != 0).ok_or(Damaged)?;
            next = start.checked_add(1).ok_or(Damaged)?;
        }
        if next > texts {
            return Err(Damaged);
        }
        each(start..next, header, &words[counts.clone()]);
    }
    Ok(())
}

fn number_at(bytes: &[u8], at: &mut usize) -> Result<u32, Damaged> {
    let first = *bytes.get(*at).ok_or(Damaged)?;
    if first < 128 {
        *at += 1;
        return Ok(u32::from(first));
    }
    let mut reader = Reader::new(&bytes[*at..]);
    let value = reader.number()?;
    *at = bytes.len() - reader.rest.len();
    Ok(value)
}

/// Returns whether the term is the first word of the name.
pub fn is_first(header: u8) -> bool {
    header & FIRST != 0
}

/// Returns how often each column contains the term.
pub fn counts_of(header: u8, counts: &[u8]) -> [u32; COLUMNS] {
    let mut bytes = Reader::new(counts);
    let mut found = [0; COLUMNS];
    for (column, count) in found.iter_mut().enumerate() {
        if header & 1 << column != 0 {
            *count = if header & COUNTED == 0 { 1 } else { bytes.number().unwrap_or(1) };
        }
    }
    found
}

/// The posting of one text.
#[derive(Clone, Copy)]
pub struct Posting<'a> {
    pub text: u32,
    header: u8,
    /// The bytes of the counts, and the bytes of the positions if they were read.
    counts: &'a [u8],
    positions: &'a [u8],
}

impl Posting<'_> {
    /// Appends the places of the term.
    pub fn push_places(&self, out: &mut Vec<u32>) -> Result<(), Damaged> {
        let mut bytes = Reader::new(self.positions);
        for (column, count) in counts_of(self.header, self.counts).into_iter().enumerate() {
            let mut position = 0u32;
            for _ in 0..count {
                position = position.checked_add(bytes.number()?).filter(|&at| at <= MAX_POSITION).ok_or(Damaged)?;
                out.push(place(column, position));
            }
        }
        Ok(())
    }
}

/// Reads the postings of a term in a segment of `texts` texts.
pub struct Postings<'a> {
    words: Reader<'a>,
    /// `None` if positions are not read.
    places: Option<Reader<'a>>,
    texts: u32,
    next: u32,
    repeats: u32,
    last: Posting<'a>,
}

impl<'a> Postings<'a> {
    pub fn new(words: &'a [u8], places: Option<&'a [u8]>, texts: u32) -> Self {
        let last = Posting { text: 0, header: 0, counts: &[], positions: &[] };
        Self { words: Reader::new(words), places: places.map(Reader::new), texts, next: 0, repeats: 0, last }
    }

    /// Returns the next posting; texts ascend and are below `texts`.
    pub fn read(&mut self) -> Result<Option<Posting<'a>>, Damaged> {
        if self.repeats == 0 {
            if self.words.rest.is_empty() {
                return Ok(None);
            }
            let header = self.words.byte()?;
            if header == 0 {
                self.repeats = self.words.number()?;
                if self.repeats == 0 || self.last.header == 0 {
                    return Err(Damaged);
                }
            } else {
                return self.read_new(header).map(Some);
            }
        }
        self.repeats -= 1;
        self.last.text = self.advance(0)?;
        Ok(Some(self.last))
    }

    fn read_new(&mut self, header: u8) -> Result<Posting<'a>, Damaged> {
        let gap = if header & NEXT == 0 { self.words.number()? } else { 0 };
        let text = self.advance(gap)?;
        let before = self.words.rest;
        let mut occurrences = u64::from((header & MASK).count_ones());
        if occurrences == 0 {
            return Err(Damaged);
        }
        if header & COUNTED != 0 {
            let columns = occurrences;
            occurrences = 0;
            for _ in 0..columns {
                occurrences += u64::from(self.words.number()?);
            }
        }
        let counts = &before[..before.len() - self.words.rest.len()];
        let positions = match &mut self.places {
            None => &[],
            Some(places) => {
                let before = places.rest;
                for _ in 0..occurrences {
                    places.number()?;
                }
                &before[..before.len() - places.rest.len()]
            }
        };
        self.last = Posting { text, header, counts, positions };
        Ok(self.last)
    }

    fn advance(&mut self, gap: u32) -> Result<u32, Damaged> {
        let text = self.next.checked_add(gap).filter(|&text| text < self.texts).ok_or(Damaged)?;
        self.next = text + 1;
        Ok(text)
    }
}
