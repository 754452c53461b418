//! A body in pieces that can be shown or left out: statements, paragraphs, single lines.
//!
//! A piece never ends inside a statement that has no block of its own. A compound statement is divided into its head, the
//! statements of its blocks, and what stands between them, such as `else:`. A line without words, such as a closing brace,
//! belongs to the piece before it. Where there are no statements, paragraphs are pieces.

use super::text::{has_words, indent, is_empty, is_in_name, is_space};

/// Lines of a piece. A longer statement, such as a table of values, is divided into lines.
const MAX_PIECE: usize = 6;
/// Lines of a paragraph. A longer one is divided into lines.
const MAX_PARAGRAPH: usize = 12;
/// Words that begin a line with a condition.
const CONDITIONS: [&str; 8] = ["if", "elif", "elsif", "else if", "unless", "when", "case", "guard"];

/// First and last line, from 0.
pub type Span = (u32, u32);

/// Returns the pieces of a body in order, each condition of one line with the statement that it guards: together they
/// say when. `statements`: those of the body, outer ones first.
pub fn pieces_of(lines: &[&str], statements: &[Span]) -> Vec<(usize, usize)> {
    let worded = worded(lines);
    let starts = borders_of(lines, statements, &worded);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (first, end) in pairs(&starts, lines.len()) {
        let last = last_line(lines, first, end);
        if !worded[first..=last].contains(&true) {
            continue;
        }
        match found.last_mut() {
            Some(head) if is_guarded(lines, *head, (first, last)) => head.1 = last,
            _ => found.push((first, last)),
        }
    }
    found
}

fn is_guarded(lines: &[&str], head: (usize, usize), piece: (usize, usize)) -> bool {
    head.0 == head.1
        && head.1 + 1 == piece.0
        && piece.1 - head.0 < MAX_PIECE
        && indent(lines[piece.0]) > indent(lines[head.0])
        && is_condition(lines[head.0])
}

fn is_condition(line: &str) -> bool {
    let line = line.trim_start_matches(is_space);
    let line = line.strip_prefix('}').map_or(line, |rest| rest.trim_start_matches(is_space));
    CONDITIONS.iter().any(|word| line.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_in_name)))
}

/// Returns the lines before which a body can be cut: the first lines of its pieces, 0 first.
pub fn borders(lines: &[&str], statements: &[Span]) -> Vec<usize> {
    borders_of(lines, statements, &worded(lines))
}

fn worded(lines: &[&str]) -> Vec<bool> {
    lines.iter().map(|line| has_words(line)).collect()
}

fn borders_of(lines: &[&str], statements: &[Span], worded: &[bool]) -> Vec<usize> {
    if lines.is_empty() {
        return Vec::new();
    }
    let (starts, most) = match statements.is_empty() {
        true => (paragraphs(lines), MAX_PARAGRAPH),
        false => (changes(statements, worded), MAX_PIECE),
    };
    let mut found = Vec::with_capacity(starts.len());
    for (first, end) in pairs(&starts, lines.len()) {
        let is_long = last_line(lines, first, end) - first >= most;
        found.extend(first..if is_long { end } else { first + 1 });
    }
    found
}

/// Returns the first lines of pieces: where the innermost statement changes.
fn changes(statements: &[Span], worded: &[bool]) -> Vec<usize> {
    let total = worded.len();
    let (mut owner, mut begins) = (vec![0; total], vec![false; total]);
    for (number, &(first, last)) in statements.iter().enumerate() {
        let (first, end) = (first as usize, total.min(last as usize + 1));
        if first < end {
            owner[first..end].fill(number + 1);
        }
        if first < total {
            begins[first] = true;
        }
    }
    let is_start = |at: &usize| *at == 0 || worded[*at] && (owner[*at] != owner[*at - 1] || begins[*at]);
    (0..total).filter(is_start).collect()
}

/// Returns the first line, that behind it, and those that follow an empty line.
fn paragraphs(lines: &[&str]) -> Vec<usize> {
    let is_start = |at: &usize| *at < 2 || !is_empty(lines[*at]) && is_empty(lines[*at - 1]);
    (0..lines.len()).filter(is_start).collect()
}

/// Returns the last line of a piece that is not empty.
fn last_line(lines: &[&str], first: usize, end: usize) -> usize {
    (first + 1..end).rev().find(|at| !is_empty(lines[*at])).unwrap_or(first)
}

fn pairs(starts: &[usize], end: usize) -> impl Iterator<Item = (usize, usize)> {
    starts.iter().copied().zip(starts.iter().skip(1).copied().chain([end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_pieces_where_there_are_no_statements() {
        let lines = ["Title", "=====", "", "One", "line.", "", "", "Two."];
        assert_eq!(pieces_of(&lines, &[]), [(0, 0), (3, 4), (7, 7)]);
        let long = ["a"; MAX_PARAGRAPH + 2];
        assert_eq!(pieces_of(&long, &[]).len(), MAX_PARAGRAPH + 2, "a long one is divided into lines");
    }

    #[test]
    fn pieces_are_statements_or_heads_of_them() {
        let lines = ["def f():", "  with a(", "    b):", "    c = 1", "  else:", "    d()", "}", "  e()"];
        let statements = [(0, 7), (1, 6), (3, 3), (5, 5), (7, 7)];
        assert_eq!(borders(&lines, &statements), [0, 1, 3, 4, 5, 7]);
        assert_eq!(pieces_of(&lines, &statements), [(0, 0), (1, 2), (3, 3), (4, 4), (5, 6), (7, 7)]);
    }

    #[test]
    fn a_condition_stands_with_what_it_guards() {
        let lines = ["  } else if (a) {", "    b();", "  iffy()", "    c()"];
        assert_eq!(pieces_of(&lines, &[(0, 1), (1, 1), (2, 2), (3, 3)]), [(0, 1), (2, 2), (3, 3)]);
    }

    #[test]
    fn statements_behind_the_text_change_nothing() {
        assert_eq!(borders(&["a", "b"], &[(0, 0), (1, 9), (5, 4), (7, 8)]), [0, 1]);
        assert_eq!(borders(&[], &[(0, 0)]), Vec::<usize>::new());
    }
}
