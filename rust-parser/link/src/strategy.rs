//! The rules that find edges, with their confidence.

use serde::{Deserialize, Serialize};

/// The rule that found an edge. The store contains names and confidences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Strategy {
    /// What the tree itself says: a file is in a folder, a definition in its module or class.
    Structure,
    /// A name that is defined in the same function.
    Local,
    /// A name that is defined in the same file.
    SameModule,
    /// A name that is defined in another file of the same package or namespace.
    SamePackage,
    /// A name that an import binds.
    Import,
    /// A name that an imported module itself has imported.
    ReExport,
    /// A name that an import of everything brings (`from m import *`, `use m::*`).
    StarImport,
    /// A name of an included header, or its definition in the file that belongs to the header.
    Include,
    /// A member of the own object (`self.f()`, `this.f()`), defined in the class.
    This,
    /// A member that the class has from a base class.
    Inherited,
    /// A member of a base class, called as such (`super().f()`, `base.F()`).
    Super,
    /// A call of a class, which runs its constructor.
    Constructor,
    /// A member that is called on the class itself (`Cart.load()`).
    ClassAttribute,
    /// A member of an imported module (`shop.load()`).
    ModuleAttribute,
    /// A method of the type that a parameter, variable or field declares.
    Annotation,
    /// A method of the type that a variable gets where it is assigned.
    LocalType,
    /// A method of the type that a field gets where it is assigned.
    AttributeType,
    /// A method of the type that a called function returns.
    ReturnType,
    /// A call through a name that a value was assigned to.
    Alias,
    /// A method that overrides one of a base class or interface of the project.
    Override,
    /// A type that has all methods of an interface (Go), without declaring it.
    MethodSet,
    /// One of several definitions of a name that fit the arguments equally well.
    Overload,
    /// The method that all other methods of the name override; the receiver is unknown.
    OverrideRoot,
    /// The receiver is unknown and named like the method's class (`queryset.filter()`, Python).
    ReceiverName,
    /// The receiver is unknown and the name is defined once in the project.
    UniqueName,
    /// A function that is handed to a library, which calls it.
    Passed,
    /// A method of the type of a container's elements.
    Element,
    /// A name in a document's code, qualified or one of its kind.
    DocName,
    /// A plain name in a document that is defined once in the project.
    DocUniqueName,
    /// A path in a document.
    DocPath,
    /// A relation that a note states.
    Stated,
    /// What a note says it is about.
    Anchor,
    /// The place where a route or handler is registered; the handler itself is unknown.
    Registration,
    /// A handler that is named by a text.
    NamedHandler,
    /// A value that the framework injects by type or name.
    Injected,
    /// A fixture that a test asks for by the name of a parameter.
    Fixture,
    /// What the set-up of a test class or file calls.
    SetUp,
    /// What a helper of the tests calls on behalf of a test.
    Helper,
    /// A value among the parameters of a test.
    Parametrised,
    /// A test that is named like the symbol.
    TestName,
    /// A test that imports the symbol, without a call that was found.
    TestImport,
    /// One of several projects of the tree that have the name; the file's project depends on none of them.
    EqualName,
    /// A client's URL that fits one route by method and path.
    RoutePath,
    /// A client's URL of which only the end fits a route.
    RouteEnd,
    /// One of several routes that a client's URL fits.
    RouteOneOf,
    /// A text in the code that is the name itself: of a variable, an event, a file.
    Literal,
    /// A method of a client of remote procedures, by the names of its service and of the method.
    RpcClient,
    /// A method of what serves remote procedures, by these names.
    RpcServer,
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
            Strategy::RpcClient => "rpc-client",
            Strategy::RpcServer => "rpc-server",
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
            Strategy::ClassAttribute => 0.98,
            Strategy::UniqueName => 0.95,
            Strategy::Alias | Strategy::Element => 0.96,
            // Estimates: servers leave most of these calls open, or do not know the language.
            Strategy::Override => 0.97,
            Strategy::Include => 0.9,
            Strategy::Passed => 0.88,
            Strategy::MethodSet => 0.85,
            // Right for Python's frameworks, wrong where members are assigned.
            Strategy::ReceiverName | Strategy::OverrideRoot => 0.7,
            Strategy::Overload => 0.6,
            // Estimates of relations that are no calls.
            Strategy::DocPath | Strategy::Literal => 0.97,
            Strategy::RpcClient | Strategy::RpcServer => 0.95,
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
