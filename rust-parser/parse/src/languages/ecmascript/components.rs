//! Files of components (Vue, Svelte, Astro): their scripts are the code of the module, and their markup is its default
//! export, a function that calls the components and reads the names that the markup has.

use std::iter;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::newer::{is_part, remove};
use crate::rewriting::Edit;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Expr, Reference, ReferenceKind, flags};
use atlas_languages::ScriptPlaces;

/// Types of scripts that are code.
const CODE: &[&[u8]] = &[b"module", b"text/javascript", b"text/typescript", b"application/javascript", b"ts", b"tsx"];
/// Longest expression that is looked into, in bytes, and largest number of references of one file.
const MAX_EXPRESSION: usize = 4000;
const MAX_REFERENCES: usize = 5000;

/// The parts of a file, in order.
struct Parts {
    scripts: Vec<Range<usize>>,
    markup: Vec<Range<usize>>,
}

impl Parts {
    /// Returns the markup that is the component: the longest one.
    fn component(&self) -> Option<&Range<usize>> {
        self.markup.iter().max_by_key(|range| range.len())
    }
}

/// Returns the edits that leave the scripts, in order.
pub fn edits(source: &[u8], places: ScriptPlaces) -> Vec<Edit> {
    let parts = parts(source, places);
    let has_default = parts.scripts.iter().any(|script| exports_default(&source[script.clone()]));
    let component = parts.component().filter(|_| !has_default).cloned();
    let mut edits = Vec::new();
    let mut from = 0;
    let ends = parts.scripts.iter().cloned().chain(iter::once(source.len()..source.len()));
    for script in ends {
        match &component {
            Some(markup) if from <= markup.start && markup.end <= script.start => {
                edits.push(remove(from, markup.start));
                edits.push(Edit::insert(markup.start, "\nexport default function() {"));
                edits.push(remove(markup.start, markup.end));
                edits.push(Edit::insert(markup.end, "}\n"));
                edits.push(remove(markup.end, script.start));
            }
            _ => edits.push(Edit { start: from, end: script.start, with: "\n" }),
        }
        from = script.end;
    }
    edits.retain(|edit| edit.start < edit.end || !edit.with.is_empty());
    edits
}

fn exports_default(script: &[u8]) -> bool {
    memchr::memmem::find_iter(script, b"export").any(|at| {
        let rest = script[at + b"export".len()..].trim_ascii_start();
        rest.starts_with(b"default") && !rest.get(b"default".len()).is_some_and(is_part)
    })
}

/// Records what the markup refers to: components that the scripts import or define, and names in its expressions.
pub fn refer_from_markup(walk: &mut Walk, places: ScriptPlaces) {
    let source = walk.source;
    let facts = &walk.builder.facts;
    let imported = facts.imports.iter().filter(|import| import.scope == 0).filter_map(|import| import.alias);
    let defined = facts.definitions.iter().skip(1).filter(|found| found.parent == 0).map(|found| found.name);
    let names: FxHashSet<String> = imported
        .chain(defined)
        .map(|name| walk.builder.text(name).to_owned())
        .filter(|name| name != "default")
        .collect();
    let is_component = |found: &atlas_facts::Definition| found.flags & flags::DEFAULT_EXPORT != 0 && found.parent == 0;
    let scope = facts.definitions.iter().skip(1).position(is_component).map_or(0, |at| at as DefId + 1);
    let mut found = Vec::new();
    for markup in parts(source, places).markup {
        read_markup(source, markup, &names, &mut found);
    }
    found.truncate(MAX_REFERENCES);
    let (mut line, mut seen) = (1, 0);
    for (at, path, is_call) in found {
        line += memchr::memchr_iter(b'\n', &source[seen..at]).count() as u32;
        seen = at;
        let mut parts = path.split('.');
        let first = walk.builder.owned_name(parts.next().unwrap_or_default().to_owned());
        let mut expr = walk.builder.name_expr(first);
        for part in parts {
            let name = walk.builder.owned_name(part.to_owned());
            expr = walk.builder.attribute(expr, name);
        }
        let kind = if is_call { ReferenceKind::Call } else { ReferenceKind::Read };
        let expr = match is_call {
            true => walk.builder.expr(Expr::Call { callee: expr, args: Vec::new(), new: false }),
            false => expr,
        };
        walk.builder.facts.references.push(Reference { scope, kind, expr, line });
    }
}

