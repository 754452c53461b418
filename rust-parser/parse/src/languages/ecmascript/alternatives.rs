//! Other texts of a file that does not fit the grammar, of equal length: without the variance of type parameters
//! (`interface Box<in out T>`), and with the end of a member that stands before a call signature or generic method.

use super::newer::is_part;

/// Returns the other texts, if there are any.
pub fn alternatives(source: &[u8]) -> Vec<Vec<u8>> {
    let plain = without_variance(source);
    let separated = with_ends(source);
    let both = plain.as_deref().filter(|_| separated.is_some()).and_then(with_ends);
    [plain, separated, both].into_iter().flatten().collect()
}

/// Returns the text without `in` and `out` in front of type parameters; `None` if there are none.
fn without_variance(source: &[u8]) -> Option<Vec<u8>> {
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

/// Returns the text with `;` in front of a line that begins with `<` after what may be a type: the grammar takes it for
/// type arguments, TypeScript for the next member. `None` if there is no such line.
fn with_ends(source: &[u8]) -> Option<Vec<u8>> {
    let mut text: Option<Vec<u8>> = None;
    for at in memchr::memchr_iter(b'<', source) {
        let blanks = source[..at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let line = &source[..at - blanks];
        let before = line.strip_suffix(b"\n").map(<[u8]>::trim_ascii_end).and_then(<[u8]>::last);
        let ends_type = before.is_some_and(|byte| is_part(byte) || matches!(byte, b'>' | b']' | b')' | b'\'' | b'"'));
        if blanks > 0 && ends_type {
            text.get_or_insert_with(|| source.to_vec())[at - 1] = b';';
        }
    }
    text
}
