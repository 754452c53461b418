//! Resolution of expressions to values: imports (`modules`, `imports`), names (`scopes`, `variables`), attributes and
//! calls (`members`, `extensions`, `values`, `arguments`), and types that can be read statically (`types`, `narrow`).

mod alias_types;
mod applied;
pub mod arguments;
mod callbacks;
mod containers;
mod definitions;
mod enums;
pub mod extensions;
mod facades;
mod fixtures;
pub mod flows;
pub mod following;
mod foreign;
mod functional;
mod generic_names;
mod globals;
mod implicits;
pub mod imports;
mod keys;

pub mod members;
mod merged;
pub mod modules;
mod named_paths;
pub mod narrow;
pub mod objects;
mod on_demand;
mod overridden;
mod parts;
mod projects;
pub mod provided;
mod receivers;
mod records;
mod results;
pub mod scopes;
mod signatures;
mod standard;
mod stars;
pub mod tables;
mod twins;
mod type_arguments;
pub mod types;
pub mod values;
pub mod variables;
mod visibility;
