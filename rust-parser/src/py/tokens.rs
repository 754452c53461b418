//! `split_words`, `count_tokens`, `truncate_tokens`.

use pyo3::prelude::*;

use crate::tokens::{count_tokens, split_words, truncate_tokens};

/// Texts longer than this are worked on beside Python: to take the lock again costs more than a short text.
const SHORT_BYTES: usize = 16 << 10;

/// Run `work` on a text, without Python's lock if it may take long.
fn apart<T: Send>(py: Python<'_>, text: &str, work: impl Send + FnOnce() -> T) -> T {
    if text.len() > SHORT_BYTES { py.detach(work) } else { work() }
}

/// Words for BM25: identifiers lower-cased whole and, if they have parts, their parts after them.
#[pyfunction(name = "split_words")]
fn split_words_py(py: Python<'_>, text: &str) -> Vec<String> {
    apart(py, text, || split_words(text))
}

/// Exact number of cl100k_base tokens.
#[pyfunction(name = "count_tokens")]
fn count_tokens_py(py: Python<'_>, text: &str) -> usize {
    apart(py, text, || count_tokens(text))
}

/// The longest prefix of at most `limit` cl100k_base tokens that is valid text.
#[pyfunction(name = "truncate_tokens")]
fn truncate_tokens_py<'a>(py: Python<'_>, text: &'a str, limit: usize) -> &'a str {
    py.detach(|| truncate_tokens(text, limit))
}

/// Add this module's Python functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(split_words_py, module)?)?;
    module.add_function(wrap_pyfunction!(count_tokens_py, module)?)?;
    module.add_function(wrap_pyfunction!(truncate_tokens_py, module)?)
}
