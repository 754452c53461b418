//! An append-only list of many short strings in one allocation.

use std::fmt;
use std::ops::Index;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list of strings, accessed by index. One allocation holds them all: a file has hundreds of strings, a project a
/// million.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StringTable {
    text: String,
    /// End of each string, which is the start of the next.
    ends: Vec<u32>,
}

impl StringTable {
    /// Appends a string. Panics beyond 4 GB in total.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).expect("at most 4 GB of strings"));
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the allocated memory in bytes.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<u32>()
    }

    #[inline]
    pub fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)? as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Some(&self.text[start..end])
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| &self[number])
    }

    /// Releases unused capacity.
    pub fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

impl Index<usize> for StringTable {
    type Output = str;

    #[inline]
    fn index(&self, number: usize) -> &str {
        self.get(number).expect("index of a string in this table")
    }
}

impl Serialize for StringTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.len()).map(|number| &self[number]))
    }
}

impl<'de> Deserialize<'de> for StringTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StringTable, D::Error> {
        deserializer.deserialize_seq(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = StringTable;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list of texts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StringTable, A::Error> {
        let mut texts = StringTable::default();
        while let Some(text) = list.next_element::<&str>()? {
            texts.push(text);
        }
        texts.shrink_to_fit();
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_survive_serialization() {
        let words = ["", "name", "", "größe", "a longer text\nof two lines"];
        let mut texts = StringTable::default();
        words.iter().for_each(|word| texts.push(word));
        assert_eq!(texts.iter().collect::<Vec<_>>(), words);
        assert_eq!((texts.len(), texts.get(5)), (5, None));
        let written = postcard::to_stdvec(&texts).unwrap();
        assert_eq!(written, postcard::to_stdvec(&words.map(Box::<str>::from).to_vec()).unwrap());
        assert_eq!(postcard::from_bytes::<StringTable>(&written).unwrap(), texts);
    }
}
