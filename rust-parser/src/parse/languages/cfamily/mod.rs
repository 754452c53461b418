//! What C and C++ say that patterns cannot: which of them a header is, macros that are no syntax, declarations of several
//! variables, qualified names, constructors, sections of classes, declarations whose definition follows.

mod macros;

use std::borrow::Cow;

use crate::facts::{BindingKind, Expr, ExprId, Import, ImportKind, Kind, LiteralType, ReferenceKind, flags};
use crate::parse::facts_builder::UNKNOWN;
use crate::parse::flat_tree::NodeId;
use crate::parse::hooks::LanguageHooks;
use crate::parse::walk::definitions::holds_members;
use crate::parse::walk::drafts::{BindingDraft, DefinitionDraft, Wrapper};
use crate::parse::walk::state::Walk;

pub struct CFamily;

impl LanguageHooks for CFamily {
    fn language_of_content(&self, path: &str, data: &[u8]) -> Option<&'static str> {
        (path.ends_with(".h") && macros::is_cpp_header(data)).then_some("cpp")
    }

    fn readable<'a>(&self, source: &'a [u8]) -> Cow<'a, [u8]> {
        macros::without_attributes(source)
    }

    fn needs_locals(&self) -> bool {
        true
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        if walk.kind_name(walk.tree.node(node).parent) == "assignment_expression" {
            walk.bind_variable_or_member(node, binding);
        } else {
            let target = walk.expression(node);
            walk.push_binding(target, binding);
        }
    }

    fn begin(&self, walk: &mut Walk) {
        note_definitions(walk);
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        import(walk, node);
        for part in node..walk.tree.node(node).next {
            walk.claim_read(part);
        }
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "field_declaration_list" => sections(walk, node),
            "field_initializer" => initializer(walk, node),
            _ => declaration(walk, node),
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        draft.name = plain_name(&draft.name);
        claim_qualifiers(walk, draft.name_node);
        if draft.name.starts_with('[') || walk.kind_name(walk.tree.node(draft.node).parent) == "friend_declaration" {
            return false;
        }
        if walk.kind_name(draft.node).starts_with("preproc") {
            // A macro knows no scopes.
            draft.parent = 0;
            draft.kind = if draft.kind == Kind::Method { Kind::Function } else { draft.kind };
            return true;
        }
        match draft.kind {
            Kind::Function | Kind::Method => function(walk, draft),
            Kind::Namespace => {
                draft.name = draft.name.replace("::", ".");
                true
            }
            // `typedef struct Node Node;` says nothing new.
            Kind::TypeAlias => draft.declared.is_none_or(|declared| tag(walk, declared) != draft.name),
            Kind::Class | Kind::Struct | Kind::Enum => {
                nest(walk, draft);
                true
            }
            Kind::Constant => {
                draft.private |= draft.flags & flags::STATIC != 0;
                true
            }
            _ => true,
        }
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        let kind = match walk.bytes_of(node) {
            b"void" => LiteralType::None,
            b"bool" => LiteralType::Bool,
            b"float" | b"double" => LiteralType::Float,
            _ => LiteralType::Int,
        };
        walk.builder.literal(kind)
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        match walk.kind_name(node) {
            "qualified_identifier" => Some(qualified(walk, node)),
            "call_expression" => {
                let function = walk.child(node, "function")?;
                walk.claim_read(function);
                None
            }
            _ => None,
        }
    }
}

/// `A::B::f` as the name of a definition is no value.
fn claim_qualifiers(walk: &mut Walk, name: Option<NodeId>) {
    let mut current = name.unwrap_or(0);
    for _ in 0..8 {
        current = walk.tree.node(current).parent;
        if walk.kind_name(current) != "qualified_identifier" {
            return;
        }
        walk.claim_read(current);
    }
}

/// A name without template arguments and white space.
fn plain_name(name: &str) -> String {
    if let Some(operator) = name.strip_prefix("operator") {
        let words: Vec<&str> = operator.split('(').next().unwrap_or("").split_whitespace().collect();
        let is_call = operator.trim_start().starts_with('(');
        return if is_call { "operator()".to_owned() } else { format!("operator{}", spaced(&words.join(" "))) };
    }
    let mut depth = 0;
    let kept = name.chars().filter(|&c| {
        depth += i32::from(c == '<');
        let is_kept = depth == 0 && !c.is_whitespace();
        depth -= i32::from(c == '>');
        is_kept
    });
    kept.collect()
}

