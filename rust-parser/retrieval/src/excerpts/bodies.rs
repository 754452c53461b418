//! What can be shown of the files of hits: statements, each with the chance that it answers the question.

use std::borrow::Cow;

use memchr::memmem::Finder;

use super::evidence::{scores, shares};
use super::pieces::{self, Span, pieces_of};
use super::text::{has_words, indentation, is_space, lines_of, lowered, push_shown};
use crate::encode::{ProseModel, cosines};
use crate::tokens::count_tokens;

/// Hits of the file of a hit whose source counts as well.
const BESIDE: usize = 12;
/// A larger file or body is not divided into statements: parsing takes a millisecond for each 16 KB.
const MAX_BODY_BYTES: usize = 65_536;
/// Chance that a line elsewhere in the file answers, in shares of the likelihoods of its hits.
const ELSEWHERE: f64 = 0.3;
/// Least chance of a piece outside of the hit.
const NOTHING: f64 = 0.0001;
/// Pieces that are returned whatever they are worth: the constants that they name are looked up.
const BEST: usize = 3;

/// The question, and what its pieces are compared with.
pub struct Question<'q> {
    pub text: &'q str,
    /// Lower-case words and variants of words.
    pub words: &'q [String],
    /// Compares meanings, if there is one.
    pub model: Option<&'q ProseModel>,
    /// Value per token below which a piece is not worth to be shown.
    pub least: f64,
}

/// A hit and the hits of its file that rank below it.
pub struct Hit<'h> {
    pub path: &'h str,
    /// The indexed bytes of the file.
    pub content: &'h [u8],
    /// The line that the answer shows of the hit in any case.
    pub line: i64,
    /// The summary that the answer may show; a piece that only says a part of it is left out.
    pub summary: &'h str,
    /// The hit itself first.
    pub rows: Vec<Row<'h>>,
}

/// The lines of a hit, from 1, its bytes, and the chance that it is meant.
pub struct Row<'h> {
    pub language: &'h str,
    pub lines: (i64, i64),
    pub bytes: (usize, usize),
    pub chance: f64,
}

/// Lines that are shown together, with the numbers of these lines.
pub struct Piece {
    pub numbers: Vec<i64>,
    pub text: String,
    /// How likely it answers the question.
    pub value: f64,
    pub tokens: usize,
}

/// What can be shown of the file of a hit.
pub struct Body {
    /// Those that are worth their tokens and the best ones, in order.
    pub pieces: Vec<Piece>,
    /// Characters of all pieces in the lines of the hit.
    pub characters: usize,
}

/// A part of a file that is divided into pieces.
struct Part<'h> {
    language: &'h str,
    data: &'h [u8],
    /// Lines above it.
    before: i64,
    /// Lines of the file that other parts have.
    after: i64,
}

/// Returns the lines before which a body can be cut, 0 first. `statements` finds those of a text.
pub fn borders<S: AsRef<[Span]>>(lines: &[&str], statements: impl Fn(&[u8]) -> S) -> Vec<usize> {
    let text = lines.join("\n");
    match text.len() > MAX_BODY_BYTES {
        true => pieces::borders(lines, &[]),
        false => pieces::borders(lines, statements(text.as_bytes()).as_ref()),
    }
}

/// Returns what can be shown of each hit. `statements` finds those of a text in a language.
pub fn rate<S: AsRef<[Span]>>(
    question: &Question<'_>,
    hits: &[Hit<'_>],
    statements: impl Fn(&str, &[u8]) -> S,
) -> Vec<Body> {
    let words: Vec<Finder<'_>> = question.words.iter().filter(|word| !word.is_empty()).map(Finder::new).collect();
    let mut found: Vec<Vec<Piece>> = Vec::new();
    for hit in hits {
        let mut pieces = Vec::new();
        for part in parts_of(hit) {
            let spans = statements(part.language, part.data);
            divide(&part, spans.as_ref(), &hit.rows, &words, &mut pieces);
        }
        found.push(pieces);
    }
    let by_hit: Vec<(&str, Vec<&str>)> = hits
        .iter()
        .zip(&found)
        .map(|(hit, pieces)| (hit.path, pieces.iter().map(|each| &*each.text).collect()))
        .collect();
    let cosines = question.model.map(|model| cosines(model, question.text, &by_hit)).unwrap_or_default();
    let texts: Vec<&str> = by_hit.into_iter().flat_map(|(_, texts)| texts).collect();
    let mut rated = scores(question.text, question.words, &texts, &cosines).into_iter();
    let bodies = hits.iter().zip(found);
    bodies
        .map(|(hit, pieces)| {
            let values = rated.by_ref().take(pieces.len()).collect();
            body_of(hit, pieces, values, question.least)
        })
        .collect()
}

/// Returns the file of a hit; if it is large, the bodies of the hit and of the hits of its file, each line once.
fn parts_of<'h>(hit: &Hit<'h>) -> Vec<Part<'h>> {
    let Some(first) = hit.rows.first() else { return Vec::new() };
    if hit.content.len() <= MAX_BODY_BYTES {
        return vec![Part { language: first.language, data: hit.content, before: 0, after: 0 }];
    }
    let size = |row: &&Row| row.bytes.1.saturating_sub(row.bytes.0);
    let mut rows: Vec<&Row> =
        hit.rows.iter().take(BESIDE + 1).filter(|row| (1..=MAX_BODY_BYTES).contains(&size(row))).collect();
    rows.sort_by_key(|row| (row.lines.0, -row.lines.1));
    let (mut parts, mut last) = (Vec::new(), 0);
    for row in rows {
        if row.lines.1 > last {
            let end = row.bytes.1.min(hit.content.len());
            let data = &hit.content[row.bytes.0.min(end)..end];
            parts.push(Part { language: row.language, data, before: row.lines.0 - 1, after: last });
            last = row.lines.1;
        }
    }
    parts
}

