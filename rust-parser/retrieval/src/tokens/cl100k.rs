//! Model tokens of the encoding cl100k_base. The tables are embedded in the extension and unpacked on first use.

use bpe_openai::Tokenizer;
use bpe_openai::appendable_encoder::AppendableEncoder;

/// Longest token of cl100k_base in bytes.
const MAX_TOKEN_BYTES: usize = 128;

/// Returns the exact number of cl100k_base tokens. The text of special tokens such as `<|endoftext|>` counts as
/// ordinary text.
pub fn count_tokens(text: &str) -> usize {
    super::cached_counts::count(text)
}

/// Returns the longest prefix of at most `limit` cl100k_base tokens that ends at a character boundary.
pub fn truncate_tokens(text: &str, limit: usize) -> &str {
    let tokenizer = bpe_openai::cl100k_base();
    let mut left = limit;
    let mut start = 0;
    for piece in tokenizer.split(text) {
        let end = start + piece.len();
        let Some(used) = tokenizer.bpe.count_till_limit(piece.as_bytes(), left) else {
            return longest_within(tokenizer, text, start..end, limit, left);
        };
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
fn longest_within<'a>(
    tokenizer: &Tokenizer,
    text: &'a str,
    piece: std::ops::Range<usize>,
    limit: usize,
    left: usize,
) -> &'a str {
    let mut encoder = AppendableEncoder::new(&tokenizer.bpe);
    let first_white = piece.start + leading_white(&text[piece.clone()]);
    let mut ends = vec![piece.start];
    for (at, byte) in text[piece.clone()].bytes().enumerate().take((left + 1) * MAX_TOKEN_BYTES) {
        encoder.push(byte);
        let end = piece.start + at + 1;
        if text.is_char_boundary(end) && (encoder.token_count() <= left || end == first_white) {
            ends.push(end);
        }
    }
    if text[piece.clone()].trim().is_empty() {
        ends.push(piece.end + leading_white(&text[piece.end..]));
    }
    let end = ends.into_iter().rev().find(|end| tokenizer.count(&text[..*end]) <= limit);
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
