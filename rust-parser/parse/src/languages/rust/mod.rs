//! Hooks of Rust: use trees, visibility, attributes with a meaning, patterns, and calls inside macro arguments, which
//! the grammar leaves as tokens.

mod item_macros;
mod lexer;
mod macros;

use std::borrow::Cow;

use crate::doc_text::clean_comment;
use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::rust::item_macros::without_item_macros;
use crate::languages::rust::macros::macro_calls;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{
    Arg, BindingKind, Expr, ExprId, Import, ImportKind, Kind, LiteralType, Param, ParamKind, ReferenceKind, flags,
};

pub struct Rust;

/// Largest nesting depth of use trees.
const MAX_USE_DEPTH: u32 = 32;

impl LanguageHooks for Rust {
    fn readable<'a>(&self, source: &'a [u8]) -> Cow<'a, [u8]> {
        without_item_macros(source)
    }

    fn begin(&self, walk: &mut Walk) {
        let mut lines = Vec::new();
        for node in walk.tree.children(0) {
            let text = walk.text_of(node);
            match walk.kind_name(node) {
                "line_comment" | "block_comment" if text.starts_with("//!") || text.starts_with("/*!") => {
                    lines.push(text.trim_end().to_owned());
                }
                "line_comment" | "block_comment" | "shebang" if lines.is_empty() => {}
                _ => break,
            }
        }
        walk.set_file_docs(&clean_comment(&lines.join("\n")));
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        let reexport = walk.tree.children(node).any(|part| walk.kind_name(part) == "visibility_modifier");
        let line = walk.tree.line(node);
        for part in node..walk.tree.node(node).next {
            walk.claim_read(part);
        }
        match walk.kind_name(node) {
            "use_declaration" => {
                if let Some(tree) = walk.child(node, "argument") {
                    use_tree(walk, tree, &mut Vec::new(), reexport, 0);
                }
            }
            "mod_item" => {
                if let Some(name) = walk.child(node, "name").map(|name| walk.text_of(name).into_owned()) {
                    let file = stated_path(walk).unwrap_or_else(|| name.clone());
                    push(walk, line, &["self".to_owned(), file], None, Some(name), ImportKind::Module);
                }
                walk.pending_decorators.clear();
            }
            _ => {
                if let Some(name) = walk.child(node, "name").map(|name| walk.text_of(name).into_owned()) {
                    let alias = walk.child(node, "alias").map(|alias| walk.text_of(alias).into_owned());
                    push(
                        walk,
                        line,
                        std::slice::from_ref(&name),
                        None,
                        alias.or_else(|| Some(name.clone())),
                        ImportKind::Module,
                    );
                }
            }
        }
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "macro_invocation" => macro_calls(walk, node),
            "type_binding" => {
                if let Some(name) = walk.child(node, "name") {
                    walk.claim_read(name);
                }
            }
            "enum_variant" => variant_parts(walk, node),
            "type_parameter" => type_parameter(walk, node),
            "where_predicate" => predicate(walk, node),
            _ => match_arms(walk, node),
        }
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        match walk.kind_name(node) {
            "struct_pattern" => struct_pattern(walk, node, binding),
            "tuple_struct_pattern" => tuple_struct_pattern(walk, node, binding),
            // A path in a pattern is a read.
            "scoped_identifier" => {
                let path = walk.expression(node);
                walk.refer(ReferenceKind::Read, path, binding.line);
            }
            _ => {
                // `None` and `LIMIT` in a pattern are compared with, not bound.
                let parent = walk.kind_name(walk.tree.node(node).parent);
                let is_item = matches!(parent, "const_item" | "static_item");
                if is_item || !walk.bytes_of(node).first().is_some_and(u8::is_ascii_uppercase) {
                    let expr = walk.expression(node);
                    walk.push_binding(expr, binding);
                }
            }
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        if draft.kind == Kind::Field && in_variant(walk, draft.node) {
            return false;
        }
        attributes(walk, draft);
        let in_trait = walk.kind_of(draft.parent) == Kind::Trait;
        match draft.kind {
            // Members of a trait have the visibility of the trait.
            Kind::Extension if walk.child(draft.node, "trait").is_some() => draft.flags |= flags::EXPORTED,
            Kind::Field | Kind::Method if walk.kind_name(draft.node) != "enum_variant" && !in_trait => {
                let follows = walk.kind_of(draft.parent) == Kind::Extension;
                let parent = &walk.builder.facts.definitions[draft.parent as usize];
                let visible = follows && parent.flags & flags::EXPORTED != 0;
                draft.private = draft.flags & flags::EXPORTED == 0 && !visible;
            }
            _ => {}
        }
        if draft.kind == Kind::Method {
            if in_trait && draft.body.is_none() {
                draft.flags |= flags::ABSTRACT;
            }
            if !has_receiver(walk, draft) {
                draft.flags |= flags::STATIC;
            }
        }
        true
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        if walk.kind_name(node) == "function_type" {
            return function_type(walk, node);
        }
        let kind = match walk.bytes_of(node) {
            b"str" | b"char" => LiteralType::Str,
            b"bool" => LiteralType::Bool,
            b"f32" | b"f64" => LiteralType::Float,
            _ => LiteralType::Int,
        };
        walk.builder.literal(kind)
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        match walk.kind_name(node) {
            // `self::name` refers to this module, `self.name` to this object.
            "scoped_identifier" => {
                let path = walk.child(node, "path").filter(|&path| walk.kind_name(path) == "self")?;
                let base = walk.name_of(path);
                let base = walk.builder.name_expr(base);
                let name = walk.child(node, "name")?;
                let name = walk.name_of(name);
                Some(walk.builder.attribute(base, name))
            }
            "macro_invocation" => {
                let name = walk.child(node, "macro")?;
                (walk.bytes_of(name) == b"vec").then(|| walk.builder.literal(LiteralType::List))
            }
            _ => None,
        }
    }
}

