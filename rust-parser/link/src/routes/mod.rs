//! Routes, events and commands: what the rules of detectors matched, with receivers, handlers and prefixes resolved.
//!
//! Two stages before the edges. `routers` determines how the routers of a file hang together: which is mounted on which
//! with what prefix (`router_key` identifies a router by the scope and name of its variable). `composed` composes the
//! paths of the file's routes from the mounts of all files and resolves their handlers (`handlers`; a class serves
//! the HTTP methods of its `members`), and `acceptance`
//! tells whether a receiver is an object of the framework. `clients` finds the routes that calls by URL mean (`fit`); their
//! edges come with those of the file. `services` and `procedures` do the same for calls of remote procedures. Each stage
//! publishes its results (`tables`) as contributions to recorded queries (`table_queries`), as the types of variables do.

mod acceptance;
mod clients;
pub mod composed;
mod constants;
pub mod fit;
mod handlers;
mod members;
mod procedures;
mod router_key;
pub mod routers;
pub mod services;
mod table_queries;
pub mod tables;
