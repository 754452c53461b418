//! What Lua says that patterns cannot: which tables are classes or modules, their members and bases, what `self` is,
//! `require`, and what a file returns.

use crate::facts::{ExprId, Import, ImportKind, Kind, flags};
use crate::parse::facts_builder::UNKNOWN;
use crate::parse::flat_tree::NodeId;
use crate::parse::hooks::LanguageHooks;
use crate::parse::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::parse::walk::state::Walk;

pub struct Lua;

/// Statements after a table in which its base is looked for.
const MAX_STATEMENTS: usize = 64;
/// Functions of class libraries that make a class, and methods of a class that make a derived one.
const CLASS_FUNCTIONS: [&[u8]; 2] = [b"class", b"Class"];
const DERIVING_METHODS: [&[u8]; 6] = [b"extend", b"extends", b"subclass", b"derive", b"inherit", b"new"];

impl LanguageHooks for Lua {
    fn needs_locals(&self) -> bool {
        true
    }

    fn reopens(&self, kind: Kind) -> bool {
        kind == Kind::Extension
    }

    /// Tables with functions are classes; so is the table that the file returns.
    fn begin(&self, walk: &mut Walk) {
        for node in 0..walk.tree.len() {
            let table = match walk.kind_name(node) {
                "function_declaration" => walk.child(node, "name").and_then(|name| walk.child(name, "table")),
                "function_definition" => holder(walk, node),
                "return_statement" if walk.tree.node(node).parent == 0 => returned(walk, node),
                _ => None,
            };
            if let Some(table) = table.filter(|&table| walk.kind_name(table) == "identifier") {
                let name = walk.text_of(table).into_owned();
                walk.noted.insert(name);
            }
        }
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        if walk.kind_name(node) == "assignment_statement" {
            return other_names(walk, node);
        }
        if walk.is_call_claimed(node) {
            return true;
        }
        let Some(module) = required(walk, node) else {
            return false;
        };
        let alias = unnamed(&module);
        push_import(walk, node, module, &alias);
        true
    }

