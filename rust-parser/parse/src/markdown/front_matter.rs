//! YAML (`---`) and TOML (`+++`) front matter.

use std::ops::Range;

use super::lines::line_end;

/// The front matter of a document.
#[derive(Default)]
pub struct FrontMatter {
    pub title: Option<Range<usize>>,
    /// First byte after the front matter.
    pub end: usize,
}

/// Reads the front matter. Without one, the document starts after its byte order mark.
pub fn read(source: &[u8]) -> FrontMatter {
    let start = if source.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let none = FrontMatter { title: None, end: start };
    let mut end = line_end(source, start);
    let fence = source[start..end].trim_ascii_end();
    if fence != b"---" && fence != b"+++" {
        return none;
    }
    let mut title = None;
    while end < source.len() {
        let at = end + 1;
        end = line_end(source, at);
        let text = &source[at.min(end)..end];
        let bare = text.trim_ascii_end();
        if bare == fence || (fence == b"---" && bare == b"...") {
            return FrontMatter { title, end: source.len().min(end + 1) };
        }
        let separator: &[u8] = if fence == b"---" { b":" } else { b"=" };
        if let Some(rest) = text.strip_prefix(b"title".as_slice())
            && let Some(value) = rest.trim_ascii_start().strip_prefix(separator)
        {
            title = Some(end - value.len()..end);
        }
    }
    none
}
