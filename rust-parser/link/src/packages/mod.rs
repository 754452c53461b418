//! The packages that manifests declare: from the manifests and lock files of a project to its dependencies, as part of
//! the structure.
//!
//! `declared` applies what manifests inherit from one another, `versions` finds locked versions, `names` relates the
//! names of packages to those under which code imports them, `projects` the names of dependencies to projects of the repository, and `graph` makes nodes and edges. A pure function of the
//! manifests, the sub-projects and the set of imported names; the structure is built again when one of them changes.

pub mod declared;
pub mod files;
mod graph;
mod maven;
mod names;
pub mod projects;
mod versions;

pub use graph::{DependsOn, Imported, PackageNode, build};
