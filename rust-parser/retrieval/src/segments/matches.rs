//! The texts of a segment that contain a word, or the words of a phrase next to each other, with their weight.

use super::bytes::Damaged;
use super::postings::{COLUMNS, MASK, Posting, Postings, column_and_position, counts_of, each_run, is_first};

/// Weights of name, qualified name, docstring, source and path.
const WEIGHTS: [f64; COLUMNS] = [8.0, 4.0, 2.0, 1.0, 2.0];

/// Where a word counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Everywhere,
    /// In names, qualified names and paths.
    Names,
    Name,
    /// At the start of the name (a whole name is the first word of a name).
    NameStart,
}

impl Scope {
    /// All scopes, from the widest to the narrowest.
    pub const ALL: [Scope; 4] = [Scope::Everywhere, Scope::Names, Scope::Name, Scope::NameStart];

    fn weight(self, column: usize) -> f64 {
        if self.mask() & 1 << column == 0 { 0.0 } else { WEIGHTS[column] }
    }

    fn mask(self) -> u8 {
        match self {
            Scope::Everywhere => MASK,
            Scope::Names => 0b1_0011,
            Scope::Name | Scope::NameStart => 1,
        }
    }
}

/// The postings of a term in a segment, and its positions if they are needed.
pub type Term<'a> = (&'a [u8], Option<&'a [u8]>);

/// Where a word or phrase occurs in a segment.
pub enum Matches<'a> {
    /// The postings of a word.
    Word(&'a [u8]),
    /// The texts of a phrase, with its weighted occurrences for each scope.
    Phrase(Vec<(u32, [f64; 4])>),
}

