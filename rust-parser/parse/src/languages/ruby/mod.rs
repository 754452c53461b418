//! Hooks of Ruby: calls without parentheses, `self` and instance variables, mixins, accessors, visibility, tests, and
//! implicit return values.

mod expressions;
mod members;
mod returns;

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::ruby::expressions::{bare_word, class_of_this, self_value, super_call};
use crate::languages::ruby::members::{
    ASSOCIATIONS, accessors, alias, association, delegate, members_of_struct, named_scope, restrict, symbol_name,
    symbols,
};
use crate::languages::ruby::returns::{explicit_return, implicit_returns};
use crate::walk::definitions::holds_members;
use crate::walk::drafts::{BindingDraft, DefinitionDraft, Wrapper};
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr, ExprId, Import, ImportKind, Kind, LiteralType, ReferenceKind, flags};

pub struct Ruby;

/// Calls whose block is a test.
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
            "return" => explicit_return(walk, node),
            "yield" => {
                let list = walk.contents(node).next();
                yielded(walk, node, list);
            }
            "call" => call(walk, node),
            "block_argument" => symbol_block(walk, node),
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
            Kind::Lambda => return opened_by_block(walk, draft),
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
            return self_value(walk);
        }
        let this = match self_value(walk) {
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

/// `included do`, `class_methods do`: definitions in the block are those of the module around. `Post.class_eval do`: the
/// block continues the class. `refine String do`: it adds to the class. Returns whether the block is a scope of its own.
fn opened_by_block(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let call = walk.tree.node(draft.node).parent;
    let Some(method) = walk.child(call, "method").filter(|_| walk.kind_name(call) == "call") else { return true };
    let receiver = walk.child(call, "receiver");
    match (walk.bytes_of(method), receiver) {
        (b"included" | b"prepended" | b"class_methods", None) => {
            !matches!(walk.kind_of(draft.parent), Kind::Namespace | Kind::Class)
        }
        (b"class_eval" | b"class_exec" | b"instance_eval" | b"module_eval", Some(class))
            if matches!(walk.kind_name(class), "constant" | "scope_resolution") && draft.parent == 0 =>
        {
            draft.kind = Kind::Class;
            draft.name = walk.text_of(class).trim_start_matches("::").replace("::", ".");
            draft.name_node = Some(class);
            true
        }
        (b"refine", None) if matches!(walk.kind_of(draft.parent), Kind::Namespace | Kind::Class) => {
            if let Some(class) = refined(walk, call) {
                draft.kind = Kind::Extension;
                draft.name = walk.text_of(class).trim_start_matches("::").replace("::", ".");
                draft.name_node = Some(class);
                draft.bases = vec![class];
            }
            true
        }
        _ => true,
    }
}

/// Returns the class that `refine String do` adds to.
fn refined(walk: &Walk, call: NodeId) -> Option<NodeId> {
    let mut arguments = walk.contents(walk.child(call, "arguments")?);
    let class = arguments.next()?;
    (arguments.next().is_none() && matches!(walk.kind_name(class), "constant" | "scope_resolution")).then_some(class)
}

/// Returns the modules that a class includes: `include A, B`, `extend A`, `prepend A` in its body.
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
        walk.open_enclosing(Kind::Namespace, draft.node, name_node, namespace.to_owned(), draft.body);
        draft.parent = walk.scope();
        draft.name = name.to_owned();
    }
}

/// Returns whether a definition is in a `class << self` block.
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

/// Applies `private`, `protected`, `public` and `module_function` without arguments to the methods below them.
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

