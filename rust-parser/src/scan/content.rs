//! What a file's content says: binary, secret, generated, minified. Called with every file that is parsed, so it must be
//! fast, and it must be sure, because the file then vanishes from the index.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

const BINARY_BYTES: usize = 8 << 10;
const HEADER_BYTES: usize = 2 << 10;
/// A file whose lines have more bytes than this on average is minified.
const MINIFIED_AVERAGE: usize = 5_000;
/// A line of this many bytes is not written by hand; a file that is mostly such lines is minified.
const MINIFIED_LINE: usize = 10_000;
const MINIFIED_LANGUAGES: &[&str] = &["js", "mjs", "cjs", "css"];

/// First bytes of formats that are no text.
const MAGIC: &[&[u8]] = &[
    b"\x7fELF",
    b"\xcf\xfa\xed\xfe",
    b"\xce\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"MZ\x90\0",
    b"\0asm",
    b"PK\x03\x04",
    b"\x1f\x8b\x08",
    b"BZh91AY&SY",
    b"\xfd7zXZ\0",
    b"7z\xbc\xaf\x27\x1c",
    b"\x28\xb5\x2f\xfd",
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"%PDF-1.",
    b"SQLite format 3\0",
    b"OggS\0",
    b"!<arch>\n",
    b"\x80\x02}q",
];

const LINE_COMMENTS: &[&str] = &["#", "//", "--", ";", "%", "'"];
const BLOCK_COMMENTS: &[(&str, &str)] = &[
    ("/*", "*/"),
    ("<!--", "-->"),
    ("(*", "*)"),
    ("{-", "-}"),
    ("\"\"\"", "\"\"\""),
    ("'''", "'''"),
    ("=begin", "=end"),
];

/// How secrets with a shape of their own begin, and how many characters of which alphabet follow.
const TOKENS: &[(&str, usize, Alphabet)] = &[
    ("AKIA", 16, Alphabet::Upper),
    ("ASIA", 16, Alphabet::Upper),
    ("AIza", 35, Alphabet::Url),
    ("ghp_", 36, Alphabet::Alphanumeric),
    ("gho_", 36, Alphabet::Alphanumeric),
    ("ghu_", 36, Alphabet::Alphanumeric),
    ("ghs_", 36, Alphabet::Alphanumeric),
    ("ghr_", 36, Alphabet::Alphanumeric),
    ("github_pat_", 82, Alphabet::Url),
    ("xoxb-", 40, Alphabet::Url),
    ("xoxp-", 40, Alphabet::Url),
    ("sk_live_", 24, Alphabet::Alphanumeric),
    ("rk_live_", 24, Alphabet::Alphanumeric),
];
/// Fewer different characters than this make a token a placeholder.
const TOKEN_VARIETY: usize = 10;
const PLACEHOLDERS: &[&str] = &["EXAMPLE", "example", "ABCDEF", "abcdef", "123456", "XXXX", "xxxx", "fake", "FAKE"];

const KEY_BEGIN: &str = "-----BEGIN ";
/// A private key has at least this many base64 characters (Ed25519: 64).
const KEY_CHARACTERS: usize = 60;
/// Its lines have 64, only the last one fewer.
const KEY_LINE: usize = 48;
/// The end of a key is looked for within this many bytes.
const KEY_BYTES: usize = 16 << 10;

#[derive(Clone, Copy)]
enum Alphabet {
    Upper,
    Alphanumeric,
    Url,
}

static SECRET_STARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let starts = std::iter::once(KEY_BEGIN).chain(TOKENS.iter().map(|(start, _, _)| *start));
    AhoCorasick::new(starts).ok()
});

/// Reason why a file with this content is not indexed, or "".
pub fn check_content(path: &str, data: &[u8]) -> &'static str {
    if is_binary(data) {
        "binary"
    } else if holds_secret(data) {
        "secret"
    } else if is_generated(data) {
        "generated"
    } else if is_minified(path, data) {
        "minified"
    } else {
        ""
    }
}

/// By a known magic number, or when more than a tenth of the beginning is control characters. Source code with a stray NUL
/// is still source code; UTF-16 with its mark is text.
fn is_binary(data: &[u8]) -> bool {
    if data.starts_with(b"\xff\xfe") || data.starts_with(b"\xfe\xff") {
        return false;
    }
    let start = &data[..data.len().min(BINARY_BYTES)];
    let is_control = |byte: &&u8| (**byte < 32 && !matches!(byte, b'\t'..=b'\r' | 27)) || **byte == 127;
    MAGIC.iter().any(|magic| data.starts_with(magic)) || start.iter().filter(is_control).count() * 10 > start.len()
}

