//! The rules that find edges, the edge types, and what a linked expression may stand for.

use smallvec::SmallVec;

use crate::link::project::names::{ExternalId, Sym, SymbolId};

/// The rule that found an edge; names and confidences go to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Strategy {
    Structure,
    Local,
    SameModule,
    SamePackage,
    Import,
    ReExport,
    StarImport,
    Include,
    This,
    Inherited,
    Super,
    Constructor,
    ClassAttribute,
    ModuleAttribute,
    Annotation,
    LocalType,
    AttributeType,
    ReturnType,
    Alias,
    Override,
    MethodSet,
    Overload,
    UniqueName,
    DocName,
    DocUniqueName,
    DocPath,
}

impl Strategy {
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Structure => "structure",
            Strategy::Local => "local",
            Strategy::SameModule => "same-module",
            Strategy::SamePackage => "same-package",
            Strategy::Import => "import",
            Strategy::ReExport => "re-export",
            Strategy::StarImport => "star-import",
            Strategy::Include => "include",
            Strategy::This => "self",
            Strategy::Inherited => "inherited",
            Strategy::Super => "super",
            Strategy::Constructor => "constructor",
            Strategy::ClassAttribute => "class-attribute",
            Strategy::ModuleAttribute => "module-attribute",
            Strategy::Annotation => "annotation",
            Strategy::LocalType => "local-type",
            Strategy::AttributeType => "attribute-type",
            Strategy::ReturnType => "return-type",
            Strategy::Alias => "alias",
            Strategy::Override => "override",
            Strategy::MethodSet => "method-set",
            Strategy::Overload => "overload",
            Strategy::UniqueName => "unique-name",
            Strategy::DocName => "doc-name",
            Strategy::DocUniqueName => "doc-unique-name",
            Strategy::DocPath => "doc-path",
        }
    }

    /// First estimates of the share of right edges; to be calibrated against ground truth.
    pub fn confidence(self) -> f64 {
        match self {
            Strategy::Structure => 1.0,
            Strategy::Local => 0.98,
            Strategy::SameModule | Strategy::Import | Strategy::This => 0.97,
            Strategy::Override | Strategy::DocPath => 0.97,
            Strategy::ModuleAttribute => 0.96,
            Strategy::ReExport | Strategy::SamePackage => 0.95,
            Strategy::Constructor | Strategy::ClassAttribute => 0.95,
            Strategy::Inherited | Strategy::Super => 0.93,
            Strategy::Annotation => 0.92,
            Strategy::StarImport | Strategy::LocalType | Strategy::Include => 0.9,
            Strategy::DocName => 0.9,
            Strategy::AttributeType | Strategy::ReturnType | Strategy::Alias | Strategy::MethodSet => 0.85,
            Strategy::DocUniqueName => 0.7,
            Strategy::Overload => 0.6,
            Strategy::UniqueName => 0.5,
        }
    }
}

/// Relationship types, in the order in which a unit lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EdgeType {
    Contains,
    Defines,
    DefinesMethod,
    Inherits,
    Overrides,
    Imports,
    Calls,
    References,
    UsesType,
    Tests,
    Documents,
    Affects,
}

impl EdgeType {
    pub fn name(self) -> &'static str {
        match self {
            EdgeType::Contains => "CONTAINS",
            EdgeType::Defines => "DEFINES",
            EdgeType::DefinesMethod => "DEFINES_METHOD",
            EdgeType::Inherits => "INHERITS",
            EdgeType::Overrides => "OVERRIDES",
            EdgeType::Imports => "IMPORTS",
            EdgeType::Calls => "CALLS",
            EdgeType::References => "REFERENCES",
            EdgeType::UsesType => "USES_TYPE",
            EdgeType::Tests => "TESTS",
            EdgeType::Documents => "DOCUMENTS",
            EdgeType::Affects => "AFFECTS",
        }
    }
}

/// What an expression may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// The definition itself: a class, function, module, constant.
    Definition(SymbolId),
    /// An instance of a class of the project.
    Instance(SymbolId),
    /// `super` seen from a class.
    Super(SymbolId),
    /// A sequence, set or iterator of instances.
    Elements(SymbolId),
    /// A mapping to instances.
    Mapped(SymbolId),
    /// The class of the receiver (`return self`, `Self`).
    SelfType,
    /// A declared package or namespace, by dotted name.
    Package(Sym),
    /// A folder that acts as module or package.
    Folder(Sym),
    External(ExternalId),
    ExternalInstance(ExternalId),
    /// A name of the language itself, or an instance of a built-in type ([`crate::link::project::names::EMPTY`]).
    Builtin(Sym),
    /// `None`, `null`.
    Nothing,
    /// Known to be outside of what can be followed; never guessed about.
    Opaque,
    /// The receiver is known and has no such member; never guessed about, counted as unresolved.
    Missing,
}

/// A possible value, and the rule by which it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value {
    pub what: What,
    pub via: Strategy,
}

/// Possible values; empty when nothing is known. There is hardly ever more than one.
pub type Values = SmallVec<[Value; 2]>;

impl Value {
    pub fn new(what: What, via: Strategy) -> Value {
        Value { what, via }
    }
}

/// The same value, found by another rule.
pub fn via(values: Values, rule: Strategy) -> Values {
    values.into_iter().map(|value| Value { via: rule, ..value }).collect()
}

/// At most this many possible values are followed; more say nothing.
pub const MAX_VALUES: usize = 4;

/// Add values that are not yet there.
pub fn merge(into: &mut Values, more: Values) {
    for value in more {
        if !into.iter().any(|known| known.what == value.what) {
            into.push(value);
        }
    }
}
