//! The Python functions `split_words`, `stem_words`, `count_tokens` and `truncate_tokens`.

use pyo3::prelude::*;

use atlas_retrieval::tokens::{count_tokens, push_stems, split_words, truncate_tokens};

/// Longest text, in bytes, that is processed with the GIL held: for a short text, releasing and reacquiring the GIL
/// costs more than the work.
const SHORT_BYTES: usize = 16 << 10;

/// Runs `work` on a text, without the GIL if the text is long.
fn detach_if_long<T: Send>(py: Python<'_>, text: &str, work: impl Send + FnOnce() -> T) -> T {
    if text.len() > SHORT_BYTES { py.detach(work) } else { work() }
}

/// Returns the words of a text for BM25: each identifier in lower case, followed by its parts if it has several.
#[pyfunction(name = "split_words")]
fn split_words_py(py: Python<'_>, text: &str) -> Vec<String> {
    detach_if_long(py, text, || split_words(text))
}

/// Returns the stems of the words of English prose, without stop words, separated by spaces.
#[pyfunction(name = "stem_words")]
fn stem_words_py(py: Python<'_>, text: &str) -> String {
    detach_if_long(py, text, || {
        let mut stems = String::new();
        push_stems(text, &mut stems);
        stems.truncate(stems.trim_end().len());
        stems
    })
}

/// Returns the exact number of cl100k_base tokens.
#[pyfunction(name = "count_tokens")]
fn count_tokens_py(py: Python<'_>, text: &str) -> usize {
    detach_if_long(py, text, || count_tokens(text))
}

/// Returns the longest valid UTF-8 prefix of at most `limit` cl100k_base tokens.
#[pyfunction(name = "truncate_tokens")]
fn truncate_tokens_py<'a>(py: Python<'_>, text: &'a str, limit: usize) -> &'a str {
    py.detach(|| truncate_tokens(text, limit))
}

/// Adds the functions of this file to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(split_words_py, module)?)?;
    module.add_function(wrap_pyfunction!(stem_words_py, module)?)?;
    module.add_function(wrap_pyfunction!(count_tokens_py, module)?)?;
    module.add_function(wrap_pyfunction!(truncate_tokens_py, module)?)
}
