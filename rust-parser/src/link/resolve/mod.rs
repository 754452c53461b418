//! What expressions stand for: imports (`modules`, `imports`), names (`scopes`), attributes and calls (`members`, `extensions`, `values`) and
//! the types that can be read without running anything (`types`).

pub mod extensions;
pub mod imports;
pub mod members;
pub mod modules;
pub mod scopes;
pub mod types;
pub mod values;
