//! The values that cross from parsing to linking: what one file says, and nothing about other files.
//!
//! Everything here is a plain value, serialisable (the facts cache stores it by content digest) and independent of the
//! rest of the project. Strings are interned per file: a [`Name`] is an index into [`FileFacts::strings`].
//! A change of any type in this file, or of what the parser finds, must raise [`FACTS_VERSION`], which empties the cache.

use serde::{Deserialize, Serialize};

use crate::string_table::StringTable;

/// Raised with every change of layout or meaning; part of the facts cache's key.
pub const FACTS_VERSION: u32 = 3;

/// Index into [`FileFacts::strings`].
pub type Name = u32;
/// Index into [`FileFacts::exprs`].
pub type ExprId = u32;
/// Index into [`FileFacts::definitions`]; 0 is the file's top-level scope.
pub type DefId = u32;
/// 64 bits of BLAKE3.
pub type Digest = u64;

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Relative to the project root, `/`-separated, on every platform.
    pub path: String,
    /// `name` of the language's `language.toml` (`python`, `tsx`, ..., `markdown`).
    pub language: String,
    /// First 16 bytes of the content's BLAKE3.
    pub digest: [u8; 16],
    pub size: u32,
    pub lines: u32,
    /// Dotted prefix of the file's top-level names; empty for languages without modules or packages.
    /// Python, JS, TS, Rust: from the path; Go: from the directory; Java, C#, PHP: the declared package/namespace.
    pub module: String,
    /// How this language names things; decides whether the top-level scope is a `Module` node or the `File` node itself.
    pub scope_rule: ScopeRule,
    /// A test file by its path (`tests/`, `_test.go`, `.spec.ts`, ...).
    pub is_test: bool,
    /// A generated file that was still indexed (asked for in the settings).
    pub is_generated: bool,
    /// The first is empty.
    pub strings: StringTable,
    /// The first is `Unknown`. Names, attributes and literals are shared; parts may come before or after what holds them.
    pub exprs: Vec<Expr>,
    /// `definitions[0]` is the top-level scope (kind `Module`, or `DocFile`/`Adr` for documents). Parents precede children.
    pub definitions: Vec<Definition>,
    pub imports: Vec<Import>,
    pub references: Vec<Reference>,
    pub bindings: Vec<Binding>,
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScopeRule {
    /// One module a file (Python, JS, TS, Rust).
    #[default]
    File,
    /// One package a directory (Go).
    Directory,
    /// The file declares it (Java, C#, PHP) or there is one global scope plus namespaces (C, C++, Ruby).
    Declared,
    /// A document.
    Document,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Top-level scope of a code file.
    Module,
    /// A namespace or nested module inside a file (C++ namespace, Rust `mod`, Ruby module, TS namespace).
    Namespace,
    Class,
    Interface,
    Struct,
    Trait,
    Enum,
    /// C/C++/Rust union, Java record, C# record, Python Protocol and the like stay with the nearest of the above.
    TypeAlias,
    Function,
    Method,
    Constructor,
    /// A method read like a field (Python `@property`, JS `get x()`, C# property with a body).
    Property,
    /// Class-level or struct field; enum members.
    Field,
    /// Module-level constant or variable.
    Constant,
    /// A lambda or anonymous function that receives facts of its own (never a graph node).
    Lambda,
    /// Rust `impl`, Go receiver block, C# `partial` re-opening: adds members to the type named in `bases[0]`; never a node itself.
    Extension,
    DocFile,
    Adr,
    DocSection,
}

/// Bits of [`Definition::flags`].
pub mod flags {
    pub const ASYNC: u32 = 1;
    pub const STATIC: u32 = 1 << 1;
    /// Python `@classmethod`.
    pub const CLASS_METHOD: u32 = 1 << 2;
    pub const ABSTRACT: u32 = 1 << 3;
    /// Declared here, body elsewhere or nowhere (prototype, `.pyi`, overload signature, abstract without body).
    pub const DECLARATION: u32 = 1 << 4;
    /// A test by the language's conventions (name, decorator, attribute).
    pub const TEST: u32 = 1 << 5;
    /// Visible outside its module (`export`, `pub`, upper-case in Go, no leading underscore in Python, not `private`).
    pub const EXPORTED: u32 = 1 << 6;
    /// `export default` in JS/TS.
    pub const DEFAULT_EXPORT: u32 = 1 << 7;
    /// Generator, `yield`s.
    pub const GENERATOR: u32 = 1 << 8;
    /// Overload signature (`@overload`, TS overload).
    pub const OVERLOAD: u32 = 1 << 9;
}

/// A named definition, or the file's top-level scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    pub kind: Kind,
    pub name: Name,
    /// Dotted path below the module (`Class.method`, `outer.inner`); redefinitions in one scope are `name#2`, `name#3` in
    /// source order (overloads too), so that it is unique in the file. Empty for the top-level scope.
    pub path: Name,
    /// Enclosing definition; 0 for top-level ones and for the top-level scope itself. Functions in an object literal (JS) have
    /// the constant that holds it.
    pub parent: DefId,
    pub flags: u32,
    pub start_byte: u32,
    pub end_byte: u32,
    /// 1-based, inclusive. Includes decorators and the directly preceding doc comment.
    pub start_line: u32,
    pub end_line: u32,
    /// 1-based line of the name itself: what `path:line` shows.
    pub name_line: u32,
    /// One line, white space folded, at most 400 characters: `def f(a: int) -> str`, `class A(B)`, `func (s *T) M(x int) error`.
    pub signature: Name,
    /// Without quotes, comment markers and common indentation; at most 4,000 characters.
    pub docstring: Name,
    pub signature_digest: Digest,
    /// Layout- and comment-insensitive (tokens of the body without comments and docstring).
    pub body_digest: Digest,
    pub docstring_digest: Digest,
    /// Of the exact bytes `start_byte..end_byte`.
    pub text_digest: Digest,
    pub decorators: Vec<ExprId>,
    /// Base classes, interfaces, embedded structs, supertraits; for `Extension` the extended type first, then the trait.
    pub bases: Vec<ExprId>,
    pub params: Vec<Param>,
    /// Declared return type (functions), declared type (fields, constants), aliased type (aliases).
    pub declared_type: Option<ExprId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub name: Name,
    pub annotation: Option<ExprId>,
    pub default: Option<ExprId>,
    pub kind: ParamKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParamKind {
    Normal,
    /// `self`, `cls`, Go/Rust receiver.
    Receiver,
    Variadic,
    Keywords,
}

