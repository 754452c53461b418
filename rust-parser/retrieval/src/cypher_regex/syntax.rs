//! Translates Java's syntax to that of `regex-syntax`.

use std::ops::Range;

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    self, AssertionKind, Ast, ClassPerl, ClassPerlKind, ClassSetBinaryOp, ClassSetItem, ErrorKind, Flag, Flags,
    FlagsItemKind, GroupKind, HexLiteralKind, Literal, LiteralKind, RepetitionKind, RepetitionRange, Span,
    SpecialLiteralKind,
};
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::Translator;

/// Longest pattern in bytes.
const MAX_PATTERN: usize = 10_000;
/// Largest bound of `{m,n}`, as in RE2.
const MAX_REPETITIONS: u32 = 1_000;
/// The characters that `.` does not match (Java's line terminators).
const ANY_IN_LINE: &str = r"[^\n\r\x{85}\x{2028}\x{2029}]";

/// Returns the expression that matches what Java's `Matcher.matches` does.
pub fn parse(pattern: &str) -> Result<Hir, String> {
    if pattern.len() > MAX_PATTERN {
        return Err(format!("it has more than {MAX_PATTERN} bytes"));
    }
    let (pattern, ast) = parse_adapted(pattern.to_owned())?;
    let edits = ast::visit(&ast, Rewriter { flags: vec![State::default()], edits: Vec::new() })
        .map_err(|refusal| at(&pattern, refusal.offset, refusal.message))?;
    let text = format!(r"\A(?:{})\z", applied(&pattern, edits));
    let ast = Parser::new().parse(&text).map_err(|error| error.kind().to_string())?;
    Translator::new().translate(&text, &ast).map_err(|error| error.kind().to_string())
}

/// Parses a pattern. Rewrites what only Java accepts to the form of `regex-syntax`.
fn parse_adapted(mut pattern: String) -> Result<(String, Ast), String> {
    loop {
        let error = match Parser::new().parse(&pattern) {
            Ok(ast) => return Ok((pattern, ast)),
            Err(error) => error,
        };
        let span = error.span().start.offset..error.span().end.offset;
        match (error.kind(), &pattern[span.clone()]) {
            // `[\w-.]`: the dash is literal.
            (ErrorKind::ClassRangeLiteral, _) if pattern[span.end..].starts_with('-') => {
                pattern.insert(span.end, '\\');
            }
            (ErrorKind::ClassEscapeInvalid, r"\<" | r"\>") => drop(pattern.drain(span.start..=span.start)),
            (ErrorKind::EscapeUnrecognized, r"\e") => pattern.replace_range(span, r"\x1B"),
            (kind, _) => return Err(at(&pattern, span.start, &kind.to_string())),
        }
    }
}

fn at(pattern: &str, offset: usize, message: &str) -> String {
    format!("{message} at position {}", pattern[..offset].chars().count() + 1)
}

fn applied(pattern: &str, edits: Vec<(Range<usize>, String)>) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut done = 0;
    for (range, replacement) in edits {
        text.push_str(&pattern[done..range.start]);
        text.push_str(&replacement);
        done = range.end;
    }
    text.push_str(&pattern[done..]);
    text
}

struct Refusal {
    offset: usize,
    message: &'static str,
}

fn refuse(span: &Span, message: &'static str) -> Result<(), Refusal> {
    Err(Refusal { offset: span.start.offset, message })
}

#[derive(Clone, Copy, Default)]
struct State {
    dot_all: bool,
}

/// Rejects constructs that Java lacks or interprets differently, and collects replacements in the order of the pattern.
struct Rewriter {
    /// Flags of the open groups, outermost first.
    flags: Vec<State>,
    edits: Vec<(Range<usize>, String)>,
}

impl Rewriter {
    fn replace(&mut self, span: &Span, text: impl Into<String>) -> Result<(), Refusal> {
        self.edits.push((span.start.offset..span.end.offset, text.into()));
        Ok(())
    }

    fn state(&mut self) -> &mut State {
        self.flags.last_mut().expect("the outermost group is never closed")
    }

    /// Sets flags in the innermost group.
    fn set(&mut self, flags: &Flags) -> Result<(), Refusal> {
        for item in &flags.items {
            match item.kind {
                FlagsItemKind::Flag(Flag::CaseInsensitive) => {}
                FlagsItemKind::Flag(Flag::DotMatchesNewLine) => self.state().dot_all = true,
                _ => return refuse(&item.span, "flags other than i and s are not supported"),
            }
        }
        Ok(())
    }

