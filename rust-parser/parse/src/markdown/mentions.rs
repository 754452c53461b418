//! Names and paths that code spans, link targets and HTML tags mention.

/// Longest name, path or link target, in bytes.
const MAX_MENTION: usize = 400;
/// Keywords that precede a name in a code span and are not part of it.
const KEYWORDS: &str = "async await class const def enum fn func function impl import interface module namespace new package pub \
    public static struct trait type";
/// File extensions that identify a dotted name as a file.
const FILE_ENDINGS: &str = "c cc cfg conf cpp cs css csproj cxx env go gradle h hpp html ini ipynb java js json jsx kt lock md mdx \
    mjs php proto py pyi rb rs rst scm sh sql svelte swift toml ts tsx txt vue xml yaml yml";

/// A name or path that a text mentions.
#[derive(Debug, PartialEq)]
pub enum Mention {
    /// A dotted name, with `()` if written as a call.
    Name(String),
    /// A path relative to the document.
    Path(String),
}

/// Returns the targets of `<a href="...">` in HTML, each with the byte at which its tag starts.
pub fn tag_links(html: &str) -> impl Iterator<Item = (usize, Mention)> {
    html.match_indices('<').filter_map(|(at, _)| {
        let tag = &html[at..at + tag_end(&html[at..])?];
        let value = ["href=\"", "href='"].iter().find_map(|quote| Some(tag.split_once(quote)?.1))?;
        let end = value.find(['"', '\'']).unwrap_or(value.len());
        Some((at, Mention::Path(link_path(&value[..end])?)))
    })
}

/// Returns the position of the `>` that ends a tag. Another `<` ends the search.
fn tag_end(text: &str) -> Option<usize> {
    let near = &text.as_bytes()[1..text.len().min(MAX_MENTION * 4)];
    let end = near.iter().position(|byte| matches!(byte, b'<' | b'>'))? + 1;
    (text.as_bytes()[end] == b'>').then_some(end)
}

/// Returns a link target as a path without fragment and query, or `None` if it does not point to a file of the project.
pub fn link_path(target: &str) -> Option<String> {
    let target = target.trim().trim_matches(['<', '>']);
    let path = target.split(['#', '?']).next().unwrap_or("");
    let scheme = path.split('/').next().is_some_and(|head| head.contains(':'));
    if path.is_empty() || scheme || path.starts_with("//") || path.len() > MAX_MENTION || path.contains(['{', '}', '$'])
    {
        return None;
    }
    Some(percent_decoded(path))
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

/// Returns the name or path that a code span mentions, if any.
pub fn code_mention(content: &str) -> Option<Mention> {
    let text = content.trim();
    if text.is_empty() || text.len() > MAX_MENTION {
        return None;
    }
    code_path(text).map(Mention::Path).or_else(|| code_name(text).map(Mention::Name))
}

/// Reads a path: `src/x.py`, `./x`, `x.py`, `x.py:12`. Returns `None` for routes, media types and similar texts.
fn code_path(text: &str) -> Option<String> {
    let bare = match text.rsplit_once(':') {
        Some((path, line)) if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit() || b == b'-') => path,
        _ => text,
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '+');
    if !bare.chars().all(plain) || bare.starts_with(['/', '-', '@']) || bare.contains("//") {
        return None;
    }
    let last = bare.rsplit('/').next().unwrap_or(bare);
    let ending = last.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    let known = ending.is_some_and(|ending| FILE_ENDINGS.split(' ').any(|known| known == ending));
    let folders = bare.contains('/') && (ending.is_none() || known || bare.starts_with('.'));
    (known || folders).then(|| bare.to_owned())
}

/// Reads a name: `foo`, `foo()`, `Foo.bar(x)`, `pkg::x`, `a->b`, `Foo#bar`, `class Foo`, `Foo<T>`, `@foo`. Returns it
/// in dotted form, with `()` kept.
fn code_name(text: &str) -> Option<String> {
    let mut text = text.trim_end_matches([';', ':', ',']);
    for _ in 0..2 {
        if let Some((word, rest)) = text.split_once(' ')
            && KEYWORDS.split(' ').any(|keyword| keyword == word)
        {
            text = rest.trim_start();
        }
    }
    let (head, call) = match text.split_once('(') {
        Some((head, rest)) if rest.ends_with(')') => (head, true),
        Some(_) => return None,
        None => (text, false),
    };
    let head = match head.find(['<', '[']) {
        Some(at) if at > 0 && head.ends_with(['>', ']']) && !head.contains("->") => &head[..at],
        _ => head,
    };
    let dotted = head.replace("::", ".").replace("->", ".").replace("?.", ".").replace('#', ".");
    let dotted = dotted.trim_start_matches(['@', '&', '*']);
    // `.foo()` is a method, `.foo` is a file.
    let dotted = dotted.strip_prefix('.').filter(|_| call).unwrap_or(dotted);
    if dotted.is_empty() || !dotted.split('.').all(is_identifier) {
        return None;
    }
    Some(format!("{dotted}{}", if call { "()" } else { "" }))
}

fn is_identifier(part: &str) -> bool {
    let bare = part.strip_suffix(['!', '?']).unwrap_or(part);
    let mut letters = bare.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
        && letters.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}
