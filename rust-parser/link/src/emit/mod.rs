//! Creates the graph from resolved expressions: the edges of one file (`edges`, `calls`, `callees`, `attached`, `docs`,
//! `equal_names`, `injected`, `operators`, `overloads`, `unique`, `unresolved`), and the unit of the project structure
//! (`structure`, with the `namespaces` of folders).

mod attached;
pub mod callees;
pub mod calls;
pub mod collector;
mod companions;
pub mod docs;
pub mod edges;
mod equal_names;
mod extension_methods;
mod injected;
pub mod namespaces;
pub mod notes;
mod operators;
pub mod overloads;
mod receivers;
pub mod structure;
mod unique;
mod unresolved;
