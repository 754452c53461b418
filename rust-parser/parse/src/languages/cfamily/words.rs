//! Words of C and C++, by what may follow them.

/// Parts of words in upper case that stand around declarations.
const BRACKETS: &[&str] = &["BEGIN", "END", "PUSH", "POP", "NAMESPACE", "DECLS"];

/// Returns whether a word begins a declaration, or a type, and cannot follow the name of a type.
pub fn begins_declaration(word: &[u8]) -> bool {
    is_class(word)
        || is_access(word)
        || matches!(word, b"enum" | b"namespace" | b"template" | b"typedef" | b"using" | b"typename" | b"auto")
        || matches!(word, b"extern" | b"virtual" | b"explicit" | b"friend" | b"static_assert")
        || matches!(word, b"void" | b"bool" | b"char" | b"short" | b"float" | b"double" | b"signed")
}

/// Returns whether a word is a type that may follow another one (`long int`).
pub fn is_number_type(word: &[u8]) -> bool {
    matches!(word, b"int" | b"long" | b"unsigned")
}

/// Returns whether a word may follow a type (`T const`).
pub fn is_qualifier(word: &[u8]) -> bool {
    matches!(word, b"const" | b"volatile" | b"static" | b"inline" | b"constexpr" | b"register" | b"restrict")
}

/// Returns whether a word stands in front of a declaration.
pub fn is_modifier(word: &[u8]) -> bool {
    matches!(word, b"static" | b"inline" | b"extern" | b"virtual" | b"explicit" | b"constexpr" | b"friend" | b"const")
}

pub fn is_access(word: &[u8]) -> bool {
    matches!(word, b"public" | b"private" | b"protected")
}

pub fn is_class(word: &[u8]) -> bool {
    matches!(word, b"class" | b"struct" | b"union")
}

/// Returns whether a word of the languages is neither a name nor one of those above.
pub fn is_keyword(word: &[u8]) -> bool {
    matches!(word, b"return" | b"case" | b"goto" | b"else" | b"do" | b"if" | b"for" | b"while" | b"switch" | b"break")
        || matches!(word, b"continue" | b"default" | b"sizeof" | b"new" | b"delete" | b"throw" | b"try" | b"catch")
        || matches!(word, b"operator" | b"co_return" | b"co_await" | b"co_yield" | b"mutable" | b"consteval" | b"this")
        || matches!(word, b"constinit" | b"concept" | b"requires" | b"export" | b"import" | b"module" | b"asm")
        || matches!(word, b"decltype" | b"alignas" | b"noexcept" | b"final" | b"override" | b"thread_local" | b"not")
        || matches!(word, b"and" | b"or")
}

/// Returns whether a word has the form of a macro.
pub fn is_upper(word: &[u8]) -> bool {
    word.len() > 2
        && (word[0].is_ascii_uppercase() || word[0] == b'_')
        && word.iter().any(u8::is_ascii_uppercase)
        && word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// Returns whether a macro stands around declarations, by its name (`G_BEGIN_DECLS`).
pub fn is_bracket(word: &[u8]) -> bool {
    let text = std::str::from_utf8(word).unwrap_or("");
    BRACKETS.iter().any(|part| text.contains(part))
}
