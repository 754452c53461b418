//! What JavaScript and TypeScript say that patterns cannot: forms of import and export, destructuring, members of object
//! literals, conventions of tests.

use rustc_hash::FxHashMap;

use super::bindings::BindingDraft;
use super::code::LanguageCode;
use super::definitions::Draft;
use super::tree::NodeId;
use super::vocabulary::Capture;
use super::walk::Walk;
use crate::facts::{BindingKind, DefId, Expr, ExprId, Import, ImportKind, Kind, Name, flags};

pub struct Ecmascript;

/// Functions whose function arguments are tests.
const TEST_CALLS: &[&str] = &["it", "test", "specify", "fit", "xit", "xtest"];

impl LanguageCode for Ecmascript {
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
            "call_expression" => mark_tests(walk, node),
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

    fn define(&self, walk: &mut Walk, draft: &mut Draft) -> bool {
        let node_kind = walk.kind_name(draft.node);
        if matches!(node_kind, "property_signature" | "method_signature") && !is_member(walk, draft.node) {
            return false;
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
        if walk.collect.facts.path.ends_with(".d.ts") && draft.kind != Kind::Lambda {
            draft.flags |= flags::DECLARATION;
        }
        overload(walk, draft);
        true
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        let Some(item) = walk.contents(node).next() else {
            return 0;
        };
        let item = walk.type_expression(item);
        let name = walk.collect.name("Array");
        let base = walk.collect.name_expr(name);
        walk.collect.expr(Expr::Generic { base, args: vec![item] })
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        // An element with a lower-case name is part of the page, not a component.
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
        let mut exported: FxHashMap<Name, u32> = FxHashMap::default();
        for (name, flags) in std::mem::take(&mut walk.exported) {
            *exported.entry(name).or_default() |= flags;
        }
        for definition in walk.collect.facts.definitions.iter_mut().skip(1).filter(|found| found.parent == 0) {
            definition.flags |= exported.get(&definition.name).unwrap_or(&0);
        }
    }
}

/// `import d, {a as b} from "m"`, `import * as n from "m"`, `import "m"`, `import x = require("m")`.
fn import_statement(walk: &mut Walk, node: NodeId) {
    let parts: Vec<NodeId> = walk.tree.children(node).collect();
    let type_only = parts.get(1).is_some_and(|&part| is_type_mark(walk, part));
    let mut source = walk.child(node, "source");
    let mut clause = None;
    for &part in &parts {
        match walk.kind_name(part) {
            "import_clause" => clause = Some(part),
            "import_require_clause" => {
                source = walk.child(part, "source");
                clause = Some(part);
            }
            _ => {}
        }
    }
    let Some(source) = source else { return };
    let module = unquoted(&walk.text_of(source));
    let import = Draught { module, type_only };
    let Some(clause) = clause else {
        import.push(walk, node, ImportKind::Module, None, None);
        return;
    };
    let is_require = walk.kind_name(clause) == "import_require_clause";
    for part in walk.contents(clause).collect::<Vec<_>>() {
        match walk.kind_name(part) {
            "identifier" if is_require => import.push(walk, part, ImportKind::Module, None, Some(part)),
            "identifier" => import.push_default(walk, part),
            "namespace_import" => {
                let alias = walk.contents(part).next();
                import.push(walk, part, ImportKind::Module, None, alias);
            }
            "named_imports" => import.push_specifiers(walk, part, ImportKind::Member),
            _ => {}
        }
    }
}

/// Imports from one module.
struct Draught {
    module: String,
    type_only: bool,
}

impl Draught {
    fn push(&self, walk: &mut Walk, node: NodeId, kind: ImportKind, member: Option<NodeId>, alias: Option<NodeId>) {
        let member = member.map(|node| unquoted(&walk.text_of(node)));
        let alias = alias.map(|node| unquoted(&walk.text_of(node)));
        self.push_names(walk, node, kind, member, alias);
    }

    fn push_names(
        &self,
        walk: &mut Walk,
        node: NodeId,
        kind: ImportKind,
        member: Option<String>,
        alias: Option<String>,
    ) {
        let module = walk.collect.owned_name(self.module.clone());
        let member = member.map(|text| walk.collect.owned_name(text));
        let alias = alias.map(|text| walk.collect.owned_name(text));
        let line = walk.tree.line(node);
        let type_only = self.type_only;
        walk.push_import(Import { scope: 0, module, level: 0, member, alias, kind, line, type_only });
    }

    fn push_default(&self, walk: &mut Walk, name: NodeId) {
        let alias = walk.text_of(name).into_owned();
        self.push_names(walk, name, ImportKind::Default, Some("default".to_owned()), Some(alias));
    }

