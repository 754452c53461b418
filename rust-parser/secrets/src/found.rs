//! What the search finds: secrets, with the rule that found each.

/// The position of a secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    pub start: usize,
    pub end: usize,
    pub rule: &'static str,
    /// 1-based.
    pub line: u32,
}

/// The position of a secret, and the rule that found it.
pub type Span = (usize, usize, &'static str);

/// The error for a text that exceeds the work limit.
#[derive(Debug)]
pub struct TooMuch;
