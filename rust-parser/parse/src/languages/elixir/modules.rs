//! Full names of Elixir's modules, by expanding `alias`, and the forms of import.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::languages::elixir::syntax::option;
use crate::walk::state::Walk;
use atlas_facts::{Arg, DefId, Expr, Import, ImportKind, Kind, ReferenceKind};

/// Returns the full name of the enclosing module.
pub fn own_module(walk: &Walk) -> Option<String> {
    let scopes = walk.scopes.iter().rev().map(|scope| scope.definition);
    let class = scopes.into_iter().find(|&scope| is_module(walk.kind_of(scope)))?;
    let path = walk.builder.text(walk.builder.facts.definitions[class as usize].path);
    Some(path.split('#').next().unwrap_or(path).to_owned())
}

pub fn is_module(kind: Kind) -> bool {
    matches!(kind, Kind::Class | Kind::Struct | Kind::Interface)
}

/// Returns the full name of the module in `Alias.Name`, `__MODULE__` or `__MODULE__.Name`.
pub fn module_name(walk: &Walk, node: NodeId) -> Option<String> {
    match walk.kind_name(node) {
        "alias" => Some(expanded(walk, &walk.text_of(node))),
        "identifier" if walk.bytes_of(node) == b"__MODULE__" => own_module(walk),
        "dot" => {
            let (left, right) = (walk.child(node, "left")?, walk.child(node, "right")?);
            let is_name = walk.kind_name(right) == "alias";
            let base = module_name(walk, left).filter(|_| is_name)?;
            Some(format!("{base}.{}", walk.text_of(right)))
        }
        _ => None,
    }
}

/// Returns a name with its first part expanded by the nearest alias.
fn expanded(walk: &Walk, name: &str) -> String {
    if let Some(absolute) = name.strip_prefix("Elixir.") {
        return absolute.to_owned();
    }
    let (first, rest) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
    let facts = &walk.builder.facts;
    let is_open = |scope: DefId| walk.scopes.iter().any(|open| open.definition == scope);
    let found = facts.imports.iter().rev().find(|import| {
        import.kind == ImportKind::Module
            && import.alias.is_some_and(|alias| walk.builder.text(alias) == first)
            && is_open(import.scope)
    });
    match (found, rest) {
        (Some(import), Some(rest)) => format!("{}.{rest}", walk.builder.text(import.module)),
        (Some(import), None) => walk.builder.text(import.module).to_owned(),
        (None, _) => name.to_owned(),
    }
}

/// Returns the modules in the first argument of `alias` and similar macros: `A.B`, `A.{B, C}`.
pub fn modules(walk: &Walk, node: NodeId) -> Vec<String> {
    if walk.kind_name(node) == "dot"
        && let (Some(left), Some(right)) = (walk.child(node, "left"), walk.child(node, "right"))
        && walk.kind_name(right) == "tuple"
    {
        let Some(base) = module_name(walk, left) else {
            return Vec::new();
        };
        let parts = walk.contents(right).filter(|&part| walk.kind_name(part) == "alias");
        return parts.map(|part| format!("{base}.{}", walk.text_of(part))).collect();
    }
    module_name(walk, node).into_iter().collect()
}

pub fn push_import(
    walk: &mut Walk,
    node: NodeId,
    kind: ImportKind,
    module: &str,
    member: Option<&str>,
    alias: Option<&str>,
) {
    let module = walk.builder.owned_name(module.to_owned());
    let member = member.map(|member| walk.builder.owned_name(member.to_owned()));
    let alias = alias.map(|alias| walk.builder.owned_name(alias.to_owned()));
    let line = walk.tree.line(node);
    let import = Import { scope: 0, module, level: 0, member, alias, kind, line, type_only: false };
    match kind {
        ImportKind::Module => walk.push_import(import),
        // Imported functions are visible in the whole file.
        _ => walk.push_import_of_file(import),
    }
}

pub fn alias(walk: &mut Walk, node: NodeId, module: &str) {
    let given = option(walk, node, "as:");
    let name = match given {
        Some(given) => {
            walk.claim_read(given);
            walk.text_of(given).into_owned()
        }
        None => module.rsplit('.').next().unwrap_or(module).to_owned(),
    };
    push_import(walk, node, ImportKind::Module, module, None, Some(&name));
}

/// Handles `import A`, `import A, only: [f: 1]`.
pub fn import(walk: &mut Walk, node: NodeId, module: &str) {
    let only = option(walk, node, "only:").filter(|&only| walk.kind_name(only) == "list");
    let Some(only) = only else {
        return push_import(walk, node, ImportKind::Star, module, None, None);
    };
    let lists: Vec<NodeId> = walk.contents(only).collect();
    let pairs: Vec<NodeId> = lists.into_iter().flat_map(|list| walk.contents(list)).collect();
    for pair in pairs {
        if let Some(key) = walk.child(pair, "key") {
            let name = walk.text_of(key).trim_matches([':', ' ', '\n']).to_owned();
            push_import(walk, node, ImportKind::Member, module, Some(&name), Some(&name));
        }
    }
}

/// `use A` runs the macro `__using__` of A.
pub fn run_use(walk: &mut Walk, node: NodeId, module: &str) {
    push_import(walk, node, ImportKind::Module, module, None, None);
    let base = walk.builder.owned_name(module.to_owned());
    let base = walk.builder.name_expr(base);
    let name = walk.builder.name("__using__");
    let callee = walk.builder.attribute(base, name);
    let args = vec![Arg { keyword: None, value: UNKNOWN }];
    let expr = walk.builder.expr(Expr::Call { callee, args, new: false });
    walk.refer(ReferenceKind::Call, expr, walk.tree.line(node));
}

/// Records the alias that a nested `defmodule Inner` defines for its full name in the enclosing module. It is not an
/// import.
pub fn push_nested_alias(walk: &mut Walk, node: NodeId, full: &str, name: &str) {
    let module = walk.builder.owned_name(full.to_owned());
    let alias = Some(walk.builder.owned_name(name.to_owned()));
    let line = walk.tree.line(node);
    let kind = ImportKind::Module;
    walk.push_import(Import { scope: 0, module, level: 0, member: None, alias, kind, line, type_only: false });
}
