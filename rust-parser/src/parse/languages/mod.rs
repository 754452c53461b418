//! What each language may say in Rust where patterns cannot: one module per language, each an implementation of
//! [`crate::parse::hooks::LanguageHooks`].

pub mod bash;
pub mod cfamily;
pub mod csharp;
pub mod ecmascript;
pub mod elixir;
pub mod go;
pub mod java;
pub mod kotlin;
pub mod lua;
pub mod php;
pub mod python;
pub mod ruby;
pub mod rust;
pub mod scala;
pub mod swift;

use crate::parse::hooks::LanguageHooks;

struct NoHooks;

impl LanguageHooks for NoHooks {}

/// The hooks of a name (`code` in `language.toml`), or None when there are none of that name.
pub fn hooks(name: &str) -> Option<&'static dyn LanguageHooks> {
    Some(match name {
        "" => &NoHooks,
        "python" => &python::Python,
        "ecmascript" => &ecmascript::Ecmascript,
        "go" => &go::Go,
        "java" => &java::Java,
        "kotlin" => &kotlin::Kotlin,
        "scala" => &scala::Scala,
        "swift" => &swift::Swift,
        "ruby" => &ruby::Ruby,
        "php" => &php::Php,
        "bash" => &bash::Bash,
        "elixir" => &elixir::Elixir,
        "lua" => &lua::Lua,
        "csharp" => &csharp::CSharp,
        "cfamily" => &cfamily::CFamily,
        "markdown" => &crate::parse::markdown::Markdown,
        "rust" => &rust::Rust,
        _ => return None,
    })
}
