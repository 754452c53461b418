//! Bits of `Definition::flags`.

pub const ASYNC: u32 = 1;
pub const STATIC: u32 = 1 << 1;
/// Python `@classmethod`.
pub const CLASS_METHOD: u32 = 1 << 2;
pub const ABSTRACT: u32 = 1 << 3;
/// A declaration whose body is elsewhere or absent (prototype, `.pyi`, overload signature, abstract method).
pub const DECLARATION: u32 = 1 << 4;
/// A test by the language's conventions (name, decorator, attribute).
pub const TEST: u32 = 1 << 5;
/// Visible outside its module (`export`, `pub`, upper case in Go, no leading underscore in Python, not `private`).
pub const EXPORTED: u32 = 1 << 6;
/// `export default` in JS/TS.
pub const DEFAULT_EXPORT: u32 = 1 << 7;
/// A generator function.
pub const GENERATOR: u32 = 1 << 8;
/// Overload signature (`@overload`, TS overload).
pub const OVERLOAD: u32 = 1 << 9;
/// One of several definitions of a name of which conditions choose at run time (`if`, `try`, `match`).
pub const CONDITIONAL: u32 = 1 << 10;
/// A static method that adds a member to the type of its first parameter (`this T` in C#).
pub const EXTENSION: u32 = 1 << 11;
/// A function without a `this` of its own (`=>` in JS).
pub const ARROW: u32 = 1 << 14;
