//! The number of arguments that a function accepts.

use atlas_facts::{Definition, ParamKind};

/// The number of arguments that a function accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arity {
    least: usize,
    /// `None`: any number from `least` on.
    most: Option<usize>,
}

impl Arity {
    /// Returns the arity of a function's definition.
    pub fn of(definition: &Definition) -> Arity {
        let given = || definition.params.iter().filter(|param| param.kind != ParamKind::Receiver);
        let normal = || given().filter(|param| param.kind == ParamKind::Normal);
        let is_open = given().any(|param| param.kind != ParamKind::Normal);
        Arity {
            least: normal().filter(|param| param.default.is_none()).count(),
            most: (!is_open).then(|| normal().count()),
        }
    }

    /// Returns whether a call with this many arguments is valid.
    pub fn takes(self, arguments: usize) -> bool {
        self.least <= arguments && self.most.is_none_or(|most| arguments <= most)
    }
}
