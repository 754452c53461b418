//! Rewrites modules of C++20, which the grammar does not know: `module m;`, `import m;`, `import <vector>;`, `export`.

use crate::rewriting::Edit;

/// Returns the edits of a file that declares or imports a module, in order.
pub fn edits(source: &[u8]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut is_module = false;
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', source).chain([source.len()]) {
        let line = &source[start..end];
        let indent = line.len() - line.trim_ascii_start().len();
        let at = start + indent;
        let (exported, after) = match word(source, at, end) {
            b"export" => (true, at + b"export".len()),
            _ => (false, at),
        };
        let next = after + blanks(&source[after..end]);
        let keyword = word(source, next, end);
        let name = next + keyword.len() + blanks(&source[next + keyword.len()..end]);
        let close = memchr::memchr(b';', &source[next..end]).map(|offset| next + offset + 1);
        match (keyword, close) {
            (b"import", Some(close)) if matches!(source.get(name), Some(b'<' | b'"')) => {
                is_module = true;
                edits.push(Edit { start: at, end: next + keyword.len(), with: "#include" });
                edits.push(Edit { start: close - 1, end: close, with: "" });
            }
            (b"import" | b"module", Some(close)) if is_name(&source[name..close - 1]) => {
                is_module = true;
                edits.push(Edit { start: at, end: close, with: "" });
            }
            // `export int f();`, `export {`
            _ if exported && source.get(next) == Some(&b'{') => {
                edits.push(Edit { start: at, end: after, with: "extern \"C++\"" });
            }
            _ if exported => edits.push(Edit { start: at, end: after, with: "" }),
            _ => {}
        }
        start = end + 1;
    }
    if is_module { edits } else { Vec::new() }
}

fn word(source: &[u8], start: usize, end: usize) -> &[u8] {
    let rest = &source[start..end];
    &rest[..rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()]
}

fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns whether a text is the name of a module or a partition, or nothing: `a.b`, `a:part`, `:private`.
fn is_name(text: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
    text.trim_ascii().iter().all(allowed)
}