/// Divides a file.
fn parts(source: &[u8], places: ScriptPlaces) -> Parts {
    let mut parts = Parts { scripts: Vec::new(), markup: Vec::new() };
    let mut from = 0;
    if places == ScriptPlaces::FrontMatter {
        let start = source.len() - source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source).trim_ascii_start().len();
        if source[start..].starts_with(b"---") {
            let open = start + 3;
            let close = memchr::memmem::find(&source[open..], b"\n---").map(|at| open + at + 1);
            let close = close.unwrap_or(source.len());
            parts.scripts.push(open..close);
            from = (close + 3).min(source.len());
        }
    }
    let mut at = from;
    while let Some(open) = memchr::memchr(b'<', &source[at..]).map(|found| at + found) {
        let rest = &source[open..];
        if rest.starts_with(b"<!--") {
            parts.push_markup(source, from..open);
            at = memchr::memmem::find(rest, b"-->").map_or(source.len(), |end| open + end + 3);
            from = at;
            continue;
        }
        let element = [&b"script"[..], b"style"].into_iter().find(|name| is_element(&rest[1..], name));
        let Some(name) = element else {
            at = open + 1;
            continue;
        };
        parts.push_markup(source, from..open);
        let start = end_of_tag(source, open);
        let end = close_of(source, start, name).unwrap_or(source.len());
        if name == b"script" && is_code(&source[open..start]) && source.get(start.wrapping_sub(2)) != Some(&b'/') {
            parts.scripts.push(start..end);
        }
        at = if source.get(start.wrapping_sub(2)) == Some(&b'/') { start } else { end_of_tag(source, end) };
        from = at;
    }
    parts.push_markup(source, from..source.len());
    parts
}

impl Parts {
    fn push_markup(&mut self, source: &[u8], range: Range<usize>) {
        let blanks = source[range.clone()].len() - source[range.clone()].trim_ascii_start().len();
        let text = source[range.clone()].trim_ascii();
        if !text.is_empty() {
            self.markup.push(range.start + blanks..range.start + blanks + text.len());
        }
    }
}

