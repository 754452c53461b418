//! Types in documentation: `@param {Layer} layer`, `@returns {Layer}`, `@type {Layer}`, for files without types of their
//! own.

use crate::languages::ecmascript::typedefs::{define_documented, import_type};
use crate::walk::state::Walk;
use atlas_facts::{Expr, ExprId, Kind};

/// Largest number of parameters and of options of a type that are read.
pub const MAX_TYPES: usize = 32;

/// Gives parameters the types that the documentation of their function names.
pub fn type_documented(walk: &mut Walk) {
    if walk.language.settings.include.iter().any(|included| included == "typed") {
        return;
    }
    define_documented(walk);
    for def in 1..walk.builder.facts.definitions.len() {
        let definition = &walk.builder.facts.definitions[def];
        if definition.docstring == 0 {
            continue;
        }
        let is_function = is_callable(definition.kind);
        let line = definition.start_line;
        let docs = walk.builder.text(definition.docstring);
        if definition.declared_type.is_none()
            && let Some(declared) = documented(docs, if is_function { &["@returns", "@return"] } else { &["@type"] })
        {
            walk.builder.facts.definitions[def].declared_type = type_of(walk, &declared, line, 0);
        }
        let definition = &walk.builder.facts.definitions[def];
        let docs = walk.builder.text(definition.docstring);
        if definition.params.is_empty() || !docs.contains("@param") {
            continue;
        }
        let documented: Vec<(String, String)> =
            docs.split("@param").skip(1).take(MAX_TYPES).filter_map(parameter).collect();
        for (declared, name) in documented {
            let params = &walk.builder.facts.definitions[def].params;
            let found = params.iter().position(|param| walk.builder.text(param.name) == name);
            let Some(position) = found.filter(|&position| params[position].annotation.is_none()) else { continue };
            if let Some(annotation) = type_of(walk, &declared, line, 0) {
                walk.builder.facts.definitions[def].params[position].annotation = Some(annotation);
            }
        }
    }
}

/// Returns the type after one of the tags: `@returns {Layer}`.
fn documented(docs: &str, tags: &[&str]) -> Option<String> {
    let rest = tags.iter().find_map(|tag| Some(docs.split_once(tag)?.1))?;
    Some(braced(rest)?.0.to_owned())
}

/// Splits `{Map<string, {a: B}>} rest` at the brace that closes the first.
pub fn braced(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then(|| (text[1..at].trim(), &text[at + 1..]));
        }
    }
    None
}

fn is_callable(kind: Kind) -> bool {
    matches!(kind, Kind::Function | Kind::Method)
}

/// Reads ` {Layer} [layer=1] - text`.
fn parameter(text: &str) -> Option<(String, String)> {
    let (declared, rest) = braced(text)?;
    let rest = rest.trim_start().trim_start_matches('[');
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
    (end > 0).then(|| (declared.to_owned(), rest[..end].to_owned()))
}

/// Returns the expression of a type: a path of names, an array, or options of these.
pub fn type_of(walk: &mut Walk, text: &str, line: u32, depth: usize) -> Option<ExprId> {
    let text = text.trim().trim_start_matches(['?', '!', '(']).trim_end_matches(['=', ')']).trim();
    if depth > 2 {
        return None;
    }
    if let Some(expr) = import_type(walk, text, line) {
        return Some(expr);
    }
    if text.contains('|') {
        let options: Vec<ExprId> =
            text.split('|').take(MAX_TYPES).filter_map(|option| type_of(walk, option, line, depth + 1)).collect();
        return match options[..] {
            [] => None,
            [only] => Some(only),
            _ => Some(walk.union(options)),
        };
    }
    if let Some(inner) = text.strip_prefix("Promise<").and_then(|rest| rest.strip_suffix('>')) {
        return type_of(walk, inner, line, depth + 1);
    }
    let inner = text.strip_suffix("[]").or_else(|| text.strip_prefix("Array<")?.strip_suffix('>'));
    if let Some(inner) = inner {
        let item = type_of(walk, inner, line, depth + 1)?;
        let name = walk.builder.name("Array");
        let base = walk.builder.name_expr(name);
        return Some(walk.builder.expr(Expr::Generic { base, args: vec![item] }));
    }
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
            && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
    };
    let last = text.rsplit('.').next().unwrap_or(text);
    if !text.split('.').all(is_word) || !last.starts_with(char::is_uppercase) || matches!(last, "Object" | "Function") {
        return None;
    }
    let mut names = text.split('.');
    let first = walk.builder.owned_name(names.next()?.to_owned());
    let mut expr = walk.builder.name_expr(first);
    for name in names {
        let name = walk.builder.owned_name(name.to_owned());
        expr = walk.builder.attribute(expr, name);
    }
    Some(expr)
}
