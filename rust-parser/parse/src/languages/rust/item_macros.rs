//! Prepares Rust source for the grammar, which sees only tokens inside `cfg_rt! { pub fn spawn() {} }`. If the braces
//! of a macro contain items, the macro's name and braces become blanks; all positions stay.

use std::borrow::Cow;

use crate::languages::rust::lexer::{is_word, next_token};

/// Words that start an item or precede the word that does.
const ITEM_WORDS: [&[u8]; 16] = [
    b"pub",
    b"fn",
    b"mod",
    b"use",
    b"struct",
    b"enum",
    b"union",
    b"impl",
    b"trait",
    b"const",
    b"static",
    b"type",
    b"async",
    b"unsafe",
    b"extern",
    b"macro_rules",
];

/// Returns the text with the names and braces of macros around items blanked.
pub fn without_item_macros(source: &[u8]) -> Cow<'_, [u8]> {
    if !source.contains(&b'!') {
        return Cow::Borrowed(source);
    }
    let mut reader = Reader { source, at: 0, frames: vec![Frame::items(None)], blanks: Vec::new() };
    reader.run();
    if reader.blanks.is_empty() {
        return Cow::Borrowed(source);
    }
    let mut text = source.to_vec();
    for (start, end, sign) in reader.blanks {
        for byte in text[start..end].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            *byte = sign;
        }
    }
    Cow::Owned(text)
}

/// The content of a pair of braces.
struct Frame {
    holds_items: bool,
    /// For a macro around items: the number of blanks before it.
    blanks_before: Option<usize>,
    /// The current item.
    item: Item,
}

#[derive(Default)]
struct Item {
    has_begun: bool,
    /// The keyword that determines the kind of the item.
    word: &'static [u8],
    parentheses: u32,
}

impl Frame {
    fn items(blanks_before: Option<usize>) -> Frame {
        Frame { holds_items: true, blanks_before, item: Item::default() }
    }

    fn other() -> Frame {
        Frame { holds_items: false, blanks_before: None, item: Item::default() }
    }
}

struct Reader<'a> {
    source: &'a [u8],
    at: usize,
    frames: Vec<Frame>,
    /// Ranges of macro names and closing braces, with the byte that replaces them.
    blanks: Vec<(usize, usize, u8)>,
}

impl<'a> Reader<'a> {
    fn run(&mut self) {
        while let Some((start, end)) = self.token() {
            self.at = end;
            let first = self.source[start];
            match first {
                b'{' => self.open(),
                b'}' => self.close(start),
                _ if self.top().holds_items => self.item_token(start, end),
                _ => {}
            }
        }
        // A macro without a closing brace stays unchanged.
        let open = self.frames.iter().find_map(|frame| frame.blanks_before);
        self.blanks.truncate(open.unwrap_or(self.blanks.len()));
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the frame of the file")
    }

    fn open(&mut self) {
        let frame = self.top();
        let has_items = frame.holds_items && matches!(frame.item.word, b"mod" | b"impl" | b"trait");
        self.frames.push(if has_items { Frame::items(None) } else { Frame::other() });
    }

    fn close(&mut self, at: usize) {
        if self.frames.len() == 1 {
            return;
        }
        let closed = self.frames.pop().expect("more than one frame");
        if closed.blanks_before.is_some() {
            // `thread_local!` needs no semicolon after its last item.
            let is_open = matches!(closed.item.word, b"static" | b"const");
            self.blanks.push((at, at + 1, if is_open { b';' } else { b' ' }));
        }
        let item = &mut self.top().item;
        if !matches!(item.word, b"use" | b"const" | b"static" | b"type") && item.parentheses == 0 {
            *item = Item::default();
        }
    }

    fn item_token(&mut self, start: usize, end: usize) {
        let text = &self.source[start..end];
        if !self.top().item.has_begun {
            if self.is_attribute(text) {
                return;
            }
            if let Some(body) = self.macro_body(end) {
                let blanks_before = self.blanks.len();
                self.blanks.push((start, body, b' '));
                self.frames.push(Frame::items(Some(blanks_before)));
                self.at = body;
                return;
            }
            if text != b";" && !self.may_begin(start, end) {
                self.give_up();
                return;
            }
        }
        let item = &mut self.top().item;
        item.has_begun = true;
        match text {
            b"(" | b"[" => item.parentheses += 1,
            b")" | b"]" => item.parentheses = item.parentheses.saturating_sub(1),
            b";" if item.parentheses == 0 => *item = Item::default(),
            _ if item.word.is_empty() || item.word == b"const" => {
                if let Some(word) = ITEM_WORDS.iter().find(|word| **word == text && is_decisive(word)) {
                    item.word = word;
                }
            }
            _ => {}
        }
    }

