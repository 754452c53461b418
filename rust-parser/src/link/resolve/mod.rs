//! Resolution of expressions to values: imports (`modules`, `imports`), names (`scopes`, `variables`), attributes and
//! calls (`members`, `extensions`, `values`), and types that can be read statically (`types`).

pub mod extensions;
pub mod imports;
pub mod members;
pub mod modules;
pub mod objects;
pub mod scopes;
pub mod types;
pub mod values;
pub mod variables;
