//! Queries over a syntax tree. `sexpr` reads the patterns of a `tags.scm`, `patterns` compiles them with the words of
//! `vocabulary`, and `matching` matches them against a flat tree.

pub mod matching;
pub mod patterns;
pub mod sexpr;
pub mod vocabulary;
