//! Hooks of C#: file-scoped namespaces, forms of `using`, declarations of several variables, visibility, members of
//! records, constructor chaining, tests.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::conditionals::{flattened, flattened_lists};
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{
    Arg, BindingKind, ELEMENTS, Expr, ExprId, Import, ImportKind, Kind, LiteralType, Param, ParamKind, flags,
};

/// Containers of the standard library.
const CONTAINERS: [&str; 14] = [
    "Dictionary",
    "SortedDictionary",
    "ConcurrentDictionary",
    "SortedList",
    "List",
    "HashSet",
    "SortedSet",
    "LinkedList",
    "Queue",
    "Stack",
    "Collection",
    "ObservableCollection",
    "ConcurrentBag",
    "ConcurrentQueue",
];
/// Largest number of elements of an initializer that are recorded.
const MAX_ELEMENTS: usize = 256;

pub struct CSharp;

/// Attributes of xUnit, NUnit and MSTest that mark a method as a test, or a class as a test fixture.
const TEST_ATTRIBUTES: &[&str] =
    &["Fact", "Theory", "Test", "TestCase", "TestCaseSource", "TestMethod", "DataTestMethod"];
const TEST_CLASSES: &[&str] = &["TestFixture", "TestClass"];

impl LanguageHooks for CSharp {
    fn alternatives(&self, _source: &[u8], readable: &[u8]) -> Vec<Vec<u8>> {
        flattened(readable).into_iter().chain(flattened_lists(readable)).collect()
    }

    fn needs_locals(&self) -> bool {
        true
    }

    fn begin(&self, walk: &mut Walk) {
        let declared = walk.contents(0).find(|&node| walk.kind_name(node) == "file_scoped_namespace_declaration");
        if let Some(name) = declared.and_then(|node| walk.child(node, "name")) {
            walk.builder.facts.module = compact(walk, name);
        }
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        let alias = walk.child(node, "name");
        let Some(target) = walk.contents(node).find(|&part| Some(part) != alias) else {
            return true;
        };
        let module = compact(walk, target);
        let module = module.split('<').next().unwrap_or("").rsplit("::").next().unwrap_or("").to_owned();
        let kind = if alias.is_some() { ImportKind::Module } else { ImportKind::Star };
        let alias = alias.map(|alias| walk.name_of(alias));
        let (module, line) = (walk.builder.owned_name(module), walk.tree.line(node));
        // Applies to the whole file, even inside a namespace.
        let level = u32::from(walk.bytes_of(node).starts_with(b"global"));
        let import = Import { scope: 0, module, level, member: None, alias, kind, line, type_only: false };
        walk.push_import_of_file(import);
        for part in node..walk.tree.node(node).next {
            walk.claim_read(part);
        }
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "variable_declaration" => variables(walk, node),
            "type_parameter" => type_parameter(walk, node),
            "local_function_statement" => extension_member(walk, node),
            "declaration_expression" => taken(walk, node),
            _ => record_members(walk, node),
        }
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        let parent = walk.tree.node(node).parent;
        if walk.kind_name(parent) != "assignment_expression" {
            let target = walk.expression(node);
            walk.push_binding(target, binding);
        } else if walk.kind_name(walk.tree.node(parent).parent) != "initializer_expression" {
            walk.bind_variable_or_member(node, binding);
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        let node_kind = walk.kind_name(draft.node);
        if is_extension_block(walk, draft.node) {
            return false;
        }
        if node_kind == "local_function_statement" && extended(walk, draft.node).is_some() {
            draft.kind = Kind::Method;
            draft.flags |= flags::STATIC | flags::EXTENSION;
        }
        draft.name = match node_kind {
            "namespace_declaration" => draft.name.split_whitespace().collect(),
            "destructor_declaration" => format!("~{}", draft.name),
            "operator_declaration" | "conversion_operator_declaration" => format!("operator {}", draft.name),
            "indexer_declaration" => "this[]".to_owned(),
            "variable_declarator" => {
                draft.declared = field_type(walk, draft.node);
                std::mem::take(&mut draft.name)
            }
            _ => std::mem::take(&mut draft.name),
        };
        draft.private |= is_private(walk, draft);
        let in_interface = walk.kind_of(draft.parent) == Kind::Interface;
        if in_interface && draft.flags & flags::DECLARATION != 0 {
            draft.flags |= flags::ABSTRACT;
        }
        if is_test(walk, draft) {
            draft.flags |= flags::TEST;
        }
        let first = draft.parameters.and_then(|list| walk.contents(list).next());
        if node_kind == "method_declaration" && first.is_some_and(|first| walk.bytes_of(first).starts_with(b"this ")) {
            draft.flags |= flags::EXTENSION;
        }
        true
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        match walk.kind_name(node) {
            "qualified_name" => qualified_type(walk, node),
            _ => predefined(walk, node),
        }
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        match walk.kind_name(node) {
            "implicit_object_creation_expression" => Some(implicit_new(walk, node)),
            "object_creation_expression" => filled_new(walk, node),
            "constructor_initializer" => Some(other_constructor(walk, node)),
            _ => None,
        }
    }
}