/// Returns whether a field belongs to an enum variant.
fn in_variant(walk: &Walk, node: NodeId) -> bool {
    let list = walk.tree.node(node).parent;
    walk.kind_name(walk.tree.node(list).parent) == "enum_variant"
}

fn has_receiver(walk: &Walk, draft: &DefinitionDraft) -> bool {
    let Some(first) = draft.parameters.and_then(|list| walk.contents(list).next()) else {
        return false;
    };
    let pattern = walk.child(first, "pattern").unwrap_or(first);
    matches!(walk.kind_name(pattern), "self_parameter" | "self")
}

/// Returns the file that `#[path = "unix/file.rs"]` before a module names.
fn stated_path(walk: &Walk) -> Option<String> {
    walk.pending_decorators.iter().find_map(|&attribute| {
        let text = walk.text_of(attribute);
        let stated = text.trim_start_matches("#[").trim_end_matches(']').trim().strip_prefix("path")?;
        let path = stated.trim_start().strip_prefix('=')?.trim().strip_prefix('"')?.strip_suffix('"')?;
        let is_below = !path.starts_with('/') && !path.contains(':') && !path.contains("..");
        is_below.then(|| path.to_owned())
    })
}

/// Handles `#[test]`, `#[cfg(test)]`, `#[macro_export]`.
fn attributes(walk: &Walk, draft: &mut DefinitionDraft) {
    for &attribute in &draft.decorators {
        let text = walk.text_of(attribute);
        let inner: String = text.trim_start_matches("#[").trim_end_matches(']').split_whitespace().collect();
        let name = inner.split('(').next().unwrap_or("");
        let is_test =
            matches!(name.rsplit("::").next(), Some("test" | "rstest" | "test_case" | "quickcheck" | "bench"));
        if is_test || inner == "cfg(test)" {
            draft.flags |= flags::TEST;
        }
        if name == "macro_export" {
            draft.flags |= flags::EXPORTED;
        }
    }
}

/// Reads one branch of a use tree; `prefix` holds the segments before it.
fn use_tree(walk: &mut Walk, node: NodeId, prefix: &mut Vec<String>, reexport: bool, depth: u32) {
    if depth > MAX_USE_DEPTH {
        walk.too_deep = true;
        return;
    }
    let length = prefix.len();
    let line = walk.tree.line(node);
    let kind = if reexport { ImportKind::ReExport } else { ImportKind::Member };
    match walk.kind_name(node) {
        "scoped_use_list" => {
            if let Some(path) = walk.child(node, "path") {
                prefix.extend(segments(walk, path));
            }
            if let Some(list) = walk.child(node, "list") {
                use_tree(walk, list, prefix, reexport, depth + 1);
            }
        }
        "use_list" => {
            for branch in walk.contents(node).collect::<Vec<_>>() {
                use_tree(walk, branch, prefix, reexport, depth + 1);
            }
        }
        "use_wildcard" => {
            if let Some(path) = walk.contents(node).next() {
                prefix.extend(segments(walk, path));
            }
            let kind = if reexport { ImportKind::ReExport } else { ImportKind::Star };
            push(walk, line, prefix, None, None, kind);
        }
        "use_as_clause" => {
            let alias = walk.child(node, "alias").map(|alias| walk.text_of(alias).into_owned());
            if let Some(path) = walk.child(node, "path") {
                prefix.extend(segments(walk, path));
            }
            use_leaf(walk, line, prefix, alias, kind);
        }
        _ => {
            prefix.extend(segments(walk, node));
            use_leaf(walk, line, prefix, None, kind);
        }
    }
    prefix.truncate(length);
}