    /// `return value` at the end of a file: what the module is.
    fn hook(&self, walk: &mut Walk, node: NodeId) {
        if walk.scope() != 0 {
            return;
        }
        let list = walk.contents(node).next();
        let Some(value) = list.and_then(|list| walk.contents(list).next()) else {
            return;
        };
        let value = match walk.kind_name(value) {
            "function_call" if required(walk, value).is_none() => returned(walk, node),
            "identifier" | "function_call" | "dot_index_expression" => Some(value),
            _ => None,
        };
        if let Some(value) = value {
            let expr = walk.expression(value);
            walk.builder.facts.definitions[0].bases = vec![expr];
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        match walk.kind_name(draft.node) {
            "function_call" if !walk.builder.facts.is_test => draft.flags &= !flags::TEST,
            "function_declaration" => {
                if let Some(name) = walk.child(draft.node, "name") {
                    walk.claim_read(name);
                }
                mark_static(walk, draft);
            }
            "assignment_statement" => return assigned(walk, draft),
            "field" => return field(walk, draft),
            _ => {}
        }
        true
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        if walk.bytes_of(node) == b"self" && is_object(walk) {
            return walk.builder.this(false);
        }
        let name = walk.name_of(node);
        walk.builder.name_expr(name)
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        let module = required(walk, node)?;
        let name = walk.builder.owned_name(unnamed(&module));
        Some(walk.builder.name_expr(name))
    }
}

/// `local a, b = require "x", c.d`: other names of modules and values. `local print = print` says nothing.
fn other_names(walk: &mut Walk, assignment: NodeId) -> bool {
    let lists: Vec<NodeId> = walk.contents(assignment).collect();
    let [names, values] = lists[..] else {
        return false;
    };
    let names: Vec<NodeId> = walk.in_field(names, "name").collect();
    let values: Vec<NodeId> = walk.contents(values).collect();
    if let ([_, name], [call]) = (&names[..], &values[..])
        && let Some(module) = tried(walk, *call)
    {
        let alias = walk.text_of(*name).into_owned();
        push_import(walk, assignment, module, &alias);
        return true;
    }
    let is_plain = names.iter().all(|&name| walk.kind_name(name) == "identifier");
    if !is_plain || names.len() != values.len() || !values.iter().all(|&value| is_path(walk, value)) {
        return false;
    }
    for (&name, &value) in names.iter().zip(&values) {
        if let Some(module) = required(walk, value) {
            walk.claim_call(value);
            let alias = walk.text_of(name).into_owned();
            push_import(walk, assignment, module, &alias);
        } else if walk.bytes_of(name) != walk.bytes_of(value) {
            hold(walk, name, value);
            walk.read(value);
        }
    }
    true
}

/// The module of `pcall(require, "a.b")`.
fn tried(walk: &Walk, call: NodeId) -> Option<String> {
    if walk.kind_name(call) != "function_call" || walk.bytes_of(walk.child(call, "name")?) != b"pcall" {
        return None;
    }
    let mut arguments = walk.contents(walk.child(call, "arguments")?);
    let function = arguments.next()?;
    module_text(walk, arguments.next()?).filter(|_| walk.bytes_of(function) == b"require")
}

/// The only name and value of an assignment.
fn single(walk: &Walk, assignment: NodeId) -> Option<(NodeId, NodeId)> {
    let mut lists = walk.contents(assignment);
    let (names, values) = (lists.next()?, lists.next()?);
    let name = walk.in_field(names, "name").next()?;
    let mut values = walk.contents(values);
    let value = values.next()?;
    let is_single = values.next().is_none() && walk.in_field(names, "name").nth(1).is_none();
    is_single.then_some((name, value))
}

/// The table that a function value belongs to: `M.name = function`, `M = { name = function }`.
fn holder(walk: &Walk, function: NodeId) -> Option<NodeId> {
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

/// The name that a table constructor is assigned to.
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

/// `return M`, `return setmetatable(M, ...)`.
fn returned(walk: &Walk, node: NodeId) -> Option<NodeId> {
    let list = walk.contents(node).next()?;
    let value = walk.contents(list).next()?;
    match metatable(walk, value) {
        Some((table, _)) => Some(table),
        None => Some(value),
    }
}

/// Both arguments of `setmetatable`.
fn metatable(walk: &Walk, call: NodeId) -> Option<(NodeId, NodeId)> {
    if walk.kind_name(call) != "function_call" || walk.bytes_of(walk.child(call, "name")?) != b"setmetatable" {
        return None;
    }
    let mut arguments = walk.contents(walk.child(call, "arguments")?);
    Some((arguments.next()?, arguments.next()?))
}

/// The module of `require "a.b"`, dotted.
fn required(walk: &Walk, call: NodeId) -> Option<String> {
    if walk.kind_name(call) != "function_call" || walk.bytes_of(walk.child(call, "name")?) != b"require" {
        return None;
    }
    module_text(walk, walk.contents(walk.child(call, "arguments")?).next()?)
}

fn module_text(walk: &Walk, argument: NodeId) -> Option<String> {
    let content = walk.child(argument, "content").filter(|_| walk.kind_name(argument) == "string")?;
    Some(walk.text_of(content).replace('/', "."))
}

/// Name of a required module that no variable holds.
fn unnamed(module: &str) -> String {
    format!("require({module})")
}

fn push_import(walk: &mut Walk, node: NodeId, module: String, alias: &str) {
    let module = walk.builder.owned_name(module);
    let alias = Some(walk.builder.owned_name(alias.to_owned()));
    let line = walk.tree.line(node);
    let kind = ImportKind::Module;
    walk.push_import(Import { scope: 0, module, level: 0, member: None, alias, kind, line, type_only: false });
}

/// Is `self` an object of the class around: in methods, and in functions inside them without a `self` of their own?
fn is_object(walk: &mut Walk) -> bool {
    let name = walk.builder.name("self");
    for scope in walk.scopes.iter().rev() {
        let definition = &walk.builder.facts.definitions[scope.definition as usize];
        match definition.kind {
            // In a function without an object, `self` may be the one that it makes.
            Kind::Method => return definition.flags & flags::STATIC == 0 || walk.is_local(name),
            Kind::Lambda if definition.params.iter().all(|param| param.name != name) => {}
            Kind::Function if definition.params.iter().all(|param| param.name != name) && !walk.is_local(name) => {}
            _ => return false,
        }
    }
    false
}

/// A function of a table that takes no object: `function M.f(x)`.
fn mark_static(walk: &Walk, draft: &mut DefinitionDraft) {
    let is_colon = walk.child(draft.node, "name").is_some_and(|name| walk.kind_name(name) == "method_index_expression");
    let first = draft.parameters.and_then(|list| walk.contents(list).next());
    let takes_self = is_colon || first.is_some_and(|first| walk.bytes_of(first) == b"self");
    if draft.kind == Kind::Method && !takes_self {
        draft.flags |= flags::STATIC;
    }
}

/// `M = {}`, `M.x = value`, `M.f = function`.
fn assigned(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
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
        hold(walk, target, value);
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
    // Members are read as those of an extension, from the file's own scope.
    draft.wrapper.outer = draft.wrapper.outer.or(Some(draft.node));
    draft.wrapper.signature = draft.wrapper.signature.or(draft.wrapper.outer);
    draft.private = false;
    draft.bases = bases(walk, draft.node, target, value);
    draft.node = target;
    draft.body = Some(value);
    true
}

/// A field of a table constructor: of a class, of the table that the file returns, or of a value.
fn field(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
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
            hold(walk, name, value);
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
        hold(walk, name, value);
    }
    false
}

/// The definition is a member of a table.
fn enter_table(walk: &mut Walk, draft: &mut DefinitionDraft, table: NodeId) {
    let name = walk.text_of(table).into_owned();
    walk.open_around(Kind::Extension, draft.node, table, name, None);
    draft.parent = walk.scope();
}

/// A member's name is bound to a value.
fn hold(walk: &mut Walk, name: NodeId, value: NodeId) {
    let field = walk.child(name, "field").unwrap_or(name);
    let field = walk.name_of(field);
    let target = walk.builder.name_expr(field);
    let expr = walk.expression(value);
    let line = walk.tree.line(name);
    let kind = crate::facts::BindingKind::Assign;
    let value = (expr != UNKNOWN).then_some(expr);
    walk.push_binding(target, BindingDraft { kind, value, annotation: None, line });
}

/// The base of a table: `setmetatable({}, { __index = Base })` as its value or a statement below, `class("Name", Base)`,
/// `Base:extend()`.
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

/// The table in which missing names are looked up: `Base` or `{ __index = Base }`.
fn index_of(walk: &Walk, meta: NodeId) -> Option<NodeId> {
    if walk.kind_name(meta) != "table_constructor" {
        return is_path(walk, meta).then_some(meta);
    }
    let is_index = |&field: &NodeId| walk.child(field, "name").is_some_and(|name| walk.bytes_of(name) == b"__index");
    let field = walk.contents(meta).find(is_index)?;
    walk.child(field, "value").filter(|&value| is_path(walk, value))
}

fn is_path(walk: &Walk, node: NodeId) -> bool {
    matches!(walk.kind_name(node), "identifier" | "dot_index_expression") || required(walk, node).is_some()
}

/// `class("Name", Base)`, `class(Base)`, `Base:extend()`.
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
