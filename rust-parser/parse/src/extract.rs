//! Extracts the facts of one file from arbitrary bytes. Time is limited, panics are caught, and every limit that
//! truncates something is recorded as a problem in the facts.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::detect::detecting::Detecting;
use crate::detect::rules::Detectors;
use crate::digests;
use crate::doc_text;
use crate::doc_text::text_digest;
use crate::facts_builder::FactsBuilder;
use crate::flat_tree::FlatTree;
use crate::language::Language;
use crate::readings::{best_reading, reading_of};
use crate::rewriting::Edit;
use crate::walk::drafts::Layout;
use crate::walk::state::Walk;
use atlas_facts::content_digest::digest_of;
use atlas_facts::{Definition, FileFacts, Kind, Problem, ScopeRule, flags};
use atlas_languages::DocStyle;
use atlas_languages::deadline::Deadline;
use atlas_languages::syntax;

/// Least length of a line, in bytes, that is recorded as a problem.
const LONG_LINE: usize = 100_000;
/// Largest number of parts that are recorded as left out.
const MAX_LEFT_OUT: usize = 20;

/// A document whose code is parsed.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    pub document: &'a Language,
    /// The edits that leave the code.
    pub edits: &'a [Edit],
}

/// Returns the facts of one file. Never fails.
pub fn extract(
    language: &Language,
    detectors: &Detectors,
    path: &str,
    data: &[u8],
    timeout: Duration,
    around: Option<Around>,
) -> FileFacts {
    let attempt =
        catch_unwind(AssertUnwindSafe(|| read_file(language, detectors, path, data, Deadline::after(timeout), around)));
    attempt.unwrap_or_else(|_| {
        syntax::forget_parser();
        let mut collector = empty_facts(language, path, data, around.map(|around| around.document));
        collector.problem(1, "internal", "the parser failed on this file");
        finish(collector.facts)
    })
}

fn read_file(
    language: &Language,
    detectors: &Detectors,
    path: &str,
    data: &[u8],
    deadline: Deadline,
    around: Option<Around>,
) -> FileFacts {
    let readable = without_nul_bytes(data);
    let mut collector = empty_facts(language, path, data, around.map(|around| around.document));
    note_bytes(&mut collector, data);
    let data = &*readable;
    let Some(grammar) = &language.grammar else {
        language.hooks.read(&language.settings, &mut collector, data, deadline);
        return finish(collector.facts);
    };
    // Rules for a language fit those that share its grammar.
    let rules = detectors.of(&language.settings.name).or_else(|| detectors.of(&language.settings.grammar));
    collector.facts.own_rules = rules.map_or(0, |rules| rules.own_digest(path, data));
    if let Some(Around { document, .. }) = around {
        document.hooks.read(&document.settings, &mut collector, data, deadline);
    }
    let reading = match around {
        Some(Around { edits, .. }) => reading_of(language, grammar, data, edits, deadline),
        None => best_reading(language, grammar, data, deadline),
    };
    let Some(reading) = reading else {
        collector.problem(1, "timeout", "the file takes more time or memory to parse than a file may");
        return finish(collector.facts);
    };
    let flat = FlatTree::new(&reading, deadline);
    for range in reading.left_out.iter().take(MAX_LEFT_OUT) {
        let place = reading.places.span(range.start, range.end).0;
        collector.problem(line_at(data, place as usize), "syntax", "text that does not fit the grammar");
    }
    drop(reading);
    for &(line, missing) in &flat.errors {
        let message = if missing { "a token is missing" } else { "text that does not fit the grammar" };
        collector.problem(line + 1, "syntax", message);
    }
    let text = std::str::from_utf8(data).ok();
    let mut walk = Walk::new(language, &flat, data, text, collector);
    walk.is_notebook = around.is_some();
    if let Some(rules) = rules {
        walk.detecting = Detecting::new(rules, data);
        walk.file_rules = Some(&rules.files);
    }
    top_level(&mut walk);
    language.hooks.begin(&mut walk);
    walk.collect_local_names();
    let in_time = walk.run(deadline);
    if flat.cut || !in_time {
        walk.builder.problem(1, "timeout", "the file was not read to its end in time");
    }
    if walk.too_deep {
        walk.builder.problem(1, "too-deep", "parts nested too deeply were left out");
    }
    walk.settle_local_names();
    walk.builder.facts.narrowings.sort_by_key(|one| (one.target, one.first_line, one.last_line));
    walk.scopes.truncate(1);
    walk.leave_out_owners();
    language.hooks.end(&mut walk);
    if !walk.record_detections(deadline) {
        walk.builder.problem(1, "timeout", "routes and events were not read to the end in time");
    }
    digests::fill(&mut walk);
    finish(walk.builder.facts)
}

/// Replaces NUL bytes by blanks, which keeps all positions: some grammars end a token, a string or the file at NUL.
pub(super) fn without_nul_bytes(data: &[u8]) -> Cow<'_, [u8]> {
    if !data.contains(&0) {
        return Cow::Borrowed(data);
    }
    Cow::Owned(data.iter().map(|&byte| if byte == 0 { b' ' } else { byte }).collect())
}