/// Records the end of a branch: a member of a module, or the module itself (`{self}`, `use name`).
fn use_leaf(walk: &mut Walk, line: u32, path: &[String], alias: Option<String>, kind: ImportKind) {
    let (module, member) = match path {
        [] => return,
        [module @ .., last] if last == "self" && !module.is_empty() => (module, None),
        [only] => (std::slice::from_ref(only), None),
        [module @ .., last] => (module, Some(last.clone())),
    };
    let own = member.clone().or_else(|| module.last().cloned());
    let alias = alias.or(own).filter(|alias| alias != "_");
    let kind = match (kind, &member) {
        (ImportKind::Member, None) => ImportKind::Module,
        (kind, _) => kind,
    };
    // A re-exported module is a member of its parent.
    let (module, member) = match (kind, member, module) {
        (ImportKind::ReExport, None, [parent @ .., last]) if !parent.is_empty() => (parent, Some(last.clone())),
        (_, member, module) => (module, member),
    };
    push(walk, line, module, member, alias, kind);
}

/// Returns the segments of a path without a leading `::`.
fn segments(walk: &Walk, node: NodeId) -> Vec<String> {
    let text: String = walk.text_of(node).split_whitespace().collect();
    text.split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

fn push(walk: &mut Walk, line: u32, path: &[String], member: Option<String>, alias: Option<String>, kind: ImportKind) {
    let level = path.iter().take_while(|segment| *segment == "super").count();
    let module = walk.builder.owned_name(path[level..].join("::"));
    let member = member.map(|member| walk.builder.owned_name(member));
    let alias = alias.map(|alias| walk.builder.owned_name(alias));
    walk.push_import(Import { scope: 0, module, level: level as u32, member, alias, kind, line, type_only: false });
}

/// Binds a type parameter to its bounds, also those in the `where` of the same item.
fn type_parameter(walk: &mut Walk, node: NodeId) {
    let Some(name) = walk.child(node, "name") else { return };
    let item = walk.tree.node(walk.tree.node(node).parent).parent;
    let mut bounds: Vec<NodeId> = walk.child(node, "bounds").into_iter().collect();
    for clause in walk.contents(item).filter(|&part| walk.kind_name(part) == "where_clause") {
        let predicates = walk.contents(clause).filter(|&predicate| {
            walk.child(predicate, "left").is_some_and(|left| walk.bytes_of(left) == walk.bytes_of(name))
        });
        bounds.extend(predicates.filter_map(|predicate| walk.child(predicate, "bounds")));
    }
    bind_bounds(walk, name, &bounds);
}

/// `where T: Draw` of a method restricts a type parameter of the `impl` around it.
fn predicate(walk: &mut Walk, node: NodeId) {
    let (Some(left), Some(bounds)) = (walk.child(node, "left"), walk.child(node, "bounds")) else { return };
    let item = walk.tree.node(walk.tree.node(node).parent).parent;
    let own = walk.child(item, "type_parameters").into_iter().flat_map(|list| walk.contents(list));
    let mut names = own.filter_map(|parameter| walk.child(parameter, "name"));
    let is_own = names.any(|name| walk.bytes_of(name) == walk.bytes_of(left));
    if walk.kind_name(item) == "function_item" && walk.kind_name(left) == "type_identifier" && !is_own {
        bind_bounds(walk, left, &[bounds]);
    }
}

/// `Fn(A) -> R`, `fn(A) -> R`: a call that returns `R`.
fn function_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let list = walk.child(node, "parameters");
    let mut args = Vec::new();
    for part in list.into_iter().flat_map(|list| walk.contents(list)).collect::<Vec<_>>() {
        let declared = walk.child(part, "type").unwrap_or(part);
        args.push(Arg { keyword: None, value: walk.type_expression(declared) });
    }
    let callee = walk.child(node, "return_type").map_or(UNKNOWN, |result| walk.type_expression(result));
    walk.builder.expr(Expr::Call { callee, args, new: false })
}

fn bind_bounds(walk: &mut Walk, name: NodeId, bounds: &[NodeId]) {
    let types: Vec<NodeId> = bounds.iter().flat_map(|&bounds| walk.contents(bounds)).collect();
    let types = types.into_iter().filter(|&bound| walk.kind_name(bound) != "lifetime").collect::<Vec<_>>();
    let line = walk.tree.line(name);
    let types: Vec<ExprId> = types.into_iter().map(|bound| walk.type_expression(bound)).collect();
    for &bound in &types {
        // The types in `Fn(A) -> B` are part of the bound's expression.
        if matches!(walk.builder.get(bound), Expr::Call { .. }) {
            walk.refer_types(bound, line);
        }
    }
    let annotation = walk.all_of(types);
    let name = walk.name_of(name);
    walk.bind_name(name, annotation, line);
}

