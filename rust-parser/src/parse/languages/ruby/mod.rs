//! What Ruby says that patterns cannot: bare words that are calls, `self` and instance variables, modules that are mixed
//! in, accessors, visibility, tests, and what a method without `return` gives.

mod members;

use crate::facts::{BindingKind, DefId, Expr, ExprId, Import, ImportKind, Kind, LiteralType, ReferenceKind, flags};
use crate::parse::facts_builder::UNKNOWN;
use crate::parse::flat_tree::NodeId;
use crate::parse::hooks::LanguageHooks;
use crate::parse::languages::ruby::members::{
    accessors, alias, members_of_struct, push_return, restrict, symbol_name, symbols,
};
use crate::parse::walk::definitions::holds_members;
use crate::parse::walk::drafts::{BindingDraft, DefinitionDraft, Wrapper};
use crate::parse::walk::state::{Scope, Walk};

pub struct Ruby;

/// Calls with a block that is a test.
const TEST_CALLS: &[&str] = &["it", "specify", "example", "test", "scenario", "should", "its", "fit", "xit"];

impl LanguageHooks for Ruby {
    fn needs_locals(&self) -> bool {
        true
    }

    fn reopens(&self, kind: Kind) -> bool {
        kind == Kind::Class
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        let Some(list) = walk.child(node, "arguments") else {
            return false;
        };
        let Some(string) = walk.contents(list).find(|&part| walk.kind_name(part) == "string") else {
            return false;
        };
        let module = walk.text_of(string).trim_matches(['"', '\'']).to_owned();
        let module = walk.builder.owned_name(module);
        let (kind, line) = (ImportKind::Include, walk.tree.line(node));
        walk.push_import(Import {
            scope: 0,
            module,
            level: 0,
            member: None,
            alias: None,
            kind,
            line,
            type_only: false,
        });
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "constant" => walk.read(node),
            "return" => returned(walk, node),
            "call" => call(walk, node),
            _ => sections(walk, node),
        }
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        if walk.kind_name(node) == "identifier" {
            let name = walk.name_of(node);
            let expr = walk.builder.name_expr(name);
            walk.expressions[node as usize] = expr;
            walk.push_binding(expr, binding);
        } else {
            setter(walk, node, binding);
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        draft.name = draft.name.trim_matches([':', '"', '\'']).replace("::", ".");
        match draft.kind {
            Kind::Class | Kind::Namespace => {
                draft.bases.extend(mixed_in(walk, draft.body));
                let name = draft.name_node.map_or(0..0, |name| name..walk.tree.node(name).next);
                name.for_each(|part| walk.claim_read(part));
                split_name(walk, draft);
            }
            Kind::Field if walk.kind_name(draft.node) == "call" => draft.kind = Kind::Property,
            Kind::Function | Kind::Method | Kind::Constructor => {
                if is_in_singleton_class(walk, draft.node) {
                    draft.flags |= flags::STATIC;
                }
                if is_test(walk, draft) {
                    draft.flags |= flags::TEST;
                }
            }
            _ => {}
        }
        true
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        if walk.bytes_of(node) == b"self" {
            return own_object(walk);
        }
        let this = match own_object(walk) {
            this if matches!(walk.builder.get(this), Expr::This { .. }) => this,
            _ => walk.builder.this(true),
        };
        let name = walk.name_of(node);
        walk.builder.attribute(this, name)
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        match walk.kind_name(node) {
            "identifier" => Some(bare_word(walk, node)),
            "super" => Some(super_call(walk, node)),
            "call" => class_of_this(walk, node),
            _ => None,
        }
    }

    fn end(&self, walk: &mut Walk) {
        implicit_returns(walk);
    }
}

/// The innermost definition around that is not a block.
fn around(walk: &Walk) -> DefId {
    let scopes = walk.scopes.iter().rev().map(|scope| scope.definition);
    scopes.into_iter().find(|&scope| walk.kind_of(scope) != Kind::Lambda).unwrap_or(0)
}

/// `self`: an object, a class, or the module in whose own function it stands.
fn own_object(walk: &mut Walk) -> ExprId {
    let scope = around(walk);
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

/// A bare word: a variable, the name of something, or a call without arguments.
fn bare_word(walk: &mut Walk, node: NodeId) -> ExprId {
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
        // `new` alone makes an object of the class around.
        return if walk.bytes_of(node) == b"new" { walk.builder.this(true) } else { expr };
    }
    if walk.is_local(name) {
        return expr;
    }
    let expr = if walk.bytes_of(node) == b"new" { walk.builder.this(true) } else { expr };
    walk.builder.expr(Expr::Call { callee: expr, args: Vec::new(), new: false })
}

