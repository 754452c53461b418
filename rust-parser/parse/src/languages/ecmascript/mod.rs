//! Hooks of JavaScript and TypeScript: destructuring, members of object literals and test conventions (`imports`
//! handles imports and exports).

mod alternatives;
mod assignments;
mod components;
mod contexts;
mod flow;
mod imports;
mod jsdoc;
mod literals;
mod newer;
mod objects;
mod prototypes;
mod type_shapes;
mod typedefs;

use rustc_hash::FxHashMap;

use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::languages::ecmascript::alternatives::alternatives;
use crate::languages::ecmascript::assignments::{
    assigned_value, note_assignment, place_assigned, place_in_object, place_named,
};
use crate::languages::ecmascript::components::refer_from_markup;
use crate::languages::ecmascript::contexts::{bind_placed, note_place};
use crate::languages::ecmascript::imports::{
    export_statement, import_call, import_statement, import_to_variable, note_exported_values, required_name, unquoted,
};
use crate::languages::ecmascript::jsdoc::type_documented;
use crate::languages::ecmascript::literals::{enclosing_value, has_functions, note_values};
use crate::languages::ecmascript::objects::{is_function, is_path};
use crate::languages::ecmascript::prototypes::note_bases;
use crate::languages::ecmascript::type_shapes::{add_type_bases, made_object, marked, shaped_type, typed_call};
use crate::query::vocabulary::Capture;
use crate::rewriting::Edit;
use crate::walk::additions::Addition;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr, ExprId, Kind, Name, ReferenceKind, flags};
use atlas_languages::Settings;

pub struct Ecmascript;

/// Functions whose callbacks are tests.
const TEST_CALLS: &[&str] = &["it", "test", "specify", "fit", "xit", "xtest"];

/// Words in the names of functions that return only if a test holds.
const ASSERTIONS: &[&str] =
    &["assert", "check", "ensure", "expect", "guard", "invariant", "must", "require", "validate", "verify"];

