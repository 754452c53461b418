//! Divides lines into windows of about 20 to 60 that begin, where possible, at a heading or after a blank line.

use super::headings::Heading;
use super::{Lines, MAX_WINDOWS};

/// A text of at most so many lines and bytes is one window.
const MAX_LINES: usize = 60;
/// As many bytes as the embedded text has characters.
const MAX_BYTES: usize = 3000;
/// A window ends before the first outermost heading after so many lines.
const GOOD_LINES: usize = 20;
/// A window that ends at a lesser place has at least so many lines.
const MIN_LINES: usize = 12;
/// Most names that a window lists.
const MAX_NAMES: usize = 8;
/// Longest comment above a heading that belongs to it, in lines.
const MAX_COMMENT: usize = 12;

/// How good a place is for the end of a window.
const OUTERMOST_HEADING: u8 = 5;
const OUTERMOST_PARAGRAPH: u8 = 4;
const HEADING: u8 = 3;
const PARAGRAPH: u8 = 2;
const OUTERMOST_LINE: u8 = 1;

/// Several consecutive lines.
pub struct Window {
    /// Index of the first line, which is not blank.
    pub first: usize,
    /// Index of the last line, which is not blank.
    pub last: usize,
    /// The outermost headings in it, in order.
    pub names: Vec<String>,
}

/// Returns the windows of a text in order. Blank lines around them belong to none.
pub fn divide(lines: &Lines, headings: &[Heading]) -> Vec<Window> {
    let outermost = headings.iter().map(|heading| heading.depth).min().unwrap_or(0);
    let grades = grades(lines, headings, outermost);
    let mut windows = Vec::new();
    let mut start = next_text(lines, 0);
    while start < lines.len() {
        let end = match windows.len() + 1 < MAX_WINDOWS {
            true => end_of_window(lines, &grades, start),
            false => lines.len(),
        };
        let last = (start..end).rev().find(|&line| !lines.is_blank(line)).unwrap_or(start);
        windows.push(Window { first: start, last, names: names(headings, start, last) });
        start = next_text(lines, end);
    }
    windows
}

fn next_text(lines: &Lines, from: usize) -> usize {
    (from..lines.len()).find(|&line| !lines.is_blank(line)).unwrap_or(lines.len())
}

/// Returns the line after a window.
fn end_of_window(lines: &Lines, grades: &[u8], start: usize) -> usize {
    let bytes = |line: usize| lines.spans[line].1 - lines.spans[start].0;
    let limit = (start..lines.len()).find(|&line| line - start >= MAX_LINES || bytes(line) > MAX_BYTES);
    let Some(limit) = limit.map(|line| line.max(start + 1)).filter(|&line| line < lines.len()) else {
        return lines.len();
    };
    let good = (start + GOOD_LINES..=limit).find(|&line| grades[line] >= OUTERMOST_HEADING);
    let best = || (start + MIN_LINES.min(limit - start)..=limit).max_by_key(|&line| (grades[line], line));
    good.or_else(best).unwrap_or(limit)
}

/// Returns, for each line, how good it is as the first one of a window.
fn grades(lines: &Lines, headings: &[Heading], outermost: usize) -> Vec<u8> {
    let mut grades: Vec<u8> = (0..lines.len())
        .map(|line| {
            let (is_outermost, after_blank) = (lines.indent(line) == 0, line > 0 && lines.is_blank(line - 1));
            match (lines.is_blank(line), is_outermost, after_blank) {
                (true, _, _) => 0,
                (_, true, true) => OUTERMOST_PARAGRAPH,
                (_, false, true) => PARAGRAPH,
                (_, true, false) => OUTERMOST_LINE,
                (_, false, false) => 0,
            }
        })
        .collect();
    for heading in headings {
        let grade = if heading.depth == outermost { OUTERMOST_HEADING } else { HEADING };
        let first = with_comment(lines, heading.line);
        if first < heading.line {
            grades[heading.line] = 0;
        }
        grades[first] = grades[first].max(grade);
    }
    grades
}

/// Returns the first line of the comment directly above a line, or the line.
fn with_comment(lines: &Lines, line: usize) -> usize {
    let is_comment = |line: usize| {
        let text = lines.texts[line].trim_start();
        ["#", "//", "--", ";", "%", "/*", "*", "(*", "{-", "@", "<!--", "{#"].iter().any(|mark| text.starts_with(mark))
    };
    let above = (line.saturating_sub(MAX_COMMENT)..line).rev().take_while(|&above| is_comment(above));
    above.last().unwrap_or(line)
}

/// Returns the names of the outermost headings between two lines.
fn names(headings: &[Heading], first: usize, last: usize) -> Vec<String> {
    let from = headings.partition_point(|heading| heading.line < first);
    let inside = headings[from..].iter().take_while(|heading| heading.line <= last);
    let depth = inside.clone().map(|heading| heading.depth).min();
    let mut names: Vec<String> = Vec::new();
    for (number, heading) in inside.enumerate() {
        // The first heading may be inside of what the window before began.
        let is_shown = number == 0 || Some(heading.depth) == depth;
        if is_shown && !names.contains(&heading.name) && names.len() < MAX_NAMES {
            names.push(heading.name.clone());
        }
    }
    names
}
