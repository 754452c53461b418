//! Finds secrets: one pass finds the keywords of all rules, then each rule runs around its keywords only.
//!
//! Work is bounded: the windows of one rule never overlap, each expression runs in linear time, and a text whose rules
//! examine many times its own size is rejected.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex_automata::Input;
use rustc_hash::FxHashMap;

use super::found::{Secret, Span, TooMuch};
use super::rules::{BEFORE, Check, Compiled, RULES, Rule};
use super::{assignment, joined, placeholders, private_key, randomness, stated, tokens, value_classes};

/// Work limit of a text in bytes examined ...
const LEAST_WORK: usize = 4 << 20;
/// ... or as a multiple of its size, whichever is larger.
const MOST_WORK: usize = 24;
/// Bytes beyond a rule's reach in which the end of a long value is searched for.
const LONGEST: usize = 16 << 10;

const ASSIGNMENT_RULE: &str = "secret-literal";
const PRIVATE_KEY_RULE: &str = "private-key";

/// The check that a keyword triggers.
#[derive(Clone, Copy)]
enum Task {
    Rule(usize),
    Assignment,
    PrivateKey,
}

struct Prefilter {
    keywords: AhoCorasick,
    /// By pattern of the automaton.
    tasks: Vec<Vec<Task>>,
}

static PREFILTER: LazyLock<Option<Prefilter>> = LazyLock::new(Prefilter::new);

impl Prefilter {
    fn new() -> Option<Self> {
        let mut by_keyword: FxHashMap<&str, Vec<Task>> = FxHashMap::default();
        for (index, rule) in RULES.rules.iter().enumerate() {
            for keyword in &rule.keywords {
                by_keyword.entry(keyword).or_default().push(Task::Rule(index));
            }
        }
        let names = &RULES.names;
        let held = names.password.iter().chain(&names.secret);
        let whole = names.words.iter().map(String::as_str).chain(["key"]);
        for keyword in held.map(String::as_str).chain(whole) {
            let tasks = by_keyword.entry(keyword).or_default();
            if !tasks.iter().any(|task| matches!(task, Task::Assignment)) {
                tasks.push(Task::Assignment);
            }
        }
        by_keyword.entry(private_key::KEYWORD).or_default().push(Task::PrivateKey);
        let (words, tasks): (Vec<&str>, Vec<Vec<Task>>) = by_keyword.into_iter().unzip();
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
        Some(Self { keywords: builder.build(words).ok()?, tasks })
    }
}

/// The spans found in one text, and the number of bytes examined.
struct Search<'a> {
    data: &'a [u8],
    /// The current window of each rule whose keyword occurred.
    windows: FxHashMap<usize, (usize, usize)>,
    found: Vec<Span>,
    /// Names before this position have been examined.
    names_end: usize,
    work: usize,
}

/// Returns the secrets of a text, sorted, without overlaps.
pub fn find(data: &[u8]) -> Result<Vec<Secret>, TooMuch> {
    search(data).0
}

/// Returns the secrets, and the number of bytes that the rules examined.
fn search(data: &[u8]) -> (Result<Vec<Secret>, TooMuch>, usize) {
    let (found, mut work) = matches(data);
    let Ok(mut found) = found else { return (Err(TooMuch), work) };
    let most = LEAST_WORK.max(data.len().saturating_mul(MOST_WORK));
    // What is decoded or joined is text of its own, in which nothing is decoded or joined again.
    let mut is_secret = |text: &[u8]| {
        let (inner, inner_work) = if work > most { (Err(TooMuch), 0) } else { matches(text) };
        work += inner_work + text.len();
        inner.unwrap_or_default()
    };
    tokens::find(data, &mut is_secret, &mut found);
    joined::find(data, &mut is_secret, &mut found);
    if work > most { (Err(TooMuch), work) } else { (Ok(merged(data, found)), work) }
}

/// Returns what the rules find, unsorted, and the number of bytes that they examined.
fn matches(data: &[u8]) -> (Result<Vec<Span>, TooMuch>, usize) {
    let Some(prefilter) = PREFILTER.as_ref() else { return (Ok(Vec::new()), 0) };
    let mut search = Search { data, windows: FxHashMap::default(), found: Vec::new(), names_end: 0, work: 0 };
    let most = LEAST_WORK.max(data.len().saturating_mul(MOST_WORK));
    for hit in prefilter.keywords.find_overlapping_iter(data) {
        for task in &prefilter.tasks[hit.pattern().as_usize()] {
            match *task {
                Task::Rule(rule) => search.open(rule, hit.start()),
                Task::Assignment => search.assignment((hit.start(), hit.end())),
                Task::PrivateKey => search.private_key(hit.start()),
            }
        }
        if search.work > most {
            return (Err(TooMuch), search.work);
        }
    }
    let mut left: Vec<(usize, (usize, usize))> = search.windows.drain().collect();
    left.sort_unstable();
    for (rule, window) in left {
        search.run(rule, window);
        if search.work > most {
            return (Err(TooMuch), search.work);
        }
    }
    (Ok(search.found), search.work)
}

