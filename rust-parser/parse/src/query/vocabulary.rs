//! The vocabulary of a `tags.scm`: the roles of a pattern's outermost node and the captures of its parts.
//!
//! Roles extend tree-sitter's tags vocabulary (`@definition.class`, `@reference.call`) by shapes of expressions, types,
//! targets, parameters, arguments and bindings. `atlas/languages/README.md` explains them.

use atlas_facts::{BindingKind, ImportKind, Kind, LiteralType, ParamKind, flags};

/// The role of a pattern's outermost node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A named definition of a kind; functions directly in a class become methods or constructors.
    Definition(Kind),
    /// A variable: a constant in a module, a field in a class, nothing in a function.
    Variable,
    /// Adds decorators, flags and span to the definitions of its `@wrapped` nodes. `signature`: also its text.
    Wrapper {
        signature: bool,
    },
    /// A decorator standing before its definition as a sibling.
    PendingDecorator,
    /// An import of a kind; without one, the language's hook reads it.
    Import(Option<ImportKind>),
    /// The variables in `@name` are visible in the `@scope` nodes only, or in the node itself.
    Local(LocalScope),
    /// Declares the package of the file; several are parts of one dotted name.
    Package,
    Binding(BindingKind),
    /// No role of its own; its captures are references.
    References,
    /// The name of a type; a reference unless another role claims the node.
    TypeName,
    /// Handled by the language's hooks.
    Hook,
    /// An operator, as a call of a method of `@base`; its value has a shape of its own.
    Operator,
    /// Enters a block with each `@base`.
    Enter,
    Comment,
    /// A group of statements, whose structure is part of the digests.
    Block,
    /// A node with children whose text is one token for the digests.
    Token,
    Expression(Shape),
    Type(Shape),
    Target(TargetShape),
    Parameter(ParamKind),
    Argument,
    /// An argument whose elements, or whose pairs of keyword and value, are arguments.
    SpreadArgument {
        keywords: bool,
    },
}

/// The shape of an expression or type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Name,
    This {
        class: bool,
    },
    Super,
    Attribute,
    Call {
        new: bool,
    },
    Index,
    /// The operator `@name` between `@base` and `@argument`, or before `@base`.
    Operator,
    /// Some elements of `@base`, from the first part of `@index` on.
    Slice,
    Await,
    Literal(LiteralType),
    Lambda,
    OneOf,
    Elements(LiteralType),
    Generic,
    /// A list or a map whose `@argument`s are its element types.
    List,
    Map,
    /// A value with the type of `@annotation`, independent of `@inner`.
    Cast,
    Union,
    /// The shape of `@inner`.
    Same,
    /// All elements of `@inner`, in a display.
    Spread,
    /// A type written as text.
    Text,
    Unknown,
}

/// The shape of a binding's left side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetShape {
    /// Binds its `@item`s in order.
    Unpack,
    /// Binds `@inner`.
    Same,
    /// Handled by the language's hooks.
    Hook,
}

/// Where a variable with the role `@local` is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalScope {
    Shared,
    /// In each node it is another variable.
    Each,
    /// In the branches that the node guards as a condition.
    Guarded,
    /// From the node to the end of the block around it. A name that only one node of the file declares stays as it is.
    Block,
    /// The same from the declaration of each name to the end of the node.
    Rest,
}

/// The meaning of a captured part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capture {
    Name,
    Body,
    Parameters,
    /// The list that contains the receiver, separate from the parameters.
    Receiver,
    /// The type to which the definition adds a member.
    Extends,
    Returns,
    Base,
    Decorator,
    Wrapped,
    Scope,
    Annotation,
    Value,
    Target,
    Default,
    Callee,
    Arguments,
    Argument,
    Keyword,
    Index,
    Inner,
    Option,
    Item,
    /// The key of an item of a display.
    Key,
    Module,
    Member,
    Alias,
    Read,
    /// A raised name or attribute.
    RaiseRead,
    /// Neither an element nor an attribute that is read: the target of a statement.
    NoRead,
    /// The owner of an attribute, which may be a property.
    OwnerRead,
    TypeReference,
    /// Sets a bit of `Definition::flags`.
    Flag(u32),
    /// The definition is not visible outside its module.
    Private,
    /// Of detectors: path, HTTP method, handler, event, child and prefix.
    Path,
    Method,
    Handler,
    Event,
    Child,
    /// Used only in predicates; any name that starts with `_`.
    Anonymous(u8),
}

