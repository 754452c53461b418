//! Calls in a Ruby class that define or change members: accessors, aliases, visibility, members of structs.

use crate::detect::names::{camelized, singular};
use crate::flat_tree::NodeId;
use crate::languages::ruby::is_in_singleton_class;
use crate::languages::ruby::returns::push_return;
use crate::walk::definitions::holds_members;
use crate::walk::state::Walk;
use atlas_facts::{DefId, Expr, Kind, Reference, ReferenceKind, flags};

/// Returns the symbols and strings among a call's arguments.
pub fn symbols(walk: &Walk, call: NodeId) -> Vec<NodeId> {
    let list = walk.child(call, "arguments");
    let parts = list.into_iter().flat_map(|list| walk.contents(list));
    parts.filter(|&part| matches!(walk.kind_name(part), "simple_symbol" | "string")).collect()
}

/// Returns the name in a symbol or string.
pub fn symbol_name(walk: &Walk, symbol: NodeId) -> String {
    walk.text_of(symbol).trim_matches([':', '"', '\'']).to_owned()
}

/// `attr_accessor :x`: `x` returns `@x`, and `x=` sets it.
pub fn accessors(walk: &mut Walk, node: NodeId, call: &str) {
    let is_static = is_in_singleton_class(walk, node);
    for symbol in symbols(walk, node) {
        let name = symbol_name(walk, symbol);
        if call != "attr_writer"
            && let Some(definition) = accessor(walk, symbol, node, &name, is_static)
        {
            let this = walk.builder.this(is_static);
            let variable = walk.builder.owned_name(format!("@{name}"));
            let value = Some(walk.builder.attribute(this, variable));
            let line = walk.tree.line(symbol);
            push_return(walk, definition, value, line);
        }
        if matches!(call, "attr_writer" | "attr_accessor") {
            accessor(walk, symbol, node, &format!("{name}="), is_static);
        }
    }
}

/// Calls in a class that make a member for one object of another class, or for several.
pub const ASSOCIATIONS: &[&str] = &["belongs_to", "has_one", "has_many", "has_and_belongs_to_many"];

/// `belongs_to :user`, `has_many :posts, class_name: "Entry"`: `user` is a `User`, `posts` are several of `Entry`.
pub fn association(walk: &mut Walk, node: NodeId, call: &str) {
    let Some(&symbol) = symbols(walk, node).first() else { return };
    let name = symbol_name(walk, symbol);
    let is_one = matches!(call, "belongs_to" | "has_one");
    let class = option(walk, node, "class_name").unwrap_or_else(|| match is_one {
        true => camelized(&name),
        false => camelized(&singular(&name)),
    });
    if let Some(field) = accessor(walk, symbol, node, &name, false) {
        declare_record(walk, field, class.trim_start_matches(':'), is_one);
    }
}

/// `scope :active, -> { ... }`: `active` lists objects of the class.
pub fn named_scope(walk: &mut Walk, node: NodeId) {
    let Some(&symbol) = symbols(walk, node).first() else { return };
    let name = symbol_name(walk, symbol);
    let class = walk.builder.facts.definitions[walk.scope() as usize].name;
    let class = walk.builder.text(class).to_owned();
    if let Some(field) = accessor(walk, symbol, node, &name, true) {
        declare_record(walk, field, &class, false);
    }
}

/// Gives a member the type of one object of a class, or of several.
fn declare_record(walk: &mut Walk, member: DefId, class: &str, is_one: bool) {
    let mut declared = walk.builder.dotted(&class.replace("::", "."));
    if !is_one {
        let list = walk.builder.owned_name("Array".to_owned());
        let base = walk.builder.name_expr(list);
        declared = walk.builder.expr(Expr::Generic { base, args: vec![declared] });
    }
    walk.builder.facts.definitions[member as usize].declared_type = Some(declared);
}

/// Returns the string that a call has for an option.
fn option(walk: &Walk, call: NodeId, name: &str) -> Option<String> {
    let list = walk.child(call, "arguments")?;
    let mut pairs = walk.contents(list).filter(|&part| walk.kind_name(part) == "pair");
    let pair =
        pairs.find(|&pair| walk.child(pair, "key").is_some_and(|key| walk.text_of(key).trim_matches(':') == name))?;
    let value = walk.child(pair, "value").filter(|&value| walk.kind_name(value) == "string")?;
    Some(symbol_name(walk, value))
}

fn accessor(walk: &mut Walk, symbol: NodeId, node: NodeId, name: &str, is_static: bool) -> Option<DefId> {
    let class = walk.scope();
    walk.define_named_member(class, symbol, node, name, if is_static { flags::STATIC } else { 0 })
}

