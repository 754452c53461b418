//! The project as the linker holds it: files with their facts (`file_entry`, `packed_facts`), tables over all of them (`index`,
//! `names`, `paths`), and how the linking of one file reads the rest (`query`), recording every question (`dependencies`).

pub mod ancestry;
pub mod arity;
pub mod dependencies;
pub mod file_entry;
pub mod file_types;
pub mod index;
pub mod names;
pub mod packed_facts;
pub mod paths;
pub mod query;
