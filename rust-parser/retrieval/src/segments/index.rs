//! All segments of a store in one state: their nodes in memory, and searches over the blocks that a query needs.
//!
//! BM25 as in SQLite's FTS5 (its documentation, "The bm25() function"), to the last bit: the same constants, and the
//! same operations in the same order. Replaced texts count nowhere, so scores are those of a fresh index. A word of many
//! texts tells little: where it has more texts than the budget allows, it counts only where it is most significant.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::blocks::{Directory, MOST_DIRECTORY_BYTES, Terms, block_id};
use super::bytes::Damaged;
use super::fold::tokens;
use super::matches::{Matches, Scope, Term};
use super::nodes::{GENERATED, Nodes, TEST, read_ids};
use super::postings::{Postings, column_and_position};

/// Most texts that one query scores.
const TEXT_BUDGET: u64 = 8_000;
/// Most texts for one word of several.
const WORD_BUDGET: u64 = 3_000;

const K1: f64 = 1.2;
const B: f64 = 0.75;
const LEAST_IDF: f64 = 1e-6;

/// A segment's row in the store, without its blocks.
pub struct Source<'a> {
    pub id: i64,
    pub nodes: &'a [u8],
    pub gone: &'a [u8],
    pub directory: &'a [u8],
}

/// A segment in memory: about 15 bytes a text.
struct Loaded {
    id: i64,
    nodes: Nodes,
    gone: Vec<u32>,
    directory: Directory,
}

/// One segment as part of an index.
struct Part {
    segment: Arc<Loaded>,
    /// Bit set: this text was replaced or deleted by a later segment.
    dead: Vec<u64>,
}

impl Part {
    fn is_live(&self, text: u32) -> bool {
        self.dead.get(text as usize / 64).is_none_or(|bits| bits & 1 << (text % 64) == 0)
    }

    /// Returns the id of each token's block, or `None` if the segment lacks one of them or there are no tokens.
    fn block_ids(&self, tokens: &[String]) -> Option<Vec<i64>> {
        let place = |token: &String| self.segment.directory.find(token);
        let ids: Option<Vec<i64>> = tokens.iter().map(|token| Some(block_id(self.segment.id, place(token)?))).collect();
        ids.filter(|ids| !ids.is_empty())
    }
}

/// The segments of a store in one state; immutable.
pub struct WordIndex {
    parts: Vec<Part>,
    texts: u64,
    tokens: u64,
}

/// The blocks that `WordIndex::blocks` asked for, by id.
#[derive(Default)]
pub struct Blocks<'a> {
    pub words: FxHashMap<i64, &'a [u8]>,
    pub places: FxHashMap<i64, &'a [u8]>,
}

/// A filter of texts.
pub struct Among {
    /// Sorted; `None` allows all.
    pub files: Option<Vec<u32>>,
    pub labels: Option<Vec<String>>,
    pub tests: bool,
    pub generated: bool,
}

/// Texts that contain a word.
pub struct Counted {
    /// In all files.
    pub texts: u64,
    /// Number of texts that pass the filter, by file; empty if `texts` is over the limit.
    pub by_file: Vec<(u32, u32)>,
}

/// Where a word or phrase occurs, by the places of the segments that have all of its terms.
type Found<'a> = Vec<(usize, Matches<'a>)>;

/// A word's place among the words that were asked for, where it counts, and its number of texts.
type Wanted = (usize, Scope, u64);

impl WordIndex {
    /// Creates the index of the segments `ids`, in ascending order, from those of an earlier state and from `new` ones.
    pub fn new(before: Option<&WordIndex>, ids: &[i64], new: &[Source]) -> Result<Self, Damaged> {
        let mut parts: Vec<Part> = Vec::with_capacity(ids.len());
        let mut size = 0;
        for id in ids {
            let held = before.and_then(|before| before.parts.iter().find(|part| part.segment.id == *id));
            let segment = match held {
                Some(part) => Arc::clone(&part.segment),
                None => Arc::new(load(new.iter().find(|source| source.id == *id).ok_or(Damaged)?)?),
            };
            for part in &mut parts {
                for gone in &segment.gone {
                    if let Ok(text) = part.segment.nodes.ids.binary_search(gone) {
                        part.dead.resize(part.segment.nodes.ids.len().div_ceil(64), 0);
                        part.dead[text / 64] |= 1 << (text % 64);
                    }
                }
            }
            size += segment.directory.size();
            if size > MOST_DIRECTORY_BYTES {
                return Err(Damaged);
            }
            parts.push(Part { segment, dead: Vec::new() });
        }
        let (mut texts, mut tokens) = (0, 0);
        for part in &parts {
            for (text, length) in (0..).zip(&part.segment.nodes.lengths) {
                if part.is_live(text) {
                    texts += 1;
                    tokens += u64::from(*length);
                }
            }
        }
        Ok(Self { parts, texts, tokens })
    }

