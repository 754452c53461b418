//! Object literals: what holds them, and so owns their functions (`const api = {...}`, `module.exports = {...}`,
//! `Object.assign(Foo.prototype, {...})`, `return {...}` of a factory), and their members that are names.

use rustc_hash::FxHashMap;

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::languages::ecmascript::imports::unquoted;
use crate::languages::ecmascript::objects::{
    bare, called_name, dotted, extension, is_function, is_path, is_transparent, members_of,
};
use crate::languages::ecmascript::prototypes::COPYING;
use crate::walk::drafts::BindingDraft;
use crate::walk::state::Walk;
use atlas_facts::{Binding, BindingKind, DefId, ExprId, Kind};

/// Largest number of nodes between a function and the variable that holds it.
const MAX_STEPS: usize = 16;
/// Largest number of objects that are spread into one.
const MAX_SPREAD: usize = 8;
/// Largest depth of objects within objects in which functions are sought.
const MAX_NESTED: usize = 3;

/// Where the functions of an object literal belong.
pub enum Holder {
    /// A constant or an extension.
    Definition(DefId),
    /// The member of an object that `Object.defineProperty` defines, with its name.
    Accessor(DefId, String),
}

/// Returns what holds the functions of an object literal. An object that is only passed on inside a function has no
/// owner but the path of the function.
pub fn holder_of(walk: &mut Walk, object: NodeId) -> Option<Holder> {
    if let Some(constant) = nested_constant(walk, object) {
        return Some(Holder::Definition(constant));
    }
    let mut keys: Vec<String> = Vec::new();
    if let Some(found) = named_holder(walk, object, &mut keys) {
        return Some(found);
    }
    let scope = walk.scope();
    let path = walk.member_prefix(scope);
    let path = walk.builder.text(path).to_owned();
    (!path.is_empty()).then(|| Holder::Definition(keyed(walk, object, UNKNOWN, path, keys)))
}

/// Returns the extension for functions of the current scope that no name in it denotes.
pub fn unowned(walk: &mut Walk, node: NodeId) -> DefId {
    let scope = walk.scope();
    let path = walk.member_prefix(scope);
    let path = walk.builder.text(path).to_owned();
    extension(walk, node, UNKNOWN, &path, true)
}

/// Records the members of an object literal that are names or paths (`{ parse, stop: end }`) or results of calls
/// (`{ NotFound: createError("...") }`), if a name or a module denotes the object. The results of calls are definitions
/// where the object belongs to the module.
pub fn note_values(walk: &mut Walk, object: NodeId) {
    let mut parts: Vec<(NodeId, NodeId)> = walk
        .contents(object)
        .filter_map(|part| match walk.kind_name(part) {
            "shorthand_property_identifier" => Some((part, part)),
            "pair" => {
                let (key, value) = (walk.child(part, "key")?, walk.child(part, "value")?);
                let is_named = matches!(walk.kind_name(key), "property_identifier" | "string");
                (is_path(walk, value) || is_named && is_result(walk, value)).then_some((key, value))
            }
            _ => None,
        })
        .collect();
    // Of two members with one name, the last counts.
    if parts.len() > 1 {
        let names = parts.iter().map(|&(key, _)| (unquoted(&walk.text_of(key)), key));
        let last: FxHashMap<String, NodeId> = names.collect();
        parts.retain(|(key, _)| last.get(&unquoted(&walk.text_of(*key))) == Some(key));
    }
    note_spread(walk, object);
    if parts.is_empty() {
        return;
    }
    if let Some(constant) = nested_constant(walk, object) {
        for (key, value) in parts {
            let name = walk.builder.owned_name(unquoted(&walk.text_of(key)));
            let target = walk.builder.name_expr(name);
            let (line, value) = (walk.tree.line(key), Some(walk.expression(value)));
            let kind = BindingKind::Assign;
            walk.builder.facts.bindings.push(Binding {
                scope: constant,
                kind,
                target,
                annotation: None,
                value,
                line,
                replaces: (0, 0),
            });
        }
        return;
    }
    let Some(owner) = value_owner(walk, object) else { return };
    let base = walk.builder.facts.definitions[owner as usize].bases[0];
    let is_of_module = walk.scope() == 0;
    for (key, value) in parts {
        let text = unquoted(&walk.text_of(key));
        let name = walk.builder.owned_name(text.clone());
        let line = walk.tree.line(key);
        let assigned = Some(walk.expression(value));
        if is_of_module && is_result(walk, value) {
            let pair = walk.tree.node(key).parent;
            walk.define_named_member(owner, key, pair, &text, 0);
        }
        let target = walk.builder.attribute(base, name);
        let draft = BindingDraft { kind: BindingKind::Assign, value: assigned, annotation: None, line };
        walk.push_binding(target, draft);
    }
}

