//! From a text to its syntax tree, within limits of time and memory.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::deadline::Deadline;
use atlas_sys::tree_memory::requested_bytes;

/// Time between two readings of the deadline's clock, which are system calls.
const CLOCK_INTERVAL: Duration = Duration::from_millis(1);
/// Bytes that the parser is given at a time. It asks for more in the middle of its longest steps: the skip of an error
/// is one step, in which a scanner may read the rest of the text at every byte.
const CHUNK: usize = 1 << 14;
/// Most bytes that the parser may request for one tree; a file of 1 MiB needs some 200 MB.
const MOST_BYTES: u64 = 1 << 30;
/// Most brackets that may be open at a time. At the end of a text, the parser makes a root from all that is on its
/// ambiguous stack, up to 64 times.
const MOST_OPEN: usize = 50_000;
thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(new_parser());
}

/// Parses with this thread's parser. Returns `None` when the deadline passes, the parser wants too much memory, or too
/// many brackets are open at a time.
pub fn syntax_tree(grammar: &tree_sitter::Language, data: &[u8], deadline: Deadline) -> Option<Tree> {
    if is_too_deep(data) {
        return None;
    }
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(grammar).ok()?;
        let limits = Limits::new(deadline);
        let mut progress =
            |_: &ParseState| if limits.are_exceeded() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let options = ParseOptions::new().progress_callback(&mut progress);
        // An empty chunk is the end of the text, so that the current step ends soon; its tree is not used.
        let mut read = |at: usize, _| {
            let end = if limits.are_exceeded() { at } else { data.len().min(at.saturating_add(CHUNK)) };
            data.get(at..end).unwrap_or_default()
        };
        let tree = parser.parse_with_options(&mut read, None, Some(options)).filter(|_| !limits.are_exceeded());
        if tree.is_none() {
            parser.reset();
        }
        tree
    })
}

/// Returns whether more brackets are open at one place than a parser may see, whatever they mean there.
fn is_too_deep(data: &[u8]) -> bool {
    if data.len() <= MOST_OPEN {
        return false;
    }
    let mut open = 0_usize;
    let mut before = 0_u8;
    for (at, &byte) in data.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            // not a shift, a comparison or a here-document
            b'<' if before != b'<' && !matches!(data.get(at + 1), Some(b'<' | b'=')) => open += 1,
            b')' | b']' | b'}' | b'>' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MOST_OPEN {
            return true;
        }
        before = byte;
    }
    false
}

/// The limits of one parse, which stay exceeded once they are.
struct Limits {
    deadline: Deadline,
    start: u64,
    checked: Cell<Instant>,
    exceeded: Cell<bool>,
}

impl Limits {
    fn new(deadline: Deadline) -> Self {
        Limits { deadline, start: requested_bytes(), checked: Cell::new(Instant::now()), exceeded: Cell::new(false) }
    }

    fn are_exceeded(&self) -> bool {
        let now = Instant::now();
        if !self.exceeded.get() && now - self.checked.get() >= CLOCK_INTERVAL {
            self.checked.set(now);
            self.exceeded.set(self.deadline.has_passed());
        }
        self.exceeded.get() || requested_bytes() - self.start > MOST_BYTES
    }
}

/// Drops this thread's parser, which a panic may have left in the middle of a text.
pub fn forget_parser() {
    PARSER.replace(new_parser());
}

fn new_parser() -> Parser {
    // counting begins before anything is allocated
    requested_bytes();
    Parser::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_and_closed_brackets_do_not_nest() {
        assert!(!is_too_deep("a = 1 << 2;\n".repeat(MOST_OPEN).as_bytes()));
        assert!(!is_too_deep("if (a <= b) { c[0] = d<E>; }\n".repeat(MOST_OPEN).as_bytes()));
        for opening in ["(", "f(x=>{", "a<", "[{"] {
            assert!(is_too_deep(opening.repeat(2 * MOST_OPEN).as_bytes()), "{opening}");
        }
    }
}
