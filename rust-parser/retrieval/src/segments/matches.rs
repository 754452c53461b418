//! The texts of a segment that contain a word, or the words of a phrase next to each other, with their weight.

use super::bytes::Damaged;
use super::postings::{COLUMNS, MASK, Posting, Postings, column_and_position};

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

/// Calls `each` with every text that contains the terms next to each other, and with their occurrences, weighted by
/// column. `texts` is the number of texts of the segment.
pub fn each_match(terms: &[Term], texts: u32, scope: Scope, mut each: impl FnMut(u32, f64)) -> Result<(), Damaged> {
    match terms {
        [] => Ok(()),
        [(words, _)] => each_word(Postings::new(words, None, texts), scope, each),
        _ => {
            let lists = terms.iter().map(|(words, places)| Postings::new(words, *places, texts)).collect();
            each_phrase(lists, |text, places| {
                let frequency = phrase_frequency(places, scope);
                if frequency > 0.0 {
                    each(text, frequency);
                }
            })
        }
    }
}

fn each_word(mut postings: Postings, scope: Scope, mut each: impl FnMut(u32, f64)) -> Result<(), Damaged> {
    let mask = scope.mask();
    let weight = |columns: u8| (0..COLUMNS).filter(|column| columns & 1 << column != 0).map(|one| WEIGHTS[one]).sum();
    let by_mask: [f64; 1 << COLUMNS] = std::array::from_fn(|columns| weight(columns as u8 & mask));
    while let Some(posting) = postings.read()? {
        let frequency = if scope == Scope::NameStart {
            if posting.is_first() { WEIGHTS[0] } else { 0.0 }
        } else if posting.is_single() {
            by_mask[usize::from(posting.mask())]
        } else {
            let counted = posting.counts().into_iter().enumerate().filter(|(column, _)| mask & 1 << column != 0);
            counted.map(|(column, count)| WEIGHTS[column] * f64::from(count)).sum()
        };
        if frequency > 0.0 {
            each(posting.text, frequency);
        }
    }
    Ok(())
}

/// Calls `each` with the texts that contain all terms, and with the places of each.
fn each_phrase(mut lists: Vec<Postings>, mut each: impl FnMut(u32, &[Vec<u32>])) -> Result<(), Damaged> {
    let mut places = vec![Vec::new(); lists.len()];
    let mut current: Vec<Posting> = Vec::with_capacity(lists.len());
    for list in &mut lists {
        let Some(first) = list.read()? else { return Ok(()) };
        current.push(first);
    }
    loop {
        let text = current.iter().map(|posting| posting.text).max().unwrap_or(0);
        let mut agree = true;
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

fn phrase_frequency(places: &[Vec<u32>], scope: Scope) -> f64 {
    let follows =
        |first: u32| (1..).zip(&places[1..]).all(|(ahead, places)| places.binary_search(&(first + ahead)).is_ok());
    let counts = |first: u32| {
        let column = column_and_position(first).0;
        scope.mask() & 1 << column != 0 && (scope != Scope::NameStart || first == 0)
    };
    let firsts = places[0].iter().filter(|&&first| counts(first) && follows(first));
    firsts.map(|&first| WEIGHTS[column_and_position(first).0]).sum()
}
