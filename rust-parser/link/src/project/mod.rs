//! The project in the linker: files with their facts (`file_entry`, `packed_facts`), tables over all files (`index`,
//! `names`, `paths`), and the queries by which linking a file reads the rest (`query`), each of which is recorded
//! (`dependencies`).

pub mod ancestry;
pub mod arity;
mod contributions;
pub mod dependencies;
pub mod file_entry;
pub mod file_types;
pub mod flows;
pub mod given_names;
pub mod index;
pub mod names;
pub mod packed_facts;
pub mod paths;
pub mod query;
