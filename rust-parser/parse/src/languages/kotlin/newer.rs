//! Rewrites Kotlin that is newer than the grammar, or that stands on one line where the grammar expects several: guards
//! in `when`, context parameters, explicit backing fields, strings with several dollars, bodies on one line. The grammar
//! also takes the body of a class with a delegate (`class A : B by c {`) for a lambda.

use super::tokens::{Sort, Token, tokens_of};
use crate::rewriting::Edit;

/// Words that begin a declaration.
const STARTS: &[&[u8]] = &[
    b"class",
    b"interface",
    b"object",
    b"fun",
    b"val",
    b"var",
    b"typealias",
    b"companion",
    b"init",
    b"constructor",
    b"enum",
    b"data",
    b"sealed",
    b"abstract",
    b"open",
    b"private",
    b"protected",
    b"internal",
    b"public",
    b"override",
    b"inner",
    b"value",
    b"annotation",
    b"inline",
    b"suspend",
    b"operator",
    b"infix",
    b"tailrec",
    b"external",
    b"lateinit",
    b"const",
    b"expect",
    b"actual",
    b"final",
    b"context",
];
/// Words that may precede an accessor.
const BEFORE_ACCESSORS: &[&[u8]] =
    &[b"private", b"protected", b"internal", b"public", b"inline", b"override", b"external"];
/// Largest number of tokens that are looked at ahead.
const MAX_AHEAD: usize = 400;

#[derive(Clone, Copy, PartialEq)]
enum Around {
    /// The file, or the body of a class.
    Members,
    /// The body of an enumeration, before the members.
    Entries,
    When,
    Block,
    Parentheses,
}

/// What is open at a token.
struct Frame {
    around: Around,
    /// The body that the declaration of a class announces.
    announced: Option<Around>,
    /// Where the last delegate of such a declaration begins.
    by: Option<usize>,
    /// Whether `when` announces a body.
    is_when: bool,
    /// The first token of an entry of `when`, and whether its arrow has been seen.
    entry: Option<usize>,
    arrow: bool,
    /// Whether the last declaration is a property without a value.
    is_bare_property: bool,
    is_property: bool,
}

impl Frame {
    fn new(around: Around) -> Self {
        Frame {
            around,
            announced: None,
            by: None,
            is_when: false,
            entry: None,
            arrow: false,
            is_bare_property: false,
            is_property: false,
        }
    }
}

struct Reader<'s> {
    source: &'s [u8],
    tokens: Vec<Token>,
    frames: Vec<Frame>,
    edits: Vec<Edit>,
}

/// Returns the edits of a file, in order.
pub fn edits(source: &[u8]) -> Vec<Edit> {
    let (tokens, edits) = tokens_of(source);
    let mut reader = Reader { source, tokens, frames: vec![Frame::new(Around::Members)], edits };
    let mut at = 0;
    while at < reader.tokens.len() {
        at = reader.step(at).max(at + 1);
    }
    reader.edits.sort_by_key(|edit| (edit.start, edit.end));
    reader.edits
}

