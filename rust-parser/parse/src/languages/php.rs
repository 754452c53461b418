//! Hooks of PHP: namespaces, forms of `use`, qualified names, promoted parameters, callables in arrays, tests.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::walk::definitions::holds_members;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr, ExprId, Import, ImportKind, Kind, LiteralType, ReferenceKind, flags};

pub struct Php;

/// Types of the documentation whose last argument is that of their elements.
const CONTAINERS: &[&str] = &[
    "array",
    "list",
    "iterable",
    "non-empty-array",
    "non-empty-list",
    "Traversable",
    "Iterator",
    "Generator",
    "IteratorAggregate",
];

impl LanguageHooks for Php {
    fn begin(&self, walk: &mut Walk) {
        let mut parts = walk.contents(0).filter(|&node| walk.kind_name(node) == "namespace_definition");
        let declared = parts.find(|&node| walk.child(node, "body").is_none());
        if let Some(name) = declared.and_then(|node| walk.child(node, "name")) {
            walk.builder.facts.module = dotted(&walk.text_of(name));
        }
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        match walk.kind_name(node) {
            "namespace_use_declaration" => {
                use_declaration(walk, node);
                true
            }
            _ => {
                include(walk, node);
                false
            }
        }
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "foreach_statement" => foreach(walk, node),
            "use_declaration" => trait_rules(walk, node),
            "array_creation_expression" => callable_array(walk, node),
            "binary_expression" => {
                if let (Some(left), Some(right)) = (walk.child(node, "left"), walk.child(node, "right")) {
                    let annotation = walk.type_expression(right);
                    walk.narrow_branch(node, left, annotation);
                }
            }
            _ => promoted(walk, node),
        }
    }

    fn item_key(&self, walk: &Walk, item: NodeId) -> Option<NodeId> {
        let parts: Vec<NodeId> = walk.tree.children(walk.tree.node(item).parent).collect();
        let at = parts.iter().position(|&part| part == item)?;
        let is_keyed = at >= 2 && walk.bytes_of(parts[at - 1]) == b"=>";
        is_keyed.then(|| parts[at - 2])
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        draft.name = match draft.kind {
            Kind::Namespace => dotted(&draft.name),
            _ => draft.name.trim_start_matches('$').to_owned(),
        };
        if draft.kind == Kind::Constant {
            draft.flags &= !flags::STATIC;
        }
        if is_test(walk, draft) {
            draft.flags |= flags::TEST;
        }
        true
    }

    fn end(&self, walk: &mut Walk) {
        documented_types(walk);
    }

    /// Returns the expression of `[$this, 'method']`: the method, or the array.
    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        if walk.kind_name(node) != "array_creation_expression" {
            return None;
        }
        let parts: Vec<NodeId> = walk.contents(node).collect();
        let array = match keyed(walk, &parts) {
            Some(array) => array,
            None => {
                let items = parts.into_iter().map(|item| walk.expression(item)).collect();
                walk.builder.expr(Expr::Elements { kind: LiteralType::List, items, keys: Vec::new() })
            }
        };
        match called_member(walk, node) {
            Some(member) => Some(walk.builder.expr(Expr::OneOf(vec![member, array]))),
            None => Some(array),
        }
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        let text = walk.text_of(node);
        match &*text {
            "self" | "static" => return walk.builder.this(true),
            "parent" => return walk.builder.super_expr(),
            _ => {}
        }
        if walk.kind_name(node) == "primitive_type" {
            return primitive(walk, &text);
        }
        let text = text.split_whitespace().collect::<String>();
        match text.strip_prefix("namespace\\") {
            Some(rest) => {
                let name = format!("{}.{rest}", walk.builder.facts.module);
                qualified(walk, &format!("\\{}", name.trim_start_matches('.')))
            }
            None => qualified(walk, &text),
        }
    }
}