/// Returns whether a node is `extension(T name) { ... }`, which the grammar reads as a constructor.
fn is_extension_block(walk: &Walk, node: NodeId) -> bool {
    walk.kind_name(node) == "constructor_declaration"
        && walk.child(node, "name").is_some_and(|name| walk.bytes_of(name) == b"extension")
}

/// Returns the parameter of the extension block that a function stands in.
fn extended(walk: &Walk, node: NodeId) -> Option<NodeId> {
    let block = walk.tree.node(walk.tree.node(node).parent).parent;
    let block = if walk.kind_name(block) == "constructor_declaration" { block } else { walk.tree.node(block).parent };
    let list = walk.child(block, "parameters").filter(|_| is_extension_block(walk, block))?;
    walk.contents(list).next()
}

/// Adds the parameter of the extension block to the parameters of its member.
fn extension_member(walk: &mut Walk, node: NodeId) {
    let (Some(parameter), Some(&(member, _))) = (extended(walk, node), walk.definition_of.get(&node)) else { return };
    let annotation = walk.child(parameter, "type").map(|node| walk.type_expression(node));
    let name = walk.child(parameter, "name").map_or(0, |name| walk.name_of(name));
    let own = Param { name, annotation, default: None, kind: ParamKind::Normal };
    walk.builder.facts.definitions[member as usize].params.insert(0, own);
}

/// Returns the text without white space, which qualified names may contain.
fn compact(walk: &Walk, node: NodeId) -> String {
    walk.text_of(node).split_whitespace().collect()
}

/// Returns the declared type of a declarator's field.
fn field_type(walk: &Walk, declarator: NodeId) -> Option<NodeId> {
    let declared = walk.child(walk.tree.node(declarator).parent, "type")?;
    (walk.kind_name(declared) != "implicit_type").then_some(declared)
}

/// `T a = x, b;`: each name has the type and its own value.
fn variables(walk: &mut Walk, node: NodeId) {
    let declared = walk.child(node, "type");
    let is_implicit = declared.is_some_and(|node| walk.kind_name(node) == "implicit_type");
    let annotation = declared.filter(|_| !is_implicit).map(|node| walk.annotation(node));
    for declarator in walk.contents(node).collect::<Vec<_>>() {
        if walk.kind_name(declarator) != "variable_declarator" {
            continue;
        }
        let parts: Vec<NodeId> = walk.contents(declarator).collect();
        let &[target, ref rest @ ..] = &parts[..] else {
            continue;
        };
        let value = rest.last().copied().filter(|&value| walk.kind_name(value) != "bracketed_argument_list");
        if let Some(value) = value {
            walk.read(value);
        }
        let value = value.map(|value| walk.expression(value));
        let line = walk.tree.line(declarator);
        walk.bind(target, BindingDraft { kind: BindingKind::Assign, value, annotation, line });
    }
}

/// Binds a type parameter to its constraints: `where T : IClock, new()`.
fn type_parameter(walk: &mut Walk, node: NodeId) {
    let Some(name) = walk.child(node, "name") else { return };
    let owner = walk.tree.node(walk.tree.node(node).parent).parent;
    let is_own = |&clause: &NodeId| {
        walk.kind_name(clause) == "type_parameter_constraints_clause"
            && walk.contents(clause).next().is_some_and(|first| walk.bytes_of(first) == walk.bytes_of(name))
    };
    let constraints = walk.contents(owner).find(is_own).into_iter().flat_map(|clause| walk.contents(clause).skip(1));
    let types: Vec<NodeId> = constraints.filter_map(|constraint| walk.child(constraint, "type")).collect();
    let types: Vec<ExprId> = types.into_iter().map(|constraint| walk.type_expression(constraint)).collect();
    let annotation = walk.all_of(types);
    walk.claim_read(name);
    let (line, name) = (walk.tree.line(node), walk.name_of(name));
    walk.bind_name(name, annotation, line);
}