/// `private :a, :b` after the methods.
pub fn restrict(walk: &mut Walk, node: NodeId, call: &str) {
    let scope = walk.scope();
    for symbol in symbols(walk, node) {
        let name = symbol_name(walk, symbol);
        let name = walk.builder.owned_name(name);
        let members = walk.builder.facts.definitions.iter_mut().skip(scope as usize + 1);
        for member in members.filter(|member| member.parent == scope && member.name == name) {
            match call {
                "module_function" => member.flags |= flags::STATIC,
                _ => member.flags &= !flags::EXPORTED,
            }
        }
    }
}

/// `alias_method :new, :old`: a method that calls the old one.
pub fn alias(walk: &mut Walk, node: NodeId) {
    let names = symbols(walk, node);
    let &[new, old] = &names[..] else {
        return;
    };
    let (name, old) = (symbol_name(walk, new), symbol_name(walk, old));
    let class = walk.scope();
    let Some(definition) = walk.define_named_member(class, new, node, &name, 0) else {
        return;
    };
    walk.builder.facts.definitions[definition as usize].kind =
        if holds_members(walk.kind_of(class)) { Kind::Method } else { Kind::Function };
    let old = walk.builder.owned_name(old);
    let callee = walk.builder.name_expr(old);
    let expr = walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: false });
    let (kind, line) = (ReferenceKind::Call, walk.tree.line(node));
    walk.builder.facts.references.push(Reference { scope: definition, kind, expr, line });
    push_return(walk, definition, Some(expr), line);
}

/// `delegate :name, to: :owner`, `def_delegators :@items, :size, :each`: methods that call those of another object.
pub fn delegate(walk: &mut Walk, node: NodeId, call: &str) {
    let mut names: Vec<(NodeId, String)> =
        symbols(walk, node).into_iter().map(|symbol| (symbol, symbol_name(walk, symbol))).collect();
    let target = match call {
        "delegate" => match (symbol_option(walk, node, "to"), symbol_option(walk, node, "prefix")) {
            (Some(target), None) => target,
            _ => return,
        },
        _ if names.is_empty() => return,
        _ => names.remove(0).1,
    };
    let is_name = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || "_@?!".contains(letter));
    if target.is_empty() || target == "class" || !is_name(&target) {
        return;
    }
    // `def_delegator :items, :size, :count`
    let renamed = if call.ends_with("delegator") { names.drain(1..).next() } else { None };
    let class = walk.scope();
    for (symbol, name) in names.into_iter().filter(|(_, name)| is_name(name)) {
        let own = renamed.as_ref().map_or(&name, |(_, own)| own).clone();
        let Some(definition) = walk.define_named_member(class, symbol, node, &own, 0) else { continue };
        walk.builder.facts.definitions[definition as usize].kind =
            if holds_members(walk.kind_of(class)) { Kind::Method } else { Kind::Function };
        let owner = walk.builder.owned_name(target.clone());
        let base = match target.starts_with('@') {
            true => {
                let this = walk.builder.this(false);
                walk.builder.attribute(this, owner)
            }
            false => {
                let callee = walk.builder.name_expr(owner);
                walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: false })
            }
        };
        let name = walk.builder.owned_name(name);
        let callee = walk.builder.attribute(base, name);
        let expr = walk.builder.expr(Expr::Call { callee, args: Vec::new(), new: false });
        let (kind, line) = (ReferenceKind::Call, walk.tree.line(symbol));
        walk.builder.facts.references.push(Reference { scope: definition, kind, expr, line });
        push_return(walk, definition, Some(expr), line);
    }
}

/// Returns the symbol, string or word that a call has for an option.
fn symbol_option(walk: &Walk, call: NodeId, name: &str) -> Option<String> {
    let list = walk.child(call, "arguments")?;
    let mut pairs = walk.contents(list).filter(|&part| walk.kind_name(part) == "pair");
    let pair =
        pairs.find(|&pair| walk.child(pair, "key").is_some_and(|key| walk.text_of(key).trim_matches(':') == name))?;
    walk.child(pair, "value").map(|value| symbol_name(walk, value))
}

/// `P = Struct.new(:a, :b)`, `Data.define(:a)`: adds these members to the class.
pub fn members_of_struct(walk: &mut Walk, node: NodeId) {
    let parent = walk.tree.node(node).parent;
    let Some(&(class, _)) = walk.definition_of.get(&parent) else {
        return;
    };
    let receiver = walk.child(node, "receiver").map(|receiver| walk.bytes_of(receiver));
    if !matches!(receiver, Some(b"Struct" | b"Data")) || walk.kind_of(class) != Kind::Class {
        return;
    }
    for symbol in symbols(walk, node) {
        if walk.kind_name(symbol) == "simple_symbol" {
            let name = symbol_name(walk, symbol);
            walk.define_named_member(class, symbol, symbol, &name, 0);
        }
    }
}