/// `use A, B { A::f insteadof B; B::f as g; h as i; }`: names of the class that stand for methods of its traits.
fn trait_rules(walk: &mut Walk, node: NodeId) {
    let first_trait = walk.contents(node).next();
    let Some(list) = walk.contents(node).find(|&part| walk.kind_name(part) == "use_list") else { return };
    for rule in walk.contents(list).collect::<Vec<_>>() {
        let parts: Vec<NodeId> = walk.contents(rule).collect();
        let Some(&method) = parts.first() else { continue };
        let path: Vec<NodeId> = match walk.kind_name(method) {
            "class_constant_access_expression" => walk.contents(method).collect(),
            _ => vec![method],
        };
        let Some(&own) = path.last() else { continue };
        let name = match walk.kind_name(rule) {
            "use_as_clause" => parts[1..].iter().copied().find(|&part| walk.kind_name(part) == "name"),
            // The first trait wins without a rule.
            _ => Some(own).filter(|_| {
                path.len() > 1 && first_trait.is_none_or(|first| walk.bytes_of(first) != walk.bytes_of(path[0]))
            }),
        };
        let Some(name) = name else { continue };
        let base = match path[..] {
            [of, _] => walk.type_expression(of),
            _ => walk.builder.this(true),
        };
        let (own, target, line) = (walk.name_of(own), walk.name_of(name), walk.tree.line(rule));
        let value = Some(walk.builder.attribute(base, own));
        let target = walk.builder.name_expr(target);
        walk.push_binding(target, BindingDraft { kind: BindingKind::Assign, value, annotation: None, line });
    }
}

fn dotted(name: &str) -> String {
    name.split_whitespace().collect::<String>().trim_matches('\\').replace('\\', ".")
}

/// Converts `A\B\c` to attributes. The first part of a fully qualified name keeps its `\`.
///
/// The first of several parts is imported, or lies below the namespace of the file.
fn qualified(walk: &mut Walk, text: &str) -> ExprId {
    let absolute = text.starts_with('\\');
    let path = text.trim_start_matches('\\').replace('\\', ".");
    if absolute {
        return walk.builder.dotted(&format!("\\{path}"));
    }
    let own = walk.builder.facts.module.clone();
    let Some((first, _)) = path.split_once('.').filter(|_| !own.is_empty()) else {
        return walk.builder.dotted(&path);
    };
    let first = walk.builder.owned_name(first.to_owned());
    let is_imported = walk.builder.facts.imports.iter().any(|import| import.alias == Some(first));
    walk.builder.dotted(&if is_imported { path } else { format!("\\{own}.{path}") })
}

fn primitive(walk: &mut Walk, text: &str) -> ExprId {
    let kind = match text.to_ascii_lowercase().as_str() {
        "string" => LiteralType::Str,
        "int" => LiteralType::Int,
        "float" => LiteralType::Float,
        "bool" | "false" | "true" => LiteralType::Bool,
        "null" | "void" | "never" => LiteralType::None,
        "array" | "iterable" => LiteralType::List,
        _ => return UNKNOWN,
    };
    walk.builder.literal(kind)
}

/// Handles `use A\B;`, `use A\{B, C as D};`, `use function A\f;`.
fn use_declaration(walk: &mut Walk, node: NodeId) {
    let prefix = walk.contents(node).find(|&part| walk.kind_name(part) == "namespace_name");
    let prefix = prefix.map_or_else(String::new, |part| walk.text_of(part).into_owned());
    let list = walk.child(node, "body").unwrap_or(node);
    for clause in walk.contents(list).collect::<Vec<_>>() {
        if walk.kind_name(clause) != "namespace_use_clause" {
            continue;
        }
        let alias = walk.child(clause, "alias");
        let Some(name) = walk.contents(clause).find(|&part| Some(part) != alias) else {
            continue;
        };
        let text = walk.text_of(name).split_whitespace().collect::<String>();
        let full = format!("{prefix}\\{text}");
        let full = full.trim_matches('\\').to_owned();
        let (module, member) = match full.rsplit_once('\\') {
            Some((module, member)) => (module.to_owned(), Some(member.to_owned())),
            None => (full.clone(), None),
        };
        let alias = alias.map(|alias| walk.text_of(alias).into_owned());
        let alias = alias.or_else(|| member.clone()).unwrap_or(full);
        let kind = if member.is_some() { ImportKind::Member } else { ImportKind::Module };
        push_import(walk, clause, kind, module, member, Some(alias));
    }
}

/// `require __DIR__ . '/lib.php'`: the literal part of the path.
fn include(walk: &mut Walk, node: NodeId) {
    let end = walk.tree.node(node).next;
    let Some(string) = (node + 1..end).find(|&part| matches!(walk.kind_name(part), "string" | "encapsed_string"))
    else {
        return;
    };
    let is_plain = walk.kind_name(string) == "string" || walk.contents(string).count() == 1;
    let path = walk.text_of(string).trim_matches(['"', '\'']).trim_start_matches('/').to_owned();
    if is_plain && !path.is_empty() {
        push_import(walk, node, ImportKind::Include, path, None, None);
    }
}

