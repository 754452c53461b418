//! Leaves out what does not fit the grammar, so that a fault takes nothing else with it: the parser's own recovery may
//! lose the declaration around a fault and all that follows.
//!
//! A text is divided into units, which are declarations or statements: one ends where its brackets are closed or where a
//! line begins like the first one. Each unit is parsed on its own. One that does not fit is divided in turn, inside of its
//! head; what cannot be divided is left out. The limits make the time linear.

use std::ops::Range;

use tree_sitter::{Language as Grammar, Tree};

use atlas_languages::deadline::Deadline;
use atlas_languages::syntax::syntax_tree;

/// Number of nested units that are divided.
const MAX_DEPTH: usize = 8;
/// Longest text around a unit, in bytes.
const MAX_AROUND: usize = 2 << 10;
/// Largest number of attempts for one file, and of bytes that they may take, as a multiple of the file's.
const MAX_ATTEMPTS: usize = 5_000;
const MAX_FACTOR: usize = 12;
/// Largest number of declarations inside of a unit that are tried.
const MAX_STARTS: usize = 4;

/// Words that begin a declaration wherever they stand in a line.
const STARTS: &[&str] = &[
    "abstract",
    "actor",
    "async",
    "class",
    "const",
    "data",
    "declare",
    "def",
    "defmodule",
    "enum",
    "export",
    "extension",
    "extern",
    "final",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "import",
    "inline",
    "interface",
    "internal",
    "let",
    "local",
    "mod",
    "module",
    "namespace",
    "object",
    "open",
    "override",
    "package",
    "private",
    "protected",
    "protocol",
    "pub",
    "public",
    "record",
    "sealed",
    "static",
    "struct",
    "suspend",
    "template",
    "trait",
    "type",
    "typealias",
    "typedef",
    "union",
    "use",
    "using",
    "val",
    "var",
];
/// Words that go on with what a line above begins.
const CONTINUES: &[&str] = &[
    "and",
    "as",
    "by",
    "case",
    "catch",
    "default",
    "do",
    "done",
    "elif",
    "else",
    "elsif",
    "end",
    "ensure",
    "esac",
    "except",
    "extends",
    "fi",
    "finally",
    "get",
    "implements",
    "in",
    "instanceof",
    "is",
    "of",
    "or",
    "rescue",
    "set",
    "then",
    "until",
    "when",
    "where",
    "while",
    "with",
];
/// Words before the name of a type, and before that of a function.
const TYPES: &[&str] = &[
    "actor",
    "class",
    "enum",
    "extension",
    "impl",
    "interface",
    "module",
    "namespace",
    "object",
    "protocol",
    "record",
    "struct",
    "trait",
    "union",
];
const FUNCTIONS: &[&str] = &["def", "fn", "fun", "func", "function"];

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Open,
    Close,
    End,
    Word,
    Mark,
    Other,
}

/// A token of the text, as the first reading found it.
struct Token {
    span: Range<usize>,
    class: Class,
    /// Column of the first token of its line.
    column: usize,
    /// Whether it is that token.
    first: bool,
    /// Number of brackets around it; those that are never closed end with the brace around them.
    depth: usize,
}

struct Recovery<'t> {
    grammar: &'t Grammar,
    text: &'t [u8],
    tokens: Vec<Token>,
    deadline: Deadline,
    attempts: usize,
    bytes: usize,
    /// What does not fit, and whether it is a whole unit.
    left_out: Vec<(Range<usize>, bool)>,
}

/// Returns the tree of a text without what does not fit the grammar, and what that is; `None` if that cannot be found.
pub fn without_faults(
    grammar: &Grammar,
    text: &[u8],
    tree: &Tree,
    deadline: Deadline,
) -> Option<(Tree, Vec<Range<usize>>)> {
    let tokens = tokens_of(text, tree);
    let mut recovery = Recovery { grammar, text, tokens, deadline, attempts: 0, bytes: 0, left_out: Vec::new() };
    // The mark that begins the code of a template belongs to every unit.
    let opening = text.starts_with(b"<?").then(|| recovery.tokens.first().map_or(0, |token| token.span.end));
    let opening = text[..opening.unwrap_or(0)].to_vec();
    let first = recovery.tokens.partition_point(|token| token.span.end <= opening.len());
    let around = [opening, if text.starts_with(b"<?") { b"\n".to_vec() } else { Vec::new() }].concat();
    // What is left out so far may be enough when a limit is reached.
    let _ = recovery.repair(first..recovery.tokens.len(), &around, b"", 0);
    if recovery.left_out.is_empty() {
        return None;
    }
    let mut rest = text.to_vec();
    for (range, is_unit) in &recovery.left_out {
        blank(&mut rest[range.clone()], *is_unit, grammar);
    }
    let tree = syntax_tree(grammar, &rest, deadline)?;
    Some((tree, recovery.left_out.into_iter().map(|(range, _)| range).collect()))
}

