//! Blanks the variance of type parameters (`interface Box<in out T>`), which the grammar does not know.

/// Returns the text without `in` and `out` in front of type parameters; `None` if there are none.
pub fn without_variance(source: &[u8]) -> Option<Vec<u8>> {
    let mut text: Option<Vec<u8>> = None;
    for word in [&b"out "[..], b"in "] {
        for at in memchr::memmem::find_iter(source, word) {
            let before = source[..at].trim_ascii_end();
            let before = before.strip_suffix(b"in").map_or(before, <[u8]>::trim_ascii_end);
            let starts = matches!(before.last(), Some(b'<' | b','));
            let next = source[at + word.len()..].trim_ascii_start().first();
            if starts && next.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$')) {
                let text = text.get_or_insert_with(|| source.to_vec());
                text[at..at + word.len()].fill(b' ');
            }
        }
    }
    text
}