    /// `{a, b as c, type d}`.
    fn push_specifiers(&self, walk: &mut Walk, list: NodeId, kind: ImportKind) {
        for specifier in walk.contents(list).collect::<Vec<_>>() {
            let Some(name) = walk.child(specifier, "name") else {
                continue;
            };
            let alias = walk.child(specifier, "alias").unwrap_or(name);
            let type_only = self.type_only || is_type_mark(walk, specifier + 1);
            let import = Draught { module: self.module.clone(), type_only };
            import.push(walk, specifier, kind, Some(name), Some(alias));
        }
    }
}

fn is_type_mark(walk: &Walk, node: NodeId) -> bool {
    matches!(walk.kind_name(node), "type" | "typeof") && walk.tree.is_leaf(node)
}

/// Re-exports, exports of names, default exports of values. True when nothing is left to see inside.
fn export_statement(walk: &mut Walk, node: NodeId) -> bool {
    let parts: Vec<NodeId> = walk.tree.children(node).collect();
    let source = walk.child(node, "source");
    let clause = parts.iter().copied().find(|&part| walk.kind_name(part) == "export_clause");
    if let Some(source) = source {
        let type_only = parts.get(1).is_some_and(|&part| is_type_mark(walk, part));
        let import = Draught { module: unquoted(&walk.text_of(source)), type_only };
        let namespace = parts.iter().copied().find(|&part| walk.kind_name(part) == "namespace_export");
        match (clause, namespace) {
            (Some(clause), _) => import.push_specifiers(walk, clause, ImportKind::ReExport),
            (None, Some(namespace)) => {
                let alias = walk.contents(namespace).next();
                import.push(walk, node, ImportKind::ReExport, None, alias);
            }
            (None, None) => import.push(walk, node, ImportKind::ReExport, None, None),
        }
        return true;
    }
    if let Some(clause) = clause {
        for specifier in walk.contents(clause).collect::<Vec<_>>() {
            export_name(walk, specifier);
        }
        return true;
    }
    if let Some(value) = walk.child(node, "value") {
        export_value(walk, value, "default", flags::DEFAULT_EXPORT);
    } else if parts.get(1).is_some_and(|&part| walk.kind_name(part) == "=")
        && let Some(&value) = parts.get(2)
    {
        export_value(walk, value, "module.exports", 0);
    }
    false
}

/// `a`, `a as b` of `export {...}`.
fn export_name(walk: &mut Walk, specifier: NodeId) {
    let Some(name) = walk.child(specifier, "name") else {
        return;
    };
    let local = walk.name_of(name);
    let mut exported = flags::EXPORTED;
    if let Some(alias) = walk.child(specifier, "alias") {
        let alias = unquoted(&walk.text_of(alias));
        if alias == "default" {
            exported |= flags::DEFAULT_EXPORT;
        }
        let value = walk.collect.name_expr(local);
        bind_exported(walk, specifier, &alias, value);
    }
    walk.exported.push((local, exported));
}

fn export_value(walk: &mut Walk, value: NodeId, name: &str, flag: u32) {
    if matches!(walk.kind_name(value), "arrow_function" | "function_expression" | "generator_function" | "class")
        && flag != 0
    {
        return;
    }
    if walk.kind_name(value) == "identifier" {
        let local = walk.name_of(value);
        walk.exported.push((local, flag | flags::EXPORTED));
    }
    let expr = walk.expression(value);
    bind_exported(walk, value, name, expr);
    walk.read(value);
}

fn bind_exported(walk: &mut Walk, node: NodeId, name: &str, value: ExprId) {
    let target = walk.collect.dotted(name);
    let line = walk.tree.line(node);
    let draft = BindingDraft { kind: BindingKind::Assign, value: Some(value), annotation: None, line };
    walk.push_binding(target, draft);
}

/// Names given to `module.exports` or put into it.
fn note_exported_values(walk: &mut Walk) {
    let collect = &walk.collect;
    let mut found = Vec::new();
    for binding in &collect.facts.bindings {
        let (Expr::Attribute { base, name }, Some(value)) = (collect.get(binding.target), binding.value) else {
            continue;
        };
        let is_module = |expr| matches!(collect.get(expr), Expr::Name(name) if collect.text(*name) == "module");
        let (whole, part) = match collect.get(*base) {
            Expr::Name(base) => {
                let base = collect.text(*base);
                (base == "module" && collect.text(*name) == "exports", base == "exports")
            }
            Expr::Attribute { base, name } => (false, is_module(*base) && collect.text(*name) == "exports"),
            _ => (false, false),
        };
        match collect.get(value) {
            Expr::Name(local) if whole => found.push((*local, flags::EXPORTED | flags::DEFAULT_EXPORT)),
            Expr::Name(local) if part => found.push((*local, flags::EXPORTED)),
            Expr::Elements { items, .. } if whole => {
                for &item in items {
                    if let Expr::Name(local) = collect.get(item) {
                        found.push((*local, flags::EXPORTED));
                    }
                }
            }
            _ => {}
        }
    }
    walk.exported.extend(found);
}

/// `const x = require("m")`, `const {a, b: c} = await import("m")`, `const x = require("m").y`.
fn import_to_variable(walk: &mut Walk, node: NodeId) -> bool {
    let (Some(name), Some(value)) = (walk.child(node, "name"), walk.child(node, "value")) else {
        return false;
    };
    let Some((call, module, member)) = required(walk, value) else {
        return false;
    };
    let import = Draught { module, type_only: false };
    match (walk.kind_name(name), member) {
        ("identifier", None) => import.push(walk, node, ImportKind::Module, None, Some(name)),
        ("identifier", member) => import.push(walk, node, ImportKind::Member, member, Some(name)),
        ("object_pattern", None) => {
            for part in walk.contents(name).collect::<Vec<_>>() {
                let key = walk.child(part, "key").or_else(|| walk.child(part, "left")).unwrap_or(part);
                let alias = walk.child(part, "value").unwrap_or(key);
                if walk.kind_name(part) != "rest_pattern" {
                    import.push(walk, part, ImportKind::Member, Some(key), Some(alias));
                }
            }
        }
        _ => return false,
    }
    walk.claim_call(call);
    walk.claim_read(value);
    true
}

/// `require("m")`, `import("m")`, their `await` and a member of them: the call, the module, the member.
fn required(walk: &Walk, value: NodeId) -> Option<(NodeId, String, Option<NodeId>)> {
    let text = walk.bytes_of(value);
    let plausible = [&b"require"[..], b"import", b"await", b"("];
    if !plausible.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    match walk.kind_name(value) {
        "await_expression" | "parenthesized_expression" => required(walk, walk.contents(value).next()?),
        "member_expression" => {
            let (call, module, member) = required(walk, walk.child(value, "object")?)?;
            let property = walk.child(value, "property");
            member.is_none().then_some((call, module, property))
        }
        "call_expression" => Some((value, called_module(walk, value)?, None)),
        _ => None,
    }
}

/// The module of a call of `require` or `import`.
fn called_module(walk: &Walk, call: NodeId) -> Option<String> {
    let callee = walk.child(call, "function")?;
    if !matches!(walk.bytes_of(callee), b"require" | b"import") {
        return None;
    }
    let list = walk.child(call, "arguments")?;
    let source = walk.contents(list).next()?;
    (walk.kind_name(source) == "string").then(|| unquoted(&walk.text_of(source)))
}

/// A `require` or `import` whose value has no name.
fn import_call(walk: &mut Walk, node: NodeId) -> bool {
    let Some(module) = called_module(walk, node) else {
        return false;
    };
    if !walk.is_call_claimed(node) {
        let import = Draught { module, type_only: false };
        import.push(walk, node, ImportKind::Module, None, None);
    }
    true
}

/// `{a, b: c, d = 1, ...rest}`: each name holds an attribute of the value.
fn object_pattern(walk: &mut Walk, node: NodeId, binding: BindingDraft) {
    let whole = walk.unpacked(binding);
    for part in walk.contents(node).collect::<Vec<_>>() {
        let (key, target) = match walk.kind_name(part) {
            "pair_pattern" => (walk.child(part, "key"), walk.child(part, "value")),
            "object_assignment_pattern" => {
                let left = walk.child(part, "left");
                (left, left)
            }
            "rest_pattern" => (None, walk.contents(part).next()),
            _ => (Some(part), Some(part)),
        };
        let Some(target) = target else { continue };
        let value = match (whole, key) {
            (Some(base), Some(key)) => {
                let name = unquoted(&walk.text_of(key));
                let name = walk.collect.owned_name(name);
                Some(walk.collect.attribute(base, name))
            }
            _ => None,
        };
        let kind = BindingKind::Assign;
        walk.bind(target, BindingDraft { kind, value, annotation: None, line: walk.tree.line(part) });
    }
}

/// Functions given to `it(...)`, `test(...)`, `test.each(...)(...)` in a test file are tests.
fn mark_tests(walk: &mut Walk, node: NodeId) {
    if !walk.collect.facts.is_test {
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

/// Members of an enum without a value.
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
    let class = walk.collect.facts.definitions[function as usize].parent;
    let annotation = walk.child(node, "type").map(|node| walk.type_expression(node));
    walk.define_member(class, pattern, node, annotation);
    let name = walk.name_of(pattern);
    let this = walk.collect.this(false);
    let target = walk.collect.attribute(this, name);
    let value = Some(walk.collect.name_expr(name));
    let line = walk.tree.line(node);
    walk.push_binding(target, BindingDraft { kind: BindingKind::Assign, value, annotation, line });
}

/// A signature in an interface, a class, or the object type of an alias (not in a type inside another).
fn is_member(walk: &Walk, node: NodeId) -> bool {
    let parent = walk.tree.node(node).parent;
    match walk.kind_name(parent) {
        "interface_body" | "class_body" => true,
        "object_type" => {
            let around = walk.tree.node(parent).parent;
            matches!(walk.kind_name(around), "type_alias_declaration" | "interface_declaration")
        }
        _ => false,
    }
}

/// `#name`, `private`, `protected`.
fn is_private(walk: &Walk, draft: &Draft) -> bool {
    draft.name.starts_with('#')
        || walk
            .tree
            .children(draft.node)
            .any(|child| walk.kind_name(child) == "accessibility_modifier" && walk.bytes_of(child) != b"public")
}

/// Functions in an object literal: members of the variable that holds it, or of the module if it is `module.exports`;
/// elsewhere they stay anonymous values.
fn place_in_object(walk: &mut Walk, draft: &mut Draft) {
    let tree = walk.tree;
    let outer = draft.wrap.outer.unwrap_or(draft.node);
    let object = tree.node(outer).parent;
    if !matches!(walk.kind_name(outer), "pair" | "method_definition") || walk.kind_name(object) != "object" {
        return;
    }
    let mut holder = tree.node(object).parent;
    while matches!(walk.kind_name(holder), "as_expression" | "satisfies_expression") {
        holder = tree.node(holder).parent;
    }
    let known = walk.definition_of.get(&holder).map(|&(definition, _)| definition);
    let is_exports =
        walk.kind_name(holder) == "assignment_expression" && walk.bytes_of(holder).starts_with(b"module.exports");
    match known {
        Some(definition) if walk.kind_of(definition) == Kind::Constant => draft.parent = definition,
        _ if is_exports => draft.flags |= flags::EXPORTED,
        _ => {
            draft.kind = Kind::Lambda;
            return;
        }
    }
    draft.kind = Kind::Function;
}

/// `exports.f = function`, `module.exports = class`, `T.prototype.m = function`; other assignments are values.
fn place_assigned(walk: &mut Walk, draft: &mut Draft) {
    let assignment = walk.tree.node(draft.node).parent;
    if draft.wrap.name.is_none() || walk.kind_name(assignment) != "assignment_expression" {
        return;
    }
    let left = walk.child(assignment, "left").map_or(String::new(), |left| walk.text_of(left).into_owned());
    let parts: Vec<&str> = left.split('.').collect();
    match parts.as_slice() {
        ["module", "exports"] => {
            draft.name = "default".to_owned();
            draft.flags |= flags::EXPORTED | flags::DEFAULT_EXPORT;
        }
        ["exports", _] | ["module", "exports", _] => draft.flags |= flags::EXPORTED,
        [class, "prototype", _] => match defined_here(walk, class) {
            Some(definition) => {
                draft.parent = definition;
                draft.kind = Kind::Method;
            }
            None => draft.kind = Kind::Lambda,
        },
        _ if draft.kind == Kind::Class => {}
        _ => draft.kind = Kind::Lambda,
    }
}

fn defined_here(walk: &Walk, name: &str) -> Option<DefId> {
    let scope = walk.scope();
    let definitions = &walk.collect.facts.definitions;
    let found = definitions
        .iter()
        .rposition(|definition| definition.parent == scope && walk.collect.text(definition.name) == name)?;
    (found != 0).then_some(found as DefId)
}

/// A signature without body is an overload in a class or module, a declaration in an interface or where it is declared.
fn overload(walk: &Walk, draft: &mut Draft) {
    let kind = walk.kind_name(draft.node);
    if kind == "abstract_method_signature" {
        draft.flags |= flags::DECLARATION;
    }
    if !matches!(kind, "function_signature" | "method_signature") {
        return;
    }
    let parent = &walk.collect.facts.definitions[draft.parent as usize];
    let declared = (draft.flags | parent.flags) & flags::DECLARATION != 0;
    draft.flags |= flags::DECLARATION;
    draft.flags &= !flags::OVERLOAD;
    if !declared && (parent.kind == Kind::Class || kind == "function_signature") {
        draft.flags |= flags::OVERLOAD;
    }
}

fn unquoted(text: &str) -> String {
    text.trim_matches(['"', '\'', '`']).to_owned()
}