/// `const all = { ...api, extra() {} }` has the members of `api`.
fn note_spread(walk: &mut Walk, object: NodeId) {
    let is_spread = |&part: &NodeId| walk.kind_name(part) == "spread_element";
    let spread: Vec<NodeId> = walk.contents(object).filter(is_spread).take(MAX_SPREAD).collect();
    for part in spread {
        let Some(base) = walk.contents(part).next().map(|base| bare(walk, base)) else { continue };
        if !is_path(walk, base) && walk.kind_name(base) != "call_expression" {
            continue;
        }
        let Some(owner) = value_owner(walk, object) else { return };
        let base = walk.expression(base);
        let bases = &mut walk.builder.facts.definitions[owner as usize].bases;
        if base != UNKNOWN && !bases.contains(&base) {
            bases.push(base);
        }
    }
}

/// Returns the constant for an object below a key of an object that a constant holds: `{ nested: { f() {} } }`. It is
/// created at the first use.
fn nested_constant(walk: &mut Walk, object: NodeId) -> Option<DefId> {
    let mut pair = walk.tree.node(object).parent;
    while is_transparent(walk.kind_name(pair)) {
        pair = walk.tree.node(pair).parent;
    }
    if walk.kind_name(pair) != "pair" {
        return None;
    }
    if let Some(&(known, _)) = walk.definition_of.get(&pair) {
        return Some(known);
    }
    let key = walk.child(pair, "key")?;
    if !matches!(walk.kind_name(key), "property_identifier" | "string") {
        return None;
    }
    let around = walk.tree.node(pair).parent;
    let owner = match nested_constant(walk, around) {
        Some(owner) => owner,
        None => {
            let mut holder = walk.tree.node(around).parent;
            while is_transparent(walk.kind_name(holder)) {
                holder = walk.tree.node(holder).parent;
            }
            match walk.kind_name(holder) {
                "variable_declarator" => {
                    let (owner, _) = *walk.definition_of.get(&holder)?;
                    (walk.kind_of(owner) == Kind::Constant).then_some(owner)?
                }
                // `return { admin: { ban() {} } }`
                "return_statement" | "arrow_function" if has_functions(walk, object) => {
                    match returned_holder(walk, around, Vec::new())? {
                        Holder::Definition(owner) => owner,
                        Holder::Accessor(..) => return None,
                    }
                }
                _ => return None,
            }
        }
    };
    let text = unquoted(&walk.text_of(key));
    let constant = walk.define_named_member(owner, key, pair, &text, 0)?;
    walk.builder.facts.definitions[constant as usize].kind = Kind::Constant;
    walk.definition_of.insert(pair, (constant, true));
    Some(constant)
}

/// Returns whether a value is what a call returns.
fn is_result(walk: &Walk, value: NodeId) -> bool {
    matches!(walk.kind_name(bare(walk, value)), "call_expression" | "new_expression")
}

