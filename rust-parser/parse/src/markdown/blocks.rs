//! Reads Markdown as a flat list of blocks with plain text and links, for documentation. `pulldown-cmark` reads
//! CommonMark with tables, footnotes, definition lists, alerts of quotes and ids of headings.

use std::borrow::Cow;
use std::time::Duration;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::lines::Lines;
use super::nesting;
use atlas_languages::deadline::Deadline;

/// Number of events between two checks of the deadline.
const CLOCK_INTERVAL: usize = 256;

/// A block: a heading, paragraph, item, code block, row, term, note, or piece of HTML.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextBlock {
    pub kind: &'static str,
    pub text: String,
    /// Id of a heading, language of code, header of a row, term, or kind of a note.
    pub label: String,
    /// Level of a heading, nesting of an item.
    pub depth: u32,
    pub line: u32,
    /// Target and text of each link.
    pub links: Vec<(String, String)>,
}

#[derive(Default)]
struct Reader {
    blocks: Vec<TextBlock>,
    text: String,
    line: u32,
    links: Vec<(String, String)>,
    /// Target of each open link, and where its text starts.
    open_links: Vec<(String, usize)>,
    images: usize,
    lists: u32,
    /// Whether each open item has given its text.
    items: Vec<bool>,
    quotes: Vec<&'static str>,
    heading: String,
    term: Option<String>,
    cells: Vec<String>,
    header: String,
    code: Option<String>,
    html: bool,
}

/// Returns the blocks of a text, and the line where the CPU time was over, if it was.
pub fn read_blocks(text: &str, limit: Duration) -> (Vec<TextBlock>, Option<u32>) {
    let deadline = Deadline::after(limit);
    let text = nesting::limit(Cow::Borrowed(text));
    let lines = Lines::new(text.as_bytes());
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut reader = Reader::default();
    for (number, (event, range)) in Parser::new_ext(&text, options).into_offset_iter().enumerate() {
        let line = lines.line(range.start);
        if number % CLOCK_INTERVAL == 0 && deadline.has_passed() {
            reader.flush("paragraph", 0);
            return (reader.blocks, Some(line));
        }
        reader.take(event, line);
    }
    reader.flush("paragraph", 0);
    (reader.blocks, None)
}

impl Reader {
    fn take(&mut self, event: Event<'_>, line: u32) {
        match event {
            Event::Start(tag) => self.start(tag, line),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.push(&text, line),
            Event::Code(code) => {
                self.push("`", line);
                self.push(&code, line);
                self.push("`", line);
            }
            Event::SoftBreak if self.code.is_none() => self.push(" ", line),
            Event::SoftBreak | Event::HardBreak => self.push("\n", line),
            Event::Html(html) if self.html => self.push(&html, line),
            Event::InlineHtml(tag) if tag.starts_with("<br") => self.push("\n", line),
            Event::TaskListMarker(done) => self.push(if done { "[x] " } else { "[ ] " }, line),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, line: u32) {
        match tag {
            Tag::Link { dest_url, .. } => {
                self.open_links.push((dest_url.into_string(), self.text.len()));
                return;
            }
            Tag::Image { .. } => {
                self.images += 1;
                return;
            }
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Superscript | Tag::Subscript => return,
            Tag::TableCell | Tag::TableRow => {}
            _ => self.flush_paragraph(),
        }
        self.line = line;
        match tag {
            Tag::Heading { id, .. } => self.heading = id.map(|id| id.into_string()).unwrap_or_default(),
            Tag::List(_) => self.lists += 1,
            Tag::Item => self.items.push(false),
            Tag::BlockQuote(kind) => self.quotes.push(kind.map_or("", alert)),
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => self.code = Some(info.into_string()),
            Tag::CodeBlock(CodeBlockKind::Indented) => self.code = Some(String::new()),
            Tag::HtmlBlock => self.html = true,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let depth = level as u32;
                let label = std::mem::take(&mut self.heading);
                self.emit("heading", label, depth);
            }
            TagEnd::Paragraph | TagEnd::FootnoteDefinition => self.flush_paragraph(),
            TagEnd::List(_) => {
                self.flush_paragraph();
                self.lists = self.lists.saturating_sub(1);
            }
            TagEnd::Item => {
                self.flush_paragraph();
                self.items.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush_paragraph();
                self.quotes.pop();
            }
            TagEnd::CodeBlock => {
                let label = self.code.take().unwrap_or_default();
                self.emit("code", label, self.lists);
            }
            TagEnd::HtmlBlock => {
                self.html = false;
                self.emit("html", String::new(), self.lists);
            }
            TagEnd::Link => {
                if let Some((target, start)) = self.open_links.pop() {
                    let text = self.text.get(start..).unwrap_or_default().trim().to_owned();
                    self.links.push((target, text));
                }
            }
            TagEnd::Image => self.images = self.images.saturating_sub(1),
            TagEnd::DefinitionListTitle => self.term = Some(std::mem::take(&mut self.text).trim().to_owned()),
            TagEnd::DefinitionListDefinition => self.flush_paragraph(),
            TagEnd::DefinitionList => self.term = None,
            TagEnd::TableCell => self.cells.push(std::mem::take(&mut self.text).trim().to_owned()),
            TagEnd::TableHead => self.header = self.row(),
            TagEnd::TableRow => {
                self.text = self.row();
                let header = self.header.clone();
                self.emit("row", header, 0);
            }
            _ => {}
        }
    }

    fn row(&mut self) -> String {
        std::mem::take(&mut self.cells).join(" | ")
    }

    fn push(&mut self, text: &str, line: u32) {
        if self.images == 0 {
            if self.text.is_empty() {
                self.line = line;
            }
            self.text.push_str(text);
        }
    }

    /// Ends a paragraph as what it is in: an item, a term's definition, a note or a paragraph.
    fn flush_paragraph(&mut self) {
        if self.text.trim().is_empty() {
            self.text.clear();
            return;
        }
        let depth = self.lists.saturating_sub(1);
        if let Some(term) = self.term.clone() {
            self.emit("term", term, 0);
        } else if let Some(given @ false) = self.items.last_mut() {
            *given = true;
            self.emit("item", String::new(), depth);
        } else if let Some(kind) = self.quotes.last().filter(|kind| !kind.is_empty()) {
            self.emit("note", (*kind).to_owned(), 0);
        } else {
            self.flush("paragraph", self.lists);
        }
    }

    fn flush(&mut self, kind: &'static str, depth: u32) {
        self.emit(kind, String::new(), depth);
    }

    fn emit(&mut self, kind: &'static str, label: String, depth: u32) {
        let text = std::mem::take(&mut self.text);
        let links = std::mem::take(&mut self.links);
        let is_verbatim = matches!(kind, "code" | "html");
        let text = if is_verbatim { text.trim_end().to_owned() } else { text.trim().to_owned() };
        if !text.is_empty() || !links.is_empty() {
            self.blocks.push(TextBlock { kind, text, label, depth, line: self.line, links });
        }
    }
}

fn alert(kind: BlockQuoteKind) -> &'static str {
    match kind {
        BlockQuoteKind::Note => "note",
        BlockQuoteKind::Tip => "tip",
        BlockQuoteKind::Important => "important",
        BlockQuoteKind::Warning => "warning",
        BlockQuoteKind::Caution => "caution",
    }
}