/// `super`, alone or as what is called: the method of this name further up.
fn super_call(walk: &mut Walk, node: NodeId) -> ExprId {
    let base = walk.builder.super_expr();
    let name = walk.builder.facts.definitions[around(walk) as usize].name;
    let callee = walk.builder.attribute(base, name);
    match walk.kind_name(walk.tree.node(node).parent) {
        "call" if walk.child(walk.tree.node(node).parent, "method") == Some(node) => callee,
        _ => walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: false }),
    }
}

/// `self.class`.
fn class_of_this(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let receiver = walk.child(node, "receiver")?;
    let method = walk.child(node, "method")?;
    let is_class = walk.bytes_of(receiver) == b"self" && walk.bytes_of(method) == b"class";
    is_class.then(|| walk.builder.this(true))
}

/// Modules that a class takes in: `include A, B`, `extend A`, `prepend A` in its body.
fn mixed_in(walk: &Walk, body: Option<NodeId>) -> Vec<NodeId> {
    let mut modules = Vec::new();
    for call in body.into_iter().flat_map(|body| walk.contents(body)) {
        let method = if walk.kind_name(call) == "call" { walk.child(call, "method") } else { None };
        let is_mix = method.is_some_and(|method| matches!(walk.bytes_of(method), b"include" | b"extend" | b"prepend"));
        let list = if is_mix && walk.child(call, "receiver").is_none() { walk.child(call, "arguments") } else { None };
        let named = list.into_iter().flat_map(|list| walk.contents(list));
        modules.extend(named.filter(|&part| matches!(walk.kind_name(part), "constant" | "scope_resolution")));
    }
    modules
}

/// `class A::B`: a class in a namespace.
fn split_name(walk: &mut Walk, draft: &mut DefinitionDraft) {
    draft.name = draft.name.trim_start_matches('.').to_owned();
    if draft.kind != Kind::Class {
        return;
    }
    if let (Some((namespace, name)), Some(name_node)) = (draft.name.clone().rsplit_once('.'), draft.name_node) {
        walk.open_around(Kind::Namespace, draft.node, name_node, namespace.to_owned(), draft.body);
        draft.parent = walk.scope();
        draft.name = name.to_owned();
    }
}

pub fn is_in_singleton_class(walk: &Walk, node: NodeId) -> bool {
    let mut current = walk.tree.node(node).parent;
    for _ in 0..3 {
        match walk.kind_name(current) {
            "singleton_class" => return true,
            "body_statement" | "argument_list" | "call" => current = walk.tree.node(current).parent,
            _ => return false,
        }
    }
    walk.kind_name(current) == "singleton_class"
}

fn is_test(walk: &Walk, draft: &DefinitionDraft) -> bool {
    let parent = &walk.builder.facts.definitions[draft.parent as usize];
    let class = walk.builder.text(parent.name);
    let is_test_class = class.starts_with("Test") || class.ends_with("Test") || class.ends_with("TestCase");
    draft.name.starts_with("test_") && holds_members(parent.kind) && (walk.builder.facts.is_test || is_test_class)
}

/// `private`, `protected`, `public` and `module_function` alone in a body count for the methods below them.
fn sections(walk: &mut Walk, body: NodeId) {
    let (mut private, mut flags) = (false, 0);
    for part in walk.contents(body).collect::<Vec<_>>() {
        match (walk.kind_name(part), walk.bytes_of(part)) {
            ("identifier", b"private" | b"protected") => (private, flags) = (true, 0),
            ("identifier", b"public") => (private, flags) = (false, 0),
            ("identifier", b"module_function") => (private, flags) = (false, flags::STATIC),
            ("method" | "call", _) if private || flags != 0 => {
                walk.wrappers.insert(part, Wrapper { private, flags, ..Wrapper::default() });
            }
            _ => {}
        }
    }
}

/// Calls that say something about definitions.
fn call(walk: &mut Walk, node: NodeId) {
    let Some(method) = walk.child(node, "method") else {
        return;
    };
    let has_receiver = walk.child(node, "receiver").is_some();
    let name = walk.text_of(method);
    let is_in_body = !has_receiver && matches!(walk.kind_of(walk.scope()), Kind::Class | Kind::Namespace);
    match &*name {
        "attr_reader" | "attr_writer" | "attr_accessor" | "attr" if is_in_body => accessors(walk, node, &name),
        "private" | "protected" | "private_class_method" | "module_function" if is_in_body => {
            restrict(walk, node, &name);
        }
        "alias_method" if is_in_body => alias(walk, node),
        "new" | "define" if has_receiver => members_of_struct(walk, node),
        "method" | "instance_method" => named_method(walk, node, ReferenceKind::Read),
        "send" | "public_send" | "__send__" => named_method(walk, node, ReferenceKind::Call),
        name if TEST_CALLS.contains(&name) && !has_receiver && walk.builder.facts.is_test => {
            if let Some(block) = walk.child(node, "block") {
                let expr = walk.expression(block);
                walk.mark_test(expr);
            }
        }
        name if is_in_body && is_callback(name) => {
            for symbol in symbols(walk, node) {
                let name = symbol_name(walk, symbol);
                let expr = walk.builder.dotted(&name);
                walk.refer(ReferenceKind::Read, expr, walk.tree.line(symbol));
            }
        }
        _ => {}
    }
}

