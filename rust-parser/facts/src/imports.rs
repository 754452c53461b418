//! Imports as written.

use serde::{Deserialize, Serialize};

use super::ids::{DefId, Name};

/// One imported name. `import a.b as c` is one import, and so is each name of `from m import x as y`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// Scope in which the name is bound.
    pub scope: DefId,
    /// Module as written, without quotes and leading dots: `a.b`, `./util`, `github.com/x/y`, `java.util`, `crate::a`,
    /// `foo.h`.
    pub module: Name,
    /// Number of leading dots of a Python relative import or of `super` in Rust; 1 for a `global using` of C#, which
    /// applies to all files of its project; otherwise 0.
    pub level: u32,
    /// Imported member; `None` if the import binds the module itself.
    pub member: Option<Name>,
    /// Local name; for `import a.b` in Python the first segment `a`; `None` for `*` and for imports without a name.
    pub alias: Option<Name>,
    pub kind: ImportKind,
    pub line: u32,
    /// Imported only for type checking or conditionally (`if TYPE_CHECKING:`, `import type`, in a `try`). Linking still
    /// follows it.
    pub type_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportKind {
    /// Binds the module (or, in Python without `as`, its first segment).
    Module,
    /// Binds a member of the module.
    Member,
    /// `from m import *`, `use m::*`, `import static m.*`, `using namespace`, Go dot import.
    Star,
    /// Re-export without a local binding: `export {x} from`, `export * from` (alias `None`), `pub use`. `alias` is the
    /// exported name.
    ReExport,
    /// `#include "x"` / `#include <x>`, Ruby `require`, PHP `require`.
    Include,
    /// Default import of an ES module; the member is `default`.
    Default,
}
