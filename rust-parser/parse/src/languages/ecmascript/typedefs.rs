//! Types that documentation defines: `@typedef {Object} Options` with its `@property` lines, `@typedef {{ size: Size }}
//! Options`, `@typedef {Layer} Other`, `@typedef {import("./layer").Layer} Layer`, `@import { Layer } from "./layer"`.

use crate::doc_text;
use crate::flat_tree::NodeId;
use crate::languages::ecmascript::imports::unquoted;
use crate::languages::ecmascript::jsdoc::{MAX_TYPES, braced, type_of};
use crate::walk::drafts::Layout;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Definition, ExprId, Import, ImportKind, Kind, flags};

/// Largest number of types that the documentation of a file may define.
const MAX_DEFINED: usize = 500;

/// Defines the types of a file's documentation.
pub fn define_documented(walk: &mut Walk) {
    let has = |tag: &[u8]| memchr::memmem::find(walk.source, tag).is_some();
    if !has(b"@typedef") && !has(b"@import") {
        return;
    }
    let comments: Vec<NodeId> = (0..walk.tree.len())
        .filter(|&node| walk.bytes_of(node).starts_with(b"/**") && is_comment(walk, node))
        .collect();
    let mut defined = 0;
    for comment in comments {
        let text = doc_text::clean_comment(&walk.text_of(comment));
        let line = walk.tree.line(comment);
        for part in text.split("@import").skip(1).take(MAX_DEFINED) {
            import_tag(walk, part, line);
        }
        for part in text.split("@typedef").skip(1) {
            defined += 1;
            if defined > MAX_DEFINED {
                return;
            }
            define(walk, comment, part);
        }
    }
}

fn is_comment(walk: &Walk, node: NodeId) -> bool {
    walk.kind_name(node) == "comment"
}

/// Reads ` {Object} Name text @property {Size} size`.
fn define(walk: &mut Walk, comment: NodeId, text: &str) -> Option<()> {
    let (declared, rest) = braced(text)?;
    let name = word(rest)?;
    let line = walk.tree.line(comment);
    let fields: Vec<(String, String)> = match declared.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
        Some(inner) => members(inner),
        None if matches!(declared, "Object" | "object") => properties(rest),
        None => {
            if let Some((module, member)) = imported(declared)
                && !member.contains('.')
            {
                push_import(walk, module, member, name, line);
                return Some(());
            }
            let declared = type_of(walk, declared, line, 0)?;
            let alias = push(walk, comment, 0, (Kind::TypeAlias, name))?;
            walk.builder.facts.definitions[alias as usize].declared_type = Some(declared);
            return Some(());
        }
    };
    let owner = push(walk, comment, 0, (Kind::Interface, name))?;
    for (field, declared) in fields {
        if let Some(field) = push(walk, comment, owner, (Kind::Field, &field)) {
            let declared = type_of(walk, &declared, line, 0);
            walk.builder.facts.definitions[field as usize].declared_type = declared;
        }
    }
    Some(())
}

/// Returns the `@property {Type} [name=1] - text` lines of a definition: names and types.
fn properties(text: &str) -> Vec<(String, String)> {
    let tags = text.split("@prop").skip(1).take(MAX_TYPES);
    let read = tags.filter_map(|tag| {
        let (declared, rest) = braced(tag.strip_prefix("erty").unwrap_or(tag))?;
        let rest = rest.trim_start().trim_start_matches('[');
        let name = word(rest)?;
        // `@property {string} owner.name` describes a part of another property.
        (!rest[name.len()..].starts_with('.')).then(|| (name.to_owned(), declared.to_owned()))
    });
    read.collect()
}