impl Reader<'_> {
    /// Reads a token. Returns the next one.
    fn step(&mut self, at: usize) -> usize {
        let sort = self.tokens[at].sort;
        match sort {
            Sort::Word => return self.word(at),
            Sort::Arrow => self.top().arrow = true,
            Sort::Sign(b'(' | b'[') => self.frames.push(Frame::new(Around::Parentheses)),
            Sort::Sign(b')' | b']') if self.frames.len() > 1 && self.top().around == Around::Parentheses => {
                self.frames.pop();
            }
            Sort::Sign(b'{') => self.open(at),
            Sort::Sign(b'}') => self.close(at),
            Sort::Sign(b';') => self.semicolon(at),
            Sort::Sign(b',') => self.top().by = None,
            Sort::Sign(b'=') => self.top().is_bare_property = false,
            Sort::Sign(b'@') => {
                self.separate(at);
                if self.text(at + 1) == b"all" && self.is_sign(at + 2, b':') {
                    let Token { start, end, .. } = self.tokens[at + 1];
                    self.edits.push(Edit { start, end, with: "get" });
                }
            }
            _ => {}
        }
        if self.starts_entry(at) {
            let frame = self.top();
            (frame.entry, frame.arrow) = (Some(at), false);
        }
        at + 1
    }

    fn word(&mut self, at: usize) -> usize {
        if self.starts_entry(at) {
            let frame = self.top();
            (frame.entry, frame.arrow) = (Some(at), false);
        }
        let before = at.checked_sub(1).map(|before| self.tokens[before].sort);
        if matches!(before, Some(Sort::Sign(b'.') | Sort::Colons)) {
            return at + 1;
        }
        let word = self.text(at).to_vec();
        match &word[..] {
            b"class" | b"interface" | b"object" => self.announce(at),
            b"by" if self.top().announced.is_some() => self.top().by = Some(self.tokens[at].start),
            b"when" => self.top().is_when = true,
            b"if" if self.top().around == Around::When => self.guard(at),
            b"constructor" if self.top().announced.is_some() => self.constructor(at),
            b"get" | b"set" if self.is_called(at) => {
                let Token { start, end, .. } = self.tokens[at];
                self.edits.push(Edit { start, end, with: "xet" });
            }
            b"field" if self.tokens[at].breaks => return self.backing_field(at),
            b"context" if self.is_sign(at + 1, b'(') => {
                if let Some(end) = self.context(at) {
                    return end;
                }
            }
            _ => {}
        }
        if STARTS.contains(&&word[..]) {
            self.separate(at);
            if matches!(&word[..], b"fun" | b"val" | b"var" | b"typealias" | b"init" | b"companion") {
                self.top().announced = None;
            }
        }
        if matches!(&word[..], b"val" | b"var" | b"fun") {
            let is_property = word != b"fun";
            let frame = self.top();
            (frame.is_property, frame.is_bare_property) = (is_property, is_property);
        }
        at + 1
    }

    /// Notes the body of a class. `X::class` and a variable with such a name have none.
    fn announce(&mut self, at: usize) {
        let is_object = self.text(at) == b"object";
        let is_head = match self.tokens.get(at + 1).map(|next| next.sort) {
            Some(Sort::Word) => true,
            Some(Sort::Sign(b':' | b'{')) => is_object,
            _ => false,
        };
        if is_head {
            let is_enum = at > 0 && self.text(at - 1) == b"enum";
            let frame = self.top();
            frame.announced = Some(if is_enum { Around::Entries } else { Around::Members });
            frame.by = None;
        }
    }

    /// Joins a primary constructor on a line of its own, with its modifiers, to the name of its class.
    fn constructor(&mut self, at: usize) {
        let is_modifier = |&before: &usize| {
            let word = self.text(before);
            BEFORE_ACCESSORS.contains(&word) || matches!(word, b"actual" | b"expect")
        };
        let first = (1..at).rev().take_while(is_modifier).last().unwrap_or(at);
        if first > 0 && self.tokens[first].breaks {
            let (start, end) = (self.tokens[first - 1].end, self.tokens[at].start);
            self.edits.push(Edit { start, end, with: " " });
        }
    }

    /// Returns whether `get` or `set` is a function that a statement calls, which the grammar takes for an accessor.
    fn is_called(&self, at: usize) -> bool {
        let is_statement = self.frames.last().is_some_and(|frame| frame.around == Around::Block);
        is_statement && self.tokens[at].breaks && self.is_sign(at + 1, b'(')
    }

    fn open(&mut self, at: usize) {
        let start = self.tokens[at].start;
        let frame = self.top();
        let is_when = std::mem::take(&mut frame.is_when);
        let by = frame.by.take();
        let around = match frame.announced.take() {
            Some(around) => {
                if let Some(by) = by {
                    self.edits.push(Edit { start: by, end: start, with: "" });
                }
                around
            }
            None if is_when => Around::When,
            // The body of an entry.
            None if frame.around == Around::Entries => Around::Members,
            None => Around::Block,
        };
        self.frames.push(Frame::new(around));
    }

    fn close(&mut self, at: usize) {
        while self.frames.len() > 1 {
            let frame = self.frames.pop().map(|frame| frame.around);
            if frame == Some(Around::Parentheses) {
                continue;
            }
            let is_body = matches!(frame, Some(Around::Members | Around::Entries));
            let is_ended = at == 0 || self.is_sign(at - 1, b'{') || self.is_sign(at - 1, b';');
            if is_body && !is_ended && !self.tokens[at].breaks {
                self.edits.push(Edit::insert(self.tokens[at].start, ";"));
            }
            return;
        }
    }

    /// Reads a semicolon: before an accessor, the grammar expects a line break.
    fn semicolon(&mut self, at: usize) {
        let Token { start, end, .. } = self.tokens[at];
        let next = (at + 1..self.tokens.len()).find(|&next| !BEFORE_ACCESSORS.contains(&self.text(next)));
        let is_accessor = next.is_some_and(|next| {
            let ends = self
                .tokens
                .get(next + 1)
                .is_none_or(|after| after.breaks || matches!(after.sort, Sort::Sign(b'(' | b';' | b'}')));
            matches!(self.text(next), b"get" | b"set") && ends
        });
        let frame = self.top();
        if frame.around == Around::Entries {
            frame.around = Around::Members;
        }
        if frame.is_property && is_accessor {
            self.edits.push(Edit { start, end, with: "\n" });
        }
        self.top().announced = None;
    }

    /// Ends a declaration before another one on the same line.
    fn separate(&mut self, at: usize) {
        let is_after_body = at > 0 && self.is_sign(at - 1, b'}') && !self.tokens[at].breaks;
        let is_accessor = BEFORE_ACCESSORS.contains(&self.text(at)) && matches!(self.text(at + 1), b"get" | b"set");
        if is_after_body && !is_accessor && self.top().around == Around::Members {
            self.edits.push(Edit::insert(self.tokens[at - 1].end, ";"));
        }
    }

    /// Returns whether an entry of `when` begins at a token.
    fn starts_entry(&self, at: usize) -> bool {
        let Some(frame) = self.frames.last().filter(|frame| frame.around == Around::When) else { return false };
        let token = self.tokens[at];
        if frame.entry.is_none() || at > 0 && self.is_sign(at - 1, b';') {
            return true;
        }
        let follows_block = at > 0 && self.is_sign(at - 1, b'}');
        let is_condition = match self.text(at) {
            b"is" | b"in" => true,
            b"else" => match self.tokens.get(at + 1).map(|next| next.sort) {
                Some(Sort::Arrow) => true,
                _ => self.text(at + 1) == b"if" && self.arrow_after(at + 1),
            },
            _ => false,
        };
        frame.arrow && (token.breaks || follows_block && is_condition)
    }

    /// `is A if x ->` is read as two conditions, `else if x ->` as one.
    fn guard(&mut self, at: usize) {
        let frame = self.top();
        let Some(entry) = frame.entry.filter(|&entry| entry != at && !frame.arrow) else { return };
        if !self.arrow_after(at) {
            return;
        }
        let end = self.tokens[at].end;
        let is_else = entry + 1 == at && self.text(entry) == b"else";
        self.edits.push(match is_else {
            true => Edit { start: self.tokens[entry].start, end, with: "" },
            false => Edit { start: self.tokens[at].start, end, with: "," },
        });
    }

    /// Returns whether an expression after a token leads to an arrow.
    fn arrow_after(&self, at: usize) -> bool {
        let mut depth = 0;
        for next in at + 1..self.tokens.len().min(at + MAX_AHEAD) {
            let is_operator = |at: usize| !matches!(self.tokens[at].sort, Sort::Word | Sort::Literal);
            match self.tokens[next].sort {
                Sort::Sign(b'(' | b'[' | b'{') => depth += 1,
                Sort::Sign(b')' | b']' | b'}') => depth -= 1,
                Sort::Arrow if depth == 0 => return true,
                Sort::Sign(b';') if depth == 0 => return false,
                Sort::Word if depth == 0 && self.text(next) == b"else" => return false,
                _ => {}
            }
            let goes_on = is_operator(next) || is_operator(next - 1) && !self.is_sign(next - 1, b')');
            if depth < 0 || depth == 0 && self.tokens[next].breaks && !goes_on {
                return false;
            }
        }
        false
    }

    /// `val a: T` and `field = b` on the next line are read as one property.
    fn backing_field(&mut self, at: usize) -> usize {
        let is_property = self.top().around == Around::Members && self.top().is_bare_property;
        let typed = self.is_sign(at + 1, b':');
        let ahead = at + 1..self.tokens.len().min(at + MAX_AHEAD);
        let value = match typed {
            true => {
                ahead.into_iter().take_while(|&next| !self.tokens[next].breaks).find(|&next| self.is_sign(next, b'='))
            }
            false => Some(at + 1).filter(|&next| self.is_sign(next, b'=')),
        };
        let Some(value) = value.filter(|_| is_property && at > 0) else { return at + 1 };
        let (start, end) = (self.tokens[at - 1].end, self.tokens[value].start);
        self.edits.push(Edit { start, end, with: " " });
        self.top().is_bare_property = false;
        value
    }

    /// Leaves out `context(...)` before a declaration or a type of functions. Returns the token after it.
    fn context(&mut self, at: usize) -> Option<usize> {
        let mut depth = 0;
        let close = (at + 1..self.tokens.len().min(at + MAX_AHEAD)).find(|&next| {
            depth += i32::from(self.is_sign(next, b'(')) - i32::from(self.is_sign(next, b')'));
            depth == 0
        })?;
        let before = at.checked_sub(1).map(|before| self.tokens[before].sort);
        let is_suspending = at > 0 && self.text(at - 1) == b"suspend";
        let next = *self.tokens.get(close + 1)?;
        let is_member = self.top().around == Around::Members;
        let is_type = (is_suspending || matches!(before, Some(Sort::Sign(b':' | b'(' | b',' | b'<' | b'='))))
            && !next.breaks
            && matches!(next.sort, Sort::Sign(b'(') | Sort::Word);
        let starts = STARTS.contains(&self.text(close + 1)) || next.sort == Sort::Sign(b'@');
        let is_declaration = is_member && starts;
        if !is_type && !is_declaration {
            return None;
        }
        self.separate(at);
        self.edits.push(Edit { start: self.tokens[at].start, end: self.tokens[close].end, with: "" });
        Some(close + 1)
    }

    fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn text(&self, at: usize) -> &[u8] {
        self.tokens.get(at).map_or(b"", |token| &self.source[token.start..token.end])
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.sort == Sort::Sign(sign))
    }
}