fn holds_secret(data: &[u8]) -> bool {
    let Some(starts) = SECRET_STARTS.as_ref() else { return false };
    starts.find_iter(data).any(|found| {
        let rest = &data[found.end()..];
        match found.pattern().as_usize().checked_sub(1).map(|index| TOKENS[index]) {
            None => is_private_key(rest),
            Some((_, length, alphabet)) => {
                let before = found.start().checked_sub(1).map(|at| data[at]);
                !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                    && is_token(rest, length, alphabet)
            }
        }
    })
}

/// Does a whole private key follow `-----BEGIN `? Its lines may be string literals.
fn is_private_key(rest: &[u8]) -> bool {
    let rest = &rest[..rest.len().min(KEY_BYTES)];
    let kind =
        rest.iter().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ').count();
    if !(rest[..kind].ends_with(b"PRIVATE KEY") || rest[..kind].ends_with(b"PRIVATE KEY BLOCK")) {
        return false;
    }
    let body = &rest[kind..];
    let Some(body) = body.strip_prefix(b"-----") else { return false };
    let Some(end) = body.windows(9).position(|window| window == b"-----END ") else { return false };
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    // Code between the marks has letters, too, but not in lines of this length.
    let has_line = body[..end].split(|byte| !is_base64(byte)).any(|run| run.len() >= KEY_LINE);
    has_line && body[..end].iter().filter(|byte| is_base64(byte)).count() >= KEY_CHARACTERS && varied(&body[..end])
}

fn is_token(rest: &[u8], length: usize, alphabet: Alphabet) -> bool {
    let belongs = |byte: &&u8| match alphabet {
        Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        Alphabet::Alphanumeric => byte.is_ascii_alphanumeric(),
        Alphabet::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
    };
    let found = rest.iter().take_while(belongs).count();
    let exact = matches!(alphabet, Alphabet::Upper);
    if found < length || (exact && found > length) {
        return false;
    }
    let token = &rest[..found];
    varied(token)
        && token.iter().any(u8::is_ascii_digit)
        && !PLACEHOLDERS.iter().any(|word| token.windows(word.len()).any(|window| window == word.as_bytes()))
}

fn varied(bytes: &[u8]) -> bool {
    let mut seen = [false; 256];
    bytes.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    seen.iter().filter(|seen| **seen).count() >= TOKEN_VARIETY
}

/// By a comment before the first line of code: `@generated`, `Code generated by`, `<auto-generated>`, or a warning not to
/// edit that says why.
fn is_generated(data: &[u8]) -> bool {
    let header = String::from_utf8_lossy(&data[..data.len().min(HEADER_BYTES)]);
    let (mut generated, mut warned) = (false, false);
    for line in header_comments(&header) {
        let text = line.trim_start_matches(|sign: char| !sign.is_alphanumeric() && sign != '<' && sign != '@');
        let is_sign = |sign: char| !sign.is_alphanumeric() && sign != '@' && sign != '_' && sign != '.';
        if text.starts_with("Code generated by")
            || text.starts_with("<auto-generated")
            || text.starts_with("<autogenerated")
            || text.split(is_sign).any(|word| word == "@generated")
        {
            return true;
        }
        let lower = text.to_ascii_lowercase();
        generated |= lower.contains("generated");
        warned |= lower.contains("do not edit") || lower.contains("do not modify");
    }
    generated && warned
}

/// The lines of comments (and of a docstring) before the first line of code.
fn header_comments(header: &str) -> Vec<&str> {
    let mut comments = Vec::new();
    let mut block_end = None;
    for line in header.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if let Some(end) = block_end {
            comments.push(line);
            block_end = if line.contains(end) { None } else { block_end };
        } else if let Some((start, end)) = BLOCK_COMMENTS.iter().find(|(start, _)| line.starts_with(start)) {
            comments.push(line);
            block_end = if line[start.len()..].contains(end) { None } else { Some(*end) };
        } else if LINE_COMMENTS.iter().any(|sign| line.starts_with(sign)) {
            comments.push(line);
        } else if !line.is_empty() && !line.starts_with("<?") {
            break;
        }
    }
    comments
}

/// Scripts and styles of the web only: elsewhere a long line is data that a person keeps with the code.
fn is_minified(path: &str, data: &[u8]) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    if data.len() < MINIFIED_AVERAGE || !MINIFIED_LANGUAGES.contains(&extension) {
        return false;
    }
    let (mut lines, mut in_long_lines) = (0, 0);
    for line in data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        lines += 1;
        in_long_lines += if line.len() >= MINIFIED_LINE { line.len() } else { 0 };
    }
    data.len() > lines * MINIFIED_AVERAGE || in_long_lines * 2 > data.len()
}
