//! Hooks of the languages: one module per language, each with an implementation of
//! [`crate::hooks::LanguageHooks`].

pub mod bash;
pub mod cfamily;
pub mod conditionals;
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

use crate::hooks::LanguageHooks;

struct NoHooks;

impl LanguageHooks for NoHooks {}

/// Returns the hooks of a name (`code` in `language.toml`), or `None` if there are none.
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
        "markdown" => &crate::markdown::Markdown,
        "restructuredtext" => &crate::documents::Restructured,
        "asciidoc" => &crate::documents::AsciiDoc,
        "jupyter" => &crate::documents::Notebook,
        "note" => &crate::notes::Notes,
        "plain" => &crate::plain::Plain,
        "rust" => &rust::Rust,
        _ => return None,
    })
}
