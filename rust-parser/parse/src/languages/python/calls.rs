//! Calls with a meaning of their own: `isinstance`, `cast`, `super(B, self)`, `type(self)`.

use crate::flat_tree::NodeId;
use crate::languages::python::narrowing;
use crate::walk::additions::Addition;
use crate::walk::drafts::BindingDraft;
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr, ExprId, Import, ImportKind};

/// Names by which programs call `typing.cast`.
const CASTS: &[&[u8]] = &[b"cast", b"typing.cast", b"t.cast"];

/// Fields of Django and SQLAlchemy that refer to a class.
const FIELDS_OF_CLASSES: &[&[u8]] =
    &[b"ForeignKey", b"OneToOneField", b"ManyToManyField", b"ParentalKey", b"GenericRelation", b"relationship"];

/// Returns the expression of a call or attribute that patterns would misread.
pub fn expression(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    match walk.kind_name(node) {
        "call" => {
            let special = super_of(walk, node).or_else(|| cast_of(walk, node));
            let special = special.or_else(|| class_of_this(walk, node)).or_else(|| keyed(walk, node));
            let special = special.or_else(|| imported(walk, node));
            special.or_else(|| type_variable(walk, node)).or_else(|| field_of_class(walk, node))
        }
        _ => class_of_this(walk, node),
    }
}

/// `isinstance(x, T)`, `issubclass(x, T)`, `cast(T, x)`: one argument is a type.
pub fn type_arguments(walk: &mut Walk, node: NodeId) {
    let mut parts = walk.tree.children(node);
    let (Some(callee), Some(list)) = (parts.next(), parts.next()) else {
        return;
    };
    let position = match walk.bytes_of(callee) {
        b"isinstance" | b"issubclass" => 1,
        name if CASTS.contains(&name) => 0,
        _ => return,
    };
    let target = walk.contents(list).next();
    let argument = walk.contents(list).nth(position);
    if let Some(argument) = argument {
        let annotation = walk.annotation(argument);
        if position == 1
            && let Some(target) = target
        {
            let is_class = walk.bytes_of(callee) == b"issubclass";
            narrowing::narrow(walk, node, target, annotation, is_class);
        }
    }
}

/// Returns the expression of a call that selects an element, an attribute or a member of a module by a literal name.
fn keyed(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let mut parts = walk.tree.children(node);
    let (function, list) = (parts.next()?, parts.next()?);
    let place = match called_name(walk, function) {
        (true, b"get" | b"pop" | b"setdefault" | b"__getitem__") => 0,
        (_, b"import_string") | (true, b"locate") => 0,
        (false, b"getattr") => 1,
        _ => return None,
    };
    if walk.kind_name(list) != "argument_list" {
        return None;
    }
    let selecting = walk.contents(list).nth(place)?;
    let key = walk.literal_key(selecting);
    if key == 0 {
        return None;
    }
    walk.claim_read(function);
    let callee = walk.expression(function);
    let mut args = walk.arguments(Some(list));
    args.get_mut(place)?.value = walk.builder.expr(Expr::Key(key));
    Some(walk.builder.expr(Expr::Call { callee, args, new: false }))
}

/// Returns the expression of `importlib.import_module("a.b")` and `__import__("a")`, which is the name of an import.
fn imported(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let mut parts = walk.tree.children(node);
    let (function, list) = (parts.next()?, parts.next()?);
    let is_builtin = walk.bytes_of(function) == b"__import__";
    if !is_builtin && !walk.bytes_of(function).ends_with(b"import_module") {
        return None;
    }
    let first = walk.contents(list).next()?;
    let key = walk.literal_key(first);
    let mut module = walk.builder.text(key).to_owned();
    let is_name = |part: &str| part.chars().all(|letter| letter.is_alphanumeric() || letter == '_') && !part.is_empty();
    if !module.split('.').all(is_name) {
        return None;
    }
    let alias = format!("import({module})");
    if is_builtin {
        module.truncate(module.find('.').unwrap_or(module.len()));
    }
    let (module, alias) = (walk.builder.owned_name(module), walk.builder.owned_name(alias));
    walk.push_import(Import {
        scope: 0,
        module,
        level: 0,
        member: None,
        alias: Some(alias),
        kind: ImportKind::Module,
        line: walk.tree.line(node),
        type_only: false,
    });
    Some(walk.builder.name_expr(alias))
}

/// Returns the expression of `TypeVar("T", A, B)` and `TypeVar("T", bound="A")`, whose arguments are types.
fn type_variable(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let mut parts = walk.tree.children(node);
    let (function, list) = (parts.next()?, parts.next()?);
    if !matches!(walk.bytes_of(function), b"TypeVar" | b"typing.TypeVar" | b"t.TypeVar") {
        return None;
    }
    walk.claim_read(function);
    let callee = walk.expression(function);
    let mut args = walk.arguments(Some(list));
    let written: Vec<NodeId> = walk.contents(list).collect();
    for (arg, node) in args.iter_mut().zip(written).skip(1) {
        let value = walk.child(node, "value").unwrap_or(node);
        arg.value = walk.type_expression(value);
    }
    Some(walk.builder.expr(Expr::Call { callee, args, new: false }))
}