    /// Returns the ids of the segments.
    pub fn segments(&self) -> Vec<i64> {
        self.parts.iter().map(|part| part.segment.id).collect()
    }

    /// Returns the ids of the blocks that a search for these words and phrases reads: of postings, and of positions.
    pub fn blocks(&self, words: &[String]) -> (Vec<i64>, Vec<i64>) {
        let (mut postings, mut positions) = (Vec::new(), Vec::new());
        for tokens in words.iter().map(|word| tokens(word)) {
            for part in &self.parts {
                let ids = part.block_ids(&tokens).unwrap_or_default();
                let known = postings.len();
                postings.extend(ids);
                if tokens.len() > 1 {
                    positions.extend_from_slice(&postings[known..]);
                }
            }
        }
        for ids in [&mut postings, &mut positions] {
            ids.sort_unstable();
            ids.dedup();
        }
        (postings, positions)
    }

    /// Returns the best `limit` nodes with their scores, in no order, and all others that score as the last of them.
    pub fn search(
        &self,
        words: &[String],
        blocks: &Blocks,
        among: &Among,
        limit: usize,
    ) -> Result<Vec<(u32, f64)>, Damaged> {
        let found = words.iter().map(|word| self.find(word, blocks)).collect::<Result<Vec<_>, _>>()?;
        let texts = found.iter().map(|word| self.frequencies(word)).collect::<Result<Vec<_>, _>>()?;
        let wanted = within_budget(&texts);
        let hits = self.best(&found, &wanted, among, limit)?;
        let narrowed = wanted.iter().any(|(_, scope, _)| *scope != Scope::Everywhere);
        if narrowed && hits.len() < limit {
            // The scopes are too narrow for this filter: every text counts, whatever it costs.
            let everywhere = texts.iter().enumerate().map(|(word, texts)| (word, Scope::Everywhere, texts[0]));
            return self.best(&found, &everywhere.collect::<Vec<_>>(), among, limit);
        }
        Ok(hits)
    }

    /// Counts the texts that contain each word, by file for words of at most `most` texts.
    pub fn count(&self, words: &[String], blocks: &Blocks, among: &Among, most: u64) -> Result<Vec<Counted>, Damaged> {
        let kinds = self.allowed_kinds(among);
        let counted = |word: &String| {
            let found = self.find(word, blocks)?;
            let [texts, ..] = self.frequencies(&found)?;
            let mut by_file: FxHashMap<u32, u32> = FxHashMap::default();
            if texts <= most {
                self.each(&found, Scope::Everywhere, |part, text, _| {
                    if self.passes(part, text, &kinds, among) {
                        *by_file.entry(self.parts[part].segment.nodes.files[text as usize]).or_default() += 1;
                    }
                })?;
            }
            let mut by_file: Vec<(u32, u32)> = by_file.into_iter().collect();
            by_file.sort_unstable();
            Ok(Counted { texts, by_file })
        };
        words.iter().map(counted).collect()
    }

