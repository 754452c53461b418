//! Modules of Lua: calls of `require`, also inside of `pcall`.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{Import, ImportKind};

/// Returns the module of `pcall(require, "a.b")`.
pub fn required_by_pcall(walk: &Walk, call: NodeId) -> Option<String> {
    if walk.kind_name(call) != "function_call" || walk.bytes_of(walk.child(call, "name")?) != b"pcall" {
        return None;
    }
    let mut arguments = walk.contents(walk.child(call, "arguments")?);
    let function = arguments.next()?;
    module_text(walk, arguments.next()?).filter(|_| walk.bytes_of(function) == b"require")
}

/// Returns the module of `require "a.b"` in dotted form.
pub fn required(walk: &Walk, call: NodeId) -> Option<String> {
    if walk.kind_name(call) != "function_call" || walk.bytes_of(walk.child(call, "name")?) != b"require" {
        return None;
    }
    module_text(walk, walk.contents(walk.child(call, "arguments")?).next()?)
}

fn module_text(walk: &Walk, argument: NodeId) -> Option<String> {
    let content = walk.child(argument, "content").filter(|_| walk.kind_name(argument) == "string")?;
    Some(walk.text_of(content).replace('/', "."))
}

/// Returns the name under which a required module without a variable is imported.
pub fn import_name(module: &str) -> String {
    format!("require({module})")
}

/// Records the import of a module, bound to `alias`.
pub fn push_import(walk: &mut Walk, node: NodeId, module: String, alias: &str) {
    let module = walk.builder.owned_name(module);
    let alias = Some(walk.builder.owned_name(alias.to_owned()));
    let line = walk.tree.line(node);
    let kind = ImportKind::Module;
    walk.push_import(Import { scope: 0, module, level: 0, member: None, alias, kind, line, type_only: false });
}

/// Returns whether a value is a name, a dotted name or a required module.
pub fn is_path(walk: &Walk, node: NodeId) -> bool {
    matches!(walk.kind_name(node), "identifier" | "dot_index_expression") || required(walk, node).is_some()
}
