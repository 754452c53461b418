//! XML manifests: a bounded document without a document type, so that no entity is expanded.

use roxmltree::{Document, Node, ParsingOptions};

use super::reader::Reader;

/// Largest number of elements, attributes and texts.
const MAX_NODES: u32 = 200_000;
/// Largest nesting depth of elements.
const MAX_DEPTH: usize = 200;

/// Parses a document, or records why it cannot be read.
pub fn parse<'t>(reader: &mut Reader, text: &'t str) -> Option<Document<'t>> {
    if is_too_deep(text) {
        reader.problem(1, "no XML: elements are nested too deeply");
        return None;
    }
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    match Document::parse_with_options(text, options) {
        Ok(document) => Some(document),
        Err(error) => {
            let line = match error {
                roxmltree::Error::UnclosedRootNode => super::reader::Lines::of(text).line(text.len()),
                _ => error.pos().row,
            };
            reader.problem(line, &format!("no XML: {error}"));
            None
        }
    }
}

/// Returns whether more elements are open at one point than a manifest ever has. The parser recurses.
fn is_too_deep(text: &str) -> bool {
    let (mut depth, mut at) = (0_usize, 0);
    let bytes = text.as_bytes();
    while let Some(next) = memchr::memchr2(b'<', b'/', &bytes[at..]) {
        at += next;
        match (bytes[at], bytes.get(at + 1)) {
            (b'<', Some(b'/')) => depth = depth.saturating_sub(1),
            (b'<', Some(b'!' | b'?')) => {}
            (b'<', _) => depth += 1,
            (b'/', Some(b'>')) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
        at += if bytes[at] == b'<' { 2 } else { 1 };
    }
    false
}

/// Returns the child elements with a name, whatever their namespace.
pub fn elements<'a, 't>(node: Node<'a, 't>, name: &'static str) -> impl Iterator<Item = Node<'a, 't>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// Returns the text of the first child element with a name.
pub fn text_of<'a>(node: Node<'a, '_>, name: &'static str) -> Option<&'a str> {
    elements(node, name).next()?.text().map(str::trim)
}

/// Returns the child element at a path of names.
pub fn at<'a, 't>(node: Node<'a, 't>, path: &[&'static str]) -> Option<Node<'a, 't>> {
    path.iter().try_fold(node, |node, name| elements(node, name).next())
}

/// Returns the 1-based lines of elements.
pub fn line_of(lines: &super::reader::Lines, node: Node) -> u32 {
    lines.line(node.range().start)
}
