//! Objects as owners of members: `app.use = function`, `Foo.prototype.m = function`, `this.x = function`. Each owner is an
//! extension of what its expression denotes, which the linker finds.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::walk::definitions::holds_members;
use crate::walk::drafts::Layout;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Definition, Expr, ExprId, Kind, flags};

/// Returns a node without the parentheses and type assertions around it.
pub fn bare(walk: &Walk, mut node: NodeId) -> NodeId {
    while is_transparent(walk.kind_name(node)) {
        match walk.contents(node).next() {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

pub fn is_transparent(kind: &str) -> bool {
    matches!(kind, "parenthesized_expression" | "as_expression" | "satisfies_expression" | "non_null_expression")
}

/// Returns whether a node is a name or a dotted path of names that begins with a name or `this`.
pub fn is_path(walk: &Walk, node: NodeId) -> bool {
    match walk.kind_name(node) {
        "identifier" | "this" => true,
        "member_expression" => {
            let parts = (walk.child(node, "object"), walk.child(node, "property"));
            let is_plain = walk.tree.children(node).all(|child| walk.kind_name(child) != "optional_chain");
            matches!(parts, (Some(object), Some(_)) if is_plain && is_path(walk, bare(walk, object)))
        }
        _ => false,
    }
}

/// Returns the names of a path.
fn segments(walk: &Walk, node: NodeId) -> Vec<String> {
    let mut names = Vec::new();
    let mut here = node;
    while walk.kind_name(here) == "member_expression" {
        let (Some(object), Some(property)) = (walk.child(here, "object"), walk.child(here, "property")) else { break };
        names.push(walk.text_of(property).into_owned());
        here = bare(walk, object);
    }
    names.push(walk.text_of(here).into_owned());
    names.reverse();
    names
}

/// Returns whether a node is `exports` or `module.exports`.
pub fn is_exports(walk: &Walk, node: NodeId) -> bool {
    matches!(walk.bytes_of(node), b"exports" | b"module.exports")
}

/// Returns the extension that holds the members of an object, which is created at its first use in a scope.
pub fn members_of(walk: &mut Walk, object: NodeId) -> Option<DefId> {
    let object = bare(walk, object);
    if !is_path(walk, object) {
        return None;
    }
    let mut names = segments(walk, object);
    if names.first().is_some_and(|first| first == "this") {
        let (base, prefix) = receiver(walk)?;
        let base = names[1..].iter().fold(base, |base, name| {
            let name = walk.builder.owned_name(name.clone());
            walk.builder.attribute(base, name)
        });
        let is_static = names.len() > 1;
        names[0] = prefix;
        return Some(extension(walk, object, base, &dotted(&names), is_static));
    }
    let base = walk.expression(object);
    let is_static = names.last().is_none_or(|last| last != "prototype");
    if !is_static {
        names.pop();
    }
    match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["exports", ..] => drop(names.remove(0)),
        ["module", "exports", ..] => drop(names.drain(..2)),
        [first, ..] if is_created(walk, first) => drop(names.remove(0)),
        _ => {}
    }
    let scope = walk.scope();
    let around = walk.member_prefix(scope);
    names.insert(0, walk.builder.text(around).to_owned());
    Some(extension(walk, object, base, &dotted(&names), is_static))
}

pub fn dotted(names: &[String]) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    names.join(".")
}

/// Returns whether a name is the first parameter of a function that creates the value of a constant: the object itself
/// (`const T = constructor("T", (inst) => { inst.x = ... })`).
fn is_created(walk: &Walk, name: &str) -> bool {
    let definition = &walk.builder.facts.definitions[walk.scope() as usize];
    let is_closure = definition.kind == Kind::Lambda && walk.kind_of(definition.parent) == Kind::Constant;
    let parameters = walk.scopes.last().map_or(&[][..], |scope| &scope.parameters);
    is_closure && parameters.first().is_some_and(|&first| walk.builder.text(first) == name)
}

/// Returns the expression and the path of what `this` denotes.
fn receiver(walk: &mut Walk) -> Option<(ExprId, String)> {
    let function = this_function(walk)?;
    let definition = &walk.builder.facts.definitions[function as usize];
    let (kind, name, parent) = (definition.kind, definition.name, definition.parent);
    let path = walk.builder.text(definition.path).to_owned();
    if holds_members(kind) {
        return Some((walk.builder.this(false), path));
    }
    let around = &walk.builder.facts.definitions[parent as usize];
    let (around_kind, around_name, around_base) = (around.kind, around.name, around.bases.first().copied());
    let around_path = walk.member_prefix(parent);
    let around_path = walk.builder.text(around_path).to_owned();
    match around_kind {
        Kind::Extension => Some((around_base?, around_path)),
        Kind::Constant => Some((walk.builder.name_expr(around_name), around_path)),
        around if holds_members(around) => Some((walk.builder.this(false), around_path)),
        _ if kind == Kind::Function => {
            let base = walk.builder.name_expr(name);
            let prototype = walk.builder.owned_name("prototype".to_owned());
            Some((walk.builder.attribute(base, prototype), path))
        }
        _ => None,
    }
}

/// Returns the innermost function that has a `this` of its own, or the class around field initializers.
fn this_function(walk: &Walk) -> Option<DefId> {
    let scopes = walk.scopes.iter().rev().map(|scope| scope.definition);
    let mut own = scopes.filter(|&scope| walk.builder.facts.definitions[scope as usize].flags & flags::ARROW == 0);
    own.next().filter(|&scope| scope != 0)
}

/// Returns whether `this` is an object whose class is not written as one.
pub fn is_plain_receiver(walk: &Walk) -> bool {
    this_function(walk).is_some_and(|function| {
        let definition = &walk.builder.facts.definitions[function as usize];
        !holds_members(definition.kind) && !holds_members(walk.kind_of(definition.parent))
    })
}

/// Returns the extension of what an expression denotes, for members with this path.
pub fn extension(walk: &mut Walk, node: NodeId, base: ExprId, path: &str, is_static: bool) -> DefId {
    let scope = walk.scope();
    let prefix = walk.builder.owned_name(path.to_owned());
    if let Some(&known) = walk.objects.get(&(scope, base, prefix)) {
        return known;
    }
    let mut own = format!("{path}.<members>");
    let mut number = 1;
    let unique = loop {
        let name = walk.builder.owned_name(own.clone());
        if walk.paths.insert(name) {
            break name;
        }
        number += 1;
        own = format!("{path}.<members>#{number}");
    };
    let name = walk.builder.owned_name(path.rsplit('.').next().unwrap_or(path).to_owned());
    let place = *walk.tree.node(node);
    let line = walk.tree.line(node);
    let definition = walk.builder.facts.definitions.len() as DefId;
    walk.builder.facts.definitions.push(Definition {
        kind: Kind::Extension,
        name,
        path: unique,
        parent: scope,
        // Members without a known owner are not visible outside.
        flags: if base == UNKNOWN { 0 } else { flags::EXPORTED } | if is_static { flags::STATIC } else { 0 },
        start_byte: place.start,
        end_byte: place.end,
        start_line: line,
        end_line: line,
        name_line: line,
        signature: 0,
        docstring: 0,
        signature_digest: 0,
        body_digest: 0,
        docstring_digest: 0,
        text_digest: 0,
        decorators: Vec::new(),
        bases: vec![base],
        params: Vec::new(),
        declared_type: None,
    });
    walk.layouts.push(Layout { head: place.start, body: place.end, end: place.end, docstring: None });
    walk.objects.insert((scope, base, prefix), definition);
    walk.member_prefixes.insert(definition, prefix);
    definition
}

/// Returns the last name of what a call calls.
pub fn called_name(walk: &Walk, call: NodeId) -> Option<String> {
    let callee = walk.child(call, "function")?;
    let last = match walk.kind_name(callee) {
        "identifier" => callee,
        "member_expression" => walk.child(callee, "property")?,
        _ => return None,
    };
    Some(walk.text_of(last).into_owned())
}

/// Returns whether an extension adds to the module's own object.
pub fn is_of_module(walk: &Walk, extension: DefId) -> bool {
    let base = walk.builder.facts.definitions[extension as usize].bases.first();
    base.is_some_and(|&base| match *walk.builder.get(base) {
        Expr::Attribute { base, name } => {
            let is_module = matches!(*walk.builder.get(base), Expr::Name(name) if walk.builder.text(name) == "module");
            is_module && walk.builder.text(name) == "exports"
        }
        Expr::Name(name) => walk.builder.text(name) == "exports",
        _ => false,
    })
}

pub fn is_function(kind: &str) -> bool {
    matches!(kind, "arrow_function" | "function_expression" | "generator_function")
}
