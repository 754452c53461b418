//! Tables of Lua as classes and modules: their members, their bases, and what `self` is in their functions.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::languages::lua::modules::is_path;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Kind, flags};

/// Statements after a table in which its base is searched for.
const MAX_STATEMENTS: usize = 64;
/// Functions of class libraries that create a class, and methods that create a derived class.
const CLASS_FUNCTIONS: [&[u8]; 2] = [b"class", b"Class"];
const DERIVING_METHODS: [&[u8]; 6] = [b"extend", b"extends", b"subclass", b"derive", b"inherit", b"new"];

/// Defines `M = {}`, `M.x = value` and `M.f = function`. Returns false for other assignments.
pub fn assigned(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let Some((target, value)) = single(walk, draft.node) else {
        return walk.scope() == 0;
    };
    if draft.kind == Kind::Function {
        return true;
    }
    if let Some(table) = walk.child(target, "table") {
        let is_function = draft.kind == Kind::Method;
        if is_function && walk.bytes_of(table) == b"self" && is_object(walk) {
            draft.kind = Kind::Lambda;
            return true;
        }
        if is_function {
            enter_table(walk, draft, table);
            mark_static(walk, draft);
            return true;
        }
        let is_own = walk.scope() == 0 && walk.noted.contains(&*walk.text_of(table));
        if !is_own || draft.name.starts_with("__") {
            return false;
        }
        enter_table(walk, draft, table);
        bind_member(walk, target, value);
        return true;
    }
    if walk.scope() != 0 || matches!(walk.kind_name(value), "nil" | "function_definition") {
        return false;
    }
    let name = walk.name_of(target);
    let prefix = walk.member_prefix(0);
    if walk.name_counts.contains_key(&(prefix, name)) {
        return false;
    }
    let is_table = matches!(walk.kind_name(value), "table_constructor" | "function_call" | "binary_expression");
    if !is_table || !walk.noted.contains(&draft.name) {
        draft.kind = Kind::Constant;
        draft.body = Some(value);
        return true;
    }
    // The walk reads the members as those of an extension, from the file's own scope.
    draft.wrapper.outer = draft.wrapper.outer.or(Some(draft.node));
    draft.wrapper.signature = draft.wrapper.signature.or(draft.wrapper.outer);
    draft.private = false;
    draft.bases = bases(walk, draft.node, target, value);
    draft.node = target;
    draft.body = Some(value);
    true
}

/// Defines a field of a table constructor, which is a class, the table that the file returns, or a value. Returns false
/// if the field is not a definition.
pub fn field(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let table = walk.tree.node(draft.node).parent;
    let is_function = draft.kind == Kind::Function || draft.kind == Kind::Method;
    let is_top = walk.scope() == 0;
    let class = table_name(walk, table).filter(|&name| is_top && walk.noted.contains(&*walk.text_of(name)));
    let value = walk.child(draft.node, "value");
    if let Some(class) = class {
        enter_table(walk, draft, class);
        if is_function {
            draft.kind = Kind::Method;
            mark_static(walk, draft);
        } else if let (Some(name), Some(value)) = (draft.name_node, value) {
            bind_member(walk, name, value);
        }
        return true;
    }
    let is_returned =
        is_top && walk.kind_name(walk.tree.node(walk.tree.node(table).parent).parent) == "return_statement";
    if is_function {
        draft.kind = if is_returned { Kind::Function } else { Kind::Lambda };
        return true;
    }
    if let (true, Some(name), Some(value)) = (is_returned, draft.name_node, value)
        && is_path(walk, value)
        && walk.bytes_of(name) != walk.bytes_of(value)
    {
        bind_member(walk, name, value);
    }
    false
}

/// Makes the definition a member of a table.
fn enter_table(walk: &mut Walk, draft: &mut DefinitionDraft, table: NodeId) {
    let name = walk.text_of(table).into_owned();
    walk.open_enclosing(Kind::Extension, draft.node, table, name, None);
    draft.parent = walk.scope();
}

/// Binds a member's name to a value.
pub fn bind_member(walk: &mut Walk, name: NodeId, value: NodeId) {
    let field = walk.child(name, "field").unwrap_or(name);
    let field = walk.name_of(field);
    let target = walk.builder.name_expr(field);
    let expr = walk.expression(value);
    let line = walk.tree.line(name);
    let kind = BindingKind::Assign;
    let value = (expr != UNKNOWN).then_some(expr);
    walk.push_binding(target, BindingDraft { kind, value, annotation: None, line });
}

/// Marks functions without `self`, such as `function M.f(x)`, as static.
pub fn mark_static(walk: &Walk, draft: &mut DefinitionDraft) {
    let is_colon = walk.child(draft.node, "name").is_some_and(|name| walk.kind_name(name) == "method_index_expression");
    let first = draft.parameters.and_then(|list| walk.contents(list).next());
    let takes_self = is_colon || first.is_some_and(|first| walk.bytes_of(first) == b"self");
    if draft.kind == Kind::Method && !takes_self {
        draft.flags |= flags::STATIC;
    }
}

