//! Inheritance of objects without classes: `inherits(A, B)`, `Object.create(Base.prototype)`, mixins.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::languages::ecmascript::imports::unquoted;
use crate::languages::ecmascript::objects::{bare, called_name, is_path, is_transparent, members_of};
use crate::walk::drafts::BindingDraft;
use crate::walk::state::Walk;
use atlas_facts::BindingKind;

/// Functions that copy the members of their further arguments to the first, or that set its prototype.
pub const COPYING: &[&str] = &["assign", "mixin", "merge", "extend", "_extend"];
const DERIVING: &[&str] = &["inherits", "setPrototypeOf", "__extends"];

/// Records the bases that a call gives to an object: `inherits(A, B)`, `Object.setPrototypeOf(a, b)`, `mixin(app, proto)`,
/// `const res = Object.create(Base.prototype)`.
pub fn note_bases(walk: &mut Walk, call: NodeId) {
    let Some(name) = called_name(walk, call) else { return };
    let Some(list) = walk.child(call, "arguments") else { return };
    let arguments: Vec<NodeId> = walk.contents(list).take(3).collect();
    match (name.as_str(), arguments.as_slice()) {
        ("create", &[base, ..]) if walk.text_of(call).starts_with("Object.create") => {
            let Some(target) = assigned_target(walk, call) else { return };
            add_base(walk, target, base);
        }
        ("defineProperty", &[target, key, described]) if walk.kind_name(key) == "string" => {
            note_value(walk, target, key, described);
        }
        (name, &[target, base, ..])
            if (DERIVING.contains(&name) || COPYING.contains(&name))
                && is_path(walk, target)
                && walk.kind_name(target) != "this" =>
        {
            add_base(walk, target, base);
        }
        _ => {}
    }
}

/// `Object.defineProperty(target, "key", { value: f })` gives the member a value.
fn note_value(walk: &mut Walk, target: NodeId, key: NodeId, described: NodeId) {
    let is_value = |&part: &NodeId| walk.child(part, "key").is_some_and(|key| walk.bytes_of(key) == b"value");
    let Some(value) = walk.contents(described).find(is_value).and_then(|part| walk.child(part, "value")) else {
        return;
    };
    if !is_path(walk, value) || members_of(walk, target).is_none() {
        return;
    }
    let base = walk.expression(bare(walk, target));
    let name = walk.builder.owned_name(unquoted(&walk.text_of(key)));
    let target = walk.builder.attribute(base, name);
    let (kind, value, line) = (BindingKind::Assign, Some(walk.expression(value)), walk.tree.line(key));
    walk.push_binding(target, BindingDraft { kind, value, annotation: None, line });
}

/// Returns the variable or path to which a value is assigned.
fn assigned_target(walk: &Walk, mut node: NodeId) -> Option<NodeId> {
    let mut target = None;
    loop {
        let parent = walk.tree.node(node).parent;
        match walk.kind_name(parent) {
            kind if is_transparent(kind) => {}
            "assignment_expression" => {
                let left = walk.child(parent, "left").filter(|&left| left < node)?;
                target = target.or(Some(left));
            }
            "variable_declarator" => return walk.child(parent, "name"),
            _ => return target,
        }
        node = parent;
    }
}

/// Makes an object inherit the members of another.
pub fn add_base(walk: &mut Walk, target: NodeId, base: NodeId) {
    let base = bare(walk, base);
    if !is_path(walk, base) && walk.kind_name(base) != "call_expression" {
        return;
    }
    let Some(extension) = members_of(walk, target) else { return };
    let base = walk.expression(base);
    if base == UNKNOWN {
        return;
    }
    let bases = &mut walk.builder.facts.definitions[extension as usize].bases;
    if !bases.contains(&base) {
        bases.push(base);
    }
}