/// Returns the extension of what an object literal is the value of.
fn value_owner(walk: &mut Walk, object: NodeId) -> Option<DefId> {
    let mut holder = walk.tree.node(object).parent;
    loop {
        let around = walk.tree.node(holder).parent;
        match walk.kind_name(holder) {
            kind if is_transparent(kind) => holder = around,
            "arguments" if matches!(called_name(walk, around).as_deref(), Some("freeze" | "seal")) => {
                holder = walk.tree.node(around).parent;
            }
            _ => break,
        }
    }
    match walk.kind_name(holder) {
        "variable_declarator" if walk.definition_of.contains_key(&holder) => {
            walk.child(holder, "name").and_then(|name| members_of(walk, name))
        }
        "assignment_expression" => walk.child(holder, "left").and_then(|left| members_of(walk, left)),
        "export_statement" => {
            let (definition, _) = *walk.definition_of.get(&holder)?;
            let name = walk.builder.facts.definitions[definition as usize].name;
            let base = walk.builder.name_expr(name);
            Some(extension(walk, object, base, "default", true))
        }
        "return_statement" | "arrow_function" => match returned_holder(walk, object, Vec::new()) {
            Some(Holder::Definition(owner)) => Some(owner),
            _ => None,
        },
        _ => None,
    }
}

fn named_holder(walk: &mut Walk, object: NodeId, keys: &mut Vec<String>) -> Option<Holder> {
    let mut node = object;
    for _ in 0..MAX_STEPS {
        let parent = walk.tree.node(node).parent;
        match walk.kind_name(parent) {
            kind if is_transparent(kind) => {}
            "assignment_expression" if keys.is_empty() => {
                let left = walk.child(parent, "left")?;
                let around = walk.tree.node(parent).parent;
                if !matches!(walk.kind_name(around), "assignment_expression" | "variable_declarator") {
                    // `module.exports = {...}`, `exports.x = {...}`, `Foo.prototype = {...}`, `app.x = {...}`
                    return members_of(walk, left).map(Holder::Definition);
                }
            }
            "pair" => {
                let key = walk.child(parent, "key")?;
                keys.push(unquoted(&walk.text_of(key)));
                node = walk.tree.node(parent).parent;
                continue;
            }
            "arguments" => {
                let call = walk.tree.node(parent).parent;
                if let Some(found) = argument_holder(walk, call, parent, node, keys) {
                    return Some(found);
                }
                node = call;
                continue;
            }
            "variable_declarator" => {
                let Some(&(definition, _)) = walk.definition_of.get(&parent) else {
                    let name = walk.child(parent, "name").filter(|&name| walk.kind_name(name) == "identifier")?;
                    keys.push(walk.text_of(name).into_owned());
                    return None;
                };
                return nested(walk, object, definition, keys.clone());
            }
            "return_statement" | "arrow_function" => return returned_holder(walk, object, keys.clone()),
            "field_definition" | "public_field_definition" | "export_statement" => {
                let (definition, _) = *walk.definition_of.get(&parent)?;
                return nested(walk, object, definition, keys.clone());
            }
            _ => return None,
        }
        node = parent;
    }
    None
}

/// Returns the holder of functions below further keys of an object that a definition holds.
fn nested(walk: &mut Walk, object: NodeId, definition: DefId, keys: Vec<String>) -> Option<Holder> {
    let known = &walk.builder.facts.definitions[definition as usize];
    if !matches!(known.kind, Kind::Constant | Kind::Field) {
        return None;
    }
    if keys.is_empty() {
        return Some(Holder::Definition(definition));
    }
    let name = known.name;
    let path = walk.member_prefix(definition);
    let path = walk.builder.text(path).to_owned();
    let base = walk.builder.name_expr(name);
    Some(Holder::Definition(keyed(walk, object, base, path, keys)))
}

fn keyed(walk: &mut Walk, object: NodeId, base: ExprId, path: String, mut keys: Vec<String>) -> DefId {
    keys.reverse();
    let base = keys.iter().fold(base, |base, key| match base {
        UNKNOWN => UNKNOWN,
        base => {
            let key = walk.builder.owned_name(key.clone());
            walk.builder.attribute(base, key)
        }
    });
    keys.insert(0, path);
    extension(walk, object, base, &dotted(&keys), true)
}

