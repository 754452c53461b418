//! Finds what a text of Markdown mentions: names in code spans, paths in code spans and link targets. One pass, linear in
//! the text's length.

use rustc_hash::FxHashMap;

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

/// All mentions with the byte where each begins. `html`: no code spans, only links.
pub fn mentions(text: &str, labels: &FxHashMap<String, String>, html: bool) -> Vec<(usize, Mention)> {
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        labels,
        brackets: Vec::new(),
        last_run: FxHashMap::default(),
        found: Vec::new(),
    };
    if !html {
        scanner.note_runs();
    }
    scanner.scan(html);
    scanner.found
}

/// Text of a heading or paragraph without marks: code spans, emphasis, links, images, tags.
pub fn plain_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut images = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let length = match bytes[at] {
            b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => {
                plain.push(bytes[at + 1] as char);
                2
            }
            b'!' if rest.starts_with("![") => {
                images.push(Some(plain.len()));
                2
            }
            b'[' => {
                images.push(None);
                1
            }
            b']' if !images.is_empty() => {
                if let Some(Some(start)) = images.pop() {
                    plain.truncate(start);
                }
                1 + link_tail(&rest[1..])
            }
            b'<' => match tag_end(rest) {
                Some(end) if is_tag(&rest[1..end]) => end + 1,
                _ => {
                    plain.push('<');
                    1
                }
            },
            b'`' | b'*' => 1,
            _ => {
                let character = rest.chars().next().unwrap_or(' ');
                plain.push(character);
                character.len_utf8()
            }
        };
        at += length;
    }
    plain.trim().to_owned()
}

/// Place of the `>` of a tag that begins here; another `<` ends the search.
fn tag_end(text: &str) -> Option<usize> {
    let near = &text.as_bytes()[1..text.len().min(MAX_MENTION * 4)];
    let end = near.iter().position(|byte| matches!(byte, b'<' | b'>'))? + 1;
    (text.as_bytes()[end] == b'>').then_some(end)
}

fn is_tag(inner: &str) -> bool {
    let bare = inner.strip_prefix('/').unwrap_or(inner);
    bare.starts_with(|c: char| c.is_ascii_alphabetic()) || inner.starts_with("!--")
}

/// Length of `(target)` or `[label]` after a link's text.
fn link_tail(rest: &str) -> usize {
    let close = match rest.as_bytes().first() {
        Some(b'(') => ')',
        Some(b'[') => ']',
        _ => return 0,
    };
    find_near(rest, close).map_or(0, |end| end + 1)
}

/// Place of a character not too far away: keeps the pass linear.
fn find_near(text: &str, wanted: char) -> Option<usize> {
    let near = &text.as_bytes()[..text.len().min(MAX_MENTION * 4)];
    near.iter().position(|&byte| byte == wanted as u8)
}

/// Labels are compared without regard to case and white space.
pub fn normal_label(label: &[u8]) -> String {
    let text = String::from_utf8_lossy(label).to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    labels: &'t FxHashMap<String, String>,
    /// Places of open `[`, and whether they open an image.
    brackets: Vec<(usize, bool)>,
    /// By length: where the last run of that many backticks begins.
    last_run: FxHashMap<usize, usize>,
    found: Vec<(usize, Mention)>,
}

impl Scanner<'_> {
    fn note_runs(&mut self) {
        let mut at = 0;
        while at < self.bytes.len() {
            let length = self.run(at);
            if length > 0 {
                self.last_run.insert(length, at);
            }
            at += length.max(1);
        }
    }

    /// Backticks at a place.
    fn run(&self, at: usize) -> usize {
        self.bytes[at..].iter().take_while(|&&byte| byte == b'`').count()
    }

    fn scan(&mut self, html: bool) {
        let mut at = 0;
        while at < self.bytes.len() {
            at += match self.bytes[at] {
                b'\\' => 2,
                b'`' if !html => self.code_span(at),
                b'[' => {
                    let image = at > 0 && self.bytes[at - 1] == b'!';
                    self.brackets.push((at, image));
                    1
                }
                b']' => self.link(at),
                b'<' => self.tag(at),
                _ => 1,
            };
        }
    }

    /// A code span; the bytes it takes.
    fn code_span(&mut self, at: usize) -> usize {
        let length = self.run(at);
        if self.last_run.get(&length).is_none_or(|&last| last <= at) {
            return length;
        }
        let mut end = at + length;
        while end < self.bytes.len() {
            match self.run(end) {
                0 => end += 1,
                other if other == length => break,
                other => end += other,
            }
        }
        if let Some(content) = self.text.get(at + length..end)
            && let Some(mention) = code_mention(content)
        {
            self.found.push((at, mention));
        }
        end + length - at
    }

    /// `](target)`, `][label]`, `]`.
    fn link(&mut self, at: usize) -> usize {
        let Some((open, image)) = self.brackets.pop() else {
            return 1;
        };
        let rest = &self.text[at + 1..];
        if let Some(inner) = rest.strip_prefix('(') {
            let (target, length) = inline_target(inner);
            if !image {
                self.path(open, target);
            }
            return if length == 0 { 1 } else { length + 2 };
        }
        let mut label = &self.text[open + 1..at];
        let mut length = 1;
        if let Some(inner) = rest.strip_prefix('[')
            && let Some(end) = find_near(inner, ']')
        {
            length += end + 2;
            if end > 0 {
                label = &inner[..end];
            }
        }
        if !image
            && label.len() <= MAX_MENTION
            && let Some(target) = self.labels.get(&normal_label(label.as_bytes()))
        {
            self.path(open, &target.clone());
        }
        length
    }

    /// Skip an autolink or comment; look for the target of `<a href="...">`.
    fn tag(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        if rest.starts_with("<!--") {
            let near = &self.bytes[at..self.bytes.len().min(at + MAX_MENTION * 4)];
            return near.windows(3).position(|part| part == b"-->").map_or(4, |end| end + 3);
        }
        let Some(end) = tag_end(rest) else {
            return 1;
        };
        let tag = &rest[..end];
        if !is_tag(&tag[1..]) {
            return 1;
        }
        for quote in ["href=\"", "href='"] {
            if let Some((_, value)) = tag.split_once(quote) {
                let stop = value.find(['"', '\'']).unwrap_or(value.len());
                self.path(at, &value[..stop]);
            }
        }
        end + 1
    }

    fn path(&mut self, at: usize, target: &str) {
        if let Some(path) = link_path(target) {
            self.found.push((at, Mention::Path(path)));
        }
    }
}

/// Target and length of `target "title")`; length 0 when there is no end.
fn inline_target(rest: &str) -> (&str, usize) {
    let bytes = &rest.as_bytes()[..rest.len().min(MAX_MENTION)];
    if let Some(inner) = rest.strip_prefix('<')
        && let Some(end) = bytes[1..].iter().position(|&byte| byte == b'>')
    {
        let close = bytes[end..].iter().position(|&byte| byte == b')');
        return (&inner[..end], close.map_or(0, |close| end + close + 1));
    }
    let mut depth = 0;
    let mut stop = None;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b')' => return (&rest[..stop.unwrap_or(at)], at + 1),
            b' ' | b'\n' | b'\t' => stop = stop.or(Some(at)),
            _ => {}
        }
    }
    ("", 0)
}

/// A link target as a path: no scheme, no fragment, no query; None for anything but files of the project.
fn link_path(target: &str) -> Option<String> {
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
fn code_mention(content: &str) -> Option<Mention> {
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
