//! Hooks of Lua: imports by `require` (`modules`), tables as classes and modules (`tables`), and the value that a file
//! returns.

mod modules;
mod tables;

use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::lua::modules::{import_name, is_path, push_import, required, required_by_pcall};
use crate::languages::lua::tables::{assigned, bind_member, field, is_object, mark_static, owning_table, returned};
use crate::walk::drafts::DefinitionDraft;
use crate::walk::state::Walk;
use atlas_facts::{ExprId, Kind, flags};

pub struct Lua;

impl LanguageHooks for Lua {
    fn needs_locals(&self) -> bool {
        true
    }

    fn reopens(&self, kind: Kind) -> bool {
        kind == Kind::Extension
    }

    /// Collects the tables that are classes: those with functions, and the one that the file returns.
    fn begin(&self, walk: &mut Walk) {
        for node in 0..walk.tree.len() {
            let table = match walk.kind_name(node) {
                "function_declaration" => walk.child(node, "name").and_then(|name| walk.child(name, "table")),
                "function_definition" => owning_table(walk, node),
                "return_statement" if walk.tree.node(node).parent == 0 => returned(walk, node),
                _ => None,
            };
            if let Some(table) = table.filter(|&table| walk.kind_name(table) == "identifier") {
                let name = walk.text_of(table).into_owned();
                walk.noted.insert(name);
            }
        }
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        if walk.kind_name(node) == "assignment_statement" {
            return name_imports(walk, node);
        }
        if walk.is_call_claimed(node) {
            return true;
        }
        let Some(module) = required(walk, node) else {
            return false;
        };
        let alias = import_name(&module);
        push_import(walk, node, module, &alias);
        true
    }

    /// Records `return value` at the end of a file as the module.
    fn hook(&self, walk: &mut Walk, node: NodeId) {
        if walk.scope() != 0 {
            return;
        }
        let list = walk.contents(node).next();
        let Some(value) = list.and_then(|list| walk.contents(list).next()) else {
            return;
        };
        let value = match walk.kind_name(value) {
            "function_call" if required(walk, value).is_none() => returned(walk, node),
            "identifier" | "function_call" | "dot_index_expression" => Some(value),
            _ => None,
        };
        if let Some(value) = value {
            let expr = walk.expression(value);
            walk.builder.facts.definitions[0].bases = vec![expr];
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        match walk.kind_name(draft.node) {
            "function_call" if !walk.builder.facts.is_test => draft.flags &= !flags::TEST,
            "function_declaration" => {
                if let Some(name) = walk.child(draft.node, "name") {
                    walk.claim_read(name);
                }
                mark_static(walk, draft);
            }
            "assignment_statement" => return assigned(walk, draft),
            "field" => return field(walk, draft),
            _ => {}
        }
        true
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        if walk.bytes_of(node) == b"self" && is_object(walk) {
            return walk.builder.this(false);
        }
        let name = walk.name_of(node);
        walk.builder.name_expr(name)
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        let module = required(walk, node)?;
        let name = walk.builder.owned_name(import_name(&module));
        Some(walk.builder.name_expr(name))
    }
}

/// Handles `local a, b = require "x", c.d`, which gives other names to modules and values. `local print = print` has no
/// effect.
fn name_imports(walk: &mut Walk, assignment: NodeId) -> bool {
    let lists: Vec<NodeId> = walk.contents(assignment).collect();
    let [names, values] = lists[..] else {
        return false;
    };
    let names: Vec<NodeId> = walk.in_field(names, "name").collect();
    let values: Vec<NodeId> = walk.contents(values).collect();
    if let ([_, name], [call]) = (&names[..], &values[..])
        && let Some(module) = required_by_pcall(walk, *call)
    {
        let alias = walk.text_of(*name).into_owned();
        push_import(walk, assignment, module, &alias);
        return true;
    }
    let is_plain = names.iter().all(|&name| walk.kind_name(name) == "identifier");
    if !is_plain || names.len() != values.len() || !values.iter().all(|&value| is_path(walk, value)) {
        return false;
    }
    for (&name, &value) in names.iter().zip(&values) {
        if let Some(module) = required(walk, value) {
            walk.claim_call(value);
            let alias = walk.text_of(name).into_owned();
            push_import(walk, assignment, module, &alias);
        } else if walk.bytes_of(name) != walk.bytes_of(value) {
            bind_member(walk, name, value);
            walk.read(value);
        }
    }
    true
}
