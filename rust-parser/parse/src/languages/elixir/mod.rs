//! Hooks of Elixir, whose definitions, imports and attributes are macro calls: modules by their full names, aliases,
//! functions of several clauses, `@doc`, specifications, pipes and captures.

mod definitions;
mod modules;
mod references;
mod syntax;

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::elixir::definitions::{
    claim_head, define_function, define_implementation, define_module, note_arity,
};
use crate::languages::elixir::modules::{alias, import, is_module, module_name, modules, push_import, run_use};
use crate::languages::elixir::references::{attribute, call, capture, delegate, pipe};
use crate::languages::elixir::syntax::{arguments, attribute_name, operator, option, target};
use crate::walk::drafts::DefinitionDraft;
use crate::walk::state::Walk;
use atlas_facts::{ExprId, ImportKind, Kind, flags};

pub struct Elixir;

/// Macros that define or import something.
const DECLARATIONS: [&[u8]; 18] = [
    b"def",
    b"defp",
    b"defmacro",
    b"defmacrop",
    b"defguard",
    b"defguardp",
    b"defdelegate",
    b"defn",
    b"defnp",
    b"defmodule",
    b"defprotocol",
    b"defimpl",
    b"defstruct",
    b"defexception",
    b"alias",
    b"import",
    b"require",
    b"use",
];

impl LanguageHooks for Elixir {
    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        let Some(first) = arguments(walk, node).next() else {
            return false;
        };
        let modules = modules(walk, first);
        for part in first..walk.tree.node(first).next {
            walk.claim_read(part);
        }
        for module in modules {
            match target(walk, node) {
                b"alias" => alias(walk, node, &module),
                b"import" => import(walk, node, &module),
                b"use" => run_use(walk, node, &module),
                _ => match option(walk, node, "as:") {
                    Some(_) => alias(walk, node, &module),
                    None => push_import(walk, node, ImportKind::Module, &module, None, None),
                },
            }
        }
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "alias" => walk.read(node),
            "binary_operator" => pipe(walk, node),
            "call" => delegate(walk, node),
            _ if operator(walk, node) == b"&" => capture(walk, node),
            _ => attribute(walk, node),
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        match walk.kind_name(draft.node) {
            "call" => match target(walk, draft.node) {
                b"defmodule" | b"defprotocol" => define_module(walk, draft),
                b"defimpl" => define_implementation(walk, draft),
                b"defstruct" | b"defexception" => {
                    draft.name = draft.name.trim_matches([':', ' ', '\n']).to_owned();
                    let parent = &mut walk.builder.facts.definitions[draft.parent as usize];
                    if parent.kind == Kind::Class {
                        parent.kind = Kind::Struct;
                    }
                    true
                }
                b"test" | b"property" => {
                    if !walk.builder.facts.is_test {
                        draft.flags &= !flags::TEST;
                    }
                    true
                }
                _ => define_function(walk, draft),
            },
            // `@callback`, `@type`, `@limit 10`
            _ => {
                claim_head(walk, draft);
                if draft.kind == Kind::Method {
                    draft.flags |= flags::OVERLOAD;
                    note_arity(walk, draft);
                }
                true
            }
        }
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        match module_name(walk, node) {
            Some(name) => {
                let name = walk.builder.owned_name(name);
                walk.builder.name_expr(name)
            }
            None => UNKNOWN,
        }
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        let is_attribute = walk.kind_name(walk.tree.node(node).parent) == "unary_operator"
            && operator(walk, walk.tree.node(node).parent) == b"@";
        if is_attribute || DECLARATIONS.contains(&target(walk, node)) {
            return Some(UNKNOWN);
        }
        Some(call(walk, node))
    }

    /// Shortens the names of modules to their last part.
    fn end(&self, walk: &mut Walk) {
        for number in 1..walk.builder.facts.definitions.len() {
            let definition = &walk.builder.facts.definitions[number];
            if is_module(definition.kind) {
                let name = walk.builder.text(definition.name);
                let last = name.rsplit('.').next().unwrap_or(name).to_owned();
                walk.builder.facts.definitions[number].name = walk.builder.owned_name(last);
            }
        }
    }

    /// Returns `@moduledoc` of a module, or `@doc` of another definition.
    fn documentation(&self, walk: &Walk, draft: &DefinitionDraft) -> Option<NodeId> {
        let mut attributes: Vec<NodeId> = draft.decorators.clone();
        if draft.parent == 0 {
            let inside = draft.body.into_iter().flat_map(|body| walk.contents(body).take(32));
            attributes = inside.filter(|&part| attribute_name(walk, part) == b"moduledoc").collect();
        }
        attributes.into_iter().rev().find_map(|attribute| {
            if !matches!(attribute_name(walk, attribute), b"doc" | b"moduledoc" | b"typedoc") {
                return None;
            }
            let value = arguments(walk, walk.child(attribute, "operand")?).next()?;
            matches!(walk.kind_name(value), "string" | "sigil").then_some(value)
        })
    }
}
