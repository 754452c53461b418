//! Finds the lines of texts in memory at which a Python expression has to be tried: those with one of several needles
//! at which a wider expression matches as well. Offsets are those of Python's strings.

use aho_corasick::AhoCorasick;
use memchr::memmem;
use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;

use crate::wider::wider;

/// Letters beyond ASCII that Python's `re.IGNORECASE` takes for `i`, `s` or `k`.
const FOLDED_TO_ASCII: [&str; 4] = ["\u{130}", "\u{131}", "\u{17f}", "\u{212a}"];

/// A line to be tried, in characters of the text with `\n` as line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSpan {
    /// From 1.
    pub number: usize,
    pub start: usize,
    /// Behind the line break.
    pub end: usize,
    /// Up to where a match that begins in the line may reach: the end of the next line.
    pub reach: usize,
}

/// What is known of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Lines {
    Found(Vec<LineSpan>),
    /// A needle is there, but letters beyond ASCII may equal others where case is ignored.
    Unknown,
}

/// A wider form of an expression of Python's `re`; matches everything if there is none.
#[derive(Debug)]
pub struct WiderPattern(Option<Regex>);

impl WiderPattern {
    /// Compiles a pattern of Python; `ignores_case` is its flag.
    pub fn new(pattern: &str, ignores_case: bool) -> Self {
        let expression = wider(pattern);
        let parsed = syntax::Config::new().unicode(false).utf8(false).case_insensitive(ignores_case);
        let config = Config::new().utf8_empty(false).which_captures(WhichCaptures::None).backtrack(false);
        let compile = |text: String| Regex::builder().syntax(parsed).configure(config.clone()).build(&text).ok();
        Self(expression.and_then(compile))
    }

    /// Whether the pattern may match: it was not compiled, the text is not plain, or it does.
    fn may_match(&self, text: &[u8], is_in_plain: bool) -> bool {
        self.0.as_ref().is_none_or(|expression| !(is_in_plain || is_plain(text)) || expression.is_match(text))
    }
}

/// Whether ASCII classes of both languages mean the same in a text.
fn is_plain(text: &[u8]) -> bool {
    text.is_ascii() && !text.iter().fold(false, |other, byte| other | (0x1c..0x20).contains(byte))
}

/// Whether letters beyond ASCII in a text, or bytes that are none, may equal letters of ASCII where case is ignored.
fn has_folded(data: &[u8]) -> bool {
    let has = |letter: &str| memmem::find(data, letter.as_bytes()).is_some();
    std::str::from_utf8(data).is_err() || FOLDED_TO_ASCII.iter().any(|letter| has(letter))
}

/// Finds lines with one of several needles.
#[derive(Debug)]
pub struct LineFinder {
    needles: AhoCorasick,
    is_ascii: bool,
    most: usize,
}

impl LineFinder {
    /// `most`: characters of a line that is tried, and of the next one that a match may reach into.
    ///
    /// # Errors
    /// Too many needles.
    pub fn new(needles: &[impl AsRef<[u8]>], most: usize) -> Result<Self, String> {
        let lowered = needles.iter().map(|needle| needle.as_ref().to_ascii_lowercase());
        let is_ascii = needles.iter().all(|needle| needle.as_ref().is_ascii());
        Ok(Self { needles: AhoCorasick::new(lowered).map_err(|error| error.to_string())?, is_ascii, most })
    }

    /// Returns the lines with a needle, ignoring case, at which the pattern may match; none in a text without needle.
    pub fn find(&self, data: &[u8], pattern: &WiderPattern) -> Lines {
        let mut lowered = data.to_ascii_lowercase();
        let Some(first) = self.needles.find(&lowered) else { return Lines::Found(Vec::new()) };
        if !self.is_ascii || (!data.is_ascii() && has_folded(data)) {
            return Lines::Unknown;
        }
        if memmem::find(data, b"\r\n").is_none() {
            return Lines::Found(self.lines(data, &lowered, first.start(), pattern));
        }
        let data = without_returns(data);
        lowered = data.to_ascii_lowercase();
        let first = self.needles.find(&lowered).map_or(data.len(), |found| found.start());
        Lines::Found(self.lines(&data, &lowered, first, pattern))
    }

    /// Returns whether a text has a needle, ignoring case; `None` where letters beyond ASCII may equal those of one.
    pub fn is_in(&self, data: &[u8]) -> Option<bool> {
        if !self.is_ascii {
            return None;
        }
        let is_in = self.needles.find(&data.to_ascii_lowercase()).is_some();
        if !is_in && !data.is_ascii() && has_folded(data) { None } else { Some(is_in) }
    }

