//! Text to words (for BM25) and to model tokens (for answer budgets). Pure functions over text; nothing here knows files.

mod cached_counts;
mod cl100k;
mod words;

pub use cl100k::{count_tokens, truncate_tokens};
pub use words::{cut, push_words, split_words};
