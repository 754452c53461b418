//! Reads Markdown documents line by line: a tree of sections by headings, their first paragraphs, and the names and paths
//! they mention. Follows CommonMark where it decides what is a heading (fences, indented code, lists, quotes, HTML blocks);
//! headings inside lists and quotes do not open sections.

mod blocks;
mod html;
mod inline;
mod lines;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::{DefId, Definition, Kind, Name, Reference, ReferenceKind, flags};
use crate::parse::deadline::Deadline;
use crate::parse::doc_text;
use crate::parse::doc_text::{digest, fold, text_digest};
use crate::parse::facts_builder::FactsBuilder;
use crate::parse::hooks::LanguageHooks;
use crate::parse::markdown::blocks::{Block, BlockKind, read_blocks};
use crate::parse::markdown::inline::{Mention, mentions, normal_label, plain_text};

/// Characters of a heading that are kept as name and signature.
const MAX_HEADING: usize = 400;
/// Blocks between two looks at the clock.
const CLOCK_INTERVAL: usize = 256;
/// Folders whose documents are decision records.
const ADR_FOLDERS: &[&str] = &["adr", "adrs", "decisions", "decision-records"];
/// Documents about the records in such a folder.
const NOT_RECORDS: &[&str] = &["readme", "index", "template", "adr-template", "contributing"];

pub struct Markdown;

impl LanguageHooks for Markdown {
    fn read(&self, builder: &mut FactsBuilder, source: &[u8], deadline: Deadline) {
        let mdx = builder.facts.path.ends_with(".mdx");
        let blocks = read_blocks(source, mdx);
        let labels = labels(&blocks, source);
        let mut document =
            Document { builder, source, open: Vec::new(), paths: FxHashSet::default(), counts: FxHashMap::default() };
        for (number, block) in blocks.iter().enumerate() {
            if number.is_multiple_of(CLOCK_INTERVAL) && deadline.has_passed() {
                document.builder.problem(block.line, "timeout", "the file was not read to its end in time");
                break;
            }
            document.take(block, &labels);
        }
        document.end(&blocks);
    }
}

/// Targets of `[label]: target` by label.
fn labels(blocks: &[Block], source: &[u8]) -> FxHashMap<String, String> {
    let mut labels = FxHashMap::default();
    for block in blocks {
        if let BlockKind::Label { label, target } = &block.kind {
            let label = normal_label(&source[label.clone()]);
            let target = String::from_utf8_lossy(&source[target.clone()]).into_owned();
            labels.entry(label).or_insert(target);
        }
    }
    labels
}

struct Document<'c, 'a> {
    builder: &'c mut FactsBuilder<'a>,
    source: &'c [u8],
    /// Open sections, outermost first, with their heading levels.
    open: Vec<(u8, DefId)>,
    paths: FxHashSet<Name>,
    counts: FxHashMap<(DefId, String), u32>,
}

impl Document<'_, '_> {
    fn take(&mut self, block: &Block, labels: &FxHashMap<String, String>) {
        if let BlockKind::Heading { level } = block.kind {
            self.heading(level, block);
        }
        if !matches!(block.kind, BlockKind::Heading { .. } | BlockKind::Paragraph | BlockKind::Text | BlockKind::Html) {
            return;
        }
        let text = block.text(self.source);
        if block.kind == BlockKind::Paragraph {
            self.first_paragraph(&text);
        }
        let in_html = block.kind == BlockKind::Html;
        let breaks: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        for (at, mention) in mentions(&text, labels, in_html) {
            let line = block.line + breaks.partition_point(|&end| end < at) as u32;
            self.mention(mention, line);
        }
    }

    fn heading(&mut self, level: u8, block: &Block) {
        let title = fold(&plain_text(&block.text(self.source)), MAX_HEADING);
        self.close(level, block.start);
        let parent = self.open.last().map_or(0, |&(_, section)| section);
        let path = self.unique_path(parent, &slug(&title));
        let name = self.builder.owned_name(title.clone());
        let signature = format!("{} {title}", "#".repeat(level.into()));
        let section = self.builder.facts.definitions.len() as DefId;
        let record = Definition {
            kind: Kind::DocSection,
            name,
            path,
            parent,
            flags: flags::EXPORTED,
            start_byte: block.start as u32,
            // The body begins here until the section is closed.
            end_byte: block.end as u32,
            start_line: block.line,
            end_line: block.line,
            name_line: block.line,
            signature_digest: digest(signature.as_bytes()),
            signature: self.builder.long_text(signature),
            docstring: 0,
            body_digest: 0,
            docstring_digest: 0,
            text_digest: 0,
            decorators: Vec::new(),
            bases: Vec::new(),
            params: Vec::new(),
            declared_type: None,
        };
        self.builder.facts.definitions.push(record);
        self.open.push((level, section));
    }

    /// End all sections that a heading of this level, or the end of the document (0), closes.
    fn close(&mut self, level: u8, at: usize) {
        while let Some(&(open, section)) = self.open.last() {
            if open < level {
                break;
            }
            self.open.pop();
            let record = &mut self.builder.facts.definitions[section as usize];
            let body = record.end_byte as usize;
            let end = body + self.source[body..at.max(body)].trim_ascii_end().len();
            let text = &self.source[record.start_byte as usize..end];
            record.end_byte = end as u32;
            record.end_line = record.start_line + count_lines(text.trim_ascii_end());
            record.text_digest = digest(text);
            record.body_digest = layout_free_digest(&self.source[body..end]);
        }
    }

