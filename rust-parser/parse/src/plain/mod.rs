//! Reads texts without definitions: windows of lines (`windows`) that begin where the text has a structure (`headings`).
//! `detections` finds what configuration says about variables and routes, `protobuf` the procedures of services.
//!
//! Every limit holds for arbitrary text: a line is looked at as far as `MAX_LINE` bytes, a file has at most
//! `MAX_WINDOWS` windows, and nothing is parsed recursively.

mod definitions;
mod detections;
mod headings;
mod protobuf;
mod windows;

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::doc_text::{digest, fold};
use crate::facts_builder::{FactsBuilder, shorten};
use crate::hooks::LanguageHooks;
use crate::plain::headings::headings;
use crate::plain::windows::{Window, divide};
use atlas_facts::{Definition, Kind, Name, WindowKind, flags};
use atlas_languages::Settings;
use atlas_languages::deadline::Deadline;

/// Bytes of a line that are looked at.
const MAX_LINE: usize = 400;
/// Largest number of windows of a file; the last one takes the rest.
const MAX_WINDOWS: usize = 500;
/// Longest name of a window, in characters.
const MAX_NAME: usize = 80;
/// Longest anchor of a window, in bytes.
const MAX_ANCHOR: usize = 60;
/// Longest list of the names in a window, in characters.
const MAX_SIGNATURE: usize = 160;

/// The hooks of the formats of `plain.toml`, which read a whole file.
pub struct Plain;

impl LanguageHooks for Plain {
    fn read(&self, settings: &Settings, builder: &mut FactsBuilder, source: &[u8], _deadline: Deadline) {
        let Some(plain) = settings.plain else { return };
        let lines = Lines::of(source);
        let found = headings(plain.outline, &lines);
        let windows = divide(&lines, &found);
        add(builder, source, &lines, windows, plain.kind);
        detections::record(builder, &settings.name, &lines.texts);
        if settings.name == "proto" {
            protobuf::record(builder, source);
        }
    }
}

/// Returns the first line of each window of a text without structure: its text, bytes and number.
pub fn first_lines(source: &[u8]) -> Vec<(String, Range<usize>, u32)> {
    let lines = Lines::of(source);
    let place = |window: Window| {
        let (start, end) = lines.spans[window.first];
        (fold(&lines.texts[window.first], MAX_NAME), start..end, window.first as u32 + 1)
    };
    divide(&lines, &[]).into_iter().map(place).collect()
}

/// The lines of a text, each without its end.
struct Lines<'s> {
    /// The start and the end of each line.
    spans: Vec<(usize, usize)>,
    /// The first `MAX_LINE` bytes of each line, without trailing blanks.
    texts: Vec<std::borrow::Cow<'s, str>>,
}

impl<'s> Lines<'s> {
    fn of(source: &'s [u8]) -> Self {
        let mut spans = Vec::new();
        let mut start = if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        for end in memchr::memchr_iter(b'\n', source).chain([source.len()]) {
            if end > start || end < source.len() {
                spans.push((start, end));
            }
            start = end + 1;
        }
        let text = |&(start, end): &(usize, usize)| {
            let line = source[start..end.min(start + MAX_LINE)].trim_ascii_end();
            String::from_utf8_lossy(line)
        };
        Lines { texts: spans.iter().map(text).collect(), spans }
    }

    fn len(&self) -> usize {
        self.spans.len()
    }

    fn is_blank(&self, line: usize) -> bool {
        self.texts[line].is_empty()
    }

    /// Returns the columns before the text of a line; a tab has four.
    fn indent(&self, line: usize) -> usize {
        let blanks = self.texts[line].bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        blanks.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum()
    }
}

/// Adds a definition for each window, contained in the file.
fn add(builder: &mut FactsBuilder, source: &[u8], lines: &Lines, windows: Vec<Window>, kind: WindowKind) {
    let mut counts: FxHashMap<String, u32> = FxHashMap::default();
    for window in windows {
        let (start, end) = (lines.spans[window.first].0, lines.spans[window.last].1);
        let text = &source[start..end];
        let first_line = || {
            let mut written = lines.texts[window.first..=window.last].iter().map(|line| line.trim());
            written.find(|line| line.bytes().any(|byte| byte.is_ascii_alphanumeric())).unwrap_or_default().to_owned()
        };
        let title = window.names.first().cloned().unwrap_or_else(first_line);
        let name = builder.owned_name(fold(&title, MAX_NAME));
        let signature = fold(&window.names.join(", "), MAX_SIGNATURE);
        let path = unique(builder, &mut counts, anchor(&title));
        let signature_digest = if signature.is_empty() { 0 } else { digest(signature.as_bytes()) };
        let signature = builder.long_text(signature);
        builder.facts.definitions.push(Definition {
            kind: Kind::Window(kind),
            name,
            path,
            parent: 0,
            flags: flags::EXPORTED,
            start_byte: start as u32,
            end_byte: end as u32,
            start_line: window.first as u32 + 1,
            end_line: window.last as u32 + 1,
            name_line: window.first as u32 + 1,
            signature,
            docstring: 0,
            signature_digest,
            body_digest: digest(fold(&String::from_utf8_lossy(text), usize::MAX).as_bytes()),
            docstring_digest: 0,
            text_digest: digest(text),
            decorators: Vec::new(),
            bases: Vec::new(),
            params: Vec::new(),
            declared_type: None,
        });
    }
}

/// Returns the path of a window in its file. Later windows with the same anchor are numbered.
fn unique(builder: &mut FactsBuilder, counts: &mut FxHashMap<String, u32>, anchor: String) -> Name {
    let count = counts.entry(anchor.clone()).or_insert(0);
    *count += 1;
    let path = match *count {
        1 => anchor,
        number => format!("{anchor}#{number}"),
    };
    builder.owned_name(path)
}

/// Returns a title as an anchor: letters, digits, `_` and `.` stay, everything else becomes `-`.
fn anchor(title: &str) -> String {
    let mut anchor = String::with_capacity(title.len());
    for character in title.chars() {
        if character.is_alphanumeric() || matches!(character, '_' | '.') {
            anchor.push(character);
        } else if !anchor.is_empty() && !anchor.ends_with('-') {
            anchor.push('-');
        }
    }
    let anchor = shorten(anchor.trim_end_matches('-'), MAX_ANCHOR).trim_end_matches('-');
    if anchor.is_empty() { "part".to_owned() } else { anchor.to_owned() }
}
