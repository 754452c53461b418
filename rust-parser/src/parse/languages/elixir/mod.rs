//! What Elixir says that patterns cannot, as definitions, imports and attributes are calls of macros: modules by their full
//! names, aliases, functions of several clauses, `@doc`, specifications, pipes and captures.

mod modules;
mod syntax;

use crate::facts::{Arg, DefId, Expr, ExprId, ImportKind, Kind, ReferenceKind, flags};
use crate::parse::facts_builder::UNKNOWN;
use crate::parse::flat_tree::NodeId;
use crate::parse::hooks::LanguageHooks;
use crate::parse::languages::elixir::modules::{
    alias, import, is_module, module_name, modules, own_module, push_import, push_nested_alias, run_use,
};
use crate::parse::languages::elixir::syntax::{arguments, attribute_name, operator, option, target};
use crate::parse::walk::drafts::DefinitionDraft;
use crate::parse::walk::state::{Scope, Walk};

pub struct Elixir;

/// Attributes whose value is made of types.
const TYPE_ATTRIBUTES: [&[u8]; 6] = [b"spec", b"type", b"typep", b"opaque", b"callback", b"macrocallback"];
/// Macros whose calls are definitions or imports.
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

    /// Modules are shown by the last part of their names.
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

    /// `@moduledoc` of a module, `@doc` before anything else.
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

// --- Definitions ---

/// Modules are known by their full names, wherever they stand.
fn define_module(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let Some(name) = draft.name_node else {
        return false;
    };
    let own = own_module(walk);
    let full = match (own, walk.kind_name(name)) {
        (Some(own), "alias") if !walk.text_of(name).starts_with("Elixir.") => {
            let text = walk.text_of(name).into_owned();
            let first = text.split('.').next().unwrap_or(&text).to_owned();
            push_nested_alias(walk, draft.node, &format!("{own}.{first}"), &first);
            format!("{own}.{text}")
        }
        (_, "alias") => walk.text_of(name).trim_start_matches("Elixir.").to_owned(),
        _ => match module_name(walk, name) {
            Some(full) => full,
            None => return false,
        },
    };
    draft.name = full;
    draft.parent = 0;
    true
}

/// `defimpl Protocol, for: Type`.
fn define_implementation(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let Some(protocol) = draft.name_node else {
        return false;
    };
    let Some(base) = module_name(walk, protocol) else {
        return false;
    };
    let mut types = option(walk, draft.node, "for:");
    if let Some(list) = types.filter(|&list| walk.kind_name(list) == "list") {
        types = walk.contents(list).next();
    }
    let implemented = match types {
        Some(node) => module_name(walk, node),
        None => own_module(walk),
    };
    let Some(implemented) = implemented else {
        return false;
    };
    draft.name = format!("{base}.{implemented}");
    draft.parent = 0;
    draft.bases = vec![protocol];
    walk.claim_read(protocol);
    true
}

/// The call in the head of a definition is none.
fn claim_head(walk: &mut Walk, draft: &DefinitionDraft) {
    if let Some(name) = draft.name_node {
        walk.claim_call(walk.tree.node(name).parent);
    }
}

/// The first definition of this name and number of parameters in its module: perhaps the one that is being made.
fn note_arity(walk: &mut Walk, draft: &DefinitionDraft) -> DefId {
    let arity = draft.parameters.map_or(0, |list| walk.contents(list).count());
    let key = walk.builder.owned_name(format!("{}/{arity}", draft.name));
    let next = walk.builder.facts.definitions.len() as DefId;
    *walk.reopenable.entry((draft.parent, key, Kind::Function)).or_insert(next)
}

/// A second clause of a function is more of the first.
fn define_function(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    claim_head(walk, draft);
    // A module whose name only a macro knows.
    if draft.parent == 0 {
        return false;
    }
    let parent = &walk.builder.facts.definitions[draft.parent as usize];
    if parent.kind == Kind::Interface {
        draft.flags |= flags::ABSTRACT | flags::DECLARATION;
    }
    let first = note_arity(walk, draft);
    if first as usize == walk.builder.facts.definitions.len() {
        return true;
    }
    let node = *walk.tree.node(draft.node);
    let line = walk.line_of_end(draft.node);
    let definition = &mut walk.builder.facts.definitions[first as usize];
    definition.end_byte = definition.end_byte.max(node.end);
    definition.end_line = definition.end_line.max(line);
    // A callback may have an implementation in its own module.
    definition.flags &= !(flags::DECLARATION | flags::OVERLOAD);
    let layout = &mut walk.layouts[first as usize];
    layout.end = layout.end.max(node.end);
    walk.scopes.push(Scope { definition: first, end: node.next, receiver: None, parameters: Vec::new() });
    false
}

// --- References ---