/// A limit is reached.
struct Exceeded;

impl Recovery<'_> {
    /// Leaves out what does not fit in a range of tokens, between the heads of what is around it and their ends.
    fn repair(&mut self, tokens: Range<usize>, before: &[u8], after: &[u8], depth: usize) -> Result<(), Exceeded> {
        for unit in self.units(tokens) {
            let span = self.line_start(unit.start)..self.tokens[unit.end - 1].span.end;
            if self.fits(&[before, &self.text[span.clone()], after])? {
                continue;
            }
            if !self.divide(&unit, before, after, depth)? {
                let start = self.tokens[unit.start].span.start;
                let end = self.next_start(&unit, before, after)?.unwrap_or(span.end);
                self.left_out.push((start..end, true));
            }
        }
        Ok(())
    }

    /// Returns the end of what stands before a declaration inside of a unit that fits.
    fn next_start(&mut self, unit: &Range<usize>, before: &[u8], after: &[u8]) -> Result<Option<usize>, Exceeded> {
        let depth = self.depth(unit);
        let end = self.tokens[unit.end - 1].span.end;
        let starts: Vec<usize> = (unit.start + 1..unit.end)
            .filter(|&at| self.tokens[at].depth == depth && STARTS.contains(&self.word(at)))
            .filter(|&at| !STARTS.contains(&self.word(at - 1)) && self.tokens[at - 1].class != Class::Mark)
            .take(MAX_STARTS)
            .collect();
        for at in starts {
            if self.fits(&[before, b"\n", &self.text[self.tokens[at].span.start..end], after])? {
                return Ok(Some(self.tokens[at - 1].span.end));
            }
        }
        Ok(None)
    }

    /// Leaves out parts of a unit. Returns false if its head does not fit either.
    fn divide(&mut self, unit: &Range<usize>, before: &[u8], after: &[u8], depth: usize) -> Result<bool, Exceeded> {
        let Some(body) = self.body(unit).filter(|body| depth < MAX_DEPTH && !body.is_empty()) else {
            return Ok(false);
        };
        let start = self.line_start(unit.start);
        let head_end = self.tokens[body.start - 1].span.end;
        let is_braces = self.tokens[body.start - 1].class == Class::Open;
        let tail = match body.end < unit.end {
            true => self.tokens[body.end].span.start..self.tokens[unit.end - 1].span.end,
            false => head_end..head_end,
        };
        let after = [b"\n", &self.text[tail], after].concat();
        let whole = self.text[start..head_end].to_vec();
        let heads = [Some((whole, Vec::new())), self.short_head(unit.start..body.start)];
        for (head, faults) in heads.into_iter().flatten() {
            let inner = [before, &head, b"\n"].concat();
            if inner.len() + after.len() > MAX_AROUND {
                continue;
            }
            // Of languages without brackets, a head may need something in its body.
            let fits = match is_braces {
                true => self.fits(&[&inner, &after])?,
                false => self.units(body.clone()).into_iter().take(4).any(|part| {
                    let part = self.line_start(part.start)..self.tokens[part.end - 1].span.end;
                    self.fits(&[&inner, &self.text[part], &after]).unwrap_or(false)
                }),
            };
            if fits {
                self.left_out.extend(faults.into_iter().map(|span| (span, false)));
                self.repair(body.clone(), &inner, &after, depth + 1)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the shortest head of the same name, and what it leaves out: `class A {`, `fun f() {`.
    fn short_head(&self, head: Range<usize>) -> Option<(Vec<u8>, Vec<Range<usize>>)> {
        let word = |at: usize| std::str::from_utf8(&self.text[self.tokens[at].span.clone()]).unwrap_or("");
        let key = head.clone().find(|&at| TYPES.contains(&word(at)) || FUNCTIONS.contains(&word(at)))?;
        let name = (key + 1..head.end).find(|&at| self.tokens[at].class == Class::Word)?;
        let mut kept: Vec<usize> = (key..=name).collect();
        if FUNCTIONS.contains(&word(key)) {
            let open = (name + 1..head.end).find(|&at| word(at) == "(")?;
            kept.extend([open, self.close_of(open, head.end)?]);
        }
        kept.push(head.end - 1);
        kept.dedup();
        let mut text = self.text[self.line_start(head.start)..self.tokens[head.end - 1].span.end].to_vec();
        let offset = self.line_start(head.start);
        let mut faults = Vec::new();
        for at in head.filter(|at| !kept.contains(at)) {
            let span = self.tokens[at].span.clone();
            text[span.start - offset..span.end - offset].fill(b' ');
            faults.push(span);
        }
        Some((text, faults))
    }

    /// Returns the tokens inside of a unit's last braces, or those of its lines that are indented more than the first.
    fn body(&self, unit: &Range<usize>) -> Option<Range<usize>> {
        let (first, last) = (&self.tokens[unit.start], unit.end - 1);
        let is_brace =
            |at: &usize| self.tokens[*at].class == Class::Open && self.text[self.tokens[*at].span.end - 1] == b'{';
        let depth = self.depth(unit);
        let open = unit.clone().rev().filter(is_brace).find(|&at| self.tokens[at].depth == depth).filter(|&open| {
            let close = self.close_of(open, unit.end);
            let end = close.unwrap_or(last);
            let is_last = end == last || (end + 1 == last && self.tokens[last].class == Class::End);
            let on_one_line = !(unit.start + 1..=end).any(|at| self.tokens[at].first);
            let is_outer = [open, end].iter().any(|&at| self.tokens[at].column <= first.column);
            is_last && (close.is_none() || on_one_line || is_outer)
        });
        if let Some(open) = open {
            return Some(open + 1..self.close_of(open, unit.end).unwrap_or(unit.end));
        }
        let start =
            (unit.start + 1..unit.end).find(|&at| self.tokens[at].first && self.tokens[at].column > first.column)?;
        let end = (start..unit.end).find(|&at| self.tokens[at].first && self.tokens[at].column <= first.column);
        Some(start..end.unwrap_or(unit.end))
    }

    /// Returns the token that closes a bracket.
    fn close_of(&self, open: usize, end: usize) -> Option<usize> {
        let next = (open + 1..end).find(|&at| self.tokens[at].depth <= self.tokens[open].depth)?;
        (self.tokens[next].class == Class::Close && self.tokens[next].depth == self.tokens[open].depth).then_some(next)
    }

    fn depth(&self, tokens: &Range<usize>) -> usize {
        self.tokens[tokens.clone()].iter().map(|token| token.depth).min().unwrap_or(0)
    }

    /// Divides a range of tokens.
    fn units(&self, tokens: Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let depth = self.depth(&tokens);
        let lines = self.tokens[tokens.clone()].iter().filter(|token| token.first && token.depth == depth);
        let base = lines.map(|token| token.column).min().unwrap_or(usize::MAX);
        let (mut start, mut is_marked) = (tokens.start, false);
        for at in tokens.clone().filter(|&at| self.tokens[at].depth == depth) {
            let token = &self.tokens[at];
            if at > start && self.begins(at, base, is_marked) {
                found.push(start..at);
                start = at;
            }
            if token.first || at == start {
                is_marked = token.class == Class::Mark || self.word(at) == "[";
            }
            is_marked &= self.word(at) != "{" && !STARTS.contains(&self.word(at));
        }
        if start < tokens.end {
            found.push(start..tokens.end);
        }
        found
    }

    /// Returns whether a unit begins at a token. `is_marked`: the line before has annotations only.
    fn begins(&self, at: usize, base: usize, is_marked: bool) -> bool {
        let (token, before) = (&self.tokens[at], &self.tokens[at - 1]);
        let word = self.word(at);
        let ends = before.class == Class::End || self.word(at - 1) == "}";
        let is_attribute = word == "[" && token.first && ends;
        let can_begin = matches!(token.class, Class::Word | Class::Mark) && !CONTINUES.contains(&word) || is_attribute;
        if !can_begin || before.class == Class::End {
            return before.class == Class::End && !matches!(token.class, Class::Close | Class::End);
        }
        ends && !is_marked || token.first && !is_marked && (token.column <= base || STARTS.contains(&word))
    }

    fn word(&self, at: usize) -> &str {
        std::str::from_utf8(&self.text[self.tokens[at].span.clone()]).unwrap_or("")
    }

    /// Returns where the text of a token begins together with the blanks before it on its line.
    fn line_start(&self, at: usize) -> usize {
        let start = self.tokens[at].span.start;
        if self.tokens[at].first { start - self.tokens[at].column } else { start }
    }

    fn fits(&mut self, parts: &[&[u8]]) -> Result<bool, Exceeded> {
        let text = parts.concat();
        self.attempts += 1;
        self.bytes += text.len();
        if self.attempts > MAX_ATTEMPTS || self.bytes > MAX_FACTOR * self.text.len() + (64 << 10) {
            return Err(Exceeded);
        }
        let tree = syntax_tree(self.grammar, &text, self.deadline).ok_or(Exceeded)?;
        Ok(!tree.root_node().has_error())
    }
}

/// Blanks a fault. A block of Python needs a statement.
fn blank(bytes: &mut [u8], is_unit: bool, grammar: &Grammar) {
    bytes.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    if is_unit && grammar.id_for_node_kind("pass", false) != 0 && bytes.len() >= 4 && bytes[..4] == *b"    " {
        bytes[..4].copy_from_slice(b"pass");
    }
}

/// Returns the tokens of a text without comments. Where the tree has none, because the parser gave up, they are made from
/// the text.
fn tokens_of(text: &[u8], tree: &Tree) -> Vec<Token> {
    let mut reader = Tokens { text, found: Vec::new(), open: Vec::new(), seen: 0 };
    let mut cursor = tree.walk();
    let mut is_done = false;
    while !is_done {
        let node = cursor.node();
        let is_comment = node.kind().contains("comment");
        if !is_comment && cursor.goto_first_child() {
            continue;
        }
        let span = node.byte_range();
        if !span.is_empty() && span.end <= text.len() && span.start >= reader.seen {
            reader.lex(span.start);
            match (is_comment, node.is_error()) {
                (true, _) => {}
                (_, true) => reader.lex(span.end),
                _ => reader.push(span.clone()),
            }
            reader.seen = reader.seen.max(span.end);
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                is_done = true;
                break;
            }
        }
    }
    reader.lex(text.len());
    reader.found
}

struct Tokens<'t> {
    text: &'t [u8],
    found: Vec<Token>,
    /// The brackets that are open.
    open: Vec<u8>,
    /// Where the text begins that has not been seen.
    seen: usize,
}

