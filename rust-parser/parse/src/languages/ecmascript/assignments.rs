//! Assignments as definitions: functions given to members, the value of a CommonJS module, and prototypes.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::languages::ecmascript::literals::{Holder, getter, holder_of, unowned};
use crate::languages::ecmascript::objects::{
    bare, is_exports, is_function, is_of_module, is_path, is_plain_receiver, members_of,
};
use crate::languages::ecmascript::prototypes::add_base;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, ExprId, Kind, flags};

/// Handles functions in an object literal, which are members of what holds the literal; elsewhere they stay anonymous.
pub fn place_in_object(walk: &mut Walk, draft: &mut DefinitionDraft) {
    let outer = draft.wrapper.outer.unwrap_or(draft.node);
    let object = walk.tree.node(outer).parent;
    let is_part = matches!(walk.kind_name(outer), "pair" | "method_definition") && walk.kind_name(object) == "object";
    if !is_part || draft.kind == Kind::Field {
        return;
    }
    let is_accessor = draft.kind == Kind::Property;
    match holder_of(walk, object) {
        Some(Holder::Definition(owner)) => {
            draft.parent = owner;
            let is_object = walk.kind_of(owner) == Kind::Constant || is_of_module(walk, owner);
            draft.kind = if is_object { Kind::Function } else { Kind::Method };
        }
        Some(Holder::Accessor(owner, name)) => {
            match draft.name.as_str() {
                "get" | "set" => draft.kind = Kind::Property,
                "value" => draft.kind = Kind::Method,
                _ => {
                    draft.kind = Kind::Lambda;
                    return;
                }
            }
            draft.name = name;
            draft.parent = owner;
            return;
        }
        None => {
            draft.kind = Kind::Lambda;
            return;
        }
    }
    if is_accessor {
        draft.kind = Kind::Property;
    }
}

/// Handles `exports.f = function`, `module.exports = class`, `app.use = function` and `T.prototype.m = function`.
pub fn place_assigned(walk: &mut Walk, draft: &mut DefinitionDraft) {
    if draft.kind == Kind::Lambda
        && draft.wrapper.name.is_none()
        && let Some((owner, name)) = getter(walk, draft.node)
    {
        draft.name = name;
        draft.parent = owner;
        draft.kind = Kind::Property;
        return;
    }
    let assignment = walk.tree.node(draft.node).parent;
    if draft.kind == Kind::Lambda
        && walk.kind_name(assignment) == "assignment_expression"
        && let Some(left) =
            walk.child(assignment, "left").filter(|&left| walk.kind_name(left) == "subscript_expression")
        && let Some(object) = walk.child(left, "object")
    {
        // `app[method] = function () {}` has no name, but its `this` is the object.
        draft.parent = members_of(walk, object).unwrap_or(draft.parent);
        return;
    }
    if draft.wrapper.name.is_none() || walk.kind_name(assignment) != "assignment_expression" {
        return;
    }
    let Some(left) = walk.child(assignment, "left").map(|left| bare(walk, left)) else { return };
    let is_class = draft.kind == Kind::Class;
    let (targets, variable) = targets(walk, assignment);
    let is_whole = targets.iter().any(|&target| is_module_exports(walk, target));
    if is_whole {
        draft.flags |= flags::EXPORTED | flags::DEFAULT_EXPORT;
    }
    if let Some(variable) = variable {
        draft.name = walk.text_of(variable).into_owned();
        draft.name_node = Some(variable);
        draft.kind = if is_class { Kind::Class } else { Kind::Function };
        return;
    }
    if walk.kind_name(left) != "member_expression" {
        // `f = function () {}` gives a value to a variable that is declared elsewhere.
        if !is_exports(walk, left) && !is_class {
            draft.kind = Kind::Lambda;
        }
        return;
    }
    if is_exports(walk, left) {
        let own = walk.child(draft.node, "name").map(|name| walk.text_of(name).into_owned());
        draft.name = own.unwrap_or_else(|| "default".to_owned());
        return;
    }
    let Some(object) = walk.child(left, "object") else { return };
    let property = walk.child(left, "property");
    if property.is_none_or(|property| walk.bytes_of(property) == b"prototype") {
        draft.kind = Kind::Lambda;
        return;
    }
    match members_of(walk, object) {
        Some(owner) => {
            draft.parent = owner;
            draft.kind = match draft.kind {
                Kind::Class => Kind::Class,
                _ if is_of_module(walk, owner) => Kind::Function,
                _ => Kind::Method,
            };
            if draft.kind == Kind::Method {
                draft.flags |= walk.builder.facts.definitions[owner as usize].flags & flags::STATIC;
            }
            draft.private |= draft.name.starts_with('_');
        }
        None if is_class => {}
        None => draft.kind = Kind::Lambda,
    }
}

/// Handles a function expression with a name of its own, which only the function itself sees.
pub fn place_named(walk: &mut Walk, draft: &mut DefinitionDraft) {
    let is_own = walk.child(draft.node, "name").is_some_and(|name| walk.bytes_of(name) == draft.name.as_bytes());
    if is_own {
        draft.parent = unowned(walk, draft.node);
        draft.kind = Kind::Function;
        draft.private = true;
    }
}

