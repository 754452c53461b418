//! Splits text into words (for BM25) and counts model tokens (for answer budgets). Pure functions over text.

mod cached_counts;
mod cl100k;
mod words;

pub use cl100k::{count_tokens, truncate_tokens};
pub use words::{cut, push_words, split_words};