impl Role {
    /// Returns the order in which roles act at one node: an import excludes all others, wrappers precede the
    /// definitions that they describe, and scopes precede bindings.
    pub fn rank(self) -> u8 {
        match self {
            Role::Import(_) => 0,
            Role::Wrapper { .. } | Role::PendingDecorator => 1,
            Role::Definition(_) | Role::Variable => 2,
            Role::Hook => 3,
            Role::Binding(_) => 4,
            _ => 5,
        }
    }

    /// Returns the role of a capture name (without `@`), or `None` if the name is not a role.
    pub fn of(name: &str) -> Option<Role> {
        let (head, tail) = name.split_once('.').unwrap_or((name, ""));
        Some(match head {
            "definition" if tail == "variable" => Role::Variable,
            "definition" => Role::Definition(kind(tail)?),
            "wrapper" => match tail {
                "" => Role::Wrapper { signature: false },
                "signature" => Role::Wrapper { signature: true },
                _ => return None,
            },
            "decorator" if tail == "pending" => Role::PendingDecorator,
            "import" if tail.is_empty() => Role::Import(None),
            "import" => Role::Import(Some(import_kind(tail)?)),
            "package" if tail.is_empty() => Role::Package,
            "binding" => Role::Binding(binding_kind(tail)?),
            "local" => Role::Local(match tail {
                "" => LocalScope::Shared,
                "each" => LocalScope::Each,
                "guarded" => LocalScope::Guarded,
                "block" => LocalScope::Block,
                "rest" => LocalScope::Rest,
                _ => return None,
            }),
            "hook" => Role::Hook,
            "comment" => Role::Comment,
            "block" => Role::Block,
            "token" => Role::Token,
            "reference" => match tail {
                "call" => Role::Expression(Shape::Call { new: false }),
                "new" => Role::Expression(Shape::Call { new: true }),
                "type" => Role::TypeName,
                "operator" => Role::Operator,
                "enter" => Role::Enter,
                _ => return None,
            },
            "expr" => Role::Expression(shape(tail)?),
            "literal" => Role::Expression(Shape::Literal(literal(tail)?)),
            "elements" => Role::Expression(Shape::Elements(literal(tail)?)),
            "type" => Role::Type(shape(tail)?),
            "target" => Role::Target(match tail {
                "unpack" => TargetShape::Unpack,
                "same" => TargetShape::Same,
                "hook" => TargetShape::Hook,
                _ => return None,
            }),
            "parameter" => Role::Parameter(match tail {
                "" => ParamKind::Normal,
                "receiver" => ParamKind::Receiver,
                "variadic" => ParamKind::Variadic,
                "keywords" => ParamKind::Keywords,
                _ => return None,
            }),
            "argument" => match tail {
                "named" => Role::Argument,
                "spread" => Role::SpreadArgument { keywords: false },
                "spread-keywords" => Role::SpreadArgument { keywords: true },
                _ => return None,
            },
            _ => return None,
        })
    }
}