impl<'a> Matches<'a> {
    /// Finds where the terms, at least one, follow each other. `texts` is the number of texts of the segment.
    pub fn find(terms: &[Term<'a>], texts: u32) -> Result<Self, Damaged> {
        if let [(words, _)] = terms {
            return Ok(Self::Word(words));
        }
        let mut found = Vec::new();
        if let Some(last) = last_in_all(terms, texts)? {
            let lists = terms.iter().map(|(words, places)| Postings::new(words, *places, texts)).collect();
            each_in_all(lists, last, |text, places| {
                let frequencies = phrase_frequencies(places);
                if frequencies[0] > 0.0 {
                    found.push((text, frequencies));
                }
            })?;
        }
        Ok(Self::Phrase(found))
    }

    /// Calls `each` with every text and with the occurrences in it, weighted by column.
    pub fn each(&self, texts: u32, scope: Scope, mut each: impl FnMut(u32, f64)) -> Result<(), Damaged> {
        match self {
            Self::Word(words) => each_word(words, texts, scope, each),
            Self::Phrase(found) => {
                let in_scope = found.iter().map(|(text, frequencies)| (*text, frequencies[scope as usize]));
                in_scope.filter(|(_, frequency)| *frequency > 0.0).for_each(|(text, frequency)| each(text, frequency));
                Ok(())
            }
        }
    }

    /// Returns in how many texts it occurs, for each scope. `is_live`: only these texts count, `None` = all.
    pub fn count(&self, texts: u32, is_live: Option<impl Fn(u32) -> bool>) -> Result<[u64; 4], Damaged> {
        match self {
            Self::Word(words) => count_word(words, texts, is_live),
            Self::Phrase(found) => {
                let live = |text: u32| is_live.as_ref().is_none_or(|is_live| is_live(text));
                let counts = |scope: Scope| {
                    let in_scope = found.iter().filter(|(_, frequencies)| frequencies[scope as usize] > 0.0);
                    in_scope.filter(|(text, _)| live(*text)).count() as u64
                };
                Ok(Scope::ALL.map(counts))
            }
        }
    }
}

fn each_word(words: &[u8], texts: u32, scope: Scope, mut each: impl FnMut(u32, f64)) -> Result<(), Damaged> {
    let weights: [f64; COLUMNS] = std::array::from_fn(|column| scope.weight(column));
    let once: [f64; 1 << COLUMNS] = std::array::from_fn(|mask| {
        (0..COLUMNS).filter(|column| mask & 1 << column != 0).map(|column| weights[column]).sum()
    });
    each_run(words, texts, |run, header, counts| {
        let frequency = if scope == Scope::NameStart {
            if is_first(header) { WEIGHTS[0] } else { 0.0 }
        } else if counts.is_empty() {
            once[usize::from(header & MASK)]
        } else {
            weights.iter().zip(counts_of(header, counts)).map(|(weight, count)| weight * f64::from(count)).sum()
        };
        if frequency > 0.0 {
            run.for_each(|text| each(text, frequency));
        }
    })
}

fn count_word(words: &[u8], texts: u32, is_live: Option<impl Fn(u32) -> bool>) -> Result<[u64; 4], Damaged> {
    let mut by_header = [0u64; 128];
    each_run(words, texts, |run, header, _| {
        by_header[usize::from(header & 127)] += match &is_live {
            None => u64::from(run.end - run.start),
            Some(is_live) => run.filter(|text| is_live(*text)).count() as u64,
        };
    })?;
    let counts = |scope: Scope, header: u8| match scope {
        Scope::NameStart => is_first(header),
        _ => header & scope.mask() != 0,
    };
    Ok(Scope::ALL
        .map(|scope| (0u8..).zip(by_header).filter(|(header, _)| counts(scope, *header)).map(|(_, n)| n).sum()))
}

/// Returns the last text that contains all terms.
fn last_in_all(terms: &[Term], texts: u32) -> Result<Option<u32>, Damaged> {
    let mut all: Option<Vec<u64>> = None;
    for (words, _) in terms {
        let mut with_term = vec![0u64; texts.div_ceil(64) as usize];
        each_run(words, texts, |run, _, _| run.for_each(|text| with_term[text as usize / 64] |= 1 << (text % 64)))?;
        match &mut all {
            None => all = Some(with_term),
            Some(all) => all.iter_mut().zip(with_term).for_each(|(bits, more)| *bits &= more),
        }
    }
    let last = all.unwrap_or_default().into_iter().enumerate().rfind(|(_, bits)| *bits != 0);
    Ok(last.map(|(place, bits)| place as u32 * 64 + 63 - bits.leading_zeros()))
}

/// Calls `each` with the texts up to `last` that contain all terms, and with the places of each term.
fn each_in_all(mut lists: Vec<Postings>, last: u32, mut each: impl FnMut(u32, &[Vec<u32>])) -> Result<(), Damaged> {
    let mut places = vec![Vec::new(); lists.len()];
    let mut current: Vec<Posting> = Vec::with_capacity(lists.len());
    for list in &mut lists {
        let Some(first) = list.read()? else { return Ok(()) };
        current.push(first);
    }
    loop {
        let text = current.iter().map(|posting| posting.text).max().unwrap_or(0);
        let mut agree = text <= last;
        if !agree {
            return Ok(());
        }
        for (list, posting) in lists.iter_mut().zip(&mut current) {
            while posting.text < text {
                let Some(next) = list.read()? else { return Ok(()) };
                *posting = next;
            }
            agree &= posting.text == text;
        }
        if agree {
            for (posting, places) in current.iter().zip(&mut places) {
                places.clear();
                posting.push_places(places)?;
            }
            each(text, &places);
            let Some(next) = lists[0].read()? else { return Ok(()) };
            current[0] = next;
        }
    }
}

/// Returns the weighted occurrences of a phrase for each scope, from the places of its terms in one text.
fn phrase_frequencies(places: &[Vec<u32>]) -> [f64; 4] {
    let follows =
        |first: u32| (1..).zip(&places[1..]).all(|(ahead, places)| places.binary_search(&(first + ahead)).is_ok());
    let mut found = [0.0; 4];
    for &first in places[0].iter().filter(|first| follows(**first)) {
        let column = column_and_position(first).0;
        for (sum, scope) in found.iter_mut().zip(Scope::ALL) {
            if scope != Scope::NameStart || first == 0 {
                *sum += scope.weight(column);
            }
        }
    }
    found
}