    /// Returns the occurrences of terms in a block of the segment `id`: node, term, column, position.
    pub fn occurrences(&self, id: i64, words: &[u8], places: &[u8]) -> Result<Vec<(u32, String, usize, u32)>, Damaged> {
        let part = self.parts.iter().find(|part| part.segment.id == id).ok_or(Damaged)?;
        let nodes = &part.segment.nodes;
        let (mut terms, mut out, mut found) = (Terms::new(words, Some(places)), Vec::new(), Vec::new());
        while let Some((words, places)) = terms.read()? {
            let term = String::from_utf8(terms.term.clone()).map_err(|_| Damaged)?;
            let mut postings = Postings::new(words, Some(places), nodes.count());
            while let Some(posting) = postings.read()? {
                if part.is_live(posting.text) {
                    found.clear();
                    posting.push_places(&mut found)?;
                    let node = nodes.ids[posting.text as usize];
                    out.extend(found.iter().map(|place| {
                        let (column, position) = column_and_position(*place);
                        (node, term.clone(), column, position)
                    }));
                }
            }
        }
        Ok(out)
    }

    /// Returns the ids of all blocks, in ascending order.
    pub fn all_blocks(&self) -> Vec<i64> {
        let of_part = |part: &Part| {
            let id = part.segment.id;
            (0..part.segment.directory.count()).map(move |place| block_id(id, place))
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    /// Reads a block of the segment `id` and returns the number of words in it, including those of replaced texts; stops
    /// when there are more than `most`, since few bytes may repeat for many texts.
    pub fn check(&self, id: i64, words: &[u8], places: &[u8], most: u64) -> Result<u64, Damaged> {
        let part = self.parts.iter().find(|part| part.segment.id == id).ok_or(Damaged)?;
        let (mut terms, mut found, mut count) = (Terms::new(words, Some(places)), Vec::new(), 0);
        while let Some((words, places)) = terms.read()? {
            let mut postings = Postings::new(words, Some(places), part.segment.nodes.count());
            while let Some(posting) = postings.read()? {
                found.clear();
                posting.push_places(&mut found)?;
                count += found.len() as u64;
                if count > most {
                    return Ok(count);
                }
            }
        }
        Ok(count)
    }

    /// Returns for each segment its texts, and whether a text is live.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&Nodes, impl Fn(usize) -> bool)> {
        self.parts.iter().map(|part| (&part.segment.nodes, |text: usize| part.is_live(text as u32)))
    }

    fn find<'a>(&self, word: &str, blocks: &Blocks<'a>) -> Result<Found<'a>, Damaged> {
        let tokens = tokens(word);
        let mut found = Vec::new();
        for (place, part) in self.parts.iter().enumerate() {
            let Some(ids) = part.block_ids(&tokens) else { continue };
            let pairs = ids.into_iter().zip(&tokens);
            let in_part = pairs.map(|(id, token)| find_term(id, token, blocks, tokens.len() > 1));
            if let Some(terms) = in_part.collect::<Result<Option<Vec<_>>, _>>()? {
                found.push((place, Matches::find(&terms, part.segment.nodes.count())?));
            }
        }
        Ok(found)
    }

    fn each(&self, found: &Found, scope: Scope, mut each: impl FnMut(usize, u32, f64)) -> Result<(), Damaged> {
        for (place, matches) in found {
            let part = &self.parts[*place];
            matches.each(part.segment.nodes.count(), scope, |text, frequency| {
                if part.is_live(text) {
                    each(*place, text, frequency);
                }
            })?;
        }
        Ok(())
    }

    /// Returns in how many texts a word or phrase occurs, for each scope.
    fn frequencies(&self, found: &Found) -> Result<[u64; 4], Damaged> {
        let mut all = [0; 4];
        for (place, matches) in found {
            let part = &self.parts[*place];
            let is_live = (!part.dead.is_empty()).then_some(|text| part.is_live(text));
            let counted = matches.count(part.segment.nodes.count(), is_live)?;
            all.iter_mut().zip(counted).for_each(|(sum, count)| *sum += count);
        }
        Ok(all)
    }

    fn best(
        &self,
        found: &[Found],
        wanted: &[Wanted],
        among: &Among,
        limit: usize,
    ) -> Result<Vec<(u32, f64)>, Damaged> {
        let average = self.tokens as f64 / self.texts as f64;
        let mut scores: Vec<Vec<f64>> = self.parts.iter().map(|_| Vec::new()).collect();
        let mut scored: Vec<(usize, u32)> = Vec::new();
        for (word, scope, hits) in wanted {
            let idf = idf(self.texts, *hits);
            self.each(&found[*word], *scope, |place, text, frequency| {
                let nodes = &self.parts[place].segment.nodes;
                let scores = &mut scores[place];
                if scores.is_empty() {
                    scores.resize(nodes.ids.len(), 0.0);
                }
                let score = &mut scores[text as usize];
                if *score == 0.0 {
                    scored.push((place, text));
                }
                let length = f64::from(nodes.lengths[text as usize]);
                *score += idf * ((frequency * (K1 + 1.0)) / (frequency + K1 * (1.0 - B + B * length / average)));
            })?;
        }
        let kinds = self.allowed_kinds(among);
        let passing = scored.into_iter().filter(|(place, text)| self.passes(*place, *text, &kinds, among));
        let score_of = |place: usize, text: u32| scores[place][text as usize];
        let mut hits: Vec<(u32, f64)> = passing
            .map(|(place, text)| (self.parts[place].segment.nodes.ids[text as usize], score_of(place, text)))
            .collect();
        if limit == 0 {
            return Ok(Vec::new());
        }
        if hits.len() > limit {
            let (_, last, _) = hits.select_nth_unstable_by(limit - 1, |one, other| other.1.total_cmp(&one.1));
            let least = last.1;
            hits.retain(|hit| hit.1 >= least);
        }
        Ok(hits)
    }

    fn allowed_kinds(&self, among: &Among) -> Vec<Vec<bool>> {
        let without = if among.tests { 0 } else { TEST } | if among.generated { 0 } else { GENERATED };
        self.parts.iter().map(|part| part.segment.nodes.allowed_kinds(among.labels.as_deref(), without)).collect()
    }

    fn passes(&self, place: usize, text: u32, kinds: &[Vec<bool>], among: &Among) -> bool {
        let nodes = &self.parts[place].segment.nodes;
        kinds[place][usize::from(nodes.kinds[text as usize])]
            && among.files.as_ref().is_none_or(|files| files.binary_search(&nodes.files[text as usize]).is_ok())
    }
}