impl LanguageHooks for Ecmascript {
    fn language_of_content(&self, path: &str, data: &[u8]) -> Option<&'static str> {
        flow::is_flow(path, data).then_some("flow")
    }

    fn edits(&self, settings: &Settings, source: &[u8]) -> Vec<Edit> {
        let mut edits = newer::edits(source);
        if !settings.dialect_of.is_empty() {
            edits.extend(flow::edits(source));
        }
        if let Some(places) = settings.scripts {
            edits.extend(components::edits(source, places));
        }
        edits.sort_by_key(|edit| (edit.start, edit.end));
        edits
    }

    fn alternatives(&self, _source: &[u8], readable: &[u8]) -> Vec<Vec<u8>> {
        alternatives(readable)
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        match walk.kind_name(node) {
            "import_statement" => import_statement(walk, node),
            "export_statement" => return export_statement(walk, node),
            "variable_declarator" => return import_to_variable(walk, node),
            _ => return import_call(walk, node),
        }
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "call_expression" => {
                mark_tests(walk, node);
                note_bases(walk, node);
                note_addition(walk, node);
                guard(walk, node);
            }
            "assignment_expression" => note_assignment(walk, node),
            "object" => note_values(walk, node),
            "binary_expression" => comparison(walk, node),
            "switch_case" => member_case(walk, node),
            "enum_body" => enum_members(walk, node),
            "jsx_closing_element" => {
                if let Some(name) = walk.child(node, "name") {
                    walk.claim_read(name);
                }
            }
            _ => parameter_property(walk, node),
        }
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        object_pattern(walk, node, binding);
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        let node_kind = walk.kind_name(draft.node).to_owned();
        if matches!(node_kind.as_str(), "property_signature" | "method_signature") && !is_member(walk, draft.node) {
            return false;
        }
        if let Some(inner) = draft.name.strip_prefix('[').and_then(|name| name.strip_suffix(']'))
            && inner.starts_with(['"', '\''])
        {
            draft.name = inner.to_owned();
        }
        if draft.name.starts_with(['"', '\'']) {
            draft.name = unquoted(&draft.name);
        }
        if draft.flags & flags::DEFAULT_EXPORT != 0 && draft.name.is_empty() {
            draft.name = "default".to_owned();
            if draft.kind == Kind::Lambda {
                draft.kind = Kind::Function;
            }
        }
        draft.private |= is_private(walk, draft);
        place_in_object(walk, draft);
        place_assigned(walk, draft);
        if node_kind == "arrow_function" {
            draft.flags |= flags::ARROW;
        }
        if draft.kind == Kind::Lambda && node_kind == "function_expression" && !draft.name.is_empty() {
            place_named(walk, draft);
        }
        if draft.kind == Kind::Lambda
            && let Some(value) = enclosing_value(walk, draft.wrapper.outer.unwrap_or(draft.node))
        {
            draft.parent = value;
        }
        if walk.builder.facts.path.ends_with(".d.ts") && draft.kind != Kind::Lambda {
            draft.flags |= flags::DECLARATION;
        }
        overload(walk, draft);
        add_type_bases(walk, draft);
        note_place(walk, draft);
        true
    }

    fn variable(&self, walk: &Walk, node: NodeId, kind: Option<Kind>) -> Option<Kind> {
        let Some(value) = walk.child(node, "value") else { return kind };
        let last = assigned_value(walk, value);
        let is_chain = last != value && walk.kind_name(value) == "assignment_expression";
        match walk.kind_name(last) {
            // The function at the end of the chain has the name of the variable.
            last if is_chain && (is_function(last) || last == "class") => None,
            // The functions of a local object need an owner.
            "object" if kind.is_none() && has_functions(walk, last) => Some(Kind::Constant),
            _ => kind,
        }
    }

    fn separates_types(&self) -> bool {
        true
    }

    fn skips_anonymous(&self) -> bool {
        true
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        if let Some(shaped) = shaped_type(walk, node) {
            return shaped;
        }
        let Some(item) = walk.contents(node).next() else {
            return 0;
        };
        let item = walk.type_expression(item);
        let name = walk.builder.name("Array");
        let base = walk.builder.name_expr(name);
        walk.builder.expr(Expr::Generic { base, args: vec![item] })
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        let is_loading = |text: &[u8]| text.starts_with(b"require") || text.starts_with(b"import(");
        if is_loading(walk.bytes_of(node)) && walk.kind_name(node) == "call_expression" {
            let name = required_name(walk, node)?;
            let name = walk.builder.owned_name(name);
            return Some(walk.builder.name_expr(name));
        }
        if walk.kind_name(node) == "new_expression" {
            return made_object(walk, node);
        }
        if walk.kind_name(node) == "call_expression" {
            return typed_call(walk, node);
        }
        // An element with a lower-case name is an HTML element, not a component.
        if walk.bytes_of(node).first() != Some(&b'<') {
            return None;
        }
        let name = walk.child(node, "name")?;
        let text = walk.bytes_of(name);
        let is_element = text.first().is_some_and(u8::is_ascii_lowercase) && !text.contains(&b'.');
        is_element.then_some(0)
    }

    fn end(&self, walk: &mut Walk) {
        note_exported_values(walk);
        bind_placed(walk);
        type_created(walk);
        type_documented(walk);
        if let Some(places) = walk.language.settings.scripts {
            refer_from_markup(walk, places);
        }
        let mut exported: FxHashMap<Name, u32> = FxHashMap::default();
        for (name, flags) in std::mem::take(&mut walk.exported) {
            *exported.entry(name).or_default() |= flags;
        }
        for definition in walk.builder.facts.definitions.iter_mut().skip(1).filter(|found| found.parent == 0) {
            definition.flags |= exported.get(&definition.name).unwrap_or(&0);
        }
    }
}

