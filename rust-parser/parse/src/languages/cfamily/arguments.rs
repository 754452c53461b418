//! Edits the arguments of calls and the parameters of functions that only macros make possible.

use crate::languages::cfamily::statements::{Context, Finder};
use crate::languages::cfamily::words::{begins_declaration, is_class, is_number_type, is_upper};

impl Finder<'_> {
    /// Edits what is in parentheses: `(, x)` of a macro, operators as arguments, attributes of parameters.
    pub fn arguments(&mut self, open: usize) -> usize {
        self.has_call |= open > self.first && self.context() != Context::Values;
        if self.is(open + 1, b",") && self.is_word(open.wrapping_sub(1)) {
            self.blank(open + 1, open + 1);
        }
        let close = self.close(open);
        let mut at = open + 1;
        while at < close {
            if self.is_type_argument(at, open, close) {
                let (from, to) = if self.is(at - 1, b",") {
                    (at - 1, self.end_of_argument(at, close))
                } else {
                    (at, self.end_of_argument(at, close) + 1)
                };
                self.blank(from, to);
                at = to + 1;
                continue;
            }
            if self.is(at, b"=") && self.is(at + 1, b"{") && self.is(at + 2, b"}") {
                self.replace(at + 1, at + 2, b"0");
                at += 3;
                continue;
            }
            if self.is(at, b"{") {
                // A lambda or a block: its statements are read like others.
                return at;
            }
            if self.is_attribute_of_parameter(at) {
                self.blank(at, at);
            }
            let is_operator = matches!(self.text(at), b"==" | b"!=" | b"<" | b">" | b"<=" | b">=");
            if is_operator && self.is(at - 1, b",") && self.is(at + 1, b",") {
                self.blank(at - 1, at - 1);
                self.blank(at + 1, at + 1);
            }
            let starts = self.is(at - 1, b"(") || self.is(at - 1, b",");
            if starts && self.is_name(at) && self.is_word(at + 1) && self.begins_type(at + 1) {
                self.blank(at, at);
            }
            at += 1;
        }
        close + 1
    }

    /// Returns whether an argument of a call is a type, which only macros take: `va_arg(list, char *)`.
    fn is_type_argument(&self, at: usize, open: usize, close: usize) -> bool {
        if self.context() != Context::Code
            || !self.is_word(open.wrapping_sub(1))
            || open != self.first + 1 && !self.is_value(open)
        {
            return false;
        }
        if at != open + 1 && !self.is(at - 1, b",") {
            return false;
        }
        let end = self.end_of_argument(at, close);
        let has_others = at > open + 1 || end + 1 < close;
        let is_short = (at..=end).all(|at| self.is_word(at) || self.is(at, b"*"));
        let is_type = self.begins_type(at) || self.is(at, b"const") || self.is_name(at) && self.is(end, b"*");
        has_others && is_short && is_type
    }

    /// Returns whether a call is a part of an expression, not a declaration.
    fn is_value(&self, open: usize) -> bool {
        let before = self.text(open.wrapping_sub(2));
        matches!(before, b"=" | b"(" | b"," | b"return" | b"!" | b"&&" | b"||" | b"==" | b"!=" | b":" | b"?")
    }

    /// Returns the last token of the argument that holds a token.
    fn end_of_argument(&self, at: usize, close: usize) -> usize {
        let is_end = |at: &usize| matches!(self.text(*at), b"," | b"(" | b")" | b"{");
        (at..close).find(is_end).unwrap_or(close).max(at + 1) - 1
    }

    /// Returns whether a keyword that begins a type or a declaration is at a token.
    pub fn begins_type(&self, at: usize) -> bool {
        begins_declaration(self.text(at)) || is_number_type(self.text(at))
    }

    /// `(Type name UPPER)` and `(Type *UPPER name)`.
    fn is_attribute_of_parameter(&self, at: usize) -> bool {
        let is_end = |at: usize| matches!(self.text(at), b"," | b")");
        let before = self.text(at - 1);
        if !is_upper(self.text(at)) {
            return false;
        }
        if matches!(before, b"*" | b"&") {
            return self.is_name(at + 1) && is_end(at + 2);
        }
        let has_type = at > 1
            && (self.is_name(at - 2) || self.begins_type(at - 2) || matches!(self.text(at - 2), b"*" | b"&" | b">"));
        has_type && !is_class(self.text(at - 2)) && self.is_name(at - 1) && is_end(at + 1)
    }
}