/// Returns the expression of a field that refers to a class by its name in a string: `ForeignKey("Author", ...)`.
fn field_of_class(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let mut parts = walk.tree.children(node);
    let (function, list) = (parts.next()?, parts.next()?);
    let (_, name) = called_name(walk, function);
    if !FIELDS_OF_CLASSES.contains(&name) || walk.kind_name(list) != "argument_list" {
        return None;
    }
    walk.claim_read(function);
    let callee = walk.expression(function);
    let mut args = walk.arguments(Some(list));
    let written: Vec<NodeId> = walk.contents(list).collect();
    for (arg, node) in args.iter_mut().zip(written) {
        let key = walk.literal_key(walk.child(node, "value").unwrap_or(node));
        if key != 0 {
            arg.value = walk.builder.expr(Expr::Key(key));
        }
    }
    Some(walk.builder.expr(Expr::Call { callee, args, new: false }))
}

/// Returns whether a callee is a method, and its name.
fn called_name<'w>(walk: &'w Walk, function: NodeId) -> (bool, &'w [u8]) {
    match walk.kind_name(function) {
        "attribute" => (true, walk.child(function, "attribute").map_or(b"", |name| walk.bytes_of(name))),
        _ => (false, walk.bytes_of(function)),
    }
}

/// Binds what a call adds to a container or object: `xs.append(x)`, `d.setdefault("key", x)`, `d.update(other)`,
/// `setattr(x, "name", value)`.
pub fn additions(walk: &mut Walk, node: NodeId) {
    let mut parts = walk.tree.children(node);
    let (Some(function), Some(list)) = (parts.next(), parts.next()) else { return };
    if walk.kind_name(list) != "argument_list" {
        return;
    }
    let (is_method, name) = called_name(walk, function);
    let addition = match (is_method, name) {
        (true, b"append" | b"appendleft" | b"add") => Addition::of(0),
        (true, b"insert") => Addition::of(1),
        (true, b"setdefault") => Addition { is_default: true, ..Addition::keyed(0, 1) },
        (true, b"update" | b"extend") => Addition::elements(0),
        (false, b"setattr") => return set_attribute(walk, node, list),
        _ => return,
    };
    let args: Vec<NodeId> = walk.contents(list).collect();
    if let Some(base) = walk.tree.children(function).next() {
        walk.add_element(node, base, &args, addition);
    }
}

/// Binds the attribute that `setattr(x, "name", value)` sets.
fn set_attribute(walk: &mut Walk, call: NodeId, list: NodeId) {
    let args: Vec<NodeId> = walk.contents(list).collect();
    let [base, name, value] = args[..] else { return };
    let key = walk.literal_key(name);
    if key != 0 {
        let base = walk.expression(base);
        let target = walk.builder.attribute(base, key);
        let (value, line) = (Some(walk.expression(value)), walk.tree.line(call));
        walk.push_binding(target, BindingDraft { kind: BindingKind::Assign, value, annotation: None, line });
    }
}

/// Returns the expression of `super(B, self)`, or `None` for other calls.
fn super_of(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let mut parts = walk.tree.children(node);
    let (callee, list) = (parts.next()?, parts.next()?);
    if walk.bytes_of(callee) != b"super" {
        return None;
    }
    let class = walk.contents(list).next()?;
    let class = walk.expression(class);
    matches!(walk.builder.get(class), Expr::Name(_) | Expr::Attribute { .. })
        .then(|| walk.builder.expr(Expr::SuperOf(class)))
}

/// Returns the expression of `cast(T, x)`, whose first argument is a type that may be a string.
fn cast_of(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let mut parts = walk.tree.children(node);
    let (function, list) = (parts.next()?, parts.next()?);
    if !CASTS.contains(&walk.bytes_of(function)) || walk.kind_name(list) != "argument_list" {
        return None;
    }
    let annotation = walk.contents(list).next()?;
    walk.claim_read(function);
    let callee = walk.expression(function);
    let mut args = walk.arguments(Some(list));
    args.first_mut()?.value = walk.type_expression(annotation);
    Some(walk.builder.expr(Expr::Call { callee, args, new: false }))
}

/// Returns the expression of `self.__class__`, `type(self)`.
fn class_of_this(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let text = walk.bytes_of(node);
    let inner = if text.ends_with(b".__class__") {
        walk.tree.children(node).next()
    } else if text.starts_with(b"type(") && text.len() < 40 {
        let list = walk.tree.children(node).nth(1)?;
        walk.tree.children(list).nth(1)
    } else {
        return None;
    };
    let inner = walk.expression(inner?);
    match *walk.builder.get(inner) {
        Expr::This { class: false } => Some(walk.builder.this(true)),
        _ => None,
    }
}
