//! The lines that name parts of a text, by the outline of its format.

use super::Lines;
use super::definitions::definition;
use atlas_languages::Outline;

/// Deepest nesting of keys that is followed; keys of greater depth are no headings.
const MAX_KEYS: usize = 16;
/// Longest name in a heading, in bytes.
const MAX_NAME: usize = 100;

/// A line that names the lines below it.
#[derive(Debug, PartialEq)]
pub struct Heading {
    pub line: usize,
    /// Smaller is further out.
    pub depth: usize,
    pub name: String,
}

/// Returns the headings of a text in order.
pub fn headings(outline: Outline, lines: &Lines) -> Vec<Heading> {
    if outline == Outline::Keys {
        return keys(lines);
    }
    let mut section = String::new();
    let found = |line: usize| {
        let (text, indent) = (lines.texts[line].trim_start(), lines.indent(line));
        let (depth, name) = match outline {
            Outline::Code => (indent, definition(text, indent)?),
            Outline::Headers => header(text, indent, &mut section)?,
            Outline::Targets => (0, target(text, indent)?),
            Outline::Stages => (0, stage(text)?),
            Outline::Tags => (indent, tag(text)?),
            Outline::Selectors => (indent, selector(text)?),
            Outline::Lines | Outline::Keys => return None,
        };
        (!name.is_empty() && name.len() <= MAX_NAME).then_some(Heading { line, depth, name })
    };
    (0..lines.len()).filter(|&line| !lines.is_blank(line)).filter_map(found).collect()
}

/// Returns the keys of YAML and JSON with the keys around them, by indentation: `jobs.test.steps`.
fn keys(lines: &Lines) -> Vec<Heading> {
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for line in 0..lines.len() {
        let text = lines.texts[line].trim_start();
        let Some((offset, name)) = key(text) else { continue };
        let depth = lines.indent(line) + offset;
        while open.last().is_some_and(|(around, _)| *around >= depth) {
            open.pop();
        }
        if open.len() >= MAX_KEYS {
            continue;
        }
        open.push((depth, name));
        let path = open.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(".");
        if path.len() <= MAX_NAME {
            found.push(Heading { line, depth, name: path });
        }
    }
    found
}

/// Returns the key of a line, and how far it is indented after the dash of a list. An entry of a list is called by the
/// value of `name` or `id`.
fn key(text: &str) -> Option<(usize, String)> {
    let (offset, text) = match text.strip_prefix("- ") {
        Some(rest) => (2, rest.trim_start()),
        None => (0, text),
    };
    let (key, rest) = match text.chars().next()? {
        quote @ ('"' | '\'') => {
            let (key, rest) = text[1..].split_once(quote)?;
            (key, rest.trim_start().strip_prefix(':')?)
        }
        first if first.is_alphanumeric() || matches!(first, '_' | '.' | '$' | '/' | '<') => {
            let (key, rest) = text.split_once(':')?;
            (key, rest)
        }
        _ => return None,
    };
    if key.is_empty() || key.contains([' ', '{', '[', '#']) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let value = rest.trim().trim_matches(['"', '\'', ',']);
    match key {
        "name" | "id" if offset > 0 && !value.is_empty() => Some((offset, value.to_owned())),
        _ => Some((offset, key.to_owned())),
    }
}

/// Returns a `[section]`, or a key below it.
fn header(text: &str, indent: usize, section: &mut String) -> Option<(usize, String)> {
    if let Some(rest) = text.strip_prefix('[') {
        let name = rest.trim_start_matches('[').split(']').next()?.trim();
        name.clone_into(section);
        return Some((0, name.to_owned()));
    }
    if text.starts_with(['#', ';', '"', '\'', ']', '}', '{', '/']) || indent > 8 {
        return None;
    }
    if let Some(block) = text.strip_suffix('{') {
        return Some((indent, block.trim().to_owned()));
    }
    let (key, _) = text.split_once('=').or_else(|| text.split_once(": "))?;
    let key = key.trim().trim_end_matches(['+', ':', '?']);
    if key.contains([' ', '(', '"', '{', '<']) {
        return None;
    }
    let name = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
    Some((1 + indent, name))
}

/// Returns the target of a rule.
fn target(text: &str, indent: usize) -> Option<String> {
    let (names, rest) = text.split_once(':')?;
    let name = names.split_whitespace().next()?;
    let is_rule = indent == 0 && !rest.starts_with('=') && !name.starts_with(['#', '.', '$', '@', '\t']);
    (is_rule && !names.contains(['=', '"', '?'])).then(|| name.to_owned())
}

/// Returns the image of a build stage, and its name.
fn stage(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let rest: Vec<&str> = words.filter(|word| !word.starts_with("--")).take(3).collect();
    (first.eq_ignore_ascii_case("from") && !rest.is_empty()).then(|| format!("FROM {}", rest.join(" ")))
}

/// Returns the selector of a rule.
fn selector(text: &str) -> Option<String> {
    let name = text.strip_suffix('{')?.trim();
    (!name.is_empty() && !name.starts_with('/')).then(|| name.to_owned())
}

/// Returns a block of a template, a heading, a named element or a section of LaTeX.
fn tag(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix('\\') {
        let (command, rest) = rest.split_once('{')?;
        let is_section = ["chapter", "section", "subsection", "part", "newcommand", "begin"].contains(&command);
        return is_section.then(|| rest.split('}').next().unwrap_or_default().to_owned());
    }
    if let Some(rest) = text.strip_prefix("{%").or_else(|| text.strip_prefix("{{")) {
        let mut words = rest.trim_start_matches(['-', '+', ' ']).split_whitespace();
        let (word, name) = (words.next()?, words.next()?);
        let names = ["block", "macro", "define", "extends", "template", "partial"].contains(&word);
        return names.then(|| format!("{word} {}", name.trim_matches(['"', '\'', '(']).trim_end_matches(['%', '}'])));
    }
    let rest = text.strip_prefix('<')?;
    let name = rest.split([' ', '>', '/', '\t']).next()?;
    if name.is_empty() || name.starts_with(['!', '?']) {
        return None;
    }
    if is_title(name) {
        let title = rest.split_once('>')?.1.split("</").next()?.trim();
        return (!title.is_empty() && !title.contains('<')).then(|| title.to_owned());
    }
    let value = |attribute: &str| {
        let (_, value) = rest.split_once(attribute)?;
        let value = value.split(['"', '\'']).next()?;
        (!value.is_empty()).then(|| format!("{name} {value}"))
    };
    [" id=\"", " name=\"", " Name=\"", " x:Name=\"", " key=\"", " Include=\"", " id='", " name='"]
        .into_iter()
        .find_map(value)
        .or_else(|| {
            ["template", "script", "style", "head", "body", "form", "nav", "main", "table"]
                .contains(&name)
                .then(|| name.to_owned())
        })
}

fn is_title(name: &str) -> bool {
    matches!(name, "title" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}