impl Search<'_> {
    /// Opens a rule's window around a keyword, or extends its current window if the two touch.
    fn open(&mut self, index: usize, at: usize) {
        let Some(compiled) = RULES.rules[index].compiled() else { return };
        let start = at.saturating_sub(BEFORE);
        let end = self.data.len().min(at + compiled.reach + RULES.rules[index].near);
        match self.windows.get_mut(&index) {
            Some(window) if window.1 >= start => window.1 = end,
            Some(window) => {
                let before = std::mem::replace(window, (start, end));
                self.run(index, before);
            }
            None => {
                self.windows.insert(index, (start, end));
            }
        }
    }

    fn run(&mut self, index: usize, (start, end): (usize, usize)) {
        let rule = &RULES.rules[index];
        let Some(compiled) = rule.compiled() else { return };
        let end = if compiled.unbounded { self.value_end(end) } else { end };
        self.work += end - start;
        let mut captures = compiled.regex.create_captures();
        let mut from = start;
        while from < end {
            compiled.regex.search_captures(&Input::new(self.data).range(from..end), &mut captures);
            let Some(whole) = captures.get_match() else { break };
            let groups = if rule.group > 0 { rule.group..rule.group + 1 } else { 1..captures.group_len() };
            let span = groups.filter_map(|group| captures.get_group(group)).next().unwrap_or(whole.span());
            if accepts(rule, compiled, &self.data[span.range()]) {
                self.found.push((span.start, span.end, &rule.id));
            }
            // The text after a value may be the context that the next value requires.
            from = span.end.max(from + 1);
        }
    }

    /// Returns the end of a window, moved past a value that it would cut in two.
    fn value_end(&self, end: usize) -> usize {
        let rest = &self.data[end..self.data.len().min(end + LONGEST)];
        end + rest.iter().take_while(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`')).count()
    }

    fn assignment(&mut self, keyword: (usize, usize)) {
        if keyword.0 < self.names_end {
            return;
        }
        let found = assignment::at(self.data, keyword);
        self.work += found.work;
        self.names_end = found.name_end;
        if let Some((start, end)) = found.literal {
            self.found.push((start, end, ASSIGNMENT_RULE));
        }
    }

    fn private_key(&mut self, at: usize) {
        let (body, work) = private_key::body_at(self.data, at);
        self.work += work;
        if let Some((start, end)) = body {
            self.found.push((start, end, PRIVATE_KEY_RULE));
        }
    }
}

fn accepts(rule: &Rule, compiled: &Compiled, found: &[u8]) -> bool {
    compiled.accepts(found)
        && !placeholders::is_placeholder(found)
        && (rule.entropy == 0.0 || randomness::entropy(found) >= rule.entropy)
        && match rule.check {
            Check::Shape => true,
            Check::Random => value_classes::is_random(found, 10, randomness::PREFIXED_COST),
            Check::Password => value_classes::is_password(found),
            Check::Stated => stated::is_stated(found),
            Check::Strong => stated::is_strong(found),
        }
}

/// Sorts the spans and merges overlapping ones, which keep the name of the more specific rule.
fn merged(data: &[u8], mut found: Vec<Span>) -> Vec<Secret> {
    found.sort_unstable_by_key(|&(start, end, rule)| (start, std::cmp::Reverse(end), rule == ASSIGNMENT_RULE, rule));
    let mut secrets: Vec<Secret> = Vec::with_capacity(found.len());
    let (mut line, mut counted) = (1, 0);
    for (start, end, rule) in found {
        if let Some(last) = secrets.last_mut().filter(|last| start < last.end) {
            last.end = last.end.max(end);
            if last.rule == ASSIGNMENT_RULE {
                last.rule = rule;
            }
            continue;
        }
        line += data[counted..start].iter().filter(|byte| **byte == b'\n').count() as u32;
        counted = start;
        secrets.push(Secret { start, end, rule, line });
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(text: &str, size: usize) -> Vec<u8> {
        text.bytes().cycle().take(size).collect()
    }

    #[test]
    fn work_grows_with_the_text_and_no_faster() {
        for text in [
            "password=",
            "eyJ",
            "sk-",
            "-----BEGIN RSA PRIVATE KEY-----",
            "a://b:c",
            "secret=\"A1b2C3d4\" ",
            "token=",
            "bearer ",
            "-----BEGIN PRIVATE KEY-----\nMIIE",
            "datadog twilio okta curl bearer authorization AKIA sk- key- token ",
            "password is ",
            "the password a1! ",
            "login with a / b1! ",
            "a1!b2 is the password ",
            "\"abcdefgh\" + \"ijklm\";",
            "x'+\"y1\"'+\"",
            "cGFzc3dvcmQgaXMgYTEhYjIgcGFzc3dvcmQgaXMgYTEh ",
            "a.b.c.d.",
        ] {
            let works = [1 << 16, 1 << 17, 1 << 18].map(|size| search(&repeated(text, size)).1);
            for (size, work) in [1 << 16, 1 << 17, 1 << 18].into_iter().zip(works) {
                assert!(work <= LEAST_WORK.max(size * MOST_WORK) + size + LONGEST, "{text}: {work} of {size}");
            }
            assert!(
                works[1] <= works[0] * 5 / 2 + (1 << 16) && works[2] <= works[1] * 5 / 2 + (1 << 16),
                "{text}: {works:?}"
            );
        }
    }

    #[test]
    fn a_text_full_of_keywords_is_rejected() {
        let keywords: String =
            RULES.rules.iter().flat_map(|rule| &rule.keywords).flat_map(|word| [word.as_str(), " "]).collect();
        assert!(find(&repeated(&keywords, 1 << 20)).is_err());
    }
}
