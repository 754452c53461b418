//! Queries over a syntax tree: the patterns of a `tags.scm`, read (`sexpr`), compiled (`patterns`, with the words of
//! `vocabulary`) and matched against a flat tree (`matching`).

pub mod matching;
pub mod patterns;
pub mod sexpr;
pub mod vocabulary;