    fn assertion(&mut self, assertion: &ast::Assertion) -> Result<(), Refusal> {
        let span = &assertion.span;
        match assertion.kind {
            AssertionKind::WordBoundary => self.replace(span, r"(?-u:\b)"),
            AssertionKind::NotWordBoundary => self.replace(span, r"(?-u:\B)"),
            AssertionKind::WordBoundaryStartAngle => self.replace(span, "<"),
            AssertionKind::WordBoundaryEndAngle => self.replace(span, ">"),
            AssertionKind::StartLine | AssertionKind::EndLine | AssertionKind::StartText | AssertionKind::EndText => {
                Ok(())
            }
            _ => refuse(span, "this boundary is not supported"),
        }
    }

    fn repetition(&self, repetition: &ast::Repetition) -> Result<(), Refusal> {
        if let Ast::Repetition(inner) = &*repetition.ast {
            let possessive = repetition.op.kind == RepetitionKind::OneOrMore && inner.greedy;
            let message = if possessive {
                "possessive quantifiers are not supported"
            } else {
                "a quantifier follows a quantifier"
            };
            return refuse(&repetition.op.span, message);
        }
        let largest = match repetition.op.kind {
            RepetitionKind::Range(
                RepetitionRange::Exactly(bound) | RepetitionRange::AtLeast(bound) | RepetitionRange::Bounded(_, bound),
            ) => bound,
            _ => 0,
        };
        if largest > MAX_REPETITIONS {
            return refuse(&repetition.op.span, "a bound is larger than 1000");
        }
        Ok(())
    }
}

impl ast::Visitor for Rewriter {
    type Output = Vec<(Range<usize>, String)>;
    type Err = Refusal;

    fn finish(self) -> Result<Self::Output, Refusal> {
        Ok(self.edits)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Refusal> {
        match ast {
            Ast::Dot(span) => {
                let dot = if self.state().dot_all { "(?s:.)" } else { ANY_IN_LINE };
                self.replace(span, dot)
            }
            Ast::Assertion(assertion) => self.assertion(assertion),
            Ast::ClassPerl(class) => self.replace(&class.span, format!("(?-i:[{}])", ascii_class(class))),
            Ast::ClassUnicode(class) => refuse(&class.span, r"\p is not supported"),
            Ast::Literal(one) => check_literal(one),
            Ast::Repetition(repetition) => self.repetition(repetition),
            Ast::Flags(set) => self.set(&set.flags),
            Ast::Group(group) => {
                let outer = *self.state();
                self.flags.push(outer);
                match &group.kind {
                    GroupKind::CaptureIndex(_) => Ok(()),
                    GroupKind::CaptureName { name, .. } => refuse(&name.span, "named groups are not supported"),
                    GroupKind::NonCapturing(flags) => self.set(flags),
                }
            }
            _ => Ok(()),
        }
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), Refusal> {
        if matches!(ast, Ast::Group(_)) {
            self.flags.pop();
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Refusal> {
        match item {
            ClassSetItem::Perl(class) => self.replace(&class.span, format!("[{}]", ascii_class(class))),
            ClassSetItem::Literal(one) => check_literal(one),
            ClassSetItem::Range(range) => check_literal(&range.start).and_then(|()| check_literal(&range.end)),
            ClassSetItem::Unicode(class) => refuse(&class.span, r"\p is not supported"),
            ClassSetItem::Ascii(class) => refuse(&class.span, "POSIX classes are not supported"),
            _ => Ok(()),
        }
    }

    fn visit_class_set_binary_op_pre(&mut self, operation: &ClassSetBinaryOp) -> Result<(), Refusal> {
        refuse(&operation.span, "operations on character classes are not supported")
    }
}

/// Returns the bracket content for `\d`, `\s` and `\w`, which are ASCII in Java.
fn ascii_class(class: &ClassPerl) -> String {
    let characters = match class.kind {
        ClassPerlKind::Digit => "0-9",
        ClassPerlKind::Space => r" \t\n\x0B\f\r",
        ClassPerlKind::Word => "A-Za-z0-9_",
    };
    format!("{}{characters}", if class.negated { "^" } else { "" })
}

fn check_literal(literal: &Literal) -> Result<(), Refusal> {
    match literal.kind {
        LiteralKind::Special(SpecialLiteralKind::VerticalTab) => refuse(&literal.span, r"\v is not supported"),
        LiteralKind::HexFixed(HexLiteralKind::UnicodeLong)
        | LiteralKind::HexBrace(HexLiteralKind::UnicodeShort | HexLiteralKind::UnicodeLong) => {
            refuse(&literal.span, r"write the character as \uhhhh or \x{h..h}")
        }
        _ => Ok(()),
    }
}
