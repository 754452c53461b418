//! Finds macros that the grammars of C and C++ cannot tell from code: they stand between declarations or in front of
//! types, without an operator or a semicolon. Only forms that no program without macros has are found.

use crate::languages::cfamily::statements::{Context, Edit, Finder};
use crate::languages::cfamily::tokens::Kind;
use crate::languages::cfamily::words::{
    begins_declaration, is_access, is_bracket, is_class, is_modifier, is_number_type, is_qualifier, is_upper,
};

/// Number of macros in a row that may stand in front of a declaration.
const MAX_MACROS: u32 = 8;

/// Returns the edits that make a source readable, in order.
pub fn edits(source: &[u8]) -> Vec<Edit> {
    let mut finder = Finder::new(source);
    let mut at = 0;
    while at < finder.tokens.len() {
        at = finder.step(at);
    }
    finder.edits
}

impl Finder<'_> {
    /// Reads one token; returns the next one to read.
    fn step(&mut self, at: usize) -> usize {
        if self.is_word(at) {
            return self.word(at);
        }
        match self.text(at) {
            b"{" => {
                let level = self.level(at);
                self.levels.push(level);
                self.begin_statement(at + 1);
            }
            b"}" => {
                if self.levels.len() > 1 {
                    self.levels.pop();
                }
                // `} name;` goes on after the members of a class, `}, x {` after values.
                self.begin_statement(at + 1);
            }
            b";" => self.begin_statement(at + 1),
            b"=" => self.has_value = true,
            b"(" => return self.arguments(at),
            b"<" if self.is(at.wrapping_sub(1), b"template") => {
                let close = self.close_of_template(at);
                if self.first + 1 == at {
                    self.first = close + 1;
                }
                return close + 1;
            }
            _ => {}
        }
        at + 1
    }

    fn word(&mut self, at: usize) -> usize {
        let context = self.context();
        if context == Context::Values {
            let is_marked = self.is_name(at) && is_upper(self.text(at + 1)) && self.breaks(at + 1) == 0;
            if is_marked && matches!(self.text(at + 2), b"," | b"=" | b"}") {
                self.blank(at + 1, at + 1);
            }
            return at + 1;
        }
        if at == self.first {
            if let Some(next) = self.access(at, context) {
                return next;
            }
            let template = if self.is(at, b"extern") { at + 1 } else { at };
            if self.is(template, b"template") && is_class(self.text(template + 1)) {
                self.blank(at, template);
                return template + 1;
            }
            if is_modifier(self.text(at)) && !self.is(at + 1, b"{") {
                // The macro may follow: `static G_GNUC_UNUSED int`.
                if self.is_name(at + 1) && self.is_macro(at + 1) {
                    self.blank(at + 1, at + 1);
                    return at + 2;
                }
                return at + 1;
            }
            if self.is_name(at) {
                return self.statement(at, context);
            }
        }
        let before = at.wrapping_sub(1);
        if context == Context::Declarations && at > self.first && is_upper(self.text(at)) {
            if !self.has_value && matches!(self.text(before), b")" | b"const" | b"override" | b"noexcept") {
                return self.after_declarator(at);
            }
            let end = if self.is(at + 1, b"(") { self.close(at + 1) } else { at };
            if self.is_attribute(before, end) {
                self.blank(at, end);
                return end + 1;
            }
        }
        if is_class(self.text(at)) && is_upper(self.text(at + 1)) && self.is(at + 2, b"(") {
            let close = self.close(at + 2);
            if self.is_name(close + 1) && (self.is(close + 2, b"{") || self.is(close + 2, b":")) {
                self.blank(at + 1, close);
                return close + 1;
            }
        }
        at + 1
    }

    /// Returns whether a macro after a token is an attribute of a class, of a function's result or of an alias.
    fn is_attribute(&self, before: usize, end: usize) -> bool {
        let (next, word) = (end + 1, self.text(before));
        if self.is_name(before) && before > 0 && is_class(self.text(before - 1)) {
            return self.is(next, b"{") || self.is(next, b":");
        }
        if self.is(self.first, b"typedef") && self.is_name(before) && before > self.first + 1 {
            return self.is(next, b";");
        }
        let is_tag = is_class(word) || word == b"enum";
        let is_result = self.is_word(before) && !is_tag && !is_modifier(word) && !is_qualifier(word);
        is_result && !self.has_call && self.is_name(next) && self.is(next + 1, b"(")
    }

    /// Reads `public:` and `private slots:` and `signals:`.
    fn access(&mut self, at: usize, context: Context) -> Option<usize> {
        let is_access = is_access(self.text(at));
        if is_access && self.is(at + 1, b":") {
            self.begin_statement(at + 2);
            return Some(at + 2);
        }
        if is_access && self.is_name(at + 1) && self.is(at + 2, b":") {
            self.blank(at + 1, at + 1);
            self.begin_statement(at + 3);
            return Some(at + 3);
        }
        let is_section = context == Context::Declarations && self.is_name(at) && self.is(at + 1, b":");
        if is_section && self.breaks(at) > 0 && self.breaks(at + 2) > 0 {
            self.blank(at, at + 1);
            self.begin_statement(at + 2);
            return Some(at + 2);
        }
        None
    }

    /// Reads the name that begins a statement.
    fn statement(&mut self, at: usize, context: Context) -> usize {
        if self.is_macro(at) {
            self.blank(at, at);
            self.begin_statement(at + 1);
            return at + 1;
        }
        if context == Context::Code && self.loops(at) {
            self.edits.push(self.as_statement(at));
        }
        if context == Context::Declarations && self.is(at + 1, b"(") && is_upper(self.text(at)) {
            let close = self.close(at + 1);
            if self.wraps_function(at, close) {
                self.blank(at, at + 1);
                self.blank(close, close);
                self.has_call = true;
                return close + 1;
            }
            if self.is_call_between_declarations(at + 1, close) {
                self.blank(at, close);
                self.begin_statement(close + 1);
                return close + 1;
            }
            self.keep_last_argument(at + 1, close);
        }
        at + 1
    }

    /// `LIST_FOREACH(item, &list, entry) {` in a function.
    fn loops(&self, at: usize) -> bool {
        let is_long = self.text(at).len() >= b"while".len() && self.is(at + 1, b"(");
        is_long && self.text(at) != b"while" && self.is(self.close(at + 1) + 1, b"{")
    }

    /// Returns the edit that makes a loop of a macro readable: a semicolon before its block keeps the call; `while` does
    /// not, but needs no space there and may stand before an `else`.
    fn as_statement(&self, at: usize) -> Edit {
        let close = self.close(at + 1);
        let (end, block) = (self.tokens[close].end, self.tokens[close + 1].start);
        let stands_alone = at > 0 && [b"{" as &[u8], b"}", b";"].contains(&self.text(at - 1));
        if stands_alone && end < block && self.source[end] == b' ' {
            return Edit { start: end, end: end + 1, with: b";" };
        }
        Edit { start: self.tokens[at].start, end: self.tokens[at].end, with: b"while" }
    }

    /// Returns whether a name is a macro, because what follows it begins a declaration of its own.
    fn is_macro(&self, at: usize) -> bool {
        self.is_macro_before(at, MAX_MACROS)
    }

    fn is_macro_before(&self, at: usize, macros: u32) -> bool {
        let word = self.text(at);
        let next = at + 1;
        let is_alone = self.breaks(at) > 0 && self.breaks(next) > 0;
        let upper = is_upper(word);
        if upper && is_alone {
            // `END_TEST`, `START_TEST(name) {`: the grammar of C needs a word as the type.
            let is_head = self.is(next + 1, b"(") && self.is(self.close(next + 1) + 1, b"{");
            if is_bracket(word) && !is_head && (self.is_word(next) || self.is_end(next)) {
                return true;
            }
            let is_member = self.is_class_name(next);
            let is_before_call = is_upper(self.text(next)) && self.is(next + 1, b"(");
            if is_before_call && self.is_call_between_declarations(next + 1, self.close(next + 1)) {
                return self.context() == Context::Declarations;
            }
            let is_section = is_upper(self.text(next)) && self.is(next + 1, b":") && self.breaks(next + 2) > 0;
            if self.is_end(next) || is_section || is_member && self.is(next + 1, b"(") {
                return self.context() == Context::Declarations;
            }
            if is_upper(self.text(next))
                && self.breaks(next + 1) > 0
                && macros > 0
                && self.is_macro_before(next, macros - 1)
            {
                return true;
            }
        }
        if upper && self.is(next, b"~") {
            return self.context() == Context::Declarations;
        }
        let in_code = self.context() == Context::Code;
        if in_code
            && upper
            && (self.is(next, b"{") || self.is_name(next) && matches!(self.text(next + 1), b"->" | b"."))
        {
            return true;
        }
        if !self.is_word(next) {
            return false;
        }
        if self.begins_type(next) {
            return upper || !is_number_type(self.text(next)) || in_code;
        }
        if upper && is_alone && is_qualifier(self.text(next)) {
            return true;
        }
        self.is_declaration(next) && (upper || !is_upper(self.text(next))) && !self.is_type_of(at, next)
    }

    /// Returns whether a token is the name of the class around it.
    fn is_class_name(&self, at: usize) -> bool {
        self.is_word(at) && self.levels.last().is_some_and(|level| level.class == self.text(at))
    }

    /// `BOOL CALLBACK f(`: of two words in upper case, the first is the type unless it has an underscore.
    fn is_type_of(&self, at: usize, next: usize) -> bool {
        is_upper(self.text(at)) && is_upper(self.text(next)) && !self.text(at).contains(&b'_')
    }

    fn is_end(&self, at: usize) -> bool {
        at >= self.tokens.len() || self.is(at, b"}")
    }

    /// Returns whether a type and a name are at a token: `a::b<c> *name`.
    fn is_declaration(&self, mut at: usize) -> bool {
        while is_qualifier(self.text(at)) {
            at += 1;
        }
        if !self.is_name(at) {
            return self.begins_type(at);
        }
        at += 1;
        while self.is(at, b"::") && self.is_name(at + 1) {
            at += 2;
        }
        if self.is(at, b"<") {
            let close = self.close_of_template(at);
            if close == at {
                return false;
            }
            at = close + 1;
        }
        while matches!(self.text(at), b"*" | b"**" | b"&" | b"&&" | b"const") {
            at += 1;
        }
        self.is_name(at) || self.is(at, b"operator")
    }

    /// `UV_UNUSED(static void f(int x)) {`: a macro around the head of a function.
    fn wraps_function(&self, at: usize, close: usize) -> bool {
        matches!(self.text(close + 1), b"{" | b";") && self.is(close - 1, b")") && {
            let first = self.text(at + 2);
            is_modifier(first) || begins_declaration(first) || is_number_type(first)
        }
    }

    /// Returns whether a call without a semicolon stands between declarations.
    fn is_call_between_declarations(&self, open: usize, close: usize) -> bool {
        let next = close + 1;
        if self.is_end(next) || begins_declaration(self.text(next)) || self.is(next, b"~") || self.is_class_name(next) {
            return true;
        }
        if self.is_word(next) && (self.is_declaration(next) || is_qualifier(self.text(next))) {
            return true;
        }
        let has_list = (open..close).any(|at| self.is(at, b",") || self.tokens[at].kind == Kind::Text);
        let is_apart = self.breaks(next) > 1 || self.breaks(next) == 1 && has_list;
        self.is_name(next) && (is_apart || self.breaks(next) > 0 && is_upper(self.text(next)))
    }

    /// `TAILQ_HEAD(name, type) field;`: the grammar reads a macro with one type.
    fn keep_last_argument(&mut self, open: usize, close: usize) {
        if !self.is_name(close + 1) || !matches!(self.text(close + 2), b";" | b"[" | b",") {
            return;
        }
        if let Some(comma) = (open + 2..close).rev().find(|&at| self.is(at, b",")) {
            self.blank(open + 1, comma);
        }
    }

    /// Reads a word in upper case after the parameters of a function.
    fn after_declarator(&mut self, at: usize) -> usize {
        let end = if self.is(at + 1, b"(") { self.close(at + 1) } else { at };
        let next = end + 1;
        if matches!(self.text(next), b";" | b"{" | b":" | b"const" | b"override") || is_upper(self.text(next)) {
            self.blank(at, end);
        } else if self.breaks(next) > 0 && (self.is_word(next) || self.is_end(next)) {
            // `int f() STUB`: the macro is the body.
            self.replace(at, end, b"{}");
            self.begin_statement(next);
        }
        next
    }
}
