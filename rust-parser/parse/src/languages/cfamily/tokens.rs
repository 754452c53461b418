//! Tokens of C and C++ outside of comments and preprocessor lines, as far as the search for macros needs them.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    Text,
    Sign,
}

#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
    /// Line breaks between the token before and this one.
    pub breaks: u32,
}

/// Signs of two bytes that are one token.
const PAIRS: &[&[u8; 2]] = &[b"::", b"==", b"!=", b"<=", b">=", b"&&", b"->", b"||"];

/// Returns all tokens.
pub fn tokens(source: &[u8]) -> Vec<Token> {
    let mut found = Vec::with_capacity(source.len() / 6);
    let mut at = 0;
    let mut breaks = 1;
    while at < source.len() {
        let rest = &source[at..];
        let byte = rest[0];
        if byte == b'\n' {
            breaks += 1;
        }
        let (length, kind) = match byte {
            b'#' if breaks > 0 => {
                breaks += 1;
                (directive(rest), None)
            }
            b'/' if rest.starts_with(b"//") => (to_line_end(rest), None),
            b'/' if rest.starts_with(b"/*") => {
                let length = find(rest, b"*/");
                breaks += u32::from(rest[..length].contains(&b'\n'));
                (length, None)
            }
            b'R' if rest.starts_with(b"R\"") => (raw_string(rest), Some(Kind::Text)),
            b'"' | b'\'' => (literal(rest), Some(Kind::Text)),
            _ if is_word(byte) => (rest.iter().take_while(|byte| is_word(**byte)).count(), Some(Kind::Word)),
            _ if byte.is_ascii_whitespace() => (1, None),
            _ if PAIRS.iter().any(|pair| rest.starts_with(*pair)) => (2, Some(Kind::Sign)),
            _ => (1, Some(Kind::Sign)),
        };
        if let Some(kind) = kind {
            found.push(Token { start: at, end: at + length, kind, breaks });
            breaks = 0;
        }
        at += length;
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn to_line_end(rest: &[u8]) -> usize {
    memchr::memchr(b'\n', rest).unwrap_or(rest.len())
}

/// Returns the length of `R"delimiter( ... )delimiter"`.
fn raw_string(rest: &[u8]) -> usize {
    let Some(open) = rest.iter().take(20).position(|&byte| byte == b'(') else {
        return 1;
    };
    let mut end = vec![b')'];
    end.extend_from_slice(&rest[2..open]);
    end.push(b'"');
    memchr::memmem::find(rest, &end).map_or(rest.len(), |at| at + end.len())
}

/// Returns the length up to the end of a delimiter, or of the text.
pub fn find(rest: &[u8], mark: &[u8]) -> usize {
    memchr::memmem::find(&rest[1..], mark).map_or(rest.len(), |at| at + 1 + mark.len())
}

/// Returns the length of a string or character literal on one line.
pub fn literal(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == rest[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

/// Returns the length of a preprocessor line with its continuation lines.
pub fn directive(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(end) = rest[at..].iter().position(|&byte| byte == b'\n') {
        let line = rest[at..at + end].trim_ascii_end();
        at += end + 1;
        if !line.ends_with(b"\\") {
            return at;
        }
    }
    rest.len()
}