/// Gives the first parameter of the function that creates a constant the constant's own type:
/// `const T: Constructor<T> = constructor("T", (inst) => {...})`.
fn type_created(walk: &mut Walk) {
    let builder = &walk.builder;
    let mut found = Vec::new();
    for (def, definition) in builder.facts.definitions.iter().enumerate() {
        let value = &builder.facts.definitions[definition.parent as usize];
        if definition.kind != Kind::Lambda || value.kind != Kind::Constant {
            continue;
        }
        if let Some(Expr::Generic { args, .. }) = value.declared_type.map(|declared| builder.get(declared))
            && let Some(&own) = args.first()
            && *builder.get(own) == Expr::Name(value.name)
            && definition.params.first().is_some_and(|first| first.annotation.is_none())
        {
            found.push((def, own));
        }
    }
    for (def, own) in found {
        walk.builder.facts.definitions[def].params[0].annotation = Some(own);
    }
}

/// `{a, b: c, d = 1, ...rest}`: each name is bound to an attribute of the value.
fn object_pattern(walk: &mut Walk, node: NodeId, binding: BindingDraft) {
    let whole = walk.unpacked(binding);
    for part_node in walk.contents(node).collect::<Vec<_>>() {
        let (key, target) = match walk.kind_name(part_node) {
            "pair_pattern" => (walk.child(part_node, "key"), walk.child(part_node, "value")),
            "object_assignment_pattern" => {
                let left = walk.child(part_node, "left");
                (left, left)
            }
            "rest_pattern" => (None, walk.contents(part_node).next()),
            _ => (Some(part_node), Some(part_node)),
        };
        let Some(target) = target else { continue };
        let value = match (whole, key) {
            (Some(base), Some(key)) => {
                let name = unquoted(&walk.text_of(key));
                let name = walk.builder.owned_name(name);
                let part = walk.builder.attribute(base, name);
                // Reading a part runs its getter.
                walk.refer(ReferenceKind::Owner, part, walk.tree.line(key));
                let default =
                    walk.child(part_node, "right").filter(|_| walk.kind_name(part_node) == "object_assignment_pattern");
                let default = default
                    .or_else(|| walk.child(target, "right").filter(|_| walk.kind_name(target) == "assignment_pattern"));
                match default.map(|default| walk.expression(default)) {
                    Some(default) if !matches!(walk.builder.get(default), Expr::Unknown | Expr::Literal(_)) => {
                        Some(walk.builder.expr(Expr::OneOf(vec![part, default])))
                    }
                    _ => Some(part),
                }
            }
            // What is left of an object has the members of the whole.
            (whole, None) => whole,
            _ => None,
        };
        let kind = BindingKind::Assign;
        walk.bind(target, BindingDraft { kind, value, annotation: None, line: walk.tree.line(part_node) });
    }
}

/// Marks callbacks of `it(...)`, `test(...)` and `test.each(...)(...)` in a test file as tests.
fn mark_tests(walk: &mut Walk, node: NodeId) {
    if !walk.builder.facts.is_test {
        return;
    }
    let text = walk.text_of(node);
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(0);
    if !TEST_CALLS.contains(&&text[..end]) {
        return;
    }
    let Some(list) = walk.child(node, "arguments") else {
        return;
    };
    for argument in walk.contents(list).collect::<Vec<_>>() {
        let expr = walk.expression(argument);
        walk.mark_test(expr);
    }
}

/// Records the members of an enum that have no value.
fn enum_members(walk: &mut Walk, body: NodeId) {
    for member in walk.contents(body).collect::<Vec<_>>() {
        if matches!(walk.kind_name(member), "property_identifier" | "string") {
            walk.define(Kind::Field, member, &[(Capture::Name, member)]);
        }
    }
}

