//! The words of a model: one text and a table of rows by hash. 30,000 words take 1 MB; a map of boxed words took three,
//! in 30,000 allocations that made loading a model slow.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

/// A slot without a word.
const EMPTY: u32 = u32::MAX;

/// Rows of words, which are the lines of `vocab.txt`.
pub struct Vocabulary {
    text: Box<[u8]>,
    /// Where the word of each row ends in the text.
    ends: Vec<u32>,
    /// Half of a word's hash, and its row; twice as many as words, and a power of two.
    slots: Vec<(u32, u32)>,
    count: usize,
    longest: usize,
}

impl Vocabulary {
    /// Reads words, one a line. Of equal words the last one counts.
    pub fn new(lines: &str) -> Self {
        let rows = lines.lines().count();
        let mut read = Self {
            text: Box::default(),
            ends: Vec::with_capacity(rows),
            slots: vec![(0, EMPTY); (rows * 2).next_power_of_two()],
            count: 0,
            longest: 0,
        };
        let mut text = Vec::with_capacity(lines.len());
        for word in lines.lines() {
            text.extend_from_slice(word.as_bytes());
            read.ends.push(text.len() as u32);
            read.longest = read.longest.max(word.len());
        }
        read.text = text.into_boxed_slice();
        for row in 0..rows as u32 {
            let (place, tag) = read.place(read.word(row));
            read.count += usize::from(read.slots[place].1 == EMPTY);
            read.slots[place] = (tag, row);
        }
        read
    }

    /// Returns the number of different words.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of bytes of the longest word.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the row of a word.
    pub fn row(&self, word: &[u8]) -> Option<u32> {
        let row = self.slots[self.place(word).0].1;
        (row != EMPTY).then_some(row)
    }

    /// Returns the slot of a word, or the empty one in which it would be, and half of its hash.
    fn place(&self, word: &[u8]) -> (usize, u32) {
        let hash = FxBuildHasher.hash_one(word);
        let (mut place, tag) = (hash as usize & (self.slots.len() - 1), (hash >> 32) as u32);
        loop {
            let (own, row) = self.slots[place];
            if row == EMPTY || own == tag && self.word(row) == word {
                return (place, tag);
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
    }

    fn word(&self, row: u32) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.text[start as usize..self.ends[row as usize] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Vocabulary;

    #[test]
    fn words_have_the_rows_of_their_lines() {
        let words: Vec<String> = (0..1000).map(|number| format!("word{number}")).collect();
        let read = Vocabulary::new(&words.join("\n"));
        assert!(words.iter().enumerate().all(|(row, word)| read.row(word.as_bytes()) == Some(row as u32)));
        assert_eq!((read.row(b"word"), read.row(b""), read.count(), read.longest()), (None, None, 1000, 7));
    }

    #[test]
    fn of_equal_words_the_last_counts() {
        let read = Vocabulary::new("a\nb\r\na\n");
        assert_eq!((read.row(b"a"), read.row(b"b"), read.count()), (Some(2), Some(1), 2));
        assert_eq!(Vocabulary::new("").row(b"a"), None);
    }
}
