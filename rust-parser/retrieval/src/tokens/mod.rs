//! Splits text into words and word stems (for BM25) and counts model tokens (for answer budgets). Pure functions over text.

mod cached_counts;
mod cl100k;
mod encoding;
mod stems;
mod suffix_hash;
mod words;

pub use cl100k::{count_tokens, truncate_tokens};
pub use stems::{push_name, push_stems};
pub use words::{cut, cut_bytes, is_in_word, push_words, split_words};
