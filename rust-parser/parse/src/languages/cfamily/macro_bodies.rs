//! Functions that the text of a macro calls: `#define LOG(x) write_log(x)`, and `#define CALL(f) f()`, which calls what it
//! receives.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Arg, Expr, LiteralType, Param, ParamKind, Reference, ReferenceKind};

/// Largest number of calls of one macro.
const MAX_CALLS: usize = 16;
/// Longest text of a macro that is examined.
const MAX_TEXT: usize = 4000;
/// Words before brackets that are no functions.
const WORDS: [&str; 16] = [
    "if",
    "while",
    "for",
    "switch",
    "return",
    "sizeof",
    "defined",
    "typeof",
    "__typeof__",
    "__attribute__",
    "alignof",
    "_Alignof",
    "_Generic",
    "__extension__",
    "decltype",
    "asm",
];

/// Records the parameters of macros, and the calls in their texts.
pub fn refer(walk: &mut Walk) {
    for node in 0..walk.tree.len() {
        if walk.kind_name(node) == "preproc_function_def"
            && let Some(&(definition, _)) = walk.definition_of.get(&node)
        {
            refer_from(walk, node, definition);
        }
    }
}

fn refer_from(walk: &mut Walk, node: NodeId, definition: u32) {
    let (Some(list), Some(value)) = (walk.child(node, "parameters"), walk.child(node, "value")) else { return };
    let text = walk.text_of(value).into_owned();
    if text.len() > MAX_TEXT {
        return;
    }
    let mut params = Vec::new();
    for part in walk.tree.children(list).collect::<Vec<_>>() {
        let (kind, name) = match walk.bytes_of(part) {
            b"..." => (ParamKind::Variadic, walk.builder.owned_name("__VA_ARGS__".to_owned())),
            _ if walk.kind_name(part) == "identifier" => (ParamKind::Normal, walk.name_of(part)),
            _ => continue,
        };
        params.push(Param { name, annotation: None, default: None, kind });
    }
    walk.builder.facts.definitions[definition as usize].params = params;
    let line = walk.tree.line(node);
    for (name, given, lines) in calls(&text) {
        let name = walk.builder.owned_name(name.to_owned());
        let callee = walk.builder.name_expr(name);
        let value = walk.builder.literal(LiteralType::Int);
        let args = vec![Arg { keyword: None, value }; given];
        let expr = walk.builder.expr(Expr::Call { callee, args, new: false });
        let reference = Reference { scope: definition, kind: ReferenceKind::Call, expr, line: line + lines };
        walk.builder.facts.references.push(reference);
    }
}

/// Returns the names before brackets, the numbers of arguments and of the line breaks before.
fn calls(text: &str) -> Vec<(&str, usize, u32)> {
    let mut found: Vec<(&str, usize, u32)> = Vec::new();
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    for open in memchr::memchr_iter(b'(', bytes) {
        let length = bytes[..open].iter().rev().take_while(|&&byte| is_part(byte)).count();
        let name = &text[open - length..open];
        let before = text[..open - length].trim_end();
        let is_member = before.ends_with(['.', '"', '\'', '#', ':']) || before.ends_with("->");
        let is_name = length > 0 && !bytes[open - length].is_ascii_digit() && !WORDS.contains(&name);
        let is_quoted = before.matches('"').count() % 2 == 1;
        if !is_name || is_member || is_quoted || found.len() >= MAX_CALLS || found.iter().any(|one| one.0 == name) {
            continue;
        }
        let lines = bytes[..open].iter().filter(|&&byte| byte == b'\n').count() as u32;
        found.push((name, arguments(&bytes[open + 1..]), lines));
    }
    found
}

/// Returns the number of arguments up to the closing bracket.
fn arguments(bytes: &[u8]) -> usize {
    let (mut depth, mut count, mut is_empty) = (0, 1, true);
    for &byte in bytes {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => break,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => count += 1,
            _ => {}
        }
        is_empty &= byte.is_ascii_whitespace();
    }
    if is_empty { 0 } else { count }
}
