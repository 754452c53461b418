//! Several segments as one, without the texts that were replaced. The blocks come in and go out one by one, so that the
//! memory needed depends on the number of texts and on the longest list of postings, not on the size of the index.

use super::blocks::{self, Block, Terms};
use super::bytes::Damaged;
use super::index::{Source, WordIndex};
use super::nodes::{Nodes, ids_bytes, read_ids};
use super::postings::{self, Postings};

/// The number of a replaced text.
const DEAD: u32 = u32::MAX;

/// Merges segments; see `step`.
pub struct Merger {
    inputs: Vec<Input>,
    nodes: Nodes,
    gone: Vec<u32>,
    blocks: blocks::Writer,
    postings: postings::Writer,
}

/// One of the segments.
struct Input {
    /// The number that each text gets.
    numbers: Vec<u32>,
    /// The terms of the current block that are not written yet, the next one last.
    terms: Vec<OwnedTerm>,
    has_more: bool,
}

/// Term, postings and positions.
type OwnedTerm = (Vec<u8>, Vec<u8>, Vec<u8>);

impl Merger {
    /// Starts to merge segments, in ascending order of their ids. `keeps_gone`: there are older segments, of which these
    /// replace texts.
    pub fn new(sources: &[Source], keeps_gone: bool) -> Result<Self, Damaged> {
        let ids: Vec<i64> = sources.iter().map(|source| source.id).collect();
        let index = WordIndex::new(None, &ids, sources)?;
        let mut merger = Self {
            inputs: Vec::new(),
            nodes: Nodes::default(),
            gone: Vec::new(),
            blocks: blocks::Writer::default(),
            postings: postings::Writer::default(),
        };
        let mut texts = Vec::new();
        for (place, (nodes, is_live)) in index.texts().enumerate() {
            let numbers = vec![DEAD; nodes.ids.len()];
            merger.inputs.push(Input { numbers, terms: Vec::new(), has_more: true });
            texts.extend((0..nodes.ids.len()).filter(|text| is_live(*text)).map(|text| (nodes.ids[text], place, text)));
        }
        texts.sort_unstable();
        texts.dedup_by_key(|(node, _, _)| *node);
        let all: Vec<&Nodes> = index.texts().map(|(nodes, _)| nodes).collect();
        for (number, (node, place, text)) in (0..).zip(texts) {
            let (label, flags) = all[place].label_and_flags(text);
            merger.nodes.push(node, all[place].lengths[text], all[place].files[text], label, flags);
            merger.inputs[place].numbers[text] = number;
        }
        if keeps_gone {
            for source in sources {
                merger.gone.extend(read_ids(source.gone)?);
            }
            merger.gone.sort_unstable();
            merger.gone.dedup();
        }
        Ok(merger)
    }

    /// Merges until the next block of a segment is needed. Returns the place of this segment, or `None` at the end.
    pub fn step(&mut self) -> Result<Option<usize>, Damaged> {
        loop {
            if let Some(empty) = self.inputs.iter().position(|input| input.has_more && input.terms.is_empty()) {
                return Ok(Some(empty));
            }
            let next = self.inputs.iter().filter_map(|input| input.terms.last()).map(|(term, _, _)| term).min();
            let Some(term) = next.cloned() else { return Ok(None) };
            self.merge_term(&term)?;
        }
    }

    /// Takes the next block of a segment; `None` means that it has no more.
    pub fn feed(&mut self, place: usize, block: Option<(&[u8], &[u8])>) -> Result<(), Damaged> {
        let input = self.inputs.get_mut(place).ok_or(Damaged)?;
        let Some((words, places)) = block else {
            input.has_more = false;
            return Ok(());
        };
        let mut terms = Terms::new(words, Some(places));
        while let Some((words, places)) = terms.read()? {
            input.terms.push((terms.term.clone(), words.to_vec(), places.to_vec()));
        }
        input.terms.reverse();
        Ok(())
    }

    /// Takes the blocks that are complete.
    pub fn take(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.blocks.done)
    }

    /// Completes the last block, and returns nodes, gone and directory of the merged segment.
    pub fn end(&mut self) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        (self.nodes.bytes(), ids_bytes(&self.gone), self.blocks.end())
    }

    fn merge_term(&mut self, term: &[u8]) -> Result<(), Damaged> {
        let mut lists = Vec::new();
        for (place, input) in self.inputs.iter_mut().enumerate() {
            if let Some((_, words, places)) = input.terms.pop_if(|(own, _, _)| own == term) {
                lists.push((place, words, places));
            }
        }
        let mut found = Vec::new();
        for (place, words, places) in &lists {
            let numbers = &self.inputs[*place].numbers;
            let mut postings = Postings::new(words, Some(places), numbers.len() as u32);
            while let Some(posting) = postings.read()? {
                let number = numbers[posting.text as usize];
                if number != DEAD {
                    found.push((number, posting));
                }
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        if lists.len() > 1 {
            found.sort_unstable_by_key(|(number, _)| *number);
        }
        self.postings.clear();
        found.iter().for_each(|(number, posting)| self.postings.copy(*number, posting));
        self.postings.end();
        let term = std::str::from_utf8(term).map_err(|_| Damaged)?;
        self.blocks.add(term, &self.postings.words, &self.postings.places);
        Ok(())
    }
}
