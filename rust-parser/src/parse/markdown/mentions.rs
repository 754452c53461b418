//! What code spans, link targets and tags mention: names and paths.

/// Bytes of a name, path or link target that is looked at.
const MAX_MENTION: usize = 400;
/// Words before a name in a code span that are not part of it.
const KEYWORDS: &str = "async await class const def enum fn func function impl import interface module namespace new package pub \
    public static struct trait type";
/// Endings that make a dotted name a file.
const FILE_ENDINGS: &str = "c cc cfg conf cpp cs css csproj cxx env go gradle h hpp html ini ipynb java js json jsx kt lock md mdx \
    mjs php proto py pyi rb rs rst scm sh sql svelte swift toml ts tsx txt vue xml yaml yml";

/// What a text mentions.
#[derive(Debug, PartialEq)]
pub enum Mention {
    /// Dotted, with `()` when it was written as a call.
    Name(String),
    /// Relative to the document.
    Path(String),
}

/// Targets of `<a href="...">` in a piece of HTML, with the byte where each tag begins.
pub fn tag_links(html: &str) -> impl Iterator<Item = (usize, Mention)> {
    html.match_indices('<').filter_map(|(at, _)| {
        let tag = &html[at..at + tag_end(&html[at..])?];
        let value = ["href=\"", "href='"].iter().find_map(|quote| Some(tag.split_once(quote)?.1))?;
        let end = value.find(['"', '\'']).unwrap_or(value.len());
        Some((at, Mention::Path(link_path(&value[..end])?)))
    })
}

/// Place of the `>` of a tag that begins here; another `<` ends the search.
fn tag_end(text: &str) -> Option<usize> {
    let near = &text.as_bytes()[1..text.len().min(MAX_MENTION * 4)];
    let end = near.iter().position(|byte| matches!(byte, b'<' | b'>'))? + 1;
    (text.as_bytes()[end] == b'>').then_some(end)
}

/// A link target as a path: no scheme, no fragment, no query; None for anything but files of the project.
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

/// What a code span mentions, if it looks like a name or a path.
pub fn code_mention(content: &str) -> Option<Mention> {
    let text = content.trim();
    if text.is_empty() || text.len() > MAX_MENTION {
        return None;
    }
    code_path(text).map(Mention::Path).or_else(|| code_name(text).map(Mention::Name))
}

/// `src/x.py`, `./x`, `x.py`, `x.py:12`; None for routes, types of media and the like.
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

/// `foo`, `foo()`, `Foo.bar(x)`, `pkg::x`, `a->b`, `Foo#bar`, `class Foo`, `Foo<T>`, `@foo`: dotted, `()` kept.
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