/// The shape of an expression, as far as linking can use it. Anything else is `Unknown`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Expr {
    Unknown,
    Name(Name),
    /// `self`, `this`, the Go/Rust receiver, Python's first method parameter whatever its name. `class` = `cls`/`Self`/`static`.
    This {
        class: bool,
    },
    /// `super()`, `super`, `base`, `parent`.
    Super,
    /// `base.name`, `base->name`, `base::name`, `base?.name`. Also the segments of dotted type and module names.
    Attribute {
        base: ExprId,
        name: Name,
    },
    /// `callee(args)`; `new` for `new T(...)`, Go/Rust composite literals `T{...}`, PHP/Java/C# object creation.
    Call {
        callee: ExprId,
        args: Vec<Arg>,
        new: bool,
    },
    Index {
        base: ExprId,
        index: ExprId,
    },
    Await(ExprId),
    /// A literal or display with a known built-in type: `str int float bool list dict set tuple bytes none regex`.
    Literal(LiteralType),
    /// An anonymous function; its facts are in the definition.
    Lambda(DefId),
    /// One of several values: conditional expressions, `a or b`, `x ?? y`, `match`.
    OneOf(Vec<ExprId>),
    /// Ordered elements of a list/tuple/set display or the values of a dict display (first-class functions in tables).
    Elements {
        kind: LiteralType,
        items: Vec<ExprId>,
    },
    /// A parametrised type `Base[Args]` / `Base<Args>`.
    Generic {
        base: ExprId,
        args: Vec<ExprId>,
    },
    /// A type written in a string (Python forward reference), parsed.
    TypeUnion(Vec<ExprId>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LiteralType {
    Str,
    Int,
    Float,
    Bool,
    None,
    List,
    Dict,
    Set,
    Tuple,
    Bytes,
    Regex,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arg {
    /// Keyword, if it was given by keyword.
    pub keyword: Option<Name>,
    pub value: ExprId,
}

/// One imported name. `import a.b as c` and each name of `from m import x as y` are one each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// Scope in which the name is bound.
    pub scope: DefId,
    /// Module as written, without quotes and leading dots: `a.b`, `./util`, `github.com/x/y`, `java.util`, `crate::a`, `foo.h`.
    pub module: Name,
    /// Leading dots of a Python relative import; Rust `super` count; 0 otherwise.
    pub level: u32,
    /// Imported member; None when the module itself is bound.
    pub member: Option<Name>,
    /// The local name; for `import a.b` (Python) the first segment `a`; None for `*` and for side-effect imports.
    pub alias: Option<Name>,
    pub kind: ImportKind,
    pub line: u32,
    /// Bound under `if TYPE_CHECKING:`, `import type`, in a `try`: still followed.
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
    /// Re-export without a local binding: `export {x} from`, `export * from` (alias None), `pub use`. `alias` = exported name.
    ReExport,
    /// `#include "x"` / `#include <x>`, Ruby `require`, PHP `require`.
    Include,
    /// Default import of an ES module: member is `default`.
    Default,
}

/// A place that refers to something by an expression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Innermost definition that contains it (may be a `Lambda`; the linker attributes it to the nearest node).
    pub scope: DefId,
    pub kind: ReferenceKind,
    /// What is referred to. For `Call` the whole `Expr::Call`; for `Read` a name or attribute; for `Type` the type expression's leaf.
    pub expr: ExprId,
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReferenceKind {
    Call,
    /// A name or attribute used as a value where it may be a function or class (argument, assigned value, element, return value).
    Read,
    /// In a type position (annotation, generic argument, cast, `instanceof`, `except T`).
    Type,
    /// Documents: a backticked name (string as `Expr::Name`), possibly dotted or with `()`.
    DocName,
    /// Documents: a path or a link target (string as `Expr::Name`), relative to the document.
    DocPath,
}

/// A local binding: what a name or attribute may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Function, class or module in whose scope it happens.
    pub scope: DefId,
    pub kind: BindingKind,
    /// The bound name, or `self.x` / `obj.x` as `Attribute`, or `table[k]` as `Index`.
    pub target: ExprId,
    pub annotation: Option<ExprId>,
    pub value: Option<ExprId>,
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BindingKind {
    Assign,
    /// One element of `value` (loop variable).
    Iterate,
    /// `with value as target`, `using`, `defer`-like.
    Enter,
    /// `except value as target`, `catch (T e)`: annotation or value is the type.
    Catch,
    /// Position `n` of an unpacked tuple. In loops and nested patterns the value is one element, `Index` by an int literal, of
    /// what is iterated. Object patterns (JS) are `Assign`s of attributes.
    Unpack(u16),
    /// `return value` (target is `Unknown`).
    Return,
    Yield,
    /// Python `global x` / `nonlocal x`: the name belongs to an outer scope.
    Outer,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    pub line: u32,
    /// `syntax`, `encoding`, `nul-bytes`, `too-deep`, `timeout`, `truncated`, `long-line`, ...
    pub code: String,
    pub message: String,
}
