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
        }
    }

    /// Returns the estimated share of correct edges, which is not calibrated against ground truth yet.
    pub fn confidence(self) -> f64 {
        match self {
            // The confidence of a stated relation is part of the statement.
            Strategy::Structure | Strategy::Stated | Strategy::Anchor => 1.0,
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
            // The handler is not known, only where the route is registered.
            Strategy::Registration => 0.8,
            Strategy::NamedHandler | Strategy::Injected => 0.9,
            Strategy::Parametrised | Strategy::TestName => 0.9,
            Strategy::Fixture | Strategy::SetUp | Strategy::Helper => 0.85,
            Strategy::TestImport => 0.6,
            // One of several projects that have the name.
            Strategy::EqualName => 0.4,
            Strategy::DocUniqueName => 0.7,
            Strategy::OverrideRoot => 0.85,
            Strategy::Passed | Strategy::Element => 0.85,
            Strategy::Overload => 0.6,
            Strategy::UniqueName | Strategy::ReceiverName => 0.7,
        }
    }
}
