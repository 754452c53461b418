//! Facts: the values that parsing passes to linking. They describe one file and nothing outside it.
//!
//! All types are plain, serializable values (the facts cache stores them by content digest), independent of the rest of
//! the project. Strings are interned per file: a [`Name`] is an index into [`FileFacts::strings`]. A change of any of
//! these types, or of what the parser extracts, must raise [`FACTS_VERSION`], which invalidates the cache.
//!
//! `cache` keeps facts on disk by content digest, `content_digest` has the digests, `string_table` holds the strings of a
//! file, `packed` has facts as compressed bytes, and `route_path` is the notation of a route's path, which parsing writes
//! and linking joins.
//!
//! ```
//! use atlas_facts::cache::CacheFile;
//! use atlas_facts::content_digest::digest_of;
//! use atlas_facts::{FACTS_VERSION, FileFacts};
//!
//! let folder = std::env::temp_dir().join(format!("atlas-facts-{}", std::process::id()));
//! let facts = FileFacts { path: "a.py".to_owned(), digest: digest_of(b"x = 1\n"), ..FileFacts::default() };
//!
//! let mut cache = CacheFile::open(&folder.join("facts"));
//! cache.put(&[("", &facts)]);
//! let found = cache.get(&[("a.py".to_owned(), Some(facts.digest)), ("b.py".to_owned(), Some(facts.digest))]);
//! assert_eq!(found[0].as_ref().map(|entry| &entry.facts), Some(&facts));
//! assert!(found[1].is_none());
//! assert!(FACTS_VERSION > 0);
//! # std::fs::remove_dir_all(&folder).unwrap();
//! ```

#![forbid(unsafe_code)]

pub mod cache;
pub mod content_digest;
mod detections;
pub mod flags;
mod ids;
mod imports;
mod kind;
mod manifest;
mod narrowing;
mod notes;
pub mod packed;
mod problem;
pub mod route_path;
pub mod string_table;
pub mod url_path;
mod window;

use serde::{Deserialize, Serialize};

use crate::string_table::StringTable;
pub use detections::{Detection, DetectionKind, Handler};
pub use ids::{DefId, Digest, ExprId, Name};
pub use imports::{Import, ImportKind};
pub use kind::Kind;
pub use manifest::{
    Dependency, Ecosystem, Include, IncludeKind, Locked, Manifest, Purpose, Role, Setting, SettingKind,
};
pub use narrowing::Narrowing;
pub use notes::{Relation, RelationKind};
pub use problem::Problem;
pub use window::WindowKind;

/// Raised with every change of layout or meaning. Part of the facts cache's key.
pub const FACTS_VERSION: u32 = 35;

/// Stands between the name of a variable that is visible in a part of a function only and its number: `v@3`.
pub const LOCAL_MARK: char = '@';

/// Stands before the path of names that is the key of an element in a display: `{Color.RED: paint}`.
pub const KEY_MARK: char = '@';

/// The member by which an expression names the elements of a value from a position on: `xs[1:]`, `a, *rest = xs`.
pub const SLICE: &str = "[:]";

/// The member by which an expression names one position of a tuple: `for n, (a, b) in pairs`.
pub const PART: &str = "[n]";

/// The keyword of the argument that has the elements with which a container is made: `new List<Action> { F }`.
pub const ELEMENTS: &str = "{}";