/// `Object.assign(Foo.prototype, {...})`, `Object.defineProperty(o, "x", {...})`.
fn argument_holder(walk: &mut Walk, call: NodeId, list: NodeId, argument: NodeId, keys: &[String]) -> Option<Holder> {
    let arguments: Vec<NodeId> = walk.contents(list).collect();
    let name = called_name(walk, call)?;
    let first = *arguments.first().filter(|&&first| first != argument)?;
    match (name.as_str(), keys) {
        ("defineProperty", []) => {
            let key = *arguments.get(1)?;
            (walk.kind_name(key) == "string").then_some(())?;
            let key = unquoted(&walk.text_of(key));
            let owner = members_of(walk, first)?;
            Some(Holder::Accessor(owner, key))
        }
        ("defineProperties", [key]) => {
            let key = key.clone();
            let owner = members_of(walk, first)?;
            Some(Holder::Accessor(owner, key))
        }
        (name, []) if COPYING.contains(&name) && is_path(walk, first) => {
            members_of(walk, first).map(Holder::Definition)
        }
        _ => None,
    }
}

/// `return {...}` of a factory: the function itself stands for the objects that it makes.
fn returned_holder(walk: &mut Walk, object: NodeId, keys: Vec<String>) -> Option<Holder> {
    let scope = walk.scope();
    let definition = &walk.builder.facts.definitions[scope as usize];
    let (kind, name, own, parent) = (definition.kind, definition.name, definition.path, definition.parent);
    let (base, path) = match kind {
        Kind::Function => (walk.builder.name_expr(name), own),
        Kind::Method | Kind::Property => (UNKNOWN, own),
        Kind::Lambda if walk.kind_of(parent) == Kind::Constant => {
            let name = walk.builder.facts.definitions[parent as usize].name;
            let path = walk.member_prefix(parent);
            (walk.builder.name_expr(name), path)
        }
        _ => return None,
    };
    let path = walk.builder.text(path).to_owned();
    Some(Holder::Definition(keyed(walk, object, base, path, keys)))
}

/// Returns the owner and the name of a getter: `defineGetter(req, "protocol", function () {...})`,
/// `req.__defineGetter__("protocol", function () {...})`.
pub fn getter(walk: &mut Walk, function: NodeId) -> Option<(DefId, String)> {
    let list = walk.tree.node(function).parent;
    if walk.kind_name(list) != "arguments" {
        return None;
    }
    let call = walk.tree.node(list).parent;
    let callee = walk.child(call, "function")?;
    let arguments: Vec<NodeId> = walk.contents(list).collect();
    let name = called_name(walk, call)?;
    let (object, key) = match (name.as_str(), arguments.as_slice()) {
        ("__defineGetter__", &[key, last]) if last == function => (walk.child(callee, "object")?, key),
        ("defineGetter" | "defineProperty", &[object, key, last]) if last == function => (object, key),
        _ => return None,
    };
    (walk.kind_name(key) == "string").then_some(())?;
    let key = unquoted(&walk.text_of(key));
    Some((members_of(walk, object)?, key))
}

/// Returns the constant in whose value an anonymous function stands, as in `const T = make("T", () => {...})`.
pub fn enclosing_value(walk: &Walk, function: NodeId) -> Option<DefId> {
    let mut node = function;
    for _ in 0..MAX_STEPS {
        let parent = walk.tree.node(node).parent;
        match walk.kind_name(parent) {
            "arguments" | "call_expression" | "new_expression" | "await_expression" | "pair" | "object" | "array"
            | "ternary_expression" | "binary_expression" => {}
            kind if is_transparent(kind) => {}
            "variable_declarator" | "field_definition" | "public_field_definition" | "export_statement" => {
                let (definition, _) = *walk.definition_of.get(&parent)?;
                let is_value = matches!(walk.kind_of(definition), Kind::Constant | Kind::Field);
                return is_value.then_some(definition);
            }
            _ => return None,
        }
        node = parent;
    }
    None
}

/// Returns whether an object literal has a function as a member, or as one of an object in it.
pub fn has_functions(walk: &Walk, object: NodeId) -> bool {
    holds_functions(walk, object, MAX_NESTED)
}

fn holds_functions(walk: &Walk, object: NodeId, depth: usize) -> bool {
    walk.contents(object).any(|part| match walk.kind_name(part) {
        "method_definition" => true,
        "pair" => walk.child(part, "value").map(|value| bare(walk, value)).is_some_and(|value| {
            let kind = walk.kind_name(value);
            is_function(kind) || kind == "object" && depth > 0 && holds_functions(walk, value, depth - 1)
        }),
        _ => false,
    })
}