/// `record Person(string Name)`: each parameter is a member.
fn record_members(walk: &mut Walk, node: NodeId) {
    let Some(&(class, _)) = walk.definition_of.get(&node) else {
        return;
    };
    let list = walk.contents(node).find(|&part| walk.kind_name(part) == "parameter_list");
    for parameter in list.into_iter().flat_map(|list| walk.contents(list)).collect::<Vec<_>>() {
        if let Some(name) = walk.child(parameter, "name") {
            let declared = walk.child(parameter, "type").map(|node| walk.type_expression(node));
            walk.define_member(class, name, parameter, declared);
        }
    }
}

/// Returns whether a definition is not visible outside: `private`, or a member of a class or struct without a modifier.
fn is_private(walk: &Walk, draft: &DefinitionDraft) -> bool {
    let node = match walk.kind_name(draft.node) {
        "variable_declarator" => walk.tree.node(walk.tree.node(draft.node).parent).parent,
        "parameter" | "enum_member_declaration" | "lambda_expression" => return false,
        _ => draft.node,
    };
    let modifiers = walk.tree.children(node).filter(|&part| walk.kind_name(part) == "modifier");
    let words: Vec<&[u8]> = modifiers.map(|part| walk.bytes_of(part)).collect();
    if words.contains(&b"private".as_slice()) {
        return true;
    }
    let is_open = words.iter().any(|word| matches!(*word, b"public" | b"protected" | b"internal"));
    !is_open && matches!(walk.kind_of(draft.parent), Kind::Class | Kind::Struct)
}

fn is_test(walk: &Walk, draft: &DefinitionDraft) -> bool {
    let names = match draft.kind {
        Kind::Method => TEST_ATTRIBUTES,
        Kind::Class => TEST_CLASSES,
        _ => return false,
    };
    draft.decorators.iter().any(|&attribute| {
        let name = walk.child(attribute, "name").map(|name| walk.text_of(name));
        let name = name.as_deref().and_then(|name| name.rsplit('.').next()).unwrap_or("");
        names.contains(&name.strip_suffix("Attribute").unwrap_or(name))
    })
}

/// Returns the expression of `A.B<C>`.
fn qualified_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let (Some(qualifier), Some(name)) = (walk.child(node, "qualifier"), walk.child(node, "name")) else {
        return UNKNOWN;
    };
    let base = walk.type_expression(qualifier);
    let inner = walk.type_expression(name);
    match walk.builder.get(inner).clone() {
        Expr::Name(name) => walk.builder.attribute(base, name),
        Expr::Generic { base: generic, args } => match *walk.builder.get(generic) {
            Expr::Name(name) => {
                let base = walk.builder.attribute(base, name);
                walk.builder.expr(Expr::Generic { base, args })
            }
            _ => UNKNOWN,
        },
        _ => UNKNOWN,
    }
}

fn predefined(walk: &mut Walk, node: NodeId) -> ExprId {
    let kind = match walk.bytes_of(node) {
        b"string" => LiteralType::Str,
        b"bool" => LiteralType::Bool,
        b"float" | b"double" | b"decimal" => LiteralType::Float,
        b"void" => LiteralType::None,
        // Every value is an object, but what is called on the word is a member of `System.Object`.
        b"object" if walk.kind_name(walk.tree.node(node).parent) == "member_access_expression" => LiteralType::Str,
        b"object" | b"dynamic" => return UNKNOWN,
        _ => LiteralType::Int,
    };
    walk.builder.literal(kind)
}

/// `new(...)`: creates an object of the declared type of the variable, field or property.
fn implicit_new(walk: &mut Walk, node: NodeId) -> ExprId {
    let parent = walk.tree.node(node).parent;
    let declared = match walk.kind_name(parent) {
        "variable_declarator" => field_type(walk, parent),
        "property_declaration" => walk.child(parent, "type"),
        "return_statement" | "arrow_expression_clause" => returned_type(walk, parent),
        _ => None,
    };
    let callee = declared.map_or(UNKNOWN, |node| walk.type_expression(node));
    let list = walk.contents(node).find(|&part| walk.kind_name(part) == "argument_list");
    let mut args = walk.arguments(list);
    if let Some(declared) = declared {
        add_elements(walk, node, declared, &mut args);
    }
    walk.builder.expr(Expr::Call { callee, args, new: true })
}

