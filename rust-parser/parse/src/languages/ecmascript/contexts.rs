//! Types that functions without types of their own have from where they stand in an object, an array, a condition or an
//! assignment: `{ onError(e) {} }` as an argument, as a value of a variable with a type, as a result. Such a type is
//! written as TypeScript would write it: `Options["onError"]`, `Parameters<typeof create>["0"]["onError"]`.

use crate::flat_tree::NodeId;
use crate::languages::ecmascript::imports::unquoted;
use crate::languages::ecmascript::objects::{bare, is_transparent};
use crate::walk::drafts::{DefinitionDraft, Placed};
use crate::walk::state::Walk;
use atlas_facts::{Binding, BindingKind, Expr, ExprId, LiteralType};

/// Largest number of nodes between a function and what gives it a type.
const MAX_STEPS: usize = 12;

/// Where a function stands: what its type derives from, and the steps from that type to its own.
struct Place {
    origin: ExprId,
    /// From the function outwards; `None` for an element.
    steps: Vec<Option<String>>,
}

/// Notes the type of a function's place, if the function has parameters that need one.
pub fn note_place(walk: &mut Walk, draft: &DefinitionDraft) {
    let is_typed = walk.language.settings.include.iter().any(|included| included == "typed");
    let Some(list) = draft.parameters.filter(|_| is_typed) else { return };
    let needs_type = walk.tree.is_leaf(list) || walk.contents(list).any(|part| walk.child(part, "type").is_none());
    if !needs_type || draft.node == 0 {
        return;
    }
    let Some(place) = place_of(walk, draft.node) else { return };
    let annotation = place.steps.into_iter().rev().fold(place.origin, |base, step| match step {
        Some(key) => {
            let name = walk.builder.owned_name(key);
            walk.builder.attribute(base, name)
        }
        None => {
            let index = walk.builder.literal(LiteralType::Int);
            walk.builder.expr(Expr::Index { base, index })
        }
    });
    let (scope, line) = (walk.scope(), walk.tree.line(draft.node));
    walk.placed.push(Placed { node: draft.node, annotation, scope, line });
}

/// Binds the noted types to their functions.
pub fn bind_placed(walk: &mut Walk) {
    for Placed { node, annotation, scope, line } in std::mem::take(&mut walk.placed) {
        let Some(&(definition, _)) = walk.definition_of.get(&node) else { continue };
        let value = Some(walk.builder.expr(Expr::Lambda(definition)));
        let (kind, annotation) = (BindingKind::Assign, Some(annotation));
        walk.builder.facts.bindings.push(Binding { scope, kind, target: 0, annotation, value, line, replaces: (0, 0) });
    }
}

/// Returns the place of a function. The value of a variable with a type, a result and an argument have none: the linker
/// knows these.
fn place_of(walk: &mut Walk, function: NodeId) -> Option<Place> {
    let mut steps = Vec::new();
    let mut node = function;
    let mut is_plain = true;
    if walk.kind_name(function) == "method_definition" {
        steps.push(Some(key_of(walk, function, "name")?));
        node = walk.tree.node(function).parent;
        is_plain = false;
        if walk.kind_name(node) != "object" {
            return None;
        }
    }
    for _ in 0..MAX_STEPS {
        let parent = walk.tree.node(node).parent;
        match walk.kind_name(parent) {
            "as_expression" | "satisfies_expression" => {
                let declared = walk.contents(parent).nth(1)?;
                return Some(Place { origin: peeked(walk, declared), steps });
            }
            kind if is_transparent(kind) => {}
            "ternary_expression" | "binary_expression" => is_plain = false,
            "pair" => {
                steps.push(Some(key_of(walk, parent, "key")?));
                is_plain = false;
                node = walk.tree.node(parent).parent;
                continue;
            }
            "array" => {
                steps.push(None);
                is_plain = false;
            }
            "object" => {}
            _ => {
                let origin = origin_of(walk, node, parent, is_plain)?;
                return Some(Place { origin, steps });
            }
        }
        node = parent;
    }
    None
}

/// Returns the type that a value at the end of the steps has from its parent.
fn origin_of(walk: &mut Walk, node: NodeId, parent: NodeId, is_plain: bool) -> Option<ExprId> {
    match walk.kind_name(parent) {
        "variable_declarator" | "public_field_definition" if !is_plain => {
            let declared = walk.child(parent, "type")?;
            Some(peeked(walk, declared))
        }
        "required_parameter" | "optional_parameter" => {
            let declared = walk.child(parent, "type")?;
            Some(peeked(walk, declared))
        }
        "assignment_expression" => {
            let left = walk.child(parent, "left").filter(|&left| left != node)?;
            let left = bare(walk, left);
            Some(walk.expression(left)).filter(|&left| left != 0)
        }
        "return_statement" | "arrow_function" if !is_plain => {
            let scope = walk.scope();
            walk.builder.facts.definitions[scope as usize].declared_type
        }
        "arguments" if !is_plain => {
            let call = walk.tree.node(parent).parent;
            let callee = walk.child(call, "function").or_else(|| walk.child(call, "constructor"))?;
            let position = walk.contents(parent).position(|argument| argument == node)?;
            let callee = walk.expression(callee);
            Some(parameter_of(walk, callee, &position.to_string()))
        }
        "jsx_expression" => {
            let attribute = walk.tree.node(parent).parent;
            let element = walk.tree.node(attribute).parent;
            let name = walk.child(element, "name").filter(|_| walk.kind_name(attribute) == "jsx_attribute")?;
            let key = walk.contents(attribute).next()?;
            let callee = walk.expression(name);
            let props = parameter_of(walk, callee, "0");
            let key = walk.name_of(key);
            (callee != 0).then(|| walk.builder.attribute(props, key))
        }
        _ => None,
    }
}

/// `Parameters<typeof callee>["position"]`.
fn parameter_of(walk: &mut Walk, callee: ExprId, position: &str) -> ExprId {
    let name = walk.builder.name("Parameters");
    let base = walk.builder.name_expr(name);
    let base = walk.builder.expr(Expr::Generic { base, args: vec![callee] });
    let position = walk.builder.owned_name(position.to_owned());
    walk.builder.attribute(base, position)
}

/// Returns the expression of a type that the walk has yet to read.
fn peeked(walk: &mut Walk, node: NodeId) -> ExprId {
    walk.is_peeking = true;
    let expr = walk.type_expression(node);
    walk.is_peeking = false;
    expr
}

fn key_of(walk: &Walk, node: NodeId, field: &str) -> Option<String> {
    let key = walk.child(node, field)?;
    matches!(walk.kind_name(key), "property_identifier" | "string").then(|| unquoted(&walk.text_of(key)))
}
