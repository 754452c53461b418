//! The procedures that a description by Protocol Buffers declares: `rpc` in `service`, in the order of the file.
//!
//! One pass over the tokens: nothing else of the language matters, and no text is read twice.

use std::iter::Peekable;

use rustc_hash::FxHashSet;

use crate::facts_builder::FactsBuilder;
use atlas_facts::{Detection, DetectionKind, Handler};

/// Largest number of procedures of a file.
const MAX_FOUND: usize = 2000;
/// Longest name, in bytes.
const MAX_NAME: usize = 200;

/// A declared procedure.
#[derive(Debug, PartialEq, Eq)]
struct Procedure {
    /// The path by which it is called: `/package.Service/Method`.
    path: String,
    line: u32,
}

/// Records the procedures as routes with the path that their calls have on the wire.
pub fn record(builder: &mut FactsBuilder, source: &[u8]) {
    for Procedure { path, line } in procedures(source) {
        let detection = Detection {
            kind: DetectionKind::Route,
            framework: builder.owned_name("grpc".to_owned()),
            scope: 0,
            line,
            receiver: None,
            holder: (0, 0),
            packages: 0,
            receivers: 0,
            methods: builder.owned_name("RPC".to_owned()),
            path: builder.owned_name(path),
            handler: Handler::None,
            child: Handler::None,
            replaces: false,
        };
        builder.facts.detections.push(detection);
    }
}

fn procedures(source: &[u8]) -> Vec<Procedure> {
    let mut found: Vec<Procedure> = Vec::new();
    let mut known: FxHashSet<String> = FxHashSet::default();
    let source = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source); // a byte order mark
    let mut tokens = Tokens { source, at: 0, line: 1 }.peekable();
    let mut package = "";
    // The service that is read, and the blocks around the token.
    let (mut service, mut depth) = (None, 0_usize);
    let mut begins = true;
    while let Some((token, _)) = tokens.next() {
        match token {
            Token::Name("package") if begins && depth == 0 => {
                package = next_name(&mut tokens).map_or("", |(name, _)| name.trim_matches('.'));
            }
            Token::Name("service") if begins && depth == 0 => service = next_name(&mut tokens).map(|(name, _)| name),
            Token::Name("rpc") if begins && depth == 1 => {
                if let (Some(service), Some((method, line))) = (service, next_name(&mut tokens)) {
                    let before = if package.is_empty() { "" } else { "." };
                    let path = format!("/{package}{before}{service}/{method}");
                    if known.insert(path.clone()) {
                        found.push(Procedure { path, line });
                    }
                    if found.len() == MAX_FOUND {
                        return found;
                    }
                }
            }
            Token::Mark(b'{') => depth += 1,
            Token::Mark(b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    service = None;
                }
            }
            _ => {}
        }
        begins = matches!(token, Token::Mark(b'{' | b'}' | b';'));
    }
    found
}

/// Returns the name that comes next, and its line.
fn next_name<'s>(tokens: &mut Peekable<Tokens<'s>>) -> Option<(&'s str, u32)> {
    match *tokens.peek()? {
        (Token::Name(name), line) => Some((name, line)),
        (Token::Mark(_), _) => None,
    }
}

#[derive(Clone, Copy)]
enum Token<'s> {
    /// A name with its dots.
    Name(&'s str),
    Mark(u8),
}

/// The tokens of a text with their lines, without blanks and comments; a string is its mark.
struct Tokens<'s> {
    source: &'s [u8],
    at: usize,
    line: u32,
}

impl Tokens<'_> {
    /// Moves to a position, and counts the lines before it.
    fn skip_to(&mut self, end: usize) {
        self.line += memchr::memchr_iter(b'\n', &self.source[self.at..end]).count() as u32;
        self.at = end;
    }

    /// Returns the position behind a string that begins here; it ends with its line.
    fn end_of_string(&self, quote: u8) -> usize {
        let mut at = self.at + 1;
        while at < self.source.len() {
            match self.source[at] {
                b'\\' => at += 1,
                b'\n' => return at,
                byte if byte == quote => return at + 1,
                _ => {}
            }
            at += 1;
        }
        self.source.len()
    }
}

impl<'s> Iterator for Tokens<'s> {
    type Item = (Token<'s>, u32);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = &self.source[self.at..];
            let end = |found: Option<usize>, more: usize| found.map_or(self.source.len(), |end| self.at + end + more);
            match *rest.first()? {
                b'/' if rest.starts_with(b"//") => self.skip_to(end(memchr::memchr(b'\n', rest), 0)),
                b'/' if rest.starts_with(b"/*") => {
                    let close = rest[2..].windows(2).position(|pair| pair == b"*/");
                    self.skip_to(end(close, 4));
                }
                quote @ (b'"' | b'\'') => {
                    let line = self.line;
                    self.skip_to(self.end_of_string(quote));
                    return Some((Token::Mark(quote), line));
                }
                byte if is_part(byte) => {
                    let length = rest.iter().position(|&byte| !is_part(byte)).unwrap_or(rest.len());
                    self.at += length;
                    match std::str::from_utf8(&rest[..length]) {
                        Ok(name) if length <= MAX_NAME => return Some((Token::Name(name), self.line)),
                        _ => return Some((Token::Mark(b'?'), self.line)),
                    }
                }
                byte if byte.is_ascii_whitespace() => self.skip_to(self.at + 1),
                byte => {
                    self.at += 1;
                    return Some((Token::Mark(byte), self.line));
                }
            }
        }
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::procedures;

    fn found(text: &str) -> Vec<(String, u32)> {
        procedures(text.as_bytes()).into_iter().map(|one| (one.path, one.line)).collect()
    }

    #[test]
    fn procedures_of_services_are_found() {
        let text = "syntax = \"proto3\"; // service X { rpc No (A) returns (B); }\npackage shop.v1;\n/* rpc\n*/\n\
            message Cart { string rpc = 1; message service { int32 rpc = 2; } }\n\
            service Carts {\n  option (x) = \"}\";\n  rpc Get (Key) returns (Cart) {\n    option (http) = { get: \"/a\" };\n  }\n\
            \n  rpc\n    Put(stream Cart) returns (stream Key);\n}\nservice Late { rpc Get(.shop.v1.Key) returns (Cart); }\n";
        let expected = [("/shop.v1.Carts/Get", 8), ("/shop.v1.Carts/Put", 13), ("/shop.v1.Late/Get", 15)];
        assert_eq!(found(text), expected.map(|(path, line)| (path.to_owned(), line)));
        assert_eq!(found("\u{feff}service A { rpc B (C) returns (D); }"), [("/A/B".to_owned(), 1)]);
    }

    #[test]
    fn damaged_texts_end() {
        assert_eq!(found("service A { rpc \"B\" rpc"), []);
        assert_eq!(found("service { rpc B(C) returns (D);"), []);
        assert_eq!(found("} } service A { rpc B(C) /* never closed"), [("/A/B".to_owned(), 1)]);
    }
}