/// Adds the elements of `new Dictionary<string, Action> { ["a"] = F, { "b", G } }` and `new List<Action> { F }` to the
/// arguments, as one with a keyword of its own.
fn add_elements(walk: &mut Walk, node: NodeId, declared: NodeId, args: &mut Vec<Arg>) {
    let text = walk.text_of(declared);
    let Some((name, _)) = text.split_once('<') else { return };
    let name = name.rsplit('.').next().unwrap_or_default().trim();
    let name = name.strip_prefix("IReadOnly").or_else(|| name.strip_prefix('I')).unwrap_or(name);
    let is_map = name.ends_with("Dictionary");
    let list = walk.contents(node).find(|&part| walk.kind_name(part) == "initializer_expression");
    let Some(list) = list.filter(|_| CONTAINERS.contains(&name)) else { return };
    let (mut items, mut keys) = (Vec::new(), Vec::new());
    for part in walk.contents(list).take(MAX_ELEMENTS).collect::<Vec<_>>() {
        let inner: Vec<NodeId> = walk.contents(part).collect();
        let (key, value) = match (walk.kind_name(part), &inner[..]) {
            ("initializer_expression", &[key, value]) => (Some(key), value),
            ("assignment_expression", &[left, .., value]) if walk.bytes_of(left).starts_with(b"[") => {
                let key = walk.contents(left).last();
                (key.and_then(|key| walk.contents(key).last()).or(key), value)
            }
            _ => (None, part),
        };
        items.push(walk.expression(value));
        keys.push(key.map_or(0, |key| walk.stated_key(key)));
    }
    let (kind, keys) = if is_map { (LiteralType::Dict, keys) } else { (LiteralType::List, Vec::new()) };
    let value = walk.builder.expr(Expr::Elements { kind, items, keys });
    let keyword = Some(walk.builder.name(ELEMENTS));
    args.push(Arg { keyword, value });
}

/// `new List<Action> { F }`: a creation with elements.
fn filled_new(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let declared = walk.child(node, "type")?;
    let list = walk.child(node, "arguments");
    if !walk.contents(node).any(|part| walk.kind_name(part) == "initializer_expression") {
        return None;
    }
    walk.claim_read(declared);
    let callee = walk.made_type(declared);
    let mut args = walk.arguments(list);
    add_elements(walk, node, declared, &mut args);
    Some(walk.builder.expr(Expr::Call { callee, args, new: true }))
}

/// `out var f`: what `table.TryGetValue("a", out var f)` takes from a container, else a variable of unknown value.
fn taken(walk: &mut Walk, node: NodeId) {
    let Some(target) = walk.child(node, "name") else { return };
    let list = walk.tree.node(walk.tree.node(node).parent).parent;
    let function = walk.child(walk.tree.node(list).parent, "function");
    let base = function.and_then(|function| walk.child(function, "expression"));
    let name = function.and_then(|function| walk.child(function, "name"));
    let name = name.map(|name| walk.text_of(name).into_owned()).unwrap_or_default();
    let key = walk.contents(list).next().and_then(|arg| walk.contents(arg).last());
    let value = match (base, key) {
        (Some(base), Some(key)) if matches!(name.as_str(), "TryGetValue" | "Remove" | "TryRemove") => {
            let base = walk.expression(base);
            let index = walk.selector(key);
            Some(walk.builder.expr(Expr::Index { base, index }))
        }
        _ => None,
    };
    let line = walk.tree.line(node);
    let declared = walk.child(node, "type").filter(|&declared| walk.kind_name(declared) != "implicit_type");
    let annotation = declared.map(|declared| walk.annotation(declared));
    walk.bind(target, BindingDraft { kind: BindingKind::Assign, value, annotation, line });
}

/// Returns the declared result of the method or property around a node.
fn returned_type(walk: &Walk, mut node: NodeId) -> Option<NodeId> {
    while node != 0 {
        match walk.kind_name(node) {
            "method_declaration" => return walk.child(node, "returns"),
            "local_function_statement" | "operator_declaration" | "property_declaration" => {
                return walk.child(node, "type");
            }
            "lambda_expression" | "anonymous_method_expression" | "class_declaration" => return None,
            _ => node = walk.tree.node(node).parent,
        }
    }
    None
}

/// `: base(x)` calls a constructor of the base class, `: this(x)` another one of the class itself.
fn other_constructor(walk: &mut Walk, node: NodeId) -> ExprId {
    let is_base = walk.tree.children(node).any(|part| walk.bytes_of(part) == b"base");
    let callee = if is_base { walk.builder.super_expr() } else { walk.builder.this(true) };
    let list = walk.contents(node).find(|&part| walk.kind_name(part) == "argument_list");
    let args = walk.arguments(list);
    walk.builder.expr(Expr::Call { callee, args, new: true })
}