/// Appends the statements of a part that begin in a hit or have a word of the question, without lines of mere marks.
///
/// Most statements of a file are left out, so that lines are only prepared where that is known.
fn divide(part: &Part<'_>, statements: &[Span], rows: &[Row<'_>], words: &[Finder<'_>], found: &mut Vec<Piece>) {
    let text: Cow<'_, str> = String::from_utf8_lossy(part.data);
    let lines = lines_of(&text);
    let (common, told) = (indentation(&lines), told(&lines, words));
    let before = part.before + 1;
    let spans = || rows.iter().take(BESIDE + 1).map(|row| row.lines);
    let mut shown = String::new();
    for (first, last) in pieces_of(&lines, statements) {
        let own = (before + first as i64, before + last as i64);
        let is_told = told[first..=last].contains(&true);
        if own.0 <= part.after || !is_told && !spans().any(|(start, end)| start <= own.1 && own.0 <= end) {
            continue;
        }
        let mut piece = Piece { numbers: Vec::new(), text: String::new(), value: 0.0, tokens: 0 };
        let mut has_told = false;
        for at in first..=last {
            shown.clear();
            push_shown(lines[at], common, &mut shown);
            // a line that is cut may have lost the word
            has_told |= told[at] && has_any(&shown, words);
            if has_words(&shown) {
                if !piece.numbers.is_empty() {
                    piece.text.push('\n');
                }
                piece.numbers.push(before + at as i64);
                piece.text.push_str(&shown);
            }
        }
        let begin = piece.numbers.first();
        if begin.is_some_and(|line| has_told || spans().any(|(start, end)| start <= *line && *line <= end)) {
            found.push(piece);
        }
    }
}

/// Returns for each line whether it has a word.
fn told(lines: &[&str], words: &[Finder<'_>]) -> Vec<bool> {
    let mut text = String::new();
    let mut ends = Vec::with_capacity(lines.len());
    for line in lines {
        match line.is_ascii() {
            true => {
                let start = text.len();
                text.push_str(line);
                text[start..].make_ascii_lowercase();
            }
            false => text.push_str(&lowered(line)),
        }
        text.push('\n');
        ends.push(text.len());
    }
    let mut told = vec![false; lines.len()];
    for word in words {
        let mut start = 0;
        while let Some(at) = word.find(&text.as_bytes()[start..]) {
            let number = ends.partition_point(|end| *end <= start + at);
            told[number] = true;
            start = ends[number];
        }
    }
    told
}

fn has_any(line: &str, words: &[Finder<'_>]) -> bool {
    let line = lowered(line);
    words.iter().any(|word| word.find(line.as_bytes()).is_some())
}

/// Returns the pieces of a hit's file, each worth what it is worth in every hit that has it, and in the file.
fn body_of(hit: &Hit<'_>, pieces: Vec<Piece>, values: Vec<f64>, least: f64) -> Body {
    let is_shown = |piece: &Piece| piece.numbers[0] == hit.line || is_said(&piece.text, hit.summary);
    let (mut pieces, values): (Vec<Piece>, Vec<f64>) =
        pieces.into_iter().zip(values).filter(|(piece, _)| !is_shown(piece)).unzip();
    let spans = hit.rows.iter().take(BESIDE + 1).map(|row| (row.lines, row.chance));
    let elsewhere = ELSEWHERE * hit.rows.iter().map(|row| row.chance).sum::<f64>();
    for ((first, last), chance) in spans.chain([((0, i64::MAX), elsewhere)]) {
        let start = pieces.partition_point(|piece| piece.numbers[0] < first);
        let end = pieces.partition_point(|piece| piece.numbers[piece.numbers.len() - 1] <= last).max(start);
        for (piece, share) in pieces[start..end].iter_mut().zip(shares(&values[start..end])) {
            piece.value += chance * share;
        }
    }
    let (first, last) = hit.rows.first().map_or((0, 0), |row| row.lines);
    pieces.retain(|piece| piece.value > NOTHING || first < piece.numbers[0] && piece.numbers[0] <= last);
    let characters = pieces.iter().map(|piece| characters_in(piece, first, last)).sum();
    let mut best: Vec<usize> = (0..pieces.len()).collect();
    best.sort_by(|one, other| pieces[*other].value.total_cmp(&pieces[*one].value));
    best.truncate(BEST);
    let mut at = 0..;
    pieces.retain(|piece| {
        let is_best = at.next().is_some_and(|at| best.contains(&at));
        is_best || piece.value >= least * (2 * piece.numbers.len()) as f64
    });
    pieces.iter_mut().for_each(|piece| piece.tokens = count_tokens(&piece.text));
    Body { pieces, characters }
}

fn characters_in(piece: &Piece, first: i64, last: i64) -> usize {
    let lines = piece.numbers.iter().zip(piece.text.split('\n'));
    lines.filter(|(number, _)| (first..=last).contains(*number)).map(|(_, line)| line.chars().count()).sum()
}

/// Returns whether lines say only what the summary says: a documentation of one sentence.
fn is_said(lines: &str, summary: &str) -> bool {
    if summary.is_empty() {
        return false;
    }
    let words: Vec<&str> = lines.split(is_space).filter(|word| !word.is_empty()).collect();
    let plain = words.join(" ");
    let plain = plain.trim_matches([' ', '"', '\'', '/', '*', '#']);
    !plain.is_empty() && summary.contains(plain)
}
