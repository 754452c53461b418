use std::fmt;

use crate::codec::{Decode, Encode, Reader, Writer};
use crate::Result;

#[derive(Debug, Clone, Default)]
pub struct Address {
    parts: Vec<String>,
}

impl Address {
    pub fn parse(text: &str) -> Option<Self> {
        let mut address = Self::default();
        for part in text.split(',') {
            address.push(part.trim());
        }
        address.is_complete().then_some(address)
    }

    fn push(&mut self, part: &str) -> &mut Self {
        self.parts.push(part.to_owned());
        self
    }

    pub fn is_complete(&self) -> bool {
        self.parts.len() > 1
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join(&self.parts))
    }
}

fn join(parts: &[String]) -> String {
    parts.join(", ")
}

#[derive(Debug, Clone)]
pub struct Letter {
    pub to: Address,
    pages: Vec<Page>,
}

#[derive(Debug, Clone)]
struct Page(String);

impl Page {
    fn words(&self) -> usize {
        self.0.split(' ').count()
    }
}

impl Letter {
    pub fn new(to: Address) -> Letter {
        Letter { to, pages: Vec::new() }
    }

    pub fn page(mut self, text: &str) -> Self {
        self.pages.push(Page(text.into()));
        self
    }

    pub fn words(&self) -> usize {
        self.pages.iter().map(|page| page.words()).sum()
    }

    pub fn longest(&self) -> Option<usize> {
        let page = self.pages.iter().max_by_key(|page| page.words())?;
        Some(page.words())
    }

    pub fn first_words(&self) -> usize {
        match self.pages.first() {
            Some(page) => page.words(),
            None => 0,
        }
    }
}

impl Encode for Letter {
    fn encode(&self, writer: &mut Writer) {
        writer.text(&self.to.to_string());
        for page in &self.pages {
            writer.text(&page.0).end();
        }
    }
}

impl Decode for Letter {
    fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let to = Address::parse(&reader.text()?).ok_or_else(|| crate::Error::lost("address"))?;
        Ok(Letter::new(to).page(&reader.text()?))
    }
}