/// A conversion keeps its blank: `operator bool`, `operator==`.
fn spaced(operator: &str) -> String {
    let is_word = operator.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if is_word { format!(" {operator}") } else { operator.replace(' ', "") }
}

/// Note the functions that this file defines: their declarations in the same file say nothing more.
fn note_definitions(walk: &mut Walk) {
    for node in 0..walk.tree.len() {
        if walk.kind_name(node) != "function_definition" {
            continue;
        }
        let Some(declarator) = walk.child(node, "declarator") else {
            continue;
        };
        let name = walk.text_of(walk.named(declarator));
        let head = name.split('(').next().unwrap_or("");
        let parts: Vec<String> = head.split("::").map(plain_name).collect();
        let own = &parts[parts.len().saturating_sub(2)..];
        walk.noted.insert(own.join("."));
    }
}

fn function(walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
    let parent = &walk.builder.facts.definitions[draft.parent as usize];
    let class = walk.builder.text(parent.name).to_owned();
    let in_class = holds_members(parent.kind);
    let is_declaration = draft.flags & flags::DECLARATION != 0;
    if in_class && class.rsplit('.').next() == Some(&draft.name) {
        draft.kind = Kind::Constructor;
    }
    if is_declaration {
        let key = if in_class {
            format!("{}.{}", class.rsplit('.').next().unwrap_or(""), draft.name)
        } else {
            draft.name.clone()
        };
        let is_local = matches!(parent.kind, Kind::Function | Kind::Method | Kind::Constructor | Kind::Lambda);
        let in_source = !in_class && !is_header(&walk.builder.facts.path);
        if is_local || in_source || walk.noted.contains(&key) {
            return false;
        }
    }
    let is_static = draft.flags & flags::STATIC != 0;
    draft.private |= is_static && !in_class;
    true
}

fn is_header(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or("");
    !matches!(extension, "c" | "cc" | "cpp" | "cxx" | "c++")
}

/// Name of the struct, union, enum or type that a typedef stands for.
fn tag(walk: &Walk, declared: NodeId) -> String {
    let name = walk.child(declared, "name").unwrap_or(declared);
    plain_name(&walk.text_of(name))
}

/// `class A::B { ... }`: a member of another class.
fn nest(walk: &mut Walk, draft: &mut DefinitionDraft) {
    if let (Some((around, name)), Some(name_node)) = (draft.name.clone().rsplit_once("::"), draft.name_node) {
        let scope = walk.child(name_node, "scope").unwrap_or(name_node);
        let around = around.replace("::", ".");
        let extension = walk.open_around(Kind::Extension, draft.node, scope, around.clone(), draft.body);
        walk.builder.facts.definitions[extension as usize].bases = vec![walk.builder.dotted(&around)];
        draft.parent = walk.scope();
        draft.name = name.to_owned();
    }
}

/// `using namespace a;`, `using a::b;`, `namespace x = a::b;`
fn import(walk: &mut Walk, node: NodeId) {
    let parts: Vec<NodeId> = walk.contents(node).collect();
    let alias = walk.child(node, "name");
    let Some(&target) = parts.iter().rev().find(|&&part| Some(part) != alias) else {
        return;
    };
    let text: String = walk.text_of(target).split_whitespace().collect();
    let text = text.trim_start_matches("::").to_owned();
    let is_star = walk.tree.children(node).any(|part| walk.bytes_of(part) == b"namespace") && alias.is_none();
    let alias = alias.map(|alias| walk.text_of(alias).into_owned());
    let (kind, module, member, alias) = match (is_star, alias, text.rsplit_once("::")) {
        (true, ..) => (ImportKind::Star, text, None, None),
        (_, Some(alias), _) => (ImportKind::Module, text, None, Some(alias)),
        (_, None, Some((module, member))) => {
            let member = member.to_owned();
            (ImportKind::Member, module.to_owned(), Some(member.clone()), Some(member))
        }
        _ => return,
    };
    let module = walk.builder.owned_name(module);
    let member = member.map(|name| walk.builder.owned_name(name));
    let alias = alias.map(|name| walk.builder.owned_name(name));
    let line = walk.tree.line(node);
    walk.push_import(Import { scope: 0, module, level: 0, member, alias, kind, line, type_only: false });
}