/// Returns the facts that need no syntax tree, with the top-level scope.
fn empty_facts<'a>(language: &Language, path: &str, data: &[u8], document: Option<&Language>) -> FactsBuilder<'a> {
    let breaks = data.iter().filter(|&&byte| byte == b'\n').count() as u32;
    let lines = breaks + u32::from(data.last().is_some_and(|&byte| byte != b'\n'));
    let mut collector = FactsBuilder::new(FileFacts {
        path: path.to_owned(),
        language: language.reported_name().to_owned(),
        digest: digest_of(data),
        size: data.len().min(u32::MAX as usize) as u32,
        lines,
        module: match document {
            // The code of a document is a module of its own language.
            Some(document) => {
                let extension = language.settings.extensions.first().map_or("", String::as_str);
                let (folder, file) = path.rsplit_once('/').map_or(("", path), |(folder, file)| (folder, file));
                language.module_of(&format!("{folder}/{}.{extension}", document.stem(file)))
            }
            None => language.module_of(path),
        },
        scope_rule: language.scope_rule,
        is_test: language.is_test_path(path),
        ..FileFacts::default()
    });
    let file = path.rsplit('/').next().unwrap_or(path);
    let last = collector.facts.module.rsplit('.').next().unwrap_or("");
    let name = match last {
        "" => document.unwrap_or(language).stem(file).to_owned(),
        last => last.to_owned(),
    };
    let name = collector.owned_name(name);
    collector.facts.definitions.push(Definition {
        kind: match language.scope_rule {
            ScopeRule::Document => Kind::DocFile,
            _ => Kind::Module,
        },
        name,
        path: 0,
        parent: 0,
        flags: flags::EXPORTED,
        start_byte: 0,
        end_byte: collector.facts.size,
        start_line: 1,
        end_line: lines.max(1),
        name_line: 1,
        signature: 0,
        docstring: 0,
        signature_digest: 0,
        body_digest: 0,
        docstring_digest: 0,
        text_digest: doc_text::digest(data),
        decorators: Vec::new(),
        bases: Vec::new(),
        params: Vec::new(),
        declared_type: None,
    });
    collector
}

fn top_level(walk: &mut Walk) {
    let docstring = match walk.language.settings.docs.style {
        DocStyle::FirstString => walk.language.hooks.docstring(walk, 0),
        DocStyle::CommentAbove => None,
    };
    if let Some(node) = docstring {
        let text = doc_text::clean_string(&walk.text_of(node));
        let short = doc_text::limited(&text);
        let name = walk.builder.long_text(short);
        let definition = &mut walk.builder.facts.definitions[0];
        definition.docstring = name;
        definition.docstring_digest = text_digest(&text);
    }
    walk.layouts.push(Layout { head: 0, body: 0, end: walk.source.len() as u32, docstring });
    // Sections of the document around the code.
    for section in &walk.builder.facts.definitions[1..] {
        let (head, end) = (section.start_byte, section.end_byte);
        walk.layouts.push(Layout { head, body: head, end, docstring: None });
    }
}

fn note_bytes(collector: &mut FactsBuilder, data: &[u8]) {
    if let Err(error) = std::str::from_utf8(data) {
        let line = line_at(data, error.valid_up_to());
        collector.problem(line, "encoding", "the text is not valid UTF-8");
    }
    if let Some(at) = data.iter().position(|&byte| byte == 0) {
        collector.problem(line_at(data, at), "nul-bytes", "the text contains NUL bytes");
    }
    if data.len() > LONG_LINE {
        let mut start = 0;
        while start < data.len() {
            let length = data[start..].iter().position(|&byte| byte == b'\n').unwrap_or(data.len() - start);
            if length > LONG_LINE {
                let line = line_at(data, start);
                collector.problem(line, "long-line", "a line is longer than 100,000 bytes");
                break;
            }
            start += length + 1;
        }
    }
}

fn line_at(data: &[u8], at: usize) -> u32 {
    data[..at].iter().filter(|&&byte| byte == b'\n').count() as u32 + 1
}

fn finish(mut facts: FileFacts) -> FileFacts {
    within_lines(&mut facts);
    facts.problems.sort_by(|a: &Problem, b: &Problem| (a.line, &a.code).cmp(&(b.line, &b.code)));
    facts.strings.shrink_to_fit();
    facts.exprs.shrink_to_fit();
    facts.definitions.shrink_to_fit();
    facts.references.shrink_to_fit();
    facts.bindings.shrink_to_fit();
    facts.imports.shrink_to_fit();
    facts.detections.shrink_to_fit();
    facts
}

/// Moves positions beyond the last line, such as those of tokens missing at the end of the file, to the last line.
fn within_lines(facts: &mut FileFacts) {
    let last = facts.lines.max(1);
    let references = facts.references.iter_mut().map(|reference| &mut reference.line);
    let bindings = facts.bindings.iter_mut().map(|binding| &mut binding.line);
    let imports = facts.imports.iter_mut().map(|import| &mut import.line);
    let detections = facts.detections.iter_mut().map(|detection| &mut detection.line);
    let problems = facts.problems.iter_mut().map(|problem| &mut problem.line);
    for line in references.chain(bindings).chain(imports).chain(detections).chain(problems) {
        *line = (*line).min(last);
    }
    for definition in &mut facts.definitions {
        for line in [&mut definition.start_line, &mut definition.end_line, &mut definition.name_line] {
            *line = (*line).min(last);
        }
    }
}