    /// Skips `#[...]` and `#![...]`. Returns whether there was one.
    fn is_attribute(&mut self, text: &[u8]) -> bool {
        if text != b"#" {
            return false;
        }
        let mut depth = 0_u32;
        while let Some((start, end)) = self.token() {
            self.at = end;
            match self.source[start] {
                b'[' => depth += 1,
                b']' => depth = depth.saturating_sub(1),
                b'!' => continue,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        true
    }

    /// Returns the start of a macro's braced content after the macro's name, if the content starts like an item.
    fn macro_body(&mut self, end: usize) -> Option<usize> {
        let before = std::mem::replace(&mut self.at, end);
        let body = self.braces_after_mark();
        let is_item = body.is_some_and(|body| {
            self.at = body;
            self.begins_item()
        });
        self.at = before;
        body.filter(|_| is_item)
    }

    /// Matches `!{`, also after further segments of a path.
    fn braces_after_mark(&mut self) -> Option<usize> {
        loop {
            let (start, end) = self.token()?;
            self.at = end;
            match &self.source[start..end] {
                b":" => {}
                b"!" => break,
                text if is_word(text) => {
                    // A segment after `::`; a second word without `::` is not part of the path.
                    if !self.source[..start].trim_ascii_end().ends_with(b":") {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        let (start, end) = self.token()?;
        (self.source[start] == b'{').then_some(end)
    }

    fn begins_item(&mut self) -> bool {
        while let Some((start, end)) = self.token() {
            self.at = end;
            let text = &self.source[start..end];
            if self.is_attribute(text) {
                continue;
            }
            return self.may_begin(start, end) || self.macro_body(end).is_some();
        }
        false
    }

    /// Returns whether a word starts a Rust item, rather than belonging to the macro's own syntax (`static ref`,
    /// `struct A: u8`).
    fn may_begin(&mut self, start: usize, end: usize) -> bool {
        let text = &self.source[start..end];
        let before = std::mem::replace(&mut self.at, end);
        let mut next = || {
            let found = self.token()?;
            self.at = found.1;
            Some(&self.source[found.0..found.1])
        };
        let (second, third) = (next(), next());
        self.at = before;
        match text {
            b"static" => second != Some(b"ref"),
            b"struct" | b"enum" => third != Some(b":"),
            b"pub" if second == Some(b"static") => third != Some(b"ref"),
            b"pub" => second.is_some_and(|second| second == b"(" || ITEM_WORDS.contains(&second)),
            text if ITEM_WORDS.contains(&text) => true,
            text => is_word(text) && matches!(second, Some(b"!" | b":")),
        }
    }

    /// Leaves the enclosing macro unchanged: its content is not Rust items.
    fn give_up(&mut self) {
        let frame = self.top();
        if let Some(before) = frame.blanks_before.take() {
            frame.holds_items = false;
            self.blanks.truncate(before);
        } else {
            frame.item.has_begun = true;
        }
    }

    /// Returns the byte range of the next token.
    fn token(&self) -> Option<(usize, usize)> {
        next_token(self.source, self.at)
    }
}

fn is_decisive(word: &[u8]) -> bool {
    !matches!(word, b"pub" | b"async" | b"unsafe" | b"extern")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        String::from_utf8(without_item_macros(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn a_macro_around_items_is_blank() {
        let text = "cfg_rt! {\n    /// Spawns {\n    pub fn spawn() { \"}\"; '}'; }\n}\nfn after() {}\n";
        let expected = "         \n    /// Spawns {\n    pub fn spawn() { \"}\"; '}'; }\n \nfn after() {}\n";
        assert_eq!(read(text), expected);
    }

    #[test]
    fn in_modules_impls_and_other_macros() {
        let text = "impl A<'a> { crate::cfg! { fn a() {} } }\nmod m { outer! { inner! { use a::{b}; } } }";
        let expected = "impl A<'a> {               fn a() {}   }\nmod m {                   use a::{b};     }";
        assert_eq!(read(text), expected);
    }

    #[test]
    fn the_last_semicolon_is_added() {
        let text = "thread_local! { static A: B = const { B { c: 1 } } }";
        assert_eq!(read(text), "                static A: B = const { B { c: 1 } } ;");
    }

    #[test]
    fn other_macros_stay() {
        for text in [
            "macro_rules! m { (fn) => { fn a() {} } }",
            "lazy_static! { static ref A: u8 = 1; }",
            "bitflags! { struct A: u8 { const B = 1; } }",
            "fn f() { cfg! { fn a() {} } }",
            "cfg_if! { if #[cfg(a)] { fn a() {} } }",
            "table! { fn a() {} users (id) { } }",
            "mock! { pub File { fn a(); } }",
            "open! { fn a() {}",
            "const A: [u8; 2] = m! { fn a() {} };",
        ] {
            assert_eq!(read(text), text);
        }
    }
}