/// `public:`, `private:` and `protected:` count for the members below them.
fn sections(walk: &mut Walk, body: NodeId) {
    let around = walk.tree.node(body).parent;
    let mut private = walk.kind_name(around) == "class_specifier";
    for part in walk.tree.children(body).collect::<Vec<_>>() {
        match walk.kind_name(part) {
            "access_specifier" => private = !walk.bytes_of(part).starts_with(b"public"),
            "function_definition"
            | "declaration"
            | "field_declaration"
            | "template_declaration"
            | "class_specifier"
                if private =>
            {
                walk.wrappers.insert(part, Wrapper { private, ..Wrapper::default() });
            }
            _ => {}
        }
    }
}

/// `T a = x, *b;`: each name has the type and its own value. In C++ a value of a class is made by its constructor.
fn declaration(walk: &mut Walk, node: NodeId) {
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
        let value = made_value(walk, declarator, annotation, in_function);
        let line = walk.tree.line(declarator);
        walk.bind(declarator, BindingDraft { kind: BindingKind::Assign, value, annotation, line });
    }
}

/// Declares a function, not a variable that holds one.
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

fn made_value(walk: &mut Walk, declarator: NodeId, annotation: Option<ExprId>, in_function: bool) -> Option<ExprId> {
    let value = walk.child(declarator, "value");
    let is_cpp = walk.builder.facts.language == "cpp";
    let is_class = annotation.is_some_and(|expr| !matches!(walk.builder.get(expr), Expr::Literal(_)));
    let makes = match (walk.kind_name(declarator), value.map(|value| walk.kind_name(value))) {
        ("init_declarator", Some("argument_list" | "initializer_list")) => {
            let inner = walk.child(declarator, "declarator").map(|inner| walk.kind_name(inner));
            inner == Some("identifier")
        }
        // `Item item(other);` reads like the declaration of a function.
        ("function_declarator", _) => {
            let name = walk.child(declarator, "declarator");
            claim_types(walk, declarator);
            name.is_some_and(|name| walk.kind_name(name) == "identifier")
        }
        ("identifier", None) => true,
        _ => false,
    };
    match (annotation, value) {
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

/// What stands between the brackets are values, not types.
fn claim_types(walk: &mut Walk, node: NodeId) {
    for part in node..walk.tree.node(node).next {
        walk.claim_read(part);
    }
}

/// `Base(x)` and `member_(x)` before the body of a constructor.
fn initializer(walk: &mut Walk, node: NodeId) {
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

/// `a::b::c`, `std::vector<T>`: nested to the right in the grammar, to the left in what it means.
fn qualified(walk: &mut Walk, node: NodeId) -> ExprId {
    let mut base = None;
    let mut current = node;
    loop {
        walk.claim_read(current);
        if let Some(scope) = walk.child(current, "scope") {
            base = Some(attribute_of(walk, base, scope));
        }
        let Some(name) = walk.child(current, "name") else {
            return base.unwrap_or(UNKNOWN);
        };
        if walk.kind_name(name) != "qualified_identifier" {
            return attribute_of(walk, base, name);
        }
        current = name;
    }
}

fn attribute_of(walk: &mut Walk, base: Option<ExprId>, part: NodeId) -> ExprId {
    walk.claim_read(part);
    let plain = walk.child(part, "name").filter(|_| walk.kind_name(part).starts_with("template")).unwrap_or(part);
    walk.claim_read(plain);
    let text = plain_name(&walk.text_of(plain));
    let name = walk.builder.owned_name(text);
    let expr = match base {
        Some(base) => walk.builder.attribute(base, name),
        None => walk.builder.name_expr(name),
    };
    if walk.kind_name(part) != "template_type" {
        return expr;
    }
    let list = walk.child(part, "arguments");
    let arguments: Vec<NodeId> = list.into_iter().flat_map(|list| walk.contents(list)).collect();
    let args = arguments.into_iter().map(|argument| walk.type_expression(argument)).collect();
    walk.builder.expr(Expr::Generic { base: expr, args })
}