/// `name(...)`, `Module.name(...)`; calls of what a variable holds are unknown.
fn call(walk: &mut Walk, node: NodeId) -> ExprId {
    let Some(called) = walk.child(node, "target") else {
        return UNKNOWN;
    };
    let callee = match walk.kind_name(called) {
        "identifier" => {
            let name = walk.name_of(called);
            walk.builder.name_expr(name)
        }
        "dot" => match module_member(walk, called) {
            Some(callee) => callee,
            None => return UNKNOWN,
        },
        _ => return UNKNOWN,
    };
    let mut args = Vec::new();
    let parent = walk.tree.node(node).parent;
    if operator(walk, parent) == b"|>" && walk.child(parent, "right") == Some(node) {
        args.push(Arg { keyword: None, value: UNKNOWN });
    }
    for argument in arguments(walk, node).collect::<Vec<_>>() {
        args.push(Arg { keyword: None, value: walk.expression(argument) });
    }
    if walk.contents(node).any(|part| walk.kind_name(part) == "do_block") {
        args.push(Arg { keyword: None, value: UNKNOWN });
    }
    walk.builder.expr(Expr::Call { callee, args, new: false })
}

/// `Module.name`.
fn module_member(walk: &mut Walk, dot: NodeId) -> Option<ExprId> {
    let (left, right) = (walk.child(dot, "left")?, walk.child(dot, "right")?);
    let base = module_name(walk, left)?;
    walk.claim_read(left);
    let base = walk.builder.owned_name(base);
    let base = walk.builder.name_expr(base);
    let name = walk.name_of(right);
    Some(walk.builder.attribute(base, name))
}

/// `value |> name`, without parentheses.
fn pipe(walk: &mut Walk, node: NodeId) {
    let right = walk.child(node, "right").filter(|&right| walk.kind_name(right) == "identifier");
    if let Some(right) = right.filter(|_| operator(walk, node) == b"|>") {
        let name = walk.name_of(right);
        let callee = walk.builder.name_expr(name);
        let args = vec![Arg { keyword: None, value: UNKNOWN }];
        let expr = walk.builder.expr(Expr::Call { callee, args, new: false });
        walk.refer(ReferenceKind::Call, expr, walk.tree.line(right));
    }
}

/// `&name/1`, `&Module.name/1`.
fn capture(walk: &mut Walk, node: NodeId) {
    let Some(operand) = walk.child(node, "operand").filter(|&operand| operator(walk, operand) == b"/") else {
        return;
    };
    let Some(left) = walk.child(operand, "left") else {
        return;
    };
    let expr = match walk.kind_name(left) {
        "identifier" => {
            let name = walk.name_of(left);
            Some(walk.builder.name_expr(name))
        }
        "call" => {
            walk.claim_call(left);
            let dot = walk.child(left, "target").filter(|&dot| walk.kind_name(dot) == "dot");
            dot.and_then(|dot| module_member(walk, dot))
        }
        _ => None,
    };
    if let Some(expr) = expr {
        walk.refer(ReferenceKind::Read, expr, walk.tree.line(left));
    }
}

/// `@spec` and the like refer to types, `@behaviour` is a base, `@name` reads an attribute of the module.
fn attribute(walk: &mut Walk, node: NodeId) {
    let name = attribute_name(walk, node);
    let scope = walk.scope();
    if name == b"behaviour" && is_module(walk.kind_of(scope)) {
        let operand = walk.child(node, "operand");
        if let Some(base) = operand.and_then(|operand| arguments(walk, operand).next()) {
            let base = walk.type_expression(base);
            walk.builder.facts.definitions[scope as usize].bases.push(base);
        }
        return;
    }
    if TYPE_ATTRIBUTES.contains(&name) {
        for part in node + 1..walk.tree.node(node).next {
            match walk.kind_name(part) {
                "call" => walk.claim_call(part),
                "alias" => {
                    walk.annotation(part);
                }
                _ => {}
            }
        }
        return;
    }
    let operand = walk.child(node, "operand").filter(|&operand| walk.kind_name(operand) == "identifier");
    if let Some(operand) = operand.filter(|_| !name.is_empty()) {
        let name = walk.name_of(operand);
        let expr = walk.builder.name_expr(name);
        walk.refer(ReferenceKind::Read, expr, walk.tree.line(operand));
    }
}

/// `defdelegate f(x), to: Module, as: :g`.
fn delegate(walk: &mut Walk, node: NodeId) {
    let Some(module) = option(walk, node, "to:").and_then(|module| module_name(walk, module)) else {
        return;
    };
    let scope = walk.scope() as usize;
    let definition = &walk.builder.facts.definitions[scope];
    let (mut name, count) = (walk.builder.text(definition.name).to_owned(), definition.params.len());
    if let Some(other) = option(walk, node, "as:") {
        name = walk.text_of(other).trim_start_matches(':').to_owned();
    }
    let base = walk.builder.owned_name(module);
    let base = walk.builder.name_expr(base);
    let name = walk.builder.owned_name(name);
    let callee = walk.builder.attribute(base, name);
    let args = vec![Arg { keyword: None, value: UNKNOWN }; count];
    let expr = walk.builder.expr(Expr::Call { callee, args, new: false });
    walk.refer(ReferenceKind::Call, expr, walk.tree.line(node));
}
