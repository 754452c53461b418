//! Builds the facts of a document: sections, their docstrings, mentions, and the title.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::decision_record::{is_decision, status_of};
use super::mentions::Mention;
use crate::doc_text;
use crate::doc_text::{digest, fold, text_digest};
use crate::facts_builder::FactsBuilder;
use atlas_facts::{DefId, Definition, Kind, Name, Reference, ReferenceKind, ScopeRule, flags};

/// Longest name and signature of a heading, in characters.
const MAX_HEADING: usize = 400;

/// Collects the facts of a document while it is read.
pub struct Document<'c, 'a> {
    builder: &'c mut FactsBuilder<'a>,
    source: &'c [u8],
    /// Open sections, outermost first, with their heading levels.
    open: Vec<(u8, DefId)>,
    paths: FxHashSet<Name>,
    counts: FxHashMap<(DefId, String), u32>,
}

impl<'c, 'a> Document<'c, 'a> {
    pub fn new(builder: &'c mut FactsBuilder<'a>, source: &'c [u8]) -> Self {
        Document { builder, source, open: Vec::new(), paths: FxHashSet::default(), counts: FxHashMap::default() }
    }

    /// Returns whether the code of the document is parsed.
    pub fn is_code(&self) -> bool {
        self.builder.facts.scope_rule != ScopeRule::Document
    }

    /// Records that the document was not read to its end.
    pub fn cut(&mut self, line: u32) {
        self.builder.problem(line, "timeout", "the file was not read to its end in time");
    }

    /// Opens the section of a heading, given its text without markup, its bytes and its first line.
    pub fn heading(&mut self, level: u8, title: &str, bytes: Range<usize>, line: u32) {
        let title = fold(title, MAX_HEADING);
        self.close(level, bytes.start);
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
            start_byte: bytes.start as u32,
            // Start of the body until the section is closed.
            end_byte: bytes.end as u32,
            start_line: line,
            end_line: line,
            name_line: line,
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

    /// Closes all sections that end at a heading of this level, or at the end of the document (0).
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

    /// Adds a paragraph. The first one is the docstring of its section, and of the document.
    pub fn paragraph(&mut self, text: &str) {
        let section = self.open.last().map_or(0, |&(_, section)| section);
        for owner in [0, section] {
            let record = &self.builder.facts.definitions[owner as usize];
            if record.docstring_digest != 0 {
                continue;
            }
            let digest = text_digest(text);
            let docstring = self.builder.long_text(doc_text::limited(text));
            let record = &mut self.builder.facts.definitions[owner as usize];
            record.docstring = docstring;
            record.docstring_digest = digest;
        }
    }

    /// Records a reference to the mentioned name or path at a 1-based line.
    pub fn mention(&mut self, mention: Mention, line: u32) {
        let (kind, text) = match mention {
            Mention::Name(text) => (ReferenceKind::DocName, text),
            Mention::Path(text) => (ReferenceKind::DocPath, text),
        };
        let name = self.builder.owned_name(text);
        let expr = self.builder.name_expr(name);
        let scope = self.open.last().map_or(0, |&(_, section)| section);
        self.builder.facts.references.push(Reference { scope, kind, expr, line });
    }

    /// Returns the anchor of a section. A later section with the same anchor is qualified by the section around it, and
    /// numbered where that has several: a heading that is added renames at most one other.
    fn unique_path(&mut self, parent: DefId, slug: &str) -> Name {
        let path = self.builder.owned_name(slug.to_owned());
        if self.paths.insert(path) {
            return path;
        }
        let qualified = match self.builder.text(self.builder.facts.definitions[parent as usize].path) {
            "" => slug.to_owned(),
            parent => format!("{parent}.{slug}"),
        };
        loop {
            let count = self.counts.entry((parent, slug.to_owned())).or_insert(0);
            *count += 1;
            let path = match *count {
                1 => qualified.clone(),
                number => format!("{qualified}#{number}"),
            };
            let path = self.builder.owned_name(path);
            if self.paths.insert(path) {
                return path;
            }
        }
    }

    /// Closes all sections and sets the document's title and kind.
    pub fn end(mut self, front_title: Option<Range<usize>>) {
        self.close(0, self.source.len());
        if self.is_code() {
            return;
        }
        let title = self.title(front_title);
        let kind = if is_decision(&self.builder.facts.path, title.as_deref()) { Kind::Adr } else { Kind::DocFile };
        let body_digest = layout_free_digest(self.source);
        if kind == Kind::Adr
            && let Some(status) = status_of(&String::from_utf8_lossy(self.source))
        {
            let properties = self.builder.owned_name(serde_json::json!({ "status": status }).to_string());
            self.builder.facts.properties.push((0, properties));
        }
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

    /// Returns `title` of the front matter, or the first heading that has text.
    fn title(&self, front_title: Option<Range<usize>>) -> Option<String> {
        let declared = front_title
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

/// Returns an anchor by GitHub's rules: lower case; letters, digits and `_` and `-` stay; blanks become `-`. Returns
/// `section` when nothing is left.
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
