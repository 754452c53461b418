//! What tests reach through fixtures, set-up methods and helpers.
//!
//! `support` is a stage before the edges: it determines what the functions of test files that are no tests call, and
//! publishes it (`file_support`, `support_queries`). `reached` follows it from each test of a file, nearest first, and adds `TESTS` edges with their depth;
//! `fixtures` finds what a test asks for by name. `modules` adds the edges of test files and classes by imports and names.

pub mod file_support;
mod fixtures;
mod modules;
pub mod reached;
pub mod support;
mod support_queries;
