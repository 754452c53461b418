//! Hooks of Java: packages, imports, declarations with `var`, anonymous classes, tests.

use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::walk::definitions::holds_members;
use crate::walk::dotted;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr, ExprId, Kind, flags};

pub struct Java;

/// Annotations of JUnit and TestNG that mark a method as a test.
const TEST_ANNOTATIONS: &[&str] =
    &["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory", "Property"];

impl LanguageHooks for Java {
    fn begin(&self, walk: &mut Walk) {
        let package = walk.contents(0).find(|&node| walk.kind_name(node) == "package_declaration");
        if let Some(name) = package.and_then(|package| walk.contents(package).last()) {
            walk.builder.facts.module = dotted::compact(walk, name);
        }
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        import(walk, node);
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "package_declaration" => walk.document_file(node),
            // An annotation is not a call at its position.
            "annotation" => walk.claim_call(node),
            "record_declaration" => record_fields(walk, node),
            "enhanced_for_statement" => declare(walk, node, node, BindingKind::Iterate),
            "resource" => declare(walk, node, node, BindingKind::Enter),
            _ => {
                for declarator in walk.in_field(node, "declarator").collect::<Vec<_>>() {
                    declare(walk, node, declarator, BindingKind::Assign);
                }
            }
        }
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        match walk.kind_name(node) {
            "explicit_constructor_invocation" => other_constructor(walk, node),
            _ => qualified_super_call(walk, node),
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        match draft.kind {
            Kind::Class if draft.name.is_empty() => return anonymous(walk, draft),
            Kind::Method => {
                let in_interface = walk.kind_of(draft.parent) == Kind::Interface;
                if draft.body.is_none() {
                    draft.flags |= flags::DECLARATION;
                    draft.flags |= if in_interface { flags::ABSTRACT } else { 0 };
                }
                if is_test(walk, draft) {
                    draft.flags |= flags::TEST;
                }
            }
            _ => {}
        }
        true
    }
}

/// Handles `import a.b.C;`, `import a.b.*;`, `import static a.B.c;`.
fn import(walk: &mut Walk, node: NodeId) {
    let Some(name) = walk.contents(node).next() else {
        return;
    };
    let path = dotted::compact(walk, name);
    let is_star = walk.contents(node).any(|part| walk.kind_name(part) == "asterisk");
    dotted::import(walk, node, &path, is_star, None);
}

/// Defines the body of `new T() { ... }`, or of a member of the enum `T`: an anonymous class that extends `T`.
fn anonymous(walk: &Walk, draft: &mut DefinitionDraft) -> bool {
    let parent = walk.tree.node(draft.node).parent;
    let base = match walk.kind_name(parent) {
        "object_creation_expression" => walk.child(parent, "type"),
        "enum_constant" => {
            let body = walk.tree.node(parent).parent;
            walk.child(walk.tree.node(body).parent, "name")
        }
        _ => return false,
    };
    draft.bases.extend(base);
    draft.private = true;
    true
}

/// Defines the fields in the head of a record.
fn record_fields(walk: &mut Walk, node: NodeId) {
    let class = walk.scope();
    let Some(list) = walk.child(node, "parameters") else {
        return;
    };
    for parameter in walk.contents(list).collect::<Vec<_>>() {
        let declared = walk.child(parameter, "type").map(|node| walk.type_expression(node));
        if let Some(name) = walk.child(parameter, "name") {
            walk.define_member(class, name, parameter, declared);
        }
    }
}

/// Binds one declared name with its type and value.
fn declare(walk: &mut Walk, declaration: NodeId, declarator: NodeId, kind: BindingKind) {
    let Some(name) = walk.child(declarator, "name") else {
        return;
    };
    let annotation = walk.child(declaration, "type").and_then(|node| declared_type(walk, node));
    let value = walk.child(declarator, "value");
    let expr = value.map(|value| walk.expression(value));
    let line = walk.tree.line(declarator);
    walk.bind(name, BindingDraft { kind, value: expr, annotation, line });
    if let Some(value) = value {
        walk.read(value);
    }
}

/// Returns the type of a declaration, or `None` for `var`.
fn declared_type(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    if walk.bytes_of(node) == b"var" {
        walk.claim_read(node);
        return None;
    }
    Some(walk.annotation(node))
}

/// Returns whether JUnit or TestNG runs a method.
pub fn is_test(walk: &Walk, draft: &DefinitionDraft) -> bool {
    let annotated = draft.decorators.iter().any(|&decorator| {
        let text = walk.text_of(decorator);
        let name = text.trim_start_matches('@').split('(').next().unwrap_or("").trim();
        TEST_ANNOTATIONS.contains(&name.rsplit('.').next().unwrap_or(name))
    });
    // JUnit 3: `public void testX()` in a subclass of `TestCase`.
    let parent = &walk.builder.facts.definitions[draft.parent as usize];
    let in_case = holds_members(parent.kind) && walk.builder.text(parent.signature).contains("TestCase");
    annotated || (in_case && draft.name.starts_with("test"))
}

/// Returns the expression of `this(x)`, which calls another constructor of the class.
fn other_constructor(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let callee = walk.child(node, "constructor").filter(|&callee| walk.kind_name(callee) == "this")?;
    walk.claim_read(callee);
    let list = walk.child(node, "arguments");
    let args = walk.arguments(list);
    let callee = walk.builder.this(true);
    Some(walk.builder.expr(Expr::Call { callee, args, new: true }))
}

/// Returns the expression of `Type.super.method()`, or `None` for other calls.
fn qualified_super_call(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    if walk.kind_name(node) != "method_invocation" || !walk.contents(node).any(|part| walk.kind_name(part) == "super") {
        return None;
    }
    let object = walk.child(node, "object").filter(|&object| walk.kind_name(object) != "super")?;
    let (name, list) = (walk.child(node, "name")?, walk.child(node, "arguments"));
    walk.claim_read(object);
    let class = walk.expression(object);
    let base = walk.builder.expr(Expr::SuperOf(class));
    let name = walk.name_of(name);
    let callee = walk.builder.attribute(base, name);
    let args = walk.arguments(list);
    Some(walk.builder.expr(Expr::Call { callee, args, new: false }))
}
