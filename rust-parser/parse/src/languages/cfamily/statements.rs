//! Reads the tokens of C and C++ with what their braces hold, for the search for macros.

use crate::languages::cfamily::tokens::{Kind, Token, tokens};
use crate::languages::cfamily::words::{begins_declaration, is_class, is_keyword, is_number_type, is_qualifier};

/// Number of tokens that are examined for the end of parentheses.
const MAX_TOKENS: usize = 2000;

/// A range of the source that the grammar reads as blanks, after some other bytes.
pub struct Edit {
    pub start: usize,
    pub end: usize,
    pub with: &'static [u8],
}

/// What the braces around a token hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Context {
    Declarations,
    Code,
    Values,
}

pub struct Level<'s> {
    pub context: Context,
    /// Name of the class whose members these are.
    pub class: &'s [u8],
}

pub struct Finder<'s> {
    pub source: &'s [u8],
    pub tokens: Vec<Token>,
    pub levels: Vec<Level<'s>>,
    /// First token of the statement, and what it contains so far.
    pub first: usize,
    pub has_value: bool,
    pub has_call: bool,
    pub edits: Vec<Edit>,
}

impl<'s> Finder<'s> {
    pub fn new(source: &'s [u8]) -> Self {
        let levels = vec![Level { context: Context::Declarations, class: b"" }];
        let tokens = tokens(source);
        Finder { source, tokens, levels, first: 0, has_value: false, has_call: false, edits: Vec::new() }
    }

    pub fn text(&self, at: usize) -> &'s [u8] {
        let source = self.source;
        self.tokens.get(at).map_or(b"", |token| &source[token.start..token.end])
    }

    pub fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    pub fn is(&self, at: usize, text: &[u8]) -> bool {
        self.text(at) == text
    }

    pub fn is_name(&self, at: usize) -> bool {
        let word = self.text(at);
        let is_known = begins_declaration(word) || is_number_type(word) || is_qualifier(word) || is_keyword(word);
        self.is_word(at) && !word[0].is_ascii_digit() && !is_known
    }

    /// Lines between a token and the one before it.
    pub fn breaks(&self, at: usize) -> u32 {
        self.tokens.get(at).map_or(2, |token| token.breaks)
    }

    pub fn context(&self) -> Context {
        self.levels.last().map_or(Context::Declarations, |level| level.context)
    }

    pub fn blank(&mut self, from: usize, to: usize) {
        self.replace(from, to, b"");
    }

    pub fn replace(&mut self, from: usize, to: usize, with: &'static [u8]) {
        self.edits.push(Edit { start: self.tokens[from].start, end: self.tokens[to].end, with });
    }

    pub fn begin_statement(&mut self, at: usize) {
        self.first = at;
        self.has_value = false;
        self.has_call = false;
    }

    pub fn level(&self, brace: usize) -> Level<'s> {
        let before = self.text(brace.wrapping_sub(1));
        let inner = self.context();
        let words = self.first..brace;
        let head = words.clone().find(|&at| is_class(self.text(at)));
        let context = if words.clone().any(|at| self.is(at, b"enum")) && !self.has_call {
            Context::Values
        } else if head.is_some() && !self.has_call {
            Context::Declarations
        } else if matches!(before, b"=" | b"," | b"[" | b"(" | b"return") || inner == Context::Values {
            Context::Values
        } else if inner == Context::Code || self.has_call {
            Context::Code
        } else {
            Context::Declarations
        };
        let class = match head {
            Some(head) if context == Context::Declarations => {
                let end = (head..brace).find(|&at| self.is(at, b":") || self.is(at, b"<")).unwrap_or(brace);
                (head + 1..end).rev().find(|&at| self.is_name(at)).map_or(&b""[..], |at| self.text(at))
            }
            _ => b"",
        };
        Level { context, class }
    }

    /// Returns the closing token of `(`, or the last one that is examined.
    pub fn close(&self, open: usize) -> usize {
        let mut depth = 0;
        let limit = self.tokens.len().min(open + MAX_TOKENS);
        for at in open..limit {
            match self.text(at) {
                b"(" => depth += 1,
                b")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        limit.max(1) - 1
    }

    /// Returns the closing token of `<`, or the opening one if it is none of a template.
    pub fn close_of_template(&self, open: usize) -> usize {
        let mut depth = 0;
        for at in open..self.tokens.len().min(open + 200) {
            match self.text(at) {
                b"<" => depth += 1,
                b">" => depth -= 1,
                b";" | b"{" | b"}" => return open,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        open
    }
}