/// Returns the left sides of a chain of assignments (`var app = exports = module.exports = value`), and the variable
/// that the chain declares.
fn targets(walk: &Walk, assignment: NodeId) -> (Vec<NodeId>, Option<NodeId>) {
    let mut found = Vec::new();
    let mut here = assignment;
    loop {
        match walk.kind_name(here) {
            "assignment_expression" => found.extend(walk.child(here, "left")),
            "variable_declarator" => {
                let name = walk.child(here, "name").filter(|&name| walk.kind_name(name) == "identifier");
                return (found, name);
            }
            _ => return (found, None),
        }
        here = walk.tree.node(here).parent;
    }
}

fn is_module_exports(walk: &Walk, node: NodeId) -> bool {
    walk.bytes_of(node) == b"module.exports"
}

/// Returns the value at the end of a chain of assignments.
pub fn assigned_value(walk: &Walk, mut node: NodeId) -> NodeId {
    node = bare(walk, node);
    while walk.kind_name(node) == "assignment_expression" {
        match walk.child(node, "right") {
            Some(right) => node = bare(walk, right),
            None => break,
        }
    }
    node
}

/// Records what an assignment says about the module and about objects: the module's value, members that are not
/// functions, and prototypes.
pub fn note_assignment(walk: &mut Walk, node: NodeId) {
    let (Some(left), Some(right)) = (walk.child(node, "left"), walk.child(node, "right")) else { return };
    let left = bare(walk, left);
    if is_module_exports(walk, left) {
        note_module(walk, node, right);
        return;
    }
    if walk.kind_name(left) != "member_expression" || !is_path(walk, left) {
        return;
    }
    let (Some(object), Some(property)) = (walk.child(left, "object"), walk.child(left, "property")) else { return };
    let object = bare(walk, object);
    match walk.bytes_of(property) {
        b"prototype" => return note_prototype(walk, left, right),
        b"__proto__" => return add_base(walk, object, right),
        _ => {}
    }
    let value = assigned_value(walk, right);
    if walk.kind_name(object) == "this" {
        if is_plain_receiver(walk) && !is_function(walk.kind_name(value)) {
            bind_own_member(walk, node, property, value);
        }
        return;
    }
    if is_function(walk.kind_name(right)) || walk.kind_name(value) == "object" || !is_known_object(walk, object) {
        return;
    }
    let may_be_called = matches!(
        walk.kind_name(value),
        "identifier" | "member_expression" | "call_expression" | "arrow_function" | "function_expression" | "class"
    );
    if let Some(owner) = members_of(walk, object).filter(|_| may_be_called)
        && !is_exports(walk, object)
    {
        let text = walk.text_of(property).into_owned();
        let prefix = walk.member_prefix(owner);
        let name = walk.name_of(property);
        if !walk.name_counts.contains_key(&(prefix, name)) {
            walk.define_named_member(owner, property, node, &text, 0);
        }
    }
}

/// Binds `this.x` of a constructor function to the objects that it makes.
fn bind_own_member(walk: &mut Walk, node: NodeId, property: NodeId, value: NodeId) {
    let Some(this) = walk.child(node, "left").and_then(|left| walk.child(left, "object")) else { return };
    let Some(owner) = members_of(walk, this) else { return };
    let base = walk.builder.facts.definitions[owner as usize].bases[0];
    let name = walk.name_of(property);
    let target = walk.builder.attribute(base, name);
    let value = Some(walk.expression(value));
    let line = walk.tree.line(node);
    walk.push_binding(target, BindingDraft { kind: BindingKind::Assign, value, annotation: None, line });
}

/// Returns whether an object is `T.prototype` or a name that is defined in this scope.
fn is_known_object(walk: &mut Walk, object: NodeId) -> bool {
    match walk.kind_name(object) {
        "identifier" => {
            let name = walk.name_of(object);
            let scope = walk.scope();
            let prefix = walk.member_prefix(scope);
            is_exports(walk, object) || walk.name_counts.contains_key(&(prefix, name))
        }
        "member_expression" => is_exports(walk, object) || walk.bytes_of(object).ends_with(b".prototype"),
        _ => false,
    }
}

/// `Foo.prototype = Object.create(Bar.prototype)` is read at the call; `Foo.prototype = new Bar()` and
/// `Foo.prototype = other` here.
fn note_prototype(walk: &mut Walk, left: NodeId, right: NodeId) {
    let value = assigned_value(walk, right);
    match walk.kind_name(value) {
        "new_expression" => {
            if let Some(class) = walk.child(value, "constructor") {
                add_base(walk, left, class);
            }
        }
        "identifier" | "member_expression" => add_base(walk, left, value),
        _ => {}
    }
}

/// Records the value of a CommonJS module: what `require` of the file returns.
fn note_module(walk: &mut Walk, node: NodeId, right: NodeId) {
    let (_, variable) = targets(walk, node);
    let value = assigned_value(walk, right);
    let base: Option<ExprId> = match (variable, walk.kind_name(value)) {
        (Some(variable), _) => Some(walk.expression(variable)),
        (None, "identifier" | "member_expression" | "call_expression" | "new_expression") => {
            Some(walk.expression(value))
        }
        (None, kind) if is_function(kind) || kind == "class" => {
            let name = walk.child(value, "name").map(|name| walk.name_of(name));
            let name = name.unwrap_or_else(|| walk.builder.owned_name("default".to_owned()));
            Some(walk.builder.name_expr(name))
        }
        _ => None,
    };
    if let Some(base) = base.filter(|&base| base != UNKNOWN) {
        walk.builder.facts.definitions[0].bases = vec![base];
    }
}