    fn lines(&self, data: &[u8], lowered: &[u8], first: usize, pattern: &WiderPattern) -> Vec<LineSpan> {
        let is_in_plain = is_plain(data);
        let break_from = |at: usize| memchr::memchr(b'\n', data.get(at..)?).map(|offset| at + offset);
        let mut found = Vec::new();
        let (mut number, mut before, mut characters) = (1, 0, 0);
        let mut at = first;
        while at < data.len() {
            let start = memchr::memrchr(b'\n', &lowered[..at]).map_or(0, |line_break| line_break + 1);
            let end = break_from(start).unwrap_or(data.len());
            number += memchr::memchr_iter(b'\n', &data[before..start]).count();
            characters += count_characters(&data[before..start]);
            before = start;
            let length = count_characters(&data[start..end]);
            if length <= self.most {
                let reach = break_from(end + 1).unwrap_or(data.len());
                let behind =
                    count_characters(data.get(end + 1..reach).unwrap_or_default()) + usize::from(end < data.len());
                let tail = behind.min(self.most);
                let line_end = characters + length + 1;
                // of plain text, a byte is a character
                let tried = &data[start..data.len().min(end + 1 + tail)];
                if pattern.may_match(tried, is_in_plain) {
                    found.push(LineSpan { number, start: characters, end: line_end, reach: line_end + tail });
                }
            }
            let Some(next) = lowered.get(end..).and_then(|rest| self.needles.find(rest)) else { break };
            at = end + next.start();
        }
        found
    }
}

fn without_returns(data: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(data.len());
    let mut at = 0;
    for found in memmem::find_iter(data, b"\r\n") {
        text.extend_from_slice(&data[at..found]);
        at = found + 1;
    }
    text.extend_from_slice(&data[at..]);
    text
}

/// Returns the number of characters of UTF-8: of bytes that do not continue one.
fn count_characters(data: &[u8]) -> usize {
    data.iter().filter(|byte| (**byte as i8) >= -0x40).count()
}

#[cfg(test)]
mod tests {
    use super::{LineFinder, LineSpan, Lines, WiderPattern};

    fn found(needles: &[&str], pattern: &str, text: &str) -> Vec<(usize, usize, usize, usize)> {
        let finder = LineFinder::new(needles, 20).unwrap();
        match finder.find(text.as_bytes(), &WiderPattern::new(pattern, false)) {
            Lines::Found(lines) => {
                lines.iter().map(|LineSpan { number, start, end, reach }| (*number, *start, *end, *reach)).collect()
            }
            Lines::Unknown => panic!("unknown"),
        }
    }

    #[test]
    fn finds_lines_with_a_needle_at_which_the_pattern_may_match() {
        let text = "a = 1\nMAX = 2\nmax\n é max = 3\r\nmin\nmax = 4";
        // the third line reaches into one that is not plain
        let every = [(2, 6, 14, 18), (3, 14, 18, 29), (4, 18, 29, 33), (6, 33, 41, 41)];
        assert_eq!(found(&["max"], r"\w+ = \d", text), every);
        assert_eq!(found(&["max"], r"(x)\1", text), every);
        assert_eq!(found(&["max"], "= 2", text), every[..3]);
        assert_eq!(found(&["none"], "a", text), []);
    }

    #[test]
    fn leaves_out_long_lines_and_cuts_the_next_one() {
        let long = "y".repeat(30);
        assert_eq!(found(&["x"], "", &format!("{long}x\nx\n{long}")), [(2, 32, 34, 54)]);
    }

    #[test]
    fn does_not_know_letters_that_equal_others() {
        let finder = LineFinder::new(&["kit"], 20).unwrap();
        let every = WiderPattern::new("", false);
        assert_eq!(finder.find("kit \u{212a}it".as_bytes(), &every), Lines::Unknown);
        assert_eq!(finder.find("k \u{212a}it".as_bytes(), &every), Lines::Found(Vec::new()));
        assert_eq!(LineFinder::new(&["é"], 20).unwrap().find("é".as_bytes(), &every), Lines::Unknown);
        assert_eq!(finder.find(b"kit \xff", &every), Lines::Unknown);
    }

    #[test]
    fn knows_whether_a_needle_is_in_a_text() {
        let finder = LineFinder::new(&["kit", "sum"], 20).unwrap();
        let texts = ["a KIT", "k it", "k \u{212a}it", "Sum \u{212a}it", "\u{e9} it"];
        assert_eq!(
            texts.map(|text| finder.is_in(text.as_bytes())),
            [Some(true), Some(false), None, Some(true), Some(false)]
        );
        assert_eq!(finder.is_in(b"\xffit"), None);
        assert_eq!(LineFinder::new(&["\u{e9}"], 20).unwrap().is_in(b"e"), None);
    }
}
