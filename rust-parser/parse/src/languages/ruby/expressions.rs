//! Ruby expressions whose meaning depends on their context: `self`, bare words, `super` and `self.class`.

use crate::flat_tree::NodeId;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Expr, ExprId, Kind, flags};

/// Returns the expression of `self`: an object, a class, or the module whose function contains it.
pub fn self_value(walk: &mut Walk) -> ExprId {
    let scope = enclosing_definition(walk);
    let definition = &walk.builder.facts.definitions[scope as usize];
    let parent = walk.kind_of(definition.parent);
    let is_class_level = match definition.kind {
        Kind::Function | Kind::Method | Kind::Constructor | Kind::Property => definition.flags & flags::STATIC != 0,
        _ => true,
    };
    let module = match definition.kind {
        Kind::Namespace => definition.path,
        Kind::Function if is_class_level && parent == Kind::Namespace => {
            walk.builder.facts.definitions[definition.parent as usize].path
        }
        _ => return walk.builder.this(is_class_level),
    };
    let path = walk.builder.text(module).to_owned();
    walk.builder.dotted(&path)
}

/// Returns the expression of a bare word: a variable, a name, or a call without arguments.
pub fn bare_word(walk: &mut Walk, node: NodeId) -> ExprId {
    let name = walk.name_of(node);
    let expr = walk.builder.name_expr(name);
    let parent = walk.tree.node(node).parent;
    let is_name = match walk.kind_name(parent) {
        "call" => walk.child(parent, "method") == Some(node),
        "method" | "singleton_method" | "alias" => walk.child(parent, "name") == Some(node),
        "setter" | "undef" => true,
        _ => false,
    };
    if is_name {
        // `new` without a receiver creates an object of the enclosing class.
        return if walk.bytes_of(node) == b"new" { walk.builder.this(true) } else { expr };
    }
    if walk.is_local(name) {
        return expr;
    }
    let expr = if walk.bytes_of(node) == b"new" { walk.builder.this(true) } else { expr };
    walk.builder.expr(Expr::Call { callee: expr, args: Vec::new(), new: false })
}

/// Returns the expression of `super`, alone or as a callee: the method of this name in an ancestor.
pub fn super_call(walk: &mut Walk, node: NodeId) -> ExprId {
    let base = walk.builder.super_expr();
    let name = walk.builder.facts.definitions[enclosing_definition(walk) as usize].name;
    let callee = walk.builder.attribute(base, name);
    match walk.kind_name(walk.tree.node(node).parent) {
        "call" if walk.child(walk.tree.node(node).parent, "method") == Some(node) => callee,
        _ => walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: false }),
    }
}

/// Returns the expression of `self.class`.
pub fn class_of_this(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let receiver = walk.child(node, "receiver")?;
    let method = walk.child(node, "method")?;
    let is_class = walk.bytes_of(receiver) == b"self" && walk.bytes_of(method) == b"class";
    is_class.then(|| walk.builder.this(true))
}

/// Returns the innermost enclosing definition that is not a block.
fn enclosing_definition(walk: &Walk) -> DefId {
    let scopes = walk.scopes.iter().rev().map(|scope| scope.definition);
    scopes.into_iter().find(|&scope| walk.kind_of(scope) != Kind::Lambda).unwrap_or(0)
}
