//! Types that a test establishes for a part of a function.

use serde::{Deserialize, Serialize};

use super::ids::{DefId, ExprId};

/// What `isinstance(target, type)` says about a name or attribute on the lines that only run if it holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Narrowing {
    /// Innermost definition around the test.
    pub scope: DefId,
    pub target: ExprId,
    /// The type expression.
    pub annotation: ExprId,
    /// The target is the class itself (`issubclass`), not an instance.
    pub is_class: bool,
    /// The test fails on the lines.
    pub is_excluded: bool,
    /// Line of the test, after which an assignment to the target ends its effect.
    pub test_line: u32,
    /// 1-based, inclusive.
    pub first_line: u32,
    pub last_line: u32,
}
