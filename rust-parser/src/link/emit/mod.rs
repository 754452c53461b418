//! From what expressions stand for to the graph: the edges of one file (`edges`, `calls`, `callees`, `docs`, `overloads`), and the unit that is
//! no file (`structure`).

pub mod callees;
pub mod calls;
pub mod collector;
pub mod docs;
pub mod edges;
pub mod overloads;
pub mod structure;