/// `constructor(private x: T)` declares a field and sets it.
fn parameter_property(walk: &mut Walk, node: NodeId) {
    let function = walk.scope();
    if walk.kind_of(function) != Kind::Constructor {
        return;
    }
    let Some(pattern) = walk.child(node, "pattern") else {
        return;
    };
    let class = walk.builder.facts.definitions[function as usize].parent;
    let annotation = walk.child(node, "type").map(|node| walk.type_expression(node));
    walk.define_member(class, pattern, node, annotation);
    let name = walk.name_of(pattern);
    let this = walk.builder.this(false);
    let target = walk.builder.attribute(this, name);
    let value = Some(walk.builder.name_expr(name));
    let line = walk.tree.line(node);
    walk.push_binding(target, BindingDraft { kind: BindingKind::Assign, value, annotation, line });
}

/// Returns whether a signature belongs to an interface, a class or the object type of an alias, rather than to a nested
/// type.
fn is_member(walk: &Walk, node: NodeId) -> bool {
    let mut around = walk.tree.node(node).parent;
    if matches!(walk.kind_name(around), "interface_body" | "class_body") {
        return true;
    }
    if walk.kind_name(around) != "object_type" {
        return false;
    }
    loop {
        around = walk.tree.node(around).parent;
        match walk.kind_name(around) {
            "intersection_type" | "union_type" | "parenthesized_type" => {}
            kind => return matches!(kind, "type_alias_declaration" | "interface_declaration"),
        }
    }
}

/// Returns whether a member is not visible outside: `#name`, `private`, `protected`.
fn is_private(walk: &Walk, draft: &DefinitionDraft) -> bool {
    draft.name.starts_with('#')
        || walk
            .tree
            .children(draft.node)
            .any(|child| walk.kind_name(child) == "accessibility_modifier" && walk.bytes_of(child) != b"public")
}

/// Sets the flags of a signature without a body: an overload in a class or module, a declaration in an interface or
/// after `declare`.
fn overload(walk: &Walk, draft: &mut DefinitionDraft) {
    let kind = walk.kind_name(draft.node);
    if kind == "abstract_method_signature" {
        draft.flags |= flags::DECLARATION;
    }
    if !matches!(kind, "function_signature" | "method_signature") {
        return;
    }
    let parent = &walk.builder.facts.definitions[draft.parent as usize];
    let declared = (draft.flags | parent.flags) & flags::DECLARATION != 0;
    draft.flags |= flags::DECLARATION;
    draft.flags &= !flags::OVERLOAD;
    if !declared && (parent.kind == Kind::Class || kind == "function_signature") {
        draft.flags |= flags::OVERLOAD;
    }
}

/// `x instanceof T`, `x.kind === "circle"`.
fn comparison(walk: &mut Walk, node: NodeId) {
    let operator = walk.child(node, "operator").map(|operator| walk.bytes_of(operator).to_vec());
    let equal = match operator.as_deref() {
        Some(b"===" | b"==") => true,
        Some(b"!==" | b"!=") => false,
        _ => return instance_test(walk, node),
    };
    let (Some(left), Some(literal)) = (walk.child(node, "left"), walk.child(node, "right")) else { return };
    if let (Some(object), Some(member)) = (walk.child(left, "object"), walk.child(left, "property")) {
        walk.narrow_by_member(node, object, (member, literal), equal);
    }
}

/// `switch (x.kind) { case "circle": ... }`.
fn member_case(walk: &mut Walk, node: NodeId) {
    let whole = walk.tree.node(walk.tree.node(node).parent).parent;
    let (Some(literal), Some(value)) = (walk.child(node, "value"), walk.child(whole, "value")) else { return };
    let Some(path) = walk.contents(value).next().filter(|&path| walk.kind_name(path) == "member_expression") else {
        return;
    };
    if let (Some(object), Some(member)) = (walk.child(path, "object"), walk.child(path, "property"))
        && let Some(annotation) = walk.member_type(member, literal)
    {
        let target = walk.expression(object);
        walk.narrow_in(node, target, annotation, node);
    }
}

