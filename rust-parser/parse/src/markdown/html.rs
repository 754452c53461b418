//! HTML blocks in a Markdown document: which ones readers display, and the headings inside them.

use std::ops::Range;

/// Start conditions of blocks without displayed content (CommonMark 4.6, kinds 1 to 5).
const RAW: [&str; 7] = ["<!--", "<script", "<pre", "<style", "<textarea", "<?", "<![CDATA["];

/// A heading in HTML: the start of its tag, the end of its line, and the bytes of its content.
pub struct HtmlHeading {
    pub level: u8,
    pub start: usize,
    pub end: usize,
    pub content: Range<usize>,
}

/// Returns whether a block is a comment, a script or another block without displayed content.
pub fn is_raw(block: &[u8]) -> bool {
    let text = block.trim_ascii_start();
    RAW.into_iter()
        .any(|opening| text.get(..opening.len()).is_some_and(|head| head.eq_ignore_ascii_case(opening.as_bytes())))
}

/// Returns the `<h1>title</h1>` headings in a block.
pub fn headings(source: &[u8], block: Range<usize>) -> Vec<HtmlHeading> {
    let mut found = Vec::new();
    let mut at = block.start;
    while let Some((level, tag)) = next_heading_tag(&source[at..block.end]) {
        let start = at + tag;
        let Some(inside) = source[start..block.end].iter().position(|&byte| byte == b'>') else {
            return found;
        };
        let open = start + inside + 1;
        let closing = [b'<', b'/', b'h', b'0' + level];
        let Some(length) =
            source[open..block.end].windows(closing.len()).position(|part| part.eq_ignore_ascii_case(&closing))
        else {
            return found;
        };
        at = open + length;
        let end = source[at..block.end].iter().position(|&byte| byte == b'\n').map_or(block.end, |line| at + line);
        if !only_tags(&source[open..at]) {
            found.push(HtmlHeading { level, start, end, content: open..at });
        }
    }
    found
}

/// Returns level and position of the next `<h1>` ... `<h6>`.
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

/// Returns the text of a heading without tags.
pub fn without_tags(content: &str) -> String {
    let mut text = String::with_capacity(content.len());
    let mut inside = false;
    for character in content.chars() {
        match character {
            '<' => inside = true,
            '>' if inside => inside = false,
            _ if !inside => text.push(character),
            _ => {}
        }
    }
    text.trim().to_owned()
}
