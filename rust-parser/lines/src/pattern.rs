//! What is searched for, compiled within limits of size and nesting.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// Bytes of a compiled expression, and of the states that matching may add.
const MAX_COMPILED: usize = 10 << 20;
const MAX_NESTED: u32 = 100;

/// A compiled pattern that matches within one line.
#[derive(Debug, Clone)]
pub struct Pattern(pub(crate) RegexMatcher);

/// Why an expression is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    pub message: String,
    /// The character where it begins to be, from 1; None for a problem of the whole expression.
    pub at: Option<usize>,
}

impl Pattern {
    /// Compiles texts, any of which is searched for as it stands.
    ///
    /// # Errors
    /// For a text with a line break, and for texts that are too long.
    pub fn exact(texts: &[String]) -> Result<Self, PatternError> {
        builder().fixed_strings(true).build_many(texts).map(Self).map_err(|error| whole(&error))
    }

    /// Compiles a regular expression in the syntax of the crate `regex`.
    ///
    /// # Errors
    /// For a syntax error, a line break in the expression, and one that compiles to more than 10 MiB.
    pub fn regex(expression: &str) -> Result<Self, PatternError> {
        let parsed = regex_syntax::ParserBuilder::new().nest_limit(MAX_NESTED).utf8(false).build().parse(expression);
        parsed.map_err(|error| located(expression, &error))?;
        builder().build(expression).map(Self).map_err(|error| whole(&error))
    }
}

fn builder() -> RegexMatcherBuilder {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).crlf(true).nest_limit(MAX_NESTED);
    builder.size_limit(MAX_COMPILED).dfa_size_limit(MAX_COMPILED);
    builder
}

fn located(expression: &str, error: &regex_syntax::Error) -> PatternError {
    let (message, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), *error.span()),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), *error.span()),
        other => return PatternError { message: other.to_string(), at: None },
    };
    let before = expression.get(..span.start.offset).unwrap_or_default();
    PatternError { message, at: Some(before.chars().count() + 1) }
}

fn whole(error: &grep_regex::Error) -> PatternError {
    let message = match error.kind() {
        grep_regex::ErrorKind::NotAllowed(_) => "a match cannot contain a line break".to_owned(),
        _ => error.to_string().lines().last().unwrap_or_default().to_owned(),
    };
    PatternError { message, at: None }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn an_error_says_where_it_is() {
        let error = |text: &str| Pattern::regex(text).unwrap_err();
        assert_eq!(error("é(a").at, Some(2));
        assert_eq!(error("a**[").at, Some(4));
        assert_eq!(error(r"(?=a)").at, Some(1));
        assert_eq!(error(r"a\nb").at, None);
        assert!(error(r"(?:\w{1000}){1000}").message.contains("size"));
        assert!(error(&"(".repeat(5000)).at.is_some());
        assert!(Pattern::exact(&["a\nb".to_owned()]).is_err());
        assert!(Pattern::exact(&["(a".to_owned(), "b*".to_owned()]).is_ok());
    }
}