/// `x instanceof T`.
fn instance_test(walk: &mut Walk, node: NodeId) {
    if let (Some(left), Some(right)) = (walk.child(node, "left"), walk.child(node, "right")) {
        let annotation = walk.expression(right);
        walk.narrow_branch(node, left, annotation);
    }
}

/// `isShape(x)`, if the function is a type guard.
fn guard(walk: &mut Walk, node: NodeId) {
    let is_typed = walk.language.settings.include.iter().any(|included| included == "typed");
    let (Some(callee), Some(list)) = (walk.child(node, "function"), walk.child(node, "arguments")) else { return };
    let Some(tested) = walk.contents(list).next().filter(|_| is_typed) else { return };
    if !is_path(walk, callee) {
        return;
    }
    if walk.kind_name(walk.tree.node(node).parent) == "expression_statement" {
        return assertion(walk, node, callee, tested);
    }
    if !is_path(walk, tested) || !is_condition(walk, node) {
        return;
    }
    let callee = walk.expression(callee);
    let annotation = marked(walk, "is", vec![callee]);
    walk.narrow_branch(node, tested, annotation);
}

/// `assertShape(x);` and `invariant(x instanceof Shape);`, if the function returns only where that holds.
fn assertion(walk: &mut Walk, call: NodeId, callee: NodeId, tested: NodeId) {
    let name = walk.child(callee, "property").unwrap_or(callee);
    let name = walk.text_of(name).to_ascii_lowercase();
    if !ASSERTIONS.iter().any(|word| name.contains(word)) {
        return;
    }
    let Some(lines) = walk.lines_left(walk.tree.node(call).parent) else { return };
    let (left, right) = (walk.child(tested, "left"), walk.child(tested, "right"));
    let operator = walk.child(tested, "operator").map(|operator| walk.bytes_of(operator).to_vec());
    let (target, declared) = match (operator.as_deref(), left, right) {
        (Some(b"instanceof"), Some(left), Some(right)) => (left, Some(right)),
        _ if is_path(walk, tested) => (tested, None),
        _ => return,
    };
    let mut args = vec![walk.expression(callee)];
    args.extend(declared.map(|declared| walk.expression(declared)));
    let annotation = marked(walk, "asserts", args);
    let target = walk.expression(target);
    walk.narrow_lines(call, target, annotation, lines, true);
}

/// Returns whether a node is a condition or an operand of one.
fn is_condition(walk: &Walk, node: NodeId) -> bool {
    let mut parent = walk.tree.node(node).parent;
    while matches!(walk.kind_name(parent), "parenthesized_expression" | "unary_expression") {
        parent = walk.tree.node(parent).parent;
    }
    matches!(walk.kind_name(parent), "if_statement" | "binary_expression" | "ternary_expression" | "while_statement")
}

/// Binds what a call stores in a container: `xs.push(x)`, `m.set("key", x)`, `Object.assign(to, from)`.
fn note_addition(walk: &mut Walk, call: NodeId) {
    let (Some(function), Some(list)) = (walk.child(call, "function"), walk.child(call, "arguments")) else { return };
    if walk.kind_name(function) != "member_expression" || walk.kind_name(list) != "arguments" {
        return;
    }
    let (Some(object), Some(property)) = (walk.child(function, "object"), walk.child(function, "property")) else {
        return;
    };
    let args: Vec<NodeId> = walk.contents(list).collect();
    let (base, addition) = match walk.bytes_of(property) {
        b"push" | b"unshift" | b"add" if args.len() == 1 => (object, Addition::of(0)),
        b"set" if args.len() == 2 => (object, Addition::keyed(0, 1)),
        b"assign" if args.len() > 1 && walk.bytes_of(object) == b"Object" => (args[0], Addition::elements(1)),
        _ => return,
    };
    walk.add_element(call, base, &args, addition);
}
