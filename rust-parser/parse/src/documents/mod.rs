//! Reads documents other than Markdown into the same trees of sections: reStructuredText and plain text (`restructured`,
//! with `directives` and `inline`), AsciiDoc (`asciidoc`) and notebooks (`notebook`). `code` finds names in examples.

mod asciidoc;
pub mod code;
mod directives;
mod inline;
mod notebook;
mod notebook_code;
mod restructured;
mod text_lines;

pub use notebook_code::as_code;

use crate::facts_builder::FactsBuilder;
use crate::hooks::LanguageHooks;
use crate::markdown::document::Document;
use crate::plain::first_lines;
use crate::rewriting::Edit;
use atlas_languages::Settings;
use atlas_languages::deadline::Deadline;

/// A text without headings of at most so many lines is not divided.
const MAX_UNDIVIDED: u32 = 60;

/// The hooks of reStructuredText and of plain text, which often follows its rules.
pub struct Restructured;

impl LanguageHooks for Restructured {
    fn read(&self, _: &Settings, builder: &mut FactsBuilder, source: &[u8], deadline: Deadline) {
        let is_long = builder.facts.lines > MAX_UNDIVIDED;
        let mut document = Document::new(builder, source);
        let has_headings = restructured::read(source, &mut document, deadline);
        if !has_headings && is_long {
            for (title, bytes, line) in first_lines(source) {
                document.heading(1, &title, bytes, line);
            }
        }
        document.end(None);
    }
}

/// The hooks of AsciiDoc.
pub struct AsciiDoc;

impl LanguageHooks for AsciiDoc {
    fn read(&self, _: &Settings, builder: &mut FactsBuilder, source: &[u8], deadline: Deadline) {
        let mut document = Document::new(builder, source);
        asciidoc::read(source, &mut document, deadline);
        document.end(None);
    }
}

/// The hooks of notebooks.
pub struct Notebook;

impl LanguageHooks for Notebook {
    fn code(&self, source: &[u8]) -> Option<(String, Vec<Edit>)> {
        notebook_code::code_of(source)
    }

    fn read(&self, _: &Settings, builder: &mut FactsBuilder, source: &[u8], deadline: Deadline) {
        let mut document = Document::new(builder, source);
        notebook::read(source, &mut document, deadline);
        document.end(None);
    }
}
