//! The rules that find edges, with their confidence.

use serde::{Deserialize, Serialize};

/// The rule that found an edge. The store contains names and confidences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
    OverrideRoot,
    ReceiverName,
    UniqueName,
    Passed,
    Element,
    DocName,
    DocUniqueName,
    DocPath,
    Stated,
    Anchor,
    Registration,
    NamedHandler,
    Injected,
    Fixture,
    SetUp,
    Helper,
    Parametrised,
    TestName,
    TestImport,
    EqualName,
    RoutePath,
    RouteEnd,
    RouteOneOf,
    Literal,
}

impl Strategy {
    /// Returns the name of the rule in the store.
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
            Strategy::OverrideRoot => "override-root",
            Strategy::ReceiverName => "receiver-name",
            Strategy::UniqueName => "unique-name",
            Strategy::Passed => "passed",
            Strategy::Element => "element",
            Strategy::DocName => "doc-name",
            Strategy::DocUniqueName => "doc-unique-name",
            Strategy::DocPath => "doc-path",
            Strategy::Stated => "stated",
            Strategy::Anchor => "anchor",
            Strategy::Registration => "registration",
            Strategy::NamedHandler => "named-handler",
            Strategy::Injected => "injected",
            Strategy::Fixture => "fixture",
            Strategy::SetUp => "set-up",
            Strategy::Helper => "test-helper",
            Strategy::Parametrised => "parametrised",
            Strategy::TestName => "test-name",
            Strategy::TestImport => "test-import",
            Strategy::EqualName => "equal-name",
            Strategy::RoutePath => "route-path",
            Strategy::RouteEnd => "route-end",
            Strategy::RouteOneOf => "route-one-of",
            Strategy::Literal => "literal",
        }
    }

    /// Returns the share of correct edges. Of the rules of calls it is what language servers confirm on trees that
    /// nobody tuned on (docs/measurements/edges.md), rounded down to .99; the others, and those with fewer than 30
    /// judged edges, are estimates and are marked so.
    pub fn confidence(self) -> f64 {
        match self {
            // The confidence of a stated relation is part of the statement.
            Strategy::Structure | Strategy::Stated | Strategy::Anchor => 1.0,
            Strategy::Local | Strategy::SameModule | Strategy::SamePackage => 0.99,
            Strategy::Import | Strategy::ReExport | Strategy::ModuleAttribute => 0.99,
            Strategy::This | Strategy::Inherited | Strategy::Super | Strategy::Constructor => 0.99,
            Strategy::Annotation | Strategy::StarImport => 0.99,
            Strategy::LocalType | Strategy::AttributeType | Strategy::ReturnType => 0.98,
            Strategy::ClassAttribute | Strategy::Element => 0.97,
            Strategy::Alias => 0.94,
            // Estimates: servers leave most of these calls open, or do not know the language.
            Strategy::Override => 0.97,
            Strategy::UniqueName => 0.9,
            Strategy::Include => 0.9,
            Strategy::Passed | Strategy::MethodSet => 0.85,
            // Right for Python's frameworks, wrong where members are assigned.
            Strategy::ReceiverName | Strategy::OverrideRoot => 0.7,
            Strategy::Overload => 0.6,
            // Estimates of relations that are no calls.
            Strategy::DocPath | Strategy::Literal => 0.97,
            Strategy::RoutePath => 0.92,
            Strategy::DocName | Strategy::NamedHandler | Strategy::Injected => 0.9,
            Strategy::Parametrised | Strategy::TestName => 0.9,
            Strategy::Fixture | Strategy::SetUp | Strategy::Helper => 0.85,
            // The handler is not known, only where the route is registered.
            Strategy::Registration => 0.8,
            Strategy::RouteEnd => 0.75,
            Strategy::DocUniqueName => 0.7,
            Strategy::TestImport => 0.6,
            Strategy::RouteOneOf => 0.5,
            // One of several projects that have the name.
            Strategy::EqualName => 0.4,
        }
    }
}