impl Tokens<'_> {
    /// Makes tokens of what has not been seen before a position.
    fn lex(&mut self, end: usize) {
        while self.seen < end {
            let rest = &self.text[self.seen..end];
            let length = match rest {
                [b'/', b'/', ..] => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2),
                _ => 0,
            };
            if length > 0 || rest[0].is_ascii_whitespace() {
                self.seen += length.max(1);
                continue;
            }
            let length = match rest {
                [b'"', b'"', b'"', ..] => memchr::memmem::find(&rest[3..], b"\"\"\"").map_or(3, |end| end + 6),
                [quote @ (b'"' | b'\''), ..] => length_of_string(rest, *quote),
                _ => rest.iter().take_while(|&&byte| is_part(byte)).count().max(1),
            };
            let start = self.seen;
            self.push(start..start + length);
            self.seen = start + length;
        }
    }

    fn push(&mut self, span: Range<usize>) {
        let bytes = self.text[span.clone()].trim_ascii();
        let lead = self.text[span.clone()].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let span = span.start + lead..span.start + lead + bytes.len();
        let (Some(&head), Some(&last)) = (bytes.first(), bytes.last()) else { return };
        let class = match (head, last) {
            (_, b'{' | b'(' | b'[') if span.len() <= 3 => Class::Open,
            (b'}' | b')' | b']', _) if span.len() == 1 => Class::Close,
            (b';', _) => Class::End,
            (b'@', _) => Class::Mark,
            (b'#', _) if span.len() == 1 => Class::Mark,
            (byte, _) if is_part(byte) || matches!(byte, b'`' | b'~' | b'#') => Class::Word,
            _ => Class::Other,
        };
        if class == Class::Close {
            self.close(head);
        }
        let from = self.found.last().map_or(0, |before| before.span.end);
        let line = memchr::memrchr(b'\n', &self.text[from..span.start]).map(|at| from + at + 1);
        let line = if self.found.is_empty() { line.or(Some(0)) } else { line };
        // A line that begins inside of another token has no column of its own.
        let is_blank = |&start: &usize| self.text[start..span.start].iter().all(|byte| matches!(byte, b' ' | b'\t'));
        let first = line.filter(is_blank);
        let column =
            first.map_or_else(|| self.found.last().map_or(0, |before| before.column), |start| span.start - start);
        self.found.push(Token { span, class, column, first: first.is_some(), depth: self.open.len() });
        if class == Class::Open {
            self.open.push(last);
        }
    }

    fn close(&mut self, close: u8) {
        let wanted = match close {
            b'}' => b'{',
            b')' => b'(',
            _ => b'[',
        };
        match self.open.iter().rposition(|&open| open == wanted) {
            Some(at) if wanted == b'{' || at + 1 == self.open.len() => self.open.truncate(at),
            _ => {}
        }
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// Returns the length of a string on one line; of a quote alone, if it does not end there.
fn length_of_string(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at).filter(|&&byte| byte != b'\n') {
        at += if byte == b'\\' { 2 } else { 1 };
        if byte == quote {
            return at.min(text.len());
        }
    }
    1
}
