//! Model tokens of the encoding cl100k_base.

use super::encoding::{self, Prefixes};
use super::suffix_hash::LONGEST;

/// Returns the exact number of cl100k_base tokens. The text of special tokens such as `<|endoftext|>` counts as
/// ordinary text.
pub fn count_tokens(text: &str) -> usize {
    super::cached_counts::count(text)
}

/// Returns the longest prefix of at most `limit` cl100k_base tokens that ends at a character boundary.
pub fn truncate_tokens(text: &str, limit: usize) -> &str {
    let mut left = limit;
    let mut start = 0;
    for piece in encoding::pieces(text) {
        let end = start + piece.len();
        let used = encoding::count_piece(piece.as_bytes());
        if used > left {
            return longest_within(text, start..end, limit, left);
        }
        left -= used;
        start = end;
    }
    text
}

/// Returns the longest prefix within `limit` that ends in the first piece that exceeds it; `left` tokens are left
/// before that piece.
///
/// The tokens of a piece's prefix are known without encoding it again. But a prefix can be split differently from the
/// text (white space is cut before its last character only if a word follows), so each candidate is counted as a whole.
fn longest_within(text: &str, piece: std::ops::Range<usize>, limit: usize, left: usize) -> &str {
    let mut prefixes = Prefixes::new(text[piece.clone()].as_bytes());
    let first_white = piece.start + leading_white(&text[piece.clone()]);
    let mut ends = vec![piece.start];
    for end in piece.clone().map(|at| at + 1).take((left + 1) * LONGEST) {
        let tokens = prefixes.grow();
        if text.is_char_boundary(end) && (tokens <= left || end == first_white) {
            ends.push(end);
        }
    }
    if text[piece.clone()].trim().is_empty() {
        ends.push(piece.end + leading_white(&text[piece.end..]));
    }
    let end = ends.into_iter().rev().find(|end| encoding::count(&text[..*end]) <= limit);
    &text[..end.unwrap_or(0)]
}

/// Returns the byte length of the first character if it is white space, else 0.
fn leading_white(text: &str) -> usize {
    text.chars().next().filter(|first| first.is_whitespace()).map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::{count_tokens, truncate_tokens};

    #[test]
    fn counts() {
        assert_eq!(count_tokens(""), 0);
        assert_eq!(count_tokens("hello world"), 2);
        assert_eq!(count_tokens("<|endoftext|>"), 7);
    }

    #[test]
    fn truncates_at_the_last_character_that_fits() {
        assert_eq!(truncate_tokens("hello world", 1), "hello");
        assert_eq!(truncate_tokens("hello world", 2), "hello world");
        assert_eq!(truncate_tokens("hello", 0), "");
        assert_eq!(truncate_tokens("🦀🦀🦀", 3), "🦀");
    }
}
