//! Variables that C and C++ declare, and members that a C++ constructor initializes.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::walk::drafts::BindingDraft;
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr, ExprId, Kind, LiteralType, ReferenceKind};

/// Largest number of recorded structs in a table.
const MAX_LITERALS: usize = 256;

/// `T a = x, *b;`: each name has the type and its own value. In C++, a value of a class is created by its constructor.
pub fn declaration(walk: &mut Walk, node: NodeId) {
    let Some(declared) = walk.child(node, "type") else {
        return;
    };
    let own = walk.definition_of.get(&node).map(|&(definition, _)| walk.kind_of(definition));
    if own.is_some_and(|kind| matches!(kind, Kind::Function | Kind::Method | Kind::Constructor)) {
        return;
    }
    let annotation = walk.annotation(declared);
    let annotation = (annotation != UNKNOWN).then_some(annotation);
    let declarators: Vec<NodeId> = walk.in_field(node, "declarator").collect();
    for declarator in declarators {
        let in_function = walk.scope() != 0 && !matches!(walk.kind_of(walk.scope()), Kind::Namespace);
        if is_prototype(walk, declarator) && !(in_function && walk.builder.facts.language == "cpp") {
            continue;
        }
        let value = made_value(walk, node, declarator, annotation, in_function);
        // The declared type is that of the result.
        let annotation = annotation.filter(|_| !is_function_pointer(walk, declarator));
        let line = walk.tree.line(declarator);
        walk.bind(declarator, BindingDraft { kind: BindingKind::Assign, value, annotation, line });
    }
}

fn made_value(
    walk: &mut Walk,
    node: NodeId,
    declarator: NodeId,
    annotation: Option<ExprId>,
    in_function: bool,
) -> Option<ExprId> {
    // `if (T* a = x)` has the value beside the declarator.
    let value = walk.child(declarator, "value").or_else(|| walk.child(node, "value"));
    let is_cpp = walk.builder.facts.language == "cpp";
    let is_class = annotation.is_some_and(|expr| !matches!(walk.builder.get(expr), Expr::Literal(_)));
    let makes = match (walk.kind_name(declarator), value.map(|value| walk.kind_name(value))) {
        ("init_declarator", Some("argument_list" | "initializer_list")) => {
            let inner = walk.child(declarator, "declarator").map(|inner| walk.kind_name(inner));
            inner == Some("identifier")
        }
        // `Item item(other);` has the syntax of a function declaration.
        ("function_declarator", _) => {
            let name = walk.child(declarator, "declarator");
            claim_types(walk, declarator);
            name.is_some_and(|name| walk.kind_name(name) == "identifier")
        }
        ("identifier", None) => true,
        _ => false,
    };
    match (annotation, value) {
        (Some(callee), Some(list))
            if is_class
                && !(is_cpp && in_function)
                && let Some(made) = literal(walk, declarator, list, callee) =>
        {
            walk.read(list);
            Some(made)
        }
        (Some(callee), _) if makes && is_cpp && is_class && in_function => {
            let args = walk.arguments(value);
            let expr = walk.builder.expr(Expr::Call { callee, args, new: true });
            walk.refer(ReferenceKind::Call, expr, walk.tree.line(declarator));
            Some(expr)
        }
        (_, Some(value)) => {
            walk.read(value);
            Some(walk.expression(value))
        }
        _ => None,
    }
}

/// `struct ops o = { .open = f }`, `struct ops all[] = { { f }, { g } }`: literals of the declared type. C++ calls a
/// constructor unless members are named.
fn literal(walk: &mut Walk, declarator: NodeId, list: NodeId, callee: ExprId) -> Option<ExprId> {
    let inner = walk.child(declarator, "declarator")?;
    if walk.kind_name(list) != "initializer_list" {
        return None;
    }
    match walk.kind_name(inner) {
        "identifier" => literal_of(walk, list, callee),
        "array_declarator" => {
            let parts: Vec<NodeId> = walk.contents(list).take(MAX_LITERALS).collect();
            let inner = |walk: &Walk, part: NodeId| match walk.kind_name(part) {
                "initializer_pair" => walk.child(part, "value"),
                _ => Some(part),
            };
            let mut items = Vec::new();
            for part in parts {
                let list = inner(walk, part).filter(|&part| walk.kind_name(part) == "initializer_list")?;
                items.push(literal_of(walk, list, callee)?);
            }
            let elements = Expr::Elements { kind: LiteralType::List, items, keys: Vec::new() };
            Some(walk.builder.expr(elements))
        }
        _ => None,
    }
}

fn literal_of(walk: &mut Walk, list: NodeId, callee: ExprId) -> Option<ExprId> {
    let is_named = walk.contents(list).any(|part| walk.kind_name(part) == "initializer_pair");
    if !is_named && walk.builder.facts.language == "cpp" {
        return None;
    }
    let args = walk.arguments(Some(list));
    let expr = walk.builder.expr(Expr::Call { callee, args, new: true });
    walk.refer(ReferenceKind::Call, expr, walk.tree.line(list));
    Some(expr)
}

/// Returns whether a declarator declares a function, rather than a variable that holds one.
fn is_prototype(walk: &Walk, mut declarator: NodeId) -> bool {
    while matches!(walk.kind_name(declarator), "pointer_declarator" | "reference_declarator") {
        let Some(inner) = walk.contents(declarator).last() else {
            return false;
        };
        declarator = inner;
    }
    let inner = walk.child(declarator, "declarator");
    walk.kind_name(declarator) == "function_declarator"
        && inner.is_some_and(|inner| walk.kind_name(inner) != "parenthesized_declarator")
}

/// Returns whether a declarator declares a variable that holds a function, or several: `(*f)(void)`, `(*f[])(void)`.
pub fn is_function_pointer(walk: &Walk, mut declarator: NodeId) -> bool {
    if walk.kind_name(declarator) == "init_declarator" {
        declarator = walk.child(declarator, "declarator").unwrap_or(declarator);
    }
    let inner = walk.child(declarator, "declarator");
    walk.kind_name(declarator) == "function_declarator"
        && inner.is_some_and(|inner| walk.kind_name(inner) == "parenthesized_declarator")
}

/// Marks the names in parentheses as values, not types.
fn claim_types(walk: &mut Walk, node: NodeId) {
    for part in node..walk.tree.node(node).next {
        walk.claim_read(part);
    }
}

/// `Base(x)` and `member_(x)` before the body of a constructor.
pub fn initializer(walk: &mut Walk, node: NodeId) {
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let &[name, list] = &parts[..] else {
        return;
    };
    let args = walk.arguments(Some(list));
    let line = walk.tree.line(node);
    let is_base =
        walk.kind_name(name) != "field_identifier" || walk.bytes_of(name).first().is_some_and(u8::is_ascii_uppercase);
    if is_base {
        let callee = walk.type_expression(name);
        let expr = walk.builder.expr(Expr::Call { callee, args, new: true });
        walk.refer(ReferenceKind::Call, expr, line);
        return;
    }
    let this = walk.builder.this(false);
    let field = walk.name_of(name);
    let target = walk.builder.attribute(this, field);
    let value = match &args[..] {
        [only] => Some(only.value),
        _ => None,
    };
    walk.push_binding(target, BindingDraft { kind: BindingKind::Assign, value, annotation: None, line });
}
