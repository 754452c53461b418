//! Text to words (for BM25) and to model tokens (for answer budgets). Pure functions over text; nothing here knows files.

mod counted;
mod model;
mod words;

pub use model::{count_tokens, truncate_tokens};
pub use words::{cut, push_words, split_words};