impl Capture {
    /// Returns the meaning of a capture name (without `@`) on a part of a pattern.
    pub fn of(name: &str) -> Option<Capture> {
        if let Some(flag) = name.strip_prefix("flag.") {
            return Some(match flag {
                "async" => Capture::Flag(flags::ASYNC),
                "static" => Capture::Flag(flags::STATIC),
                "class" => Capture::Flag(flags::CLASS_METHOD),
                "abstract" => Capture::Flag(flags::ABSTRACT),
                "declaration" => Capture::Flag(flags::DECLARATION),
                "test" => Capture::Flag(flags::TEST),
                "exported" => Capture::Flag(flags::EXPORTED),
                "default" => Capture::Flag(flags::DEFAULT_EXPORT | flags::EXPORTED),
                "generator" => Capture::Flag(flags::GENERATOR),
                "overload" => Capture::Flag(flags::OVERLOAD),
                "private" => Capture::Private,
                _ => return None,
            });
        }
        Some(match name {
            "name" => Capture::Name,
            "body" => Capture::Body,
            "parameters" => Capture::Parameters,
            "receiver" => Capture::Receiver,
            "extends" => Capture::Extends,
            "returns" => Capture::Returns,
            "base" => Capture::Base,
            "decorator" => Capture::Decorator,
            "wrapped" => Capture::Wrapped,
            "scope" => Capture::Scope,
            "annotation" => Capture::Annotation,
            "value" => Capture::Value,
            "target" => Capture::Target,
            "default" => Capture::Default,
            "callee" => Capture::Callee,
            "arguments" => Capture::Arguments,
            "argument" => Capture::Argument,
            "keyword" => Capture::Keyword,
            "index" => Capture::Index,
            "inner" => Capture::Inner,
            "option" => Capture::Option,
            "item" => Capture::Item,
            "key" => Capture::Key,
            "module" => Capture::Module,
            "member" => Capture::Member,
            "alias" => Capture::Alias,
            "reference.read" => Capture::Read,
            "reference.raise" => Capture::RaiseRead,
            "reference.owner" => Capture::OwnerRead,
            "reference.none" => Capture::NoRead,
            "reference.type" => Capture::TypeReference,
            _ => return Capture::anonymous(name),
        })
    }

    /// Returns the meaning of a capture that only predicates use.
    pub fn anonymous(name: &str) -> Option<Capture> {
        match (name.as_bytes().first(), name.as_bytes().get(1), name.len()) {
            (Some(b'_'), Some(letter), 2) => Some(Capture::Anonymous(*letter)),
            _ => None,
        }
    }
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "namespace" | "module" => Kind::Namespace,
        "class" => Kind::Class,
        "interface" => Kind::Interface,
        "struct" => Kind::Struct,
        "trait" => Kind::Trait,
        "enum" => Kind::Enum,
        "type" => Kind::TypeAlias,
        "function" => Kind::Function,
        "method" => Kind::Method,
        "constructor" => Kind::Constructor,
        "property" => Kind::Property,
        "field" => Kind::Field,
        "constant" => Kind::Constant,
        "lambda" => Kind::Lambda,
        "extension" => Kind::Extension,
        _ => return None,
    })
}

fn import_kind(name: &str) -> Option<ImportKind> {
    Some(match name {
        "module" => ImportKind::Module,
        "member" => ImportKind::Member,
        "star" => ImportKind::Star,
        "reexport" => ImportKind::ReExport,
        "include" => ImportKind::Include,
        "default" => ImportKind::Default,
        _ => return None,
    })
}

fn binding_kind(name: &str) -> Option<BindingKind> {
    Some(match name {
        "assign" => BindingKind::Assign,
        "iterate" => BindingKind::Iterate,
        "enter" => BindingKind::Enter,
        "catch" => BindingKind::Catch,
        "return" => BindingKind::Return,
        "yield" => BindingKind::Yield,
        "outer" => BindingKind::Outer,
        _ => return None,
    })
}

fn literal(name: &str) -> Option<LiteralType> {
    Some(match name {
        "str" => LiteralType::Str,
        "int" => LiteralType::Int,
        "float" => LiteralType::Float,
        "bool" => LiteralType::Bool,
        "none" => LiteralType::None,
        "list" => LiteralType::List,
        "dict" => LiteralType::Dict,
        "set" => LiteralType::Set,
        "tuple" => LiteralType::Tuple,
        "bytes" => LiteralType::Bytes,
        "regex" => LiteralType::Regex,
        _ => return None,
    })
}

fn shape(name: &str) -> Option<Shape> {
    Some(match name {
        "name" => Shape::Name,
        "this" => Shape::This { class: false },
        "class" => Shape::This { class: true },
        "super" => Shape::Super,
        "attribute" => Shape::Attribute,
        "index" => Shape::Index,
        "operator" => Shape::Operator,
        "slice" => Shape::Slice,
        "await" => Shape::Await,
        "lambda" => Shape::Lambda,
        "one-of" => Shape::OneOf,
        "generic" => Shape::Generic,
        "list" => Shape::List,
        "map" => Shape::Map,
        "cast" => Shape::Cast,
        "union" => Shape::Union,
        "same" => Shape::Same,
        "spread" => Shape::Spread,
        "text" => Shape::Text,
        "unknown" => Shape::Unknown,
        _ => return None,
    })
}