/// Records what a variant holds as its parameters.
fn variant_parts(walk: &mut Walk, node: NodeId) {
    let (Some(&(variant, _)), Some(body)) = (walk.definition_of.get(&node), walk.child(node, "body")) else {
        return;
    };
    let mut params = Vec::new();
    for part in walk.contents(body).collect::<Vec<_>>() {
        let (name, declared) = match walk.kind_name(part) {
            "field_declaration" => (walk.child(part, "name"), walk.child(part, "type")),
            "attribute_item" | "visibility_modifier" => continue,
            _ => (None, Some(part)),
        };
        let name = name.map_or(0, |name| walk.name_of(name));
        let annotation = declared.map(|declared| walk.type_expression(declared));
        params.push(Param { name, annotation, default: None, kind: ParamKind::Normal });
    }
    walk.builder.facts.definitions[variant as usize].params = params;
}

/// Binds the patterns of a match's arms to parts of its value.
fn match_arms(walk: &mut Walk, node: NodeId) {
    let (Some(value), Some(body)) = (walk.child(node, "value"), walk.child(node, "body")) else {
        return;
    };
    let expr = walk.expression(value);
    walk.read(value);
    for arm in walk.contents(body).collect::<Vec<_>>() {
        if let Some(pattern) = walk.child(arm, "pattern") {
            let line = walk.tree.line(pattern);
            let draft = BindingDraft { kind: BindingKind::Assign, value: Some(expr), annotation: None, line };
            walk.bind(pattern, draft);
        }
    }
}

/// `Point { x, y: other }`: each name is bound to a field of the value, or of the variant in the pattern.
fn struct_pattern(walk: &mut Walk, node: NodeId, binding: BindingDraft) {
    let variant = walk.child(node, "type").filter(|&path| is_variant(walk, path));
    let base = match variant {
        Some(path) => {
            let expr = walk.type_expression(path);
            walk.refer(ReferenceKind::Read, expr, walk.tree.line(path));
            Some(expr)
        }
        None => binding.value,
    };
    let fields = walk.contents(node).filter(|&part| walk.kind_name(part) == "field_pattern");
    for part in fields.collect::<Vec<_>>() {
        let Some(name) = walk.child(part, "name") else {
            continue;
        };
        let field = walk.name_of(name);
        let value = base.map(|base| walk.builder.attribute(base, field));
        let draft = BindingDraft { kind: BindingKind::Assign, value, annotation: None, line: binding.line };
        walk.bind(walk.child(part, "pattern").unwrap_or(name), draft);
    }
}

/// Returns whether a path is that of a variant: `Shape::Circle`.
fn is_variant(walk: &Walk, path: NodeId) -> bool {
    let text = walk.text_of(path);
    let mut segments = text.rsplit("::").map(|segment| segment.trim().starts_with(char::is_uppercase));
    segments.next() == Some(true) && segments.next() == Some(true)
}

/// `Some(x)` and `Ok(x)` bind the wrapped value, other variants what they hold.
fn tuple_struct_pattern(walk: &mut Walk, node: NodeId, binding: BindingDraft) {
    let Some(kind) = walk.child(node, "type") else {
        return;
    };
    let is_wrapper = matches!(walk.bytes_of(kind), b"Some" | b"Ok");
    let is_error = walk.bytes_of(kind) == b"Err";
    let path = walk.expression(kind);
    if !is_wrapper && !is_error {
        walk.read(kind);
    }
    let is_name = matches!(walk.builder.get(path), Expr::Name(_) | Expr::Attribute { .. });
    let parts: Vec<NodeId> = walk.contents(node).filter(|&part| part != kind).collect();
    if is_name && !is_wrapper && !is_error {
        let holder = walk.builder.expr(Expr::Call { callee: path, args: Vec::new(), new: true });
        for (position, part) in parts.into_iter().enumerate() {
            let kind = BindingKind::Unpack(position.min(u16::MAX.into()) as u16);
            walk.bind(part, BindingDraft { kind, value: Some(holder), annotation: None, ..binding });
        }
        return;
    }
    for part in parts {
        let value = binding.value.filter(|&value| is_wrapper && is_name && value != UNKNOWN);
        walk.bind(part, BindingDraft { value, annotation: None, ..binding });
    }
}
