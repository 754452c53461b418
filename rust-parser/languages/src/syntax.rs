//! From a text to its syntax tree, within limits of time and memory.

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::deadline::Deadline;
use atlas_sys::tree_memory::requested_bytes;

/// Number of parser progress callbacks between two checks of the deadline.
const CLOCK_INTERVAL: u32 = 16;
/// Bytes requested by the parser between two callbacks that make the next one check the deadline, too.
const BUSY_BYTES: u64 = 1 << 20;
/// Most bytes that the parser may request for one tree; a file of 1 MiB needs some 200 MB.
const MOST_BYTES: u64 = 1 << 30;
thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(new_parser());
}

/// Parses with this thread's parser. Returns `None` when the deadline passes, or the parser wants too much memory.
pub fn syntax_tree(grammar: &tree_sitter::Language, data: &[u8], deadline: Deadline) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(grammar).ok()?;
        let mut calls = 0_u32;
        let start = requested_bytes();
        let mut before = start;
        let mut progress = |_: &tree_sitter::ParseState| {
            calls = calls.wrapping_add(1);
            let now = requested_bytes();
            let busy = now - before > BUSY_BYTES;
            before = now;
            if now - start > MOST_BYTES || ((busy || calls.is_multiple_of(CLOCK_INTERVAL)) && deadline.has_passed()) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut read = |at: usize, _| data.get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        tree
    })
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