/// Returns whether `self` is an object of the enclosing class: in methods, and in nested functions without a `self` of
/// their own.
pub fn is_object(walk: &mut Walk) -> bool {
    let name = walk.builder.name("self");
    for scope in walk.scopes.iter().rev() {
        let definition = &walk.builder.facts.definitions[scope.definition as usize];
        match definition.kind {
            // In a static function, `self` may be the object that it creates.
            Kind::Method => return definition.flags & flags::STATIC == 0 || walk.is_local(name),
            Kind::Lambda if definition.params.iter().all(|param| param.name != name) => {}
            Kind::Function if definition.params.iter().all(|param| param.name != name) && !walk.is_local(name) => {}
            _ => return false,
        }
    }
    false
}

/// Returns the base of a table: `setmetatable({}, { __index = Base })` as its value or in a later statement,
/// `class("Name", Base)`, `Base:extend()`.
fn bases(walk: &Walk, assignment: NodeId, name: NodeId, value: NodeId) -> Vec<NodeId> {
    if let Some((_, meta)) = metatable(walk, value) {
        return index_of(walk, meta).into_iter().collect();
    }
    if walk.kind_name(value) == "function_call" {
        return class_call(walk, value);
    }
    let mut statement = assignment;
    if walk.kind_name(walk.tree.node(statement).parent) == "variable_declaration" {
        statement = walk.tree.node(statement).parent;
    }
    let parent = walk.tree.node(statement).parent;
    let below = walk.contents(parent).skip_while(|&other| other <= statement).take(MAX_STATEMENTS);
    let is_own = |&(table, _): &(NodeId, NodeId)| walk.bytes_of(table) == walk.bytes_of(name);
    let meta = below.filter_map(|call| metatable(walk, call)).find(is_own);
    meta.and_then(|(_, meta)| index_of(walk, meta)).into_iter().collect()
}

/// Returns the table in which missing names are looked up: `Base` or `{ __index = Base }`.
fn index_of(walk: &Walk, meta: NodeId) -> Option<NodeId> {
    if walk.kind_name(meta) != "table_constructor" {
        return is_path(walk, meta).then_some(meta);
    }
    let is_index = |&field: &NodeId| walk.child(field, "name").is_some_and(|name| walk.bytes_of(name) == b"__index");
    let field = walk.contents(meta).find(is_index)?;
    walk.child(field, "value").filter(|&value| is_path(walk, value))
}

/// Returns the bases in `class("Name", Base)`, `class(Base)` and `Base:extend()`.
fn class_call(walk: &Walk, call: NodeId) -> Vec<NodeId> {
    let Some(callee) = walk.child(call, "name") else {
        return Vec::new();
    };
    if CLASS_FUNCTIONS.contains(&walk.bytes_of(callee)) {
        let arguments = walk.child(call, "arguments").into_iter().flat_map(|list| walk.contents(list));
        return arguments.filter(|&argument| is_path(walk, argument)).collect();
    }
    match (walk.child(callee, "table"), walk.child(callee, "method")) {
        (Some(base), Some(method)) if DERIVING_METHODS.contains(&walk.bytes_of(method)) => vec![base],
        _ => Vec::new(),
    }
}

/// Returns the table that contains a function value: `M.name = function`, `M = { name = function }`.
pub fn owning_table(walk: &Walk, function: NodeId) -> Option<NodeId> {
    let parent = walk.tree.node(function).parent;
    if walk.kind_name(parent) == "field" {
        return table_name(walk, walk.tree.node(parent).parent);
    }
    let assignment = walk.tree.node(parent).parent;
    if walk.kind_name(assignment) != "assignment_statement" {
        return None;
    }
    let (name, _) = single(walk, assignment)?;
    walk.child(name, "table")
}

/// Returns the name to which a table constructor is assigned.
fn table_name(walk: &Walk, table: NodeId) -> Option<NodeId> {
    let mut node = walk.tree.node(table).parent;
    // `setmetatable({ ... }, Base)`
    if walk.kind_name(node) == "arguments" {
        node = walk.tree.node(walk.tree.node(node).parent).parent;
    }
    let assignment = walk.tree.node(node).parent;
    if walk.kind_name(assignment) != "assignment_statement" {
        return None;
    }
    let (name, value) = single(walk, assignment)?;
    let is_whole = value == table || metatable(walk, value).is_some_and(|(first, _)| first == table);
    (is_whole && walk.kind_name(name) == "identifier").then_some(name)
}

/// Returns the table in `return M` or `return setmetatable(M, ...)`.
pub fn returned(walk: &Walk, node: NodeId) -> Option<NodeId> {
    let list = walk.contents(node).next()?;
    let value = walk.contents(list).next()?;
    match metatable(walk, value) {
        Some((table, _)) => Some(table),
        None => Some(value),
    }
}

/// Returns both arguments of `setmetatable`.
fn metatable(walk: &Walk, call: NodeId) -> Option<(NodeId, NodeId)> {
    if walk.kind_name(call) != "function_call" || walk.bytes_of(walk.child(call, "name")?) != b"setmetatable" {
        return None;
    }
    let mut arguments = walk.contents(walk.child(call, "arguments")?);
    Some((arguments.next()?, arguments.next()?))
}

/// Returns name and value of an assignment with one of each.
fn single(walk: &Walk, assignment: NodeId) -> Option<(NodeId, NodeId)> {
    let mut lists = walk.contents(assignment);
    let (names, values) = (lists.next()?, lists.next()?);
    let name = walk.in_field(names, "name").next()?;
    let mut values = walk.contents(values);
    let value = values.next()?;
    let is_single = values.next().is_none() && walk.in_field(names, "name").nth(1).is_none();
    is_single.then_some((name, value))
}