/// The facts of one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Path relative to the project root, `/`-separated on every platform.
    pub path: String,
    /// `name` of the language's `language.toml` (`python`, `tsx`, ..., `markdown`).
    pub language: String,
    /// First 16 bytes of the BLAKE3 hash of the content.
    pub digest: [u8; 16],
    pub size: u32,
    pub lines: u32,
    /// Dotted prefix of the file's top-level names; empty for languages without modules or packages.
    /// Python, JS, TS, Rust: from the path; Go: from the directory; Java, C#, PHP: the declared package/namespace.
    pub module: String,
    /// The language's scope rule. Decides whether the top-level scope is a `Module` node or the `File` node itself.
    pub scope_rule: ScopeRule,
    /// Whether the path is that of a test file (`tests/`, `_test.go`, `.spec.ts`, ...).
    pub is_test: bool,
    /// Whether the file is generated and was indexed because the settings request it.
    pub is_generated: bool,
    /// Interned strings. The first is empty.
    pub strings: StringTable,
    /// Expressions. The first is `Unknown`. Names, attributes and literals are shared; operands may precede or follow
    /// the expression that contains them.
    pub exprs: Vec<Expr>,
    /// `definitions[0]` is the top-level scope (kind `Module`; `DocFile`, `Adr` or a kind of note for documents). Parents
    /// precede children.
    pub definitions: Vec<Definition>,
    pub imports: Vec<Import>,
    pub references: Vec<Reference>,
    pub bindings: Vec<Binding>,
    pub problems: Vec<Problem>,
    /// Further properties of definitions, as JSON objects with sorted keys. Only notes have some.
    pub properties: Vec<(DefId, Name)>,
    /// What a note says about other nodes. Its source is the top-level scope.
    pub relations: Vec<Relation>,
    /// Sorted by target and first line.
    pub narrowings: Vec<Narrowing>,
    pub manifest: Option<Box<Manifest>>,
    /// What the rules of detectors matched, by position.
    pub detections: Vec<Detection>,
    /// Hash of the rules of the project's own file that apply to this one, 0 for none.
    pub own_rules: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScopeRule {
    /// One module per file (Python, JS, TS, Rust).
    #[default]
    File,
    /// One package per directory (Go).
    Directory,
    /// The file declares its package (Java, C#, PHP), or there is one global scope with namespaces (C, C++, Ruby).
    Declared,
    /// A document.
    Document,
    /// A text without definitions, divided into windows of lines.
    Text,
}

/// A named definition, or the file's top-level scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    pub kind: Kind,
    pub name: Name,
    /// Dotted path below the module (`Class.method`, `outer.inner`), unique in the file: redefinitions and overloads in
    /// one scope are `name#2`, `name#3` in source order. Empty for the top-level scope.
    pub path: Name,
    /// Enclosing definition; 0 for top-level definitions and for the top-level scope itself. For a function in an
    /// object literal (JS) it is the constant that holds the literal.
    pub parent: DefId,
    pub flags: u32,
    pub start_byte: u32,
    pub end_byte: u32,
    /// 1-based, inclusive. Includes decorators and the directly preceding doc comment.
    pub start_line: u32,
    pub end_line: u32,
    /// 1-based line of the name, shown in `path:line`.
    pub name_line: u32,
    /// Signature on one line, at most 400 characters: `def f(a: int) -> str`, `class A(B)`,
    /// `func (s *T) M(x int) error`.
    pub signature: Name,
    /// Documentation without quotes, comment markers and common indentation, at most 4,000 characters.
    pub docstring: Name,
    pub signature_digest: Digest,
    /// Digest of the body's tokens without comments and docstring; independent of layout.
    pub body_digest: Digest,
    pub docstring_digest: Digest,
    /// Digest of the exact bytes `start_byte..end_byte`.
    pub text_digest: Digest,
    pub decorators: Vec<ExprId>,
    /// Base classes, interfaces, embedded structs, supertraits; for `Extension` the extended type first, then the trait.
    /// Of TypeScript's interfaces and object types also the call signatures, as calls of their results, the index
    /// signature, as `Record<T>`, and the other parts of an intersection or union.
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

