//! The tokens of Rust source text: where the next token starts and how long it is. Skips white space and comments, and
//! reads a string, character or raw string literal as one token.

/// Returns the byte range of the next token at or after `at`, or `None` at the end of the source. White space and
/// comments are skipped; a literal is one token.
pub fn next_token(source: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = token_start(source, at)?;
    Some((start, start + token_length(&source[start..])))
}

/// Returns whether a token is an identifier or keyword.
pub fn is_word(text: &[u8]) -> bool {
    text.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// Skips white space and comments.
fn token_start(source: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = source.get(at..).filter(|rest| !rest.is_empty())?;
        if rest[0].is_ascii_whitespace() {
            at += 1;
        } else if rest.starts_with(b"//") {
            at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            at += comment_length(rest);
        } else {
            return Some(at);
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn token_length(rest: &[u8]) -> usize {
    let word = rest.iter().take_while(|&&byte| is_word_byte(byte)).count();
    let after = &rest[word..];
    if matches!(&rest[..word], b"" | b"b" | b"c") && after.starts_with(b"\"") {
        return word + quoted_length(after, b'"');
    }
    if matches!(&rest[..word], b"r" | b"br" | b"cr") {
        let marks = after.iter().take_while(|&&byte| byte == b'#').count();
        if after.get(marks) == Some(&b'"') {
            let ending: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', marks)).collect();
            let body = &after[marks + 1..];
            let length = body.windows(ending.len()).position(|part| part == ending);
            return length.map_or(rest.len(), |length| word + marks + 1 + length + ending.len());
        }
    }
    if matches!(&rest[..word], b"" | b"b") && after.starts_with(b"'") {
        // A character literal or a lifetime.
        let is_character = after.get(1) == Some(&b'\\') || {
            let name = after[1..].iter().take_while(|&&byte| is_word_byte(byte)).count().max(1);
            let is_one = name == 1 || after.get(1).is_some_and(|&byte| byte >= 0x80);
            is_one && after.get(1 + name) == Some(&b'\'')
        };
        return word + if is_character { quoted_length(after, b'\'') } else { 1 };
    }
    word.max(1)
}

/// Returns the length of a block comment, which may be nested.
fn comment_length(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_u32, 0);
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}
