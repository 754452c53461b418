//! HTML in a Markdown document: what opens a block of it, and the headings inside one.

use crate::parse::markdown::blocks::{Block, BlockKind};
use crate::parse::markdown::lines::{breaks, line_end};

/// Tags that open a block of HTML (CommonMark 4.6, kind 6).
const BLOCK_TAGS: &str = "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure \
    footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu nav ol \
    optgroup option p param search section summary table tbody td tfoot th thead title tr ul";

/// Openings of HTML in which Markdown means nothing, with what ends them (CommonMark 4.6, kinds 1 to 5).
const RAW: [(&str, &str); 7] = [
    ("<!--", "-->"),
    ("<script", "</script>"),
    ("<pre", "</pre>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
    ("<?", "?>"),
    ("<![CDATA[", "]]>"),
];

/// What opens raw HTML at the start of a text, and what ends it.
pub fn raw_opening(text: &[u8]) -> Option<(&'static str, &'static str)> {
    RAW.into_iter().find(|(opening, _)| starts_ignoring_case(text, opening))
}

/// Does a line that begins with `<` open a block of HTML? Only some tags may interrupt a paragraph.
pub fn opens_block(text: &[u8], fresh: bool) -> bool {
    let name = tag_name(text);
    let is_block = BLOCK_TAGS.split(' ').any(|tag| tag.eq_ignore_ascii_case(&name));
    let is_alone = fresh && !name.is_empty() && text.trim_ascii_end().ends_with(b">");
    let is_link = text.starts_with(b"<http");
    is_block || (is_alone && !is_link && is_one_tag(text))
}

/// `<h1>title</h1>` in a block of HTML.
pub fn headings(source: &[u8], block: &Block) -> Vec<Block> {
    let mut found = Vec::new();
    let mut at = block.start;
    let limit = block.end;
    let mut line = block.line;
    while let Some((level, tag)) = next_heading_tag(&source[at..limit]) {
        let open = at + tag;
        let Some(content) = source[open..limit].iter().position(|&b| b == b'>') else {
            return found;
        };
        let start = open + content + 1;
        let closing = [b'<', b'/', b'h', b'0' + level];
        let Some(length) =
            source[start..limit].windows(closing.len()).position(|part| part.eq_ignore_ascii_case(&closing))
        else {
            return found;
        };
        line += breaks(&source[at..open]);
        let end = line_end(source, start + length).min(limit);
        let piece = start..start + length;
        if !only_tags(&source[piece.clone()]) {
            found.push(Block { kind: BlockKind::Heading { level }, line, start: open, end, pieces: vec![piece] });
        }
        line += breaks(&source[open..start + length]);
        at = start + length;
    }
    found
}

pub fn contains_ignoring_case(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

fn starts_ignoring_case(text: &[u8], prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// Name of the tag that opens a text; empty when it is none.
fn tag_name(text: &[u8]) -> String {
    let bare = text[1..].strip_prefix(b"/").unwrap_or(&text[1..]);
    let length = bare.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    String::from_utf8_lossy(&bare[..length]).into_owned()
}

/// `<tag ...>` and nothing else.
fn is_one_tag(text: &[u8]) -> bool {
    text.iter().position(|&byte| byte == b'>') == Some(text.trim_ascii_end().len() - 1)
}

/// Level and place of the next `<h1>` ... `<h6>`.
fn next_heading_tag(text: &[u8]) -> Option<(u8, usize)> {
    let at = text.windows(4).position(|part| {
        part[0] == b'<'
            && part[1].eq_ignore_ascii_case(&b'h')
            && (b'1'..=b'6').contains(&part[2])
            && (part[3] == b'>' || part[3].is_ascii_whitespace())
    })?;
    Some((text[at + 2] - b'0', at))
}

fn only_tags(text: &[u8]) -> bool {
    let mut inside = false;
    text.iter().all(|&byte| {
        let skipped = inside || byte == b'<' || byte.is_ascii_whitespace();
        inside = (inside || byte == b'<') && byte != b'>';
        skipped
    })
}