/// Handles calls that define or change members.
fn call(walk: &mut Walk, node: NodeId) {
    let Some(method) = walk.child(node, "method") else {
        return;
    };
    let has_receiver = walk.child(node, "receiver").is_some();
    let name = walk.text_of(method);
    let is_in_body = !has_receiver && matches!(walk.kind_of(walk.scope()), Kind::Class | Kind::Namespace);
    match &*name {
        "attr_reader" | "attr_writer" | "attr_accessor" | "attr" if is_in_body => accessors(walk, node, &name),
        name if is_in_body && ASSOCIATIONS.contains(&name) => association(walk, node, name),
        "scope" if is_in_body => named_scope(walk, node),
        "private" | "protected" | "private_class_method" | "module_function" if is_in_body => {
            restrict(walk, node, &name);
        }
        "alias_method" if is_in_body => alias(walk, node),
        "delegate" | "def_delegator" | "def_delegators" | "def_instance_delegator" | "def_instance_delegators"
            if is_in_body =>
        {
            delegate(walk, node, &name);
        }
        "new" | "define" if has_receiver => members_of_struct(walk, node),
        "method" | "instance_method" => named_method(walk, node, ReferenceKind::Read),
        "call" | "yield" if has_receiver && is_block_parameter(walk, node) => {
            let list = walk.child(node, "arguments");
            yielded(walk, node, list);
        }
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

/// Returns whether a call in a class body registers methods to run later (as in Rails).
fn is_callback(name: &str) -> bool {
    ["before_", "after_", "around_", "validate", "helper_method", "set_callback"].iter().any(|&p| name.starts_with(p))
}

/// Records what a method passes to the block of its caller.
fn yielded(walk: &mut Walk, node: NodeId, list: Option<NodeId>) {
    let values: Vec<ExprId> = walk.arguments(list).into_iter().map(|arg| arg.value).collect();
    let value = match values[..] {
        [] => return,
        [only] => only,
        _ => walk.builder.expr(Expr::Elements { kind: LiteralType::Tuple, items: values, keys: Vec::new() }),
    };
    let mut method = walk.scope();
    while walk.kind_of(method) == Kind::Lambda {
        method = walk.builder.facts.definitions[method as usize].parent;
    }
    walk.builder.facts.definitions[method as usize].flags |= flags::GENERATOR;
    let line = walk.tree.line(node);
    walk.push_binding(UNKNOWN, BindingDraft { kind: BindingKind::Yield, value: Some(value), annotation: None, line });
}

/// Returns whether the receiver of a call is the block that the method around it has as a parameter.
fn is_block_parameter(walk: &Walk, call: NodeId) -> bool {
    let Some(receiver) = walk.child(call, "receiver").filter(|&part| walk.kind_name(part) == "identifier") else {
        return false;
    };
    let mut around = walk.tree.node(call).parent;
    while around != 0 && !matches!(walk.kind_name(around), "method" | "singleton_method") {
        around = walk.tree.node(around).parent;
    }
    let list = walk.child(around, "parameters").filter(|_| around != 0);
    let mut parameters = list.into_iter().flat_map(|list| walk.contents(list));
    parameters.any(|part| {
        walk.kind_name(part) == "block_parameter"
            && walk.child(part, "name").is_some_and(|name| walk.bytes_of(name) == walk.bytes_of(receiver))
    })
}

/// `list.each(&:save)`, `object.tap(&:save)`: a call of the method on each element, or on the object.
fn symbol_block(walk: &mut Walk, node: NodeId) {
    let call = walk.tree.node(walk.tree.node(node).parent).parent;
    let symbol = walk.contents(node).next().filter(|&part| walk.kind_name(part) == "simple_symbol");
    let (Some(symbol), Some(receiver), Some(method)) =
        (symbol, walk.child(call, "receiver"), walk.child(call, "method"))
    else {
        return;
    };
    let takes_object = matches!(walk.bytes_of(method), b"tap" | b"then" | b"yield_self");
    let mut base = walk.expression(receiver);
    if !takes_object {
        let index = walk.builder.literal(LiteralType::Int);
        base = walk.builder.expr(Expr::Index { base, index });
    }
    let name = symbol_name(walk, symbol);
    let name = walk.builder.owned_name(name);
    let callee = walk.builder.attribute(base, name);
    let expr = walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: false });
    walk.refer(ReferenceKind::Call, expr, walk.tree.line(node));
}

/// Handles `method(:name)`, `object.send(:name)`.
fn named_method(walk: &mut Walk, node: NodeId, kind: ReferenceKind) {
    let list = walk.child(node, "arguments");
    let Some(symbol) = list.and_then(|list| walk.contents(list).next()) else {
        return;
    };
    let name = match walk.kind_name(symbol) {
        "simple_symbol" => symbol_name(walk, symbol),
        "string" => walk.text_of(symbol).trim_matches(['"', '\'']).to_owned(),
        _ => return,
    };
    if name.is_empty() || name.contains(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '?' | '!'))
    {
        return;
    }
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

/// `object.x = value` calls `x=`. On `self` it also sets `@x`, as accessors do.
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
    let args = binding.value.map(|value| atlas_facts::Arg { keyword: None, value });
    let expr = walk.builder.expr(Expr::Call { callee, args: args.into_iter().collect(), new: false });
    walk.refer(ReferenceKind::Call, expr, binding.line);
}
