//! Reads Markdown documents: a tree of sections by headings, their first paragraphs, and the names and paths that they
//! mention. `reader` processes the events of `pulldown-cmark` (CommonMark with tables and footnotes) and fills the
//! `document`; `blocks` returns the whole text of a page of documentation instead. Headings inside lists and quotes do not open sections.

pub mod blocks;
mod decision_record;
pub mod document;
mod front_matter;
mod html;
pub mod lines;
pub mod mentions;
mod nesting;
mod reader;

use crate::facts_builder::FactsBuilder;
use crate::hooks::LanguageHooks;
use crate::markdown::document::Document;
use crate::markdown::reader::Reader;
use atlas_languages::Settings;
use atlas_languages::deadline::Deadline;

/// The hooks of Markdown, which read a whole document.
pub struct Markdown;

impl LanguageHooks for Markdown {
    fn read(&self, _: &Settings, builder: &mut FactsBuilder, source: &[u8], deadline: Deadline) {
        let mdx = builder.facts.path.ends_with(".mdx");
        let front_matter = front_matter::read(source);
        let mut document = Document::new(builder, source);
        Reader::new(source, mdx, &mut document).read(front_matter.end, deadline);
        document.end(front_matter.title);
    }
}