fn push_import(
    walk: &mut Walk,
    node: NodeId,
    kind: ImportKind,
    module: String,
    member: Option<String>,
    alias: Option<String>,
) {
    let module = walk.builder.owned_name(module);
    let member = member.map(|name| walk.builder.owned_name(name));
    let alias = alias.map(|name| walk.builder.owned_name(name));
    let line = walk.tree.line(node);
    walk.push_import(Import { scope: 0, module, level: 0, member, alias, kind, line, type_only: false });
}

/// Handles `foreach ($values as $key => $value)`.
fn foreach(walk: &mut Walk, node: NodeId) {
    let body = walk.child(node, "body");
    let parts: Vec<NodeId> = walk.contents(node).filter(|&part| Some(part) != body).collect();
    let &[values, ref targets @ ..] = &parts[..] else {
        return;
    };
    let Some(&target) = targets.first() else {
        return;
    };
    walk.read(values);
    let value = Some(walk.expression(values));
    let draft = BindingDraft { kind: BindingKind::Iterate, value, annotation: None, line: walk.tree.line(node) };
    if walk.kind_name(target) != "pair" {
        walk.bind(target, draft);
        return;
    }
    let pair: Vec<NodeId> = walk.contents(target).collect();
    if let [key, value, ..] = pair[..] {
        walk.bind(key, BindingDraft { kind: BindingKind::Assign, value: None, ..draft });
        walk.bind(value, draft);
    }
}

/// Handles `[$this, 'method']`, `[Foo::class, 'method']`.
fn callable_array(walk: &mut Walk, node: NodeId) {
    if let Some(member) = called_member(walk, node) {
        walk.refer(ReferenceKind::Read, member, walk.tree.line(node));
    }
}

/// `['key' => $item]`: a mapping, if each item has a key.
fn keyed(walk: &mut Walk, parts: &[NodeId]) -> Option<ExprId> {
    let mut pairs = Vec::new();
    for &part in parts {
        let &[key, item] = &walk.contents(part).collect::<Vec<_>>()[..] else { return None };
        pairs.push((key, item));
    }
    if pairs.is_empty() {
        return None;
    }
    let (mut items, mut keys) = (Vec::new(), Vec::new());
    for (key, item) in pairs {
        let selector = walk.selector(key);
        keys.push(match *walk.builder.get(selector) {
            Expr::Key(key) => key,
            _ => 0,
        });
        items.push(walk.expression(item));
    }
    Some(walk.builder.expr(Expr::Elements { kind: LiteralType::Dict, items, keys }))
}

fn called_member(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let items: Vec<NodeId> = walk.contents(node).collect();
    let &[object, method] = &items[..] else {
        return None;
    };
    let string = walk.contents(method).last();
    let string = string.filter(|&string| walk.kind_name(string) == "string")?;
    let name = walk.text_of(string).trim_matches(['\'', '"']).to_owned();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let base = walk.expression(object);
    let is_object = matches!(walk.builder.get(base), Expr::This { .. } | Expr::Name(_) | Expr::Attribute { .. });
    if !is_name || !is_object {
        return None;
    }
    let name = walk.builder.owned_name(name);
    Some(walk.builder.attribute(base, name))
}

/// `__construct(private Api $api)`: declares a field of the class and sets it.
fn promoted(walk: &mut Walk, node: NodeId) {
    let function = walk.scope();
    let class = walk.builder.facts.definitions[function as usize].parent;
    let Some(name_node) = walk.child(node, "name").filter(|_| holds_members(walk.kind_of(class))) else {
        return;
    };
    let annotation = walk.child(node, "type").map(|node| walk.type_expression(node));
    let definition = walk.define_member(class, name_node, node, annotation);
    let visibility = walk.child(node, "visibility").map(|part| walk.bytes_of(part));
    if let (Some(definition), Some(b"private" | b"protected")) = (definition, visibility) {
        walk.builder.facts.definitions[definition as usize].flags &= !flags::EXPORTED;
    }
    let parameter = walk.name_of(name_node);
    let value = Some(walk.builder.name_expr(parameter));
    let field = walk.builder.text(parameter).trim_start_matches('$').to_owned();
    let field = walk.builder.owned_name(field);
    let this = walk.builder.this(false);
    let target = walk.builder.attribute(this, field);
    let line = walk.tree.line(node);
    walk.push_binding(target, BindingDraft { kind: BindingKind::Assign, value, annotation, line });
}