    fn first_paragraph(&mut self, text: &str) {
        let section = self.open.last().map_or(0, |&(_, section)| section);
        for owner in [0, section] {
            let record = &self.builder.facts.definitions[owner as usize];
            if record.docstring_digest != 0 || plain_text(text).is_empty() {
                continue;
            }
            let digest = text_digest(text);
            let docstring = self.builder.long_text(doc_text::limited(text));
            let record = &mut self.builder.facts.definitions[owner as usize];
            record.docstring = docstring;
            record.docstring_digest = digest;
        }
    }

    fn mention(&mut self, mention: Mention, line: u32) {
        let (kind, text) = match mention {
            Mention::Name(text) => (ReferenceKind::DocName, text),
            Mention::Path(text) => (ReferenceKind::DocPath, text),
        };
        let name = self.builder.owned_name(text);
        let expr = self.builder.name_expr(name);
        let scope = self.open.last().map_or(0, |&(_, section)| section);
        self.builder.facts.references.push(Reference { scope, kind, expr, line });
    }

    fn unique_path(&mut self, parent: DefId, slug: &str) -> Name {
        let parent_path = self.builder.facts.definitions[parent as usize].path;
        let prefix = match self.builder.text(parent_path) {
            "" => String::new(),
            path => format!("{path}."),
        };
        loop {
            let count = self.counts.entry((parent, slug.to_owned())).or_insert(0);
            *count += 1;
            let path = match *count {
                1 => format!("{prefix}{slug}"),
                number => format!("{prefix}{slug}#{number}"),
            };
            let path = self.builder.owned_name(path);
            if self.paths.insert(path) {
                return path;
            }
        }
    }

    /// Close what is open and say what the document is.
    fn end(mut self, blocks: &[Block]) {
        self.close(0, self.source.len());
        let title = self.title(blocks);
        let kind = if is_decision(&self.builder.facts.path, title.as_deref()) { Kind::Adr } else { Kind::DocFile };
        let body_digest = layout_free_digest(self.source);
        let document = &mut self.builder.facts.definitions[0];
        document.kind = kind;
        document.body_digest = body_digest;
        if let Some(title) = title {
            let digest = digest(title.as_bytes());
            let name = self.builder.owned_name(title.clone());
            let signature = self.builder.long_text(title);
            let document = &mut self.builder.facts.definitions[0];
            document.name = name;
            document.signature = signature;
            document.signature_digest = digest;
        }
    }

    /// `title` of the front matter, else the first heading with a text.
    fn title(&self, blocks: &[Block]) -> Option<String> {
        let front = blocks.first().and_then(|block| match &block.kind {
            BlockKind::FrontMatter { title } => title.clone(),
            _ => None,
        });
        let declared = front
            .map(|range| String::from_utf8_lossy(&self.source[range]).into_owned())
            .map(|text| fold(text.trim().trim_matches(['"', '\'']), MAX_HEADING))
            .filter(|text| !text.is_empty());
        declared.or_else(|| {
            let mut names =
                self.builder.facts.definitions.iter().skip(1).map(|heading| self.builder.text(heading.name));
            names.find(|name| !name.is_empty()).map(str::to_owned)
        })
    }
}

fn count_lines(text: &[u8]) -> u32 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u32
}

fn layout_free_digest(text: &[u8]) -> u64 {
    digest(fold(&String::from_utf8_lossy(text), usize::MAX).as_bytes())
}

/// As GitHub makes anchors: lower case, letters, digits, `_`, `-`, blanks as `-`; `section` when nothing is left.
fn slug(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    for character in title.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() || matches!(character, '_' | '-') {
            slug.push(character);
        } else if character == ' ' {
            slug.push('-');
        }
    }
    if slug.is_empty() {
        slug.push_str("section");
    }
    slug
}

/// A decision record by its folder, its file name (`0001-x.md`, `adr-7-x.md`) or its title (`ADR 12: x`).
fn is_decision(path: &str, title: Option<&str>) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').next().unwrap_or("").to_ascii_lowercase();
    if NOT_RECORDS.contains(&stem.as_str()) {
        return false;
    }
    let in_folder = folder.split('/').any(|part| ADR_FOLDERS.contains(&part.to_ascii_lowercase().as_str()));
    in_folder || is_record_name(&stem) || title.is_some_and(is_record_title)
}

fn is_record_name(stem: &str) -> bool {
    let (bare, said) = match stem.strip_prefix("adr") {
        Some(rest) => (rest.trim_start_matches(['-', '_', ' ']), true),
        None => (stem, false),
    };
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let separated = bare[digits..].starts_with(['-', '_', ' ']);
    // A leading zero tells `0001-record` from the date `2024-05-01`.
    (said && digits > 0) || (digits == 4 && bare.starts_with('0') && separated)
}

fn is_record_title(title: &str) -> bool {
    let lower = title.to_ascii_lowercase();
    let numbered = lower
        .strip_prefix("adr")
        .is_some_and(|rest| rest.trim_start_matches([' ', '-', '#', ':']).starts_with(|c: char| c.is_ascii_digit()));
    numbered || lower.starts_with("architecture decision record")
}