fn load(source: &Source) -> Result<Loaded, Damaged> {
    Ok(Loaded {
        id: source.id,
        nodes: Nodes::read(source.nodes)?,
        gone: read_ids(source.gone)?,
        directory: Directory::read(source.directory)?,
    })
}

/// Returns the postings of a term from its block.
fn find_term<'a>(id: i64, token: &str, blocks: &Blocks<'a>, with_places: bool) -> Result<Option<Term<'a>>, Damaged> {
    let words = blocks.words.get(&id).copied().ok_or(Damaged)?;
    let places = if with_places { Some(blocks.places.get(&id).copied().ok_or(Damaged)?) } else { None };
    let mut terms = Terms::new(words, places);
    while let Some((words, places)) = terms.read()? {
        if terms.term.as_slice() >= token.as_bytes() {
            return Ok((terms.term == token.as_bytes()).then_some((words, with_places.then_some(places))));
        }
    }
    Ok(None)
}

/// Returns the words from the rarest to the most frequent, the frequent ones in narrower scopes that fit the budget.
/// `texts`: number of texts of each word, for each scope.
fn within_budget(texts: &[[u64; 4]]) -> Vec<Wanted> {
    let mut in_order: Vec<usize> = (0..texts.len()).collect();
    // Words over the budget keep their order.
    in_order.sort_by_key(|word| texts[*word][0].min(TEXT_BUDGET + 1));
    let mut budget = TEXT_BUDGET;
    let mut wanted = Vec::with_capacity(texts.len());
    for word in in_order {
        let allowed = if texts.len() > 1 { budget.min(WORD_BUDGET) } else { budget };
        let place = (0..3).find(|scope| texts[word][*scope] <= allowed).unwrap_or(3);
        wanted.push((word, Scope::ALL[place], texts[word][place]));
        budget = budget.saturating_sub(texts[word][place].min(allowed + 1));
    }
    wanted
}

fn idf(texts: u64, hits: u64) -> f64 {
    let idf = ((texts as f64 - hits as f64 + 0.5) / (hits as f64 + 0.5)).ln();
    if idf <= 0.0 { LEAST_IDF } else { idf }
}
