//! The grammars compiled into the extension, one line each, by their name in `language.toml`.

use tree_sitter::Language;

/// Creates a grammar.
type Load = fn() -> Language;

const GRAMMARS: &[(&str, Load)] = &[
    ("python", || tree_sitter_python::LANGUAGE.into()),
    ("javascript", || tree_sitter_javascript::LANGUAGE.into()),
    ("typescript", || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
    ("tsx", || tree_sitter_typescript::LANGUAGE_TSX.into()),
    ("go", || tree_sitter_go::LANGUAGE.into()),
    ("rust", || tree_sitter_rust::LANGUAGE.into()),
    ("java", || tree_sitter_java::LANGUAGE.into()),
    ("c", || tree_sitter_c::LANGUAGE.into()),
    ("cpp", || tree_sitter_cpp::LANGUAGE.into()),
    ("c_sharp", || tree_sitter_c_sharp::LANGUAGE.into()),
    ("ruby", || tree_sitter_ruby::LANGUAGE.into()),
    ("php", || tree_sitter_php::LANGUAGE_PHP.into()),
    ("kotlin", || tree_sitter_kotlin_ng::LANGUAGE.into()),
    ("scala", || tree_sitter_scala::LANGUAGE.into()),
    ("swift", || tree_sitter_swift::LANGUAGE.into()),
    ("bash", || tree_sitter_bash::LANGUAGE.into()),
    ("lua", || tree_sitter_lua::LANGUAGE.into()),
    ("elixir", || tree_sitter_elixir::LANGUAGE.into()),
];

/// Returns the names of all compiled-in grammars, for error messages.
pub fn names() -> Vec<&'static str> {
    GRAMMARS.iter().map(|(name, _)| *name).collect()
}

/// Returns the grammar of a name, or `None` if it is not compiled in.
pub fn grammar(name: &str) -> Option<Language> {
    let (_, load) = GRAMMARS.iter().find(|(known, _)| *known == name)?;
    Some(load())
}
