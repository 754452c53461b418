//! The inferred types of one file's variables and results, which the linking of other files reads.

use crate::entity::Value;
use crate::project::dependencies::{Contributions, DependencyKind, digest_of, key};
use crate::project::names::{Sym, SymbolId};

/// The part of a function's result that stands for what its decorators make of the function.
pub const DECORATED: u16 = u16::MAX;
/// The part of a field that says which type parameter of its class is its type.
pub const FIELD_ARGUMENT: u16 = u16::MAX - 1;
/// The part of a type that has call signatures.
pub const CALLED: u16 = u16::MAX - 2;
/// The part of an object type for the values behind its index signature.
pub const INDEXED: u16 = u16::MAX - 3;
/// The part of a function for the type that it tests its argument for.
pub const GUARD: u16 = u16::MAX - 4;
/// The part of a constant that says which instances it denotes as a type.
pub const ALIAS: u16 = u16::MAX - 5;
/// The part of a function that makes an object, or of a class, for the type parameters of the class among the types of
/// its parameters: pairs of the parameter and the type parameter.
pub const MAKING: u16 = u16::MAX - 6;
/// The part of an interface for its only method without a body.
pub const FUNCTIONAL: u16 = u16::MAX - 7;
/// The part of a function that returns only if a test of its argument holds.
pub const ASSERTS: u16 = u16::MAX - 8;
const OWN_PARAMETERS: u16 = 0x3000;
const SIGNATURES: u16 = 0x6000;
const OVERLOADS: u16 = 0x7000;
const CALLBACKS: u16 = 0x4000;
const BASES: u16 = 0x5000;

/// Returns the part for the type of a parameter of the function that is the argument at a position.
pub fn callback_part(position: u16, parameter: u16) -> u16 {
    CALLBACKS + position * 16 + parameter
}

/// Returns the part for the type of a parameter of a function or function type itself.
pub fn signature_part(parameter: u16) -> u16 {
    SIGNATURES + parameter
}

/// Returns the part of a type for its call signature with a number: its results (0), the least and the largest number of
/// arguments (1), and the names of the types of its parameters (from 2).
pub fn overload_part(number: u16, detail: u16) -> u16 {
    OVERLOADS + number * 16 + detail
}

/// Returns the part of a function for a path to one of its type parameters.
pub fn own_parameter_part(number: u16, place: u16) -> u16 {
    OWN_PARAMETERS + number * 16 + place
}

/// Returns the part for a base of a class (0) or one of its type arguments (from 1).
pub fn base_part(base: u16, argument: u16) -> u16 {
    BASES + base * 16 + argument
}

/// The possible values of variables and results of one file, if known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileTypes {
    /// Sorted by (scope, name).
    pub variables: Vec<(SymbolId, Sym, Box<[Value]>)>,
    /// Sorted by (function, part): part 0 is the whole result, part `n + 1` is position `n` of a returned tuple, the
    /// last part is [`DECORATED`].
    pub returns: Vec<(SymbolId, u16, Box<[Value]>)>,
}

impl FileTypes {
    /// Returns the known values of a variable.
    pub fn variable(&self, scope: SymbolId, name: Sym) -> &[Value] {
        let found = self.variables.binary_search_by_key(&(scope, name), |known| (known.0, known.1));
        found.map_or(&[], |at| &self.variables[at].2)
    }

    /// Returns the known values of a part of a function's result.
    pub fn returns(&self, function: SymbolId, part: u16) -> &[Value] {
        let found = self.returns.binary_search_by_key(&(function, part), |known| (known.0, known.1));
        found.map_or(&[], |at| &self.returns[at].2)
    }

    /// Returns the contributions of all entries.
    pub fn contributions(&self) -> Contributions {
        let variables = self.variables.iter();
        let variables =
            variables.map(|(scope, name, held)| (key(DependencyKind::Variable, *scope, *name), digest_of(held)));
        let returns = self.returns.iter();
        let returns = returns
            .map(|(function, part, held)| (key(DependencyKind::Returns, *function, u32::from(*part)), digest_of(held)));
        variables.chain(returns).collect()
    }
}