/// An expression, reduced to what linking uses. Anything else is `Unknown`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Expr {
    Unknown,
    Name(Name),
    /// The first segment of `a::b`: a namespace, module or type, never a variable.
    Scope(Name),
    /// `self`, `this`, the Go/Rust receiver, the first parameter of a Python method. `class` is true for `cls`, `Self`
    /// and `static`.
    This {
        class: bool,
    },
    /// `super()`, `super`, `base`, `parent`.
    Super,
    /// `base.name`, `base->name`, `base::name`, `base?.name`; also the segments of dotted type and module names.
    Attribute {
        base: ExprId,
        name: Name,
    },
    /// `callee(args)`. `new` is true for object creation: `new T(...)`, composite literals `T{...}` of Go and Rust.
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
    /// A literal string or number that selects an element or attribute: `d["key"]`, `d.get("key")`, `getattr(x, "name")`.
    Key(Name),
    /// A literal or display with a known built-in type: `str int float bool list dict set tuple bytes none regex`.
    Literal(LiteralType),
    /// An anonymous function, whose facts are in its definition, or a type without a name, whose members are in an
    /// extension.
    Lambda(DefId),
    /// One of several values: conditional expressions, `a or b`, `x ?? y`, `match`.
    OneOf(Vec<ExprId>),
    /// Ordered elements of a list, tuple or set display, or the values of a dict display (functions in tables). `keys`
    /// are the literal keys of a dict display, one per item, and paths of names after [`KEY_MARK`]; 0 for any other key. It
    /// is empty for other displays.
    Elements {
        kind: LiteralType,
        items: Vec<ExprId>,
        keys: Vec<Name>,
    },
    /// A parametrised type `Base[Args]` / `Base<Args>`. TypeScript's `typeof x`, `x is T` and `x as T` are written as
    /// `typeof<x>`, `is<?, T>` and `as<T, x>`.
    Generic {
        base: ExprId,
        args: Vec<ExprId>,
    },
    /// A type written in a string (Python forward reference), parsed.
    TypeUnion(Vec<ExprId>),
    /// `super(B, self)`, `B.super`: what follows a class among the ancestors.
    SuperOf(ExprId),
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
    /// Keyword of the argument; `None` for a positional one, `*` or `**` for one that is spread.
    pub keyword: Option<Name>,
    pub value: ExprId,
}

/// A reference: an expression that refers to a definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Innermost enclosing definition. May be a `Lambda`, which the linker attributes to the nearest node.
    pub scope: DefId,
    pub kind: ReferenceKind,
    /// The referring expression: for `Call` the whole `Expr::Call`, for `Read` a name or attribute, for `Type` the leaf
    /// of the type expression.
    pub expr: ExprId,
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReferenceKind {
    Call,
    /// A name or attribute used as a value that may be a function or class (argument, assigned value, element, return
    /// value).
    Read,
    /// A name or attribute that is raised: a class is instantiated.
    Raise,
    /// An attribute that owns another one: `x.part` in `x.part.size`. It counts if it is a property.
    Owner,
    /// An operator, as the call of the method that it may run, or an element that is read, as `Index`.
    Operator,
    /// An object that a block is entered with and left, `Await`ed if the block is asynchronous.
    Enter,
    /// A name in a type position (annotation, generic argument, cast, `instanceof`, `except T`).
    Type,
    /// A name in a code span of a document (as `Expr::Name`), possibly dotted or with `()`.
    DocName,
    /// A path or link target in a document (as `Expr::Name`), relative to the document.
    DocPath,
}

/// A binding: the value that a name or attribute may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Enclosing function, class or module.
    pub scope: DefId,
    pub kind: BindingKind,
    /// The bound name, `self.x` or `obj.x` as `Attribute`, or `table[k]` as `Index`.
    pub target: ExprId,
    pub annotation: Option<ExprId>,
    pub value: Option<ExprId>,
    pub line: u32,
    /// Lines that only run if the binding has: from the first to before the second, which is `u32::MAX` for a statement of
    /// the file itself. What the target held before is gone there.
    pub replaces: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BindingKind {
    Assign,
    /// One element of `value` (loop variable).
    Iterate,
    /// `with value as target`, `using`, `defer` and similar statements.
    Enter,
    /// `except value as target`, `catch (T e)`: the annotation or value is the type.
    Catch,
    /// Position `n` of an unpacked tuple. In loops the value is one element of what is iterated, as `Index` by an integer
    /// literal; in nested patterns it is a position of the outer one ([`PART`]). Object patterns (JS) are `Assign`s of attributes.
    Unpack(u16),
    /// `return value`; the target is `Unknown`.
    Return,
    Yield,
    /// Python `global x` / `nonlocal x`: the name belongs to an outer scope.
    Outer,
}
