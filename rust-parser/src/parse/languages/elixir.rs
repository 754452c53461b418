//! What Elixir says that patterns cannot, as definitions, imports and attributes are calls of macros: modules by their full
//! names, aliases, functions of several clauses, `@doc`, specifications, pipes and captures.

use crate::facts::{Arg, DefId, Expr, ExprId, Import, ImportKind, Kind, ReferenceKind, flags};
use crate::parse::facts_builder::UNKNOWN;
use crate::parse::flat_tree::NodeId;
use crate::parse::hooks::LanguageHooks;
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

/// Name of what a call calls, unless that is no plain word.
fn target<'a>(walk: &Walk<'a>, call: NodeId) -> &'a [u8] {
    match walk.child(call, "target") {
        Some(target) if walk.kind_name(target) == "identifier" => walk.bytes_of(target),
        _ => b"",
    }
}

fn arguments<'a>(walk: &Walk<'a>, call: NodeId) -> impl Iterator<Item = NodeId> + use<'a> {
    let list = walk.contents(call).find(|&part| walk.kind_name(part) == "arguments");
    let (tree, comment) = (walk.tree, walk.language);
    let parts = list.into_iter().flat_map(move |list| tree.children(list));
    parts.filter(move |&part| comment.is_content(tree.node(part).kind))
}

fn operator<'a>(walk: &Walk<'a>, node: NodeId) -> &'a [u8] {
    walk.child(node, "operator").map_or(b"", |operator| walk.bytes_of(operator))
}

/// `name` of `@name value` and `@name`.
fn attribute_name<'a>(walk: &Walk<'a>, node: NodeId) -> &'a [u8] {
    if walk.kind_name(node) != "unary_operator" || operator(walk, node) != b"@" {
        return b"";
    }
    match walk.child(node, "operand") {
        Some(operand) if walk.kind_name(operand) == "identifier" => walk.bytes_of(operand),
        Some(operand) => target(walk, operand),
        None => b"",
    }
}

/// Value of a keyword in the last argument of a call.
fn option(walk: &Walk, call: NodeId, key: &str) -> Option<NodeId> {
    let keywords = arguments(walk, call).find(|&part| walk.kind_name(part) == "keywords")?;
    let is_meant =
        |&pair: &NodeId| walk.child(pair, "key").is_some_and(|found| walk.text_of(found).trim_ascii_end() == key);
    let pair = walk.contents(keywords).find(is_meant)?;
    walk.child(pair, "value")
}

// --- Names of modules ---

/// Full name of the module around.
fn own_module(walk: &Walk) -> Option<String> {
    let scopes = walk.scopes.iter().rev().map(|scope| scope.definition);
    let class = scopes.into_iter().find(|&scope| is_module(walk.kind_of(scope)))?;
    let path = walk.builder.text(walk.builder.facts.definitions[class as usize].path);
    Some(path.split('#').next().unwrap_or(path).to_owned())
}

fn is_module(kind: Kind) -> bool {
    matches!(kind, Kind::Class | Kind::Struct | Kind::Interface)
}

/// Full name of the module that `Alias.Name`, `__MODULE__` or `__MODULE__.Name` means.
fn module_name(walk: &Walk, node: NodeId) -> Option<String> {
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

/// A name with its first part replaced by what the nearest alias says.
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

/// The modules of the first argument of `alias` and the like: `A.B`, `A.{B, C}`.
fn modules(walk: &Walk, node: NodeId) -> Vec<String> {
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

// --- Imports ---

fn push_import(
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
        // Imported functions are looked up in the whole file.
        _ => walk.builder.facts.imports.push(import),
    }
}

fn alias(walk: &mut Walk, node: NodeId, module: &str) {
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

/// `import A`, `import A, only: [f: 1]`.
fn import(walk: &mut Walk, node: NodeId, module: &str) {
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
fn run_use(walk: &mut Walk, node: NodeId, module: &str) {
    push_import(walk, node, ImportKind::Module, module, None, None);
    let base = walk.builder.owned_name(module.to_owned());
    let base = walk.builder.name_expr(base);
    let name = walk.builder.name("__using__");
    let callee = walk.builder.attribute(base, name);
    let args = vec![Arg { keyword: None, value: UNKNOWN }];
    let expr = walk.builder.expr(Expr::Call { callee, args, new: false });
    walk.refer(ReferenceKind::Call, expr, walk.tree.line(node));
}

// --- Definitions ---

/// Modules are known by their full names, wherever they stand.
fn define_module(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let Some(name) = draft.name_node else {
        return false;
    };
    let own = own_module(walk);
    let full = match (own, walk.kind_name(name)) {
        (Some(own), "alias") => {
            let text = walk.text_of(name).into_owned();
            let first = text.split('.').next().unwrap_or(&text).to_owned();
            push_nested_alias(walk, draft.node, &format!("{own}.{first}"), &first);
            format!("{own}.{text}")
        }
        (None, "alias") => walk.text_of(name).trim_start_matches("Elixir.").to_owned(),
        _ => match module_name(walk, name) {
            Some(full) => full,
            None => return false,
        },
    };
    draft.name = full;
    draft.parent = 0;
    true
}

/// `defmodule Inner` in a module is an alias of its full name there; it is no import.
fn push_nested_alias(walk: &mut Walk, node: NodeId, full: &str, name: &str) {
    let module = walk.builder.owned_name(full.to_owned());
    let alias = Some(walk.builder.owned_name(name.to_owned()));
    let line = walk.tree.line(node);
    let kind = ImportKind::Module;
    walk.push_import(Import { scope: 0, module, level: 0, member: None, alias, kind, line, type_only: false });
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
    let arity = draft.parameters.map_or(0, |list| walk.contents(list).count());
    let key = walk.builder.owned_name(format!("{}/{arity}", draft.name));
    let next = walk.builder.facts.definitions.len() as DefId;
    let first = *walk.reopenable.entry((draft.parent, key, Kind::Function)).or_insert(next);
    if first == next {
        return true;
    }
    let node = *walk.tree.node(draft.node);
    let line = walk.line_of_end(draft.node);
    let definition = &mut walk.builder.facts.definitions[first as usize];
    definition.end_byte = definition.end_byte.max(node.end);
    definition.end_line = definition.end_line.max(line);
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