/// Returns the members of `a: A, b?: Map<B, C>`.
fn members(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut depth = 0i32;
    let mut start = 0;
    for (at, c) in text.char_indices().chain([(text.len(), ',')]) {
        match c {
            '{' | '(' | '<' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            '>' if !text[..at].ends_with('=') => depth -= 1,
            ',' | ';' | '\n' if depth == 0 => {
                if let Some((name, declared)) = text[start..at].split_once(':')
                    && let Some(name) = word(name.trim().trim_start_matches("readonly "))
                {
                    found.push((name.to_owned(), declared.trim().to_owned()));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    found.truncate(MAX_TYPES);
    found
}

fn word(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(text.len());
    (end > 0 && end <= 200).then(|| &text[..end])
}

/// Returns the module and the member of `import("./layer").Layer`.
pub fn imported(text: &str) -> Option<(&str, &str)> {
    let (module, rest) = text.strip_prefix("import(")?.split_once(')')?;
    let module = module.trim().trim_matches(['"', '\'', '`']);
    let member = rest.trim_start().strip_prefix('.')?;
    let is_path = member.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'));
    (is_path && !module.is_empty() && !member.is_empty()).then_some((module, member))
}

/// Reads ` { Layer, Route as R } from "./layer"`.
fn import_tag(walk: &mut Walk, text: &str, line: u32) -> Option<()> {
    let (names, rest) = braced(text)?;
    let rest = rest.trim_start().strip_prefix("from")?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let module = unquoted(&rest[..rest[1..].find(quote)? + 2]);
    for name in names.split(',').take(MAX_TYPES) {
        let (member, alias) = name.split_once(" as ").unwrap_or((name, name));
        if let (Some(member), Some(alias)) = (word(member), word(alias)) {
            push_import(walk, &module, member, alias, line);
        }
    }
    Some(())
}

/// Returns the name of `import("./layer").Layer` in a type, which is imported at its first use.
pub fn import_type(walk: &mut Walk, text: &str, line: u32) -> Option<ExprId> {
    let (module, path) = imported(text)?;
    let (member, rest) = path.split_once('.').unwrap_or((path, ""));
    let alias = format!("import({module}).{member}");
    push_import(walk, module, member, &alias, line);
    let name = walk.builder.owned_name(alias);
    let mut expr = walk.builder.name_expr(name);
    for part in rest.split('.').filter(|part| !part.is_empty()) {
        let name = walk.builder.owned_name(part.to_owned());
        expr = walk.builder.attribute(expr, name);
    }
    Some(expr)
}

fn push_import(walk: &mut Walk, module: &str, member: &str, alias: &str, line: u32) {
    let [module, member, alias] = [module, member, alias].map(|text| walk.builder.owned_name(text.to_owned()));
    if walk.builder.facts.imports.iter().any(|import| import.alias == Some(alias)) {
        return;
    }
    let kind = if walk.builder.text(member) == "default" { ImportKind::Default } else { ImportKind::Member };
    let import =
        Import { scope: 0, module, level: 0, member: Some(member), alias: Some(alias), kind, line, type_only: true };
    walk.push_import_of_file(import);
}

/// Adds a definition that a comment contains; none if the name is taken in its scope.
fn push(walk: &mut Walk, comment: NodeId, parent: DefId, (kind, name): (Kind, &str)) -> Option<DefId> {
    let prefix = walk.builder.facts.definitions[parent as usize].path;
    let prefix = walk.builder.text(prefix).to_owned();
    let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    let path = walk.builder.owned_name(path);
    if !walk.paths.insert(path) {
        return None;
    }
    let name = walk.builder.owned_name(name.to_owned());
    let place = *walk.tree.node(comment);
    let line = walk.tree.line(comment);
    let text = walk.text_of(comment).into_owned();
    let text = doc_text::clean_comment(&text);
    let docs = doc_text::limited(&text);
    let definition = walk.builder.facts.definitions.len() as DefId;
    let record = Definition {
        kind,
        name,
        path,
        parent,
        flags: flags::EXPORTED,
        start_byte: place.start,
        end_byte: place.end,
        start_line: line,
        end_line: walk.line_of_end(comment),
        name_line: line,
        signature: 0,
        docstring: if parent == 0 { walk.builder.long_text(docs) } else { 0 },
        signature_digest: 0,
        body_digest: 0,
        docstring_digest: if parent == 0 { doc_text::text_digest(&text) } else { 0 },
        text_digest: 0,
        decorators: Vec::new(),
        bases: Vec::new(),
        params: Vec::new(),
        declared_type: None,
    };
    walk.builder.facts.definitions.push(record);
    walk.layouts.push(Layout { head: place.start, body: place.end, end: place.end, docstring: None });
    Some(definition)
}
