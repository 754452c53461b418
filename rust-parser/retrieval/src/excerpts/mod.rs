//! What is shown of source: a body in pieces (`pieces`), the lines of a piece (`text`), and how likely each piece answers a
//! question (`evidence`). `rate` does all of it for the hits of a page.

mod bodies;
mod evidence;
mod pieces;
mod text;

pub use bodies::{Body, Hit, Piece, Question, Row, borders, rate};
pub use pieces::Span;