/// Calls in the body of a class that take names of methods to run later (as in Rails).
fn is_callback(name: &str) -> bool {
    ["before_", "after_", "around_", "validate", "helper_method", "set_callback"].iter().any(|&p| name.starts_with(p))
}

/// `method(:name)`, `object.send(:name)`.
fn named_method(walk: &mut Walk, node: NodeId, kind: ReferenceKind) {
    let list = walk.child(node, "arguments");
    let Some(symbol) = list.and_then(|list| walk.contents(list).next()) else {
        return;
    };
    if walk.kind_name(symbol) != "simple_symbol" {
        return;
    }
    let name = symbol_name(walk, symbol);
    let name = walk.builder.owned_name(name);
    let mut expr = match walk.child(node, "receiver") {
        Some(receiver) => {
            let base = walk.expression(receiver);
            walk.builder.attribute(base, name)
        }
        None => walk.builder.name_expr(name),
    };
    if kind == ReferenceKind::Call {
        expr = walk.builder.expr(Expr::Call { callee: expr, args: Vec::new(), new: false });
    }
    walk.refer(kind, expr, walk.tree.line(node));
}

/// `object.x = value` calls `x=`; on `self` it sets `@x`, as accessors do.
fn setter(walk: &mut Walk, node: NodeId, binding: BindingDraft) {
    let (Some(receiver), Some(method)) = (walk.child(node, "receiver"), walk.child(node, "method")) else {
        return;
    };
    walk.claim_call(node);
    let base = walk.expression(receiver);
    let name = walk.text_of(method).into_owned();
    let variable = walk.builder.owned_name(format!("@{name}"));
    if matches!(walk.builder.get(base), Expr::This { .. }) {
        let target = walk.builder.attribute(base, variable);
        walk.push_binding(target, binding);
    }
    let method = walk.builder.owned_name(format!("{name}="));
    let callee = walk.builder.attribute(base, method);
    let args = binding.value.map(|value| crate::facts::Arg { keyword: None, value });
    let expr = walk.builder.expr(Expr::Call { callee, args: args.into_iter().collect(), new: false });
    walk.refer(ReferenceKind::Call, expr, binding.line);
}

/// `return x`, `return a, b`.
fn returned(walk: &mut Walk, node: NodeId) {
    let list = walk.contents(node).next();
    let values: Vec<NodeId> = list.into_iter().flat_map(|list| walk.contents(list)).collect();
    let items: Vec<ExprId> = values.into_iter().map(|value| walk.expression(value)).collect();
    let value = match items[..] {
        [] => None,
        [only] => Some(only),
        _ => Some(walk.builder.expr(Expr::Elements { kind: LiteralType::Tuple, items })),
    };
    let draft = BindingDraft { kind: BindingKind::Return, value, annotation: None, line: walk.tree.line(node) };
    walk.push_binding(UNKNOWN, draft);
}

/// The value of the last statement is what a method gives. Made last: by then it is known which words are variables.
fn implicit_returns(walk: &mut Walk) {
    let mut functions: Vec<(NodeId, DefId)> = walk.definition_of.iter().map(|(&node, &(def, _))| (node, def)).collect();
    functions.sort_unstable();
    for (node, definition) in functions {
        let last = match walk.kind_name(node) {
            "method" | "singleton_method" => walk.child(node, "body").and_then(|body| last_statement(walk, body)),
            "alias" => walk.child(node, "alias"),
            _ => None,
        };
        let Some(last) = last else {
            continue;
        };
        walk.scopes.push(Scope { definition, end: NodeId::MAX, receiver: None, parameters: Vec::new() });
        let value = walk.expression(last);
        walk.scopes.pop();
        if value != UNKNOWN {
            let line = walk.tree.line(last);
            push_return(walk, definition, Some(value), line);
        }
    }
}

fn last_statement(walk: &Walk, body: NodeId) -> Option<NodeId> {
    if walk.kind_name(body) != "body_statement" {
        return Some(body);
    }
    let statements = walk.contents(body);
    let last = statements.filter(|&part| !matches!(walk.kind_name(part), "rescue" | "ensure" | "else")).last()?;
    (walk.kind_name(last) != "return").then_some(last)
}