fn is_element(text: &[u8], name: &[u8]) -> bool {
    text.len() >= name.len()
        && text[..name.len()].eq_ignore_ascii_case(name)
        && !text.get(name.len()).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

/// Returns the place after a tag that begins at a position.
fn end_of_tag(source: &[u8], at: usize) -> usize {
    let mut quote = None;
    for (offset, &byte) in source[at..].iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + offset + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    source.len()
}

fn close_of(source: &[u8], from: usize, name: &[u8]) -> Option<usize> {
    let mut closes = memchr::memmem::find_iter(&source[from..], b"</").map(|at| from + at);
    closes.find(|&at| is_element(&source[at + 2..], name))
}

/// Returns whether a tag is that of a script in JavaScript or TypeScript.
fn is_code(tag: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(tag, b"type=") else { return true };
    let value = &tag[at + 5..];
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    CODE.iter().any(|code| value.starts_with(code))
}

/// Collects references: where they are, the dotted name, and whether it is called.
fn read_markup(source: &[u8], markup: Range<usize>, names: &FxHashSet<String>, found: &mut Vec<(usize, String, bool)>) {
    let mut at = markup.start;
    let mut in_tag = false;
    while at < markup.end && found.len() < MAX_REFERENCES {
        match source[at] {
            b'<' if source.get(at + 1).is_some_and(|byte| byte.is_ascii_alphabetic()) => {
                let tag = &source[at + 1..markup.end];
                let length = tag.iter().take_while(|byte| is_part(byte) || matches!(byte, b'-' | b'.')).count();
                if let Some(name) = component_of(&tag[..length], names) {
                    found.push((at + 1, name, true));
                }
                (in_tag, at) = (true, at + 1 + length);
            }
            b'>' => (in_tag, at) = (false, at + 1),
            b'{' => {
                let end = end_of_braces(source, at, markup.end);
                read_expression(source, at + 1..end, names, found);
                // Elements inside of an expression are read as well.
                at += 1;
                while at < end && !(source[at] == b'<' && source.get(at + 1).is_some_and(u8::is_ascii_alphabetic)) {
                    at += 1;
                }
            }
            b'=' if in_tag && matches!(source.get(at + 1), Some(b'"' | b'\'')) => {
                let start = at + 2;
                let end =
                    memchr::memchr(source[at + 1], &source[start..markup.end]).map_or(markup.end, |end| start + end);
                let before = &source[markup.start..at];
                let length =
                    before.iter().rev().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'<').count();
                let attribute = &before[before.len() - length..];
                if attribute.starts_with(b"v-") || matches!(attribute.first(), Some(b':' | b'@' | b'#')) {
                    read_expression(source, start..end, names, found);
                    at = end;
                } else {
                    // A value of plain text may have expressions of Svelte.
                    at = start;
                }
            }
            _ => at += 1,
        }
    }
}

/// Returns the name of the component that a tag stands for: `my-button` is `MyButton`.
fn component_of(tag: &[u8], names: &FxHashSet<String>) -> Option<String> {
    let tag = std::str::from_utf8(tag).ok()?;
    let base = tag.split('.').next()?;
    if names.contains(base) && (base.starts_with(char::is_uppercase) || tag.contains('.')) {
        return Some(tag.to_owned());
    }
    let pascal: String = tag.split('-').map(capitalised).collect();
    let is_dashed = tag.contains('-') && !tag.contains('.');
    [pascal.clone(), uncapitalised(&pascal)].into_iter().find(|name| is_dashed && names.contains(name))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn uncapitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn end_of_braces(source: &[u8], at: usize, end: usize) -> usize {
    let mut depth = 0;
    let limit = end.min(at + MAX_EXPRESSION);
    for (offset, byte) in source[at..limit].iter().enumerate() {
        depth += i32::from(*byte == b'{') - i32::from(*byte == b'}');
        if depth == 0 {
            return at + offset;
        }
    }
    limit
}

/// Collects the known names of an expression, up to an element inside of it.
fn read_expression(
    source: &[u8],
    range: Range<usize>,
    names: &FxHashSet<String>,
    found: &mut Vec<(usize, String, bool)>,
) {
    let (mut at, end) = (range.start, range.end.min(range.start + MAX_EXPRESSION));
    while at < end {
        match source[at] {
            quote @ (b'"' | b'\'') => {
                at = memchr::memchr(quote, &source[at + 1..end]).map_or(end, |close| at + close + 2);
            }
            b'<' if source.get(at + 1).is_some_and(u8::is_ascii_alphabetic) => return,
            byte if is_part(&byte) => {
                let length = source[at..end].iter().take_while(|byte| is_part(byte) || **byte == b'.').count();
                let text = String::from_utf8_lossy(&source[at..at + length]);
                let path = text.trim_end_matches('.');
                let follows_dot = at > 0 && matches!(source[at - 1], b'.' | b'\\');
                let next = source[at + length..end].trim_ascii_start().first();
                let is_key = next == Some(&b':') && !follows_dot;
                let known = path.split('.').next().is_some_and(|first| names.contains(first));
                if known && !follows_dot && !is_key {
                    found.push((at, path.to_owned(), next == Some(&b'(')));
                }
                at += length;
            }
            _ => at += 1,
        }
    }
}