/// Recognizes PHPUnit tests: methods by name or annotation, in classes by name.
fn is_test(walk: &Walk, draft: &DefinitionDraft) -> bool {
    match draft.kind {
        Kind::Class => draft.name.ends_with("Test") && walk.builder.facts.is_test,
        Kind::Method => {
            let class = &walk.builder.facts.definitions[draft.parent as usize];
            let is_marked = draft.decorators.iter().any(|&node| walk.bytes_of(node).ends_with(b"Test"));
            let is_named = draft.name.starts_with("test") || is_marked;
            is_named && (walk.builder.facts.is_test || walk.builder.text(class.name).ends_with("Test"))
        }
        _ => false,
    }
}

/// `@var T`, `@return T`, `@param T $x`: types that only the documentation declares.
fn documented_types(walk: &mut Walk) {
    for definition in 1..walk.builder.facts.definitions.len() {
        let record = &walk.builder.facts.definitions[definition];
        let docs = walk.builder.text(record.docstring);
        if !docs.contains('@') {
            continue;
        }
        let docs = docs.to_owned();
        let tag = match record.kind {
            Kind::Field => "@var",
            Kind::Function | Kind::Method => "@return",
            _ => "",
        };
        let params = record.params.clone();
        // `array` says less than the documentation.
        let is_open = |walk: &Walk, declared: Option<ExprId>| {
            declared.is_none_or(|declared| matches!(walk.builder.get(declared), Expr::Literal(LiteralType::List)))
        };
        let declared = record.declared_type;
        if is_open(walk, declared)
            && let Some(text) = tagged(&docs, tag).next().and_then(|rest| type_of_tag(rest).next())
            && let Some(documented) = documented_type(walk, text)
        {
            walk.builder.facts.definitions[definition].declared_type = Some(documented);
        }
        for (position, param) in params.iter().enumerate() {
            if !is_open(walk, param.annotation) {
                continue;
            }
            let name = walk.builder.text(param.name).to_owned();
            let text = tagged(&docs, "@param").find_map(|rest| {
                let mut words = type_of_tag(rest);
                let text = words.next()?;
                (words.next()?.trim_start_matches(['&', '.']).split_whitespace().next()? == name).then_some(text)
            });
            if let Some(documented) = text.and_then(|text| documented_type(walk, text)) {
                walk.builder.facts.definitions[definition].params[position].annotation = Some(documented);
            }
        }
    }
}

/// Returns the texts after a tag at the start of a line.
fn tagged<'d>(docs: &'d str, tag: &'d str) -> impl Iterator<Item = &'d str> {
    let lines = docs.lines().filter_map(move |line| line.trim_start().strip_prefix(tag));
    lines.filter(move |rest| !tag.is_empty() && rest.starts_with([' ', '\t']))
}

/// Splits the text after a tag into its type, which may contain blanks within `<>`, and the rest.
fn type_of_tag(rest: &str) -> impl Iterator<Item = &str> {
    let rest = rest.trim_start();
    let mut depth = 0usize;
    let end = rest.find(|letter: char| {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter.is_whitespace() && depth == 0
    });
    let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
    [text, after.trim_start()].into_iter().filter(|part| !part.is_empty())
}

/// Reads `A|null`, `?A`, `A[]`, `\\B\\C`. Returns `None` for types other than classes.
fn documented_type(walk: &mut Walk, text: &str) -> Option<ExprId> {
    let mut options = Vec::new();
    for part in text.trim_start_matches('?').split('|') {
        let (part, is_list) = part.strip_suffix("[]").map_or((part, false), |element| (element, true));
        let (part, is_list) = match part.strip_suffix('>').and_then(|part| part.split_once('<')) {
            Some((container, args)) if !is_list && CONTAINERS.contains(&container) => {
                (args.rsplit(',').next().unwrap_or("").trim(), true)
            }
            _ => (part, is_list),
        };
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '\\';
        if part.is_empty() || !part.chars().all(is_name) {
            return None;
        }
        let mut expr = match part {
            "self" | "static" => walk.builder.this(true),
            "mixed" | "object" | "callable" | "resource" | "scalar" => return None,
            _ => match primitive(walk, part) {
                UNKNOWN => qualified(walk, part),
                literal => literal,
            },
        };
        if is_list {
            let base = walk.builder.container(false);
            expr = walk.builder.expr(Expr::Generic { base, args: vec![expr] });
        }
        options.push(expr);
    }
    match options[..] {
        [only] => Some(only),
        _ => Some(walk.union(options)),
    }
}
