//! The Python face of the crate: classes and functions of `atlas._parser`, and nothing else.

pub mod link;
pub mod parse;
pub mod unit;
