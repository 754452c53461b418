//! Imports and exports of JavaScript and TypeScript: ES modules, CommonJS, dynamic imports and TypeScript's own forms.

use crate::flat_tree::NodeId;
use crate::languages::ecmascript::objects::bare;
use crate::query::vocabulary::Capture;
use crate::walk::drafts::BindingDraft;
use crate::walk::state::Walk;
use atlas_facts::{BindingKind, Expr, ExprId, Import, ImportKind, Kind, flags};

/// Handles `import d, {a as b} from "m"`, `import * as n from "m"`, `import "m"`, `import x = require("m")`.
pub fn import_statement(walk: &mut Walk, node: NodeId) {
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

/// The imports of one module.
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
        let module = walk.builder.owned_name(self.module.clone());
        let member = member.map(|text| walk.builder.owned_name(text));
        let alias = alias.map(|text| walk.builder.owned_name(text));
        let line = walk.tree.line(node);
        let type_only = self.type_only;
        walk.push_import(Import { scope: 0, module, level: 0, member, alias, kind, line, type_only });
    }

    fn push_default(&self, walk: &mut Walk, name: NodeId) {
        let alias = walk.text_of(name).into_owned();
        self.push_names(walk, name, ImportKind::Default, Some("default".to_owned()), Some(alias));
    }

    /// Handles `{a, b as c, type d}`.
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

/// Records re-exports, exported names and default exports of values. Returns true if the node has no further content to
/// visit.
pub fn export_statement(walk: &mut Walk, node: NodeId) -> bool {
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
        if matches!(walk.kind_name(bare(walk, value)), "object" | "call_expression") {
            define_default(walk, node, value);
        }
        export_value(walk, value, "default", flags::DEFAULT_EXPORT);
    } else if parts.get(1).is_some_and(|&part| walk.kind_name(part) == "=")
        && let Some(&value) = parts.get(2)
    {
        export_value(walk, value, "module.exports", 0);
        // The value is what an import of the file binds.
        if matches!(walk.kind_name(value), "identifier" | "member_expression") {
            walk.builder.facts.definitions[0].bases = vec![walk.expression(value)];
        }
    }
    false
}

/// Defines the object that a module exports by default as the constant `default`.
fn define_default(walk: &mut Walk, node: NodeId, value: NodeId) {
    let Some(mut draft) = walk.draft(Kind::Constant, node, &[(Capture::Name, value), (Capture::Value, value)]) else {
        return;
    };
    draft.name = "default".to_owned();
    draft.flags |= flags::EXPORTED | flags::DEFAULT_EXPORT;
    let definition = walk.record(&draft);
    walk.definition_of.insert(node, (definition, true));
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
        let value = walk.builder.name_expr(local);
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
    let target = walk.builder.dotted(name);
    let line = walk.tree.line(node);
    let draft = BindingDraft { kind: BindingKind::Assign, value: Some(value), annotation: None, line };
    walk.push_binding(target, draft);
}

/// Records names assigned to `module.exports` or to its members.
pub fn note_exported_values(walk: &mut Walk) {
    let builder = &walk.builder;
    let mut found = Vec::new();
    for binding in &builder.facts.bindings {
        let (Expr::Attribute { base, name }, Some(value)) = (builder.get(binding.target), binding.value) else {
            continue;
        };
        let is_module = |expr| matches!(builder.get(expr), Expr::Name(name) if builder.text(*name) == "module");
        let (whole, part) = match builder.get(*base) {
            Expr::Name(base) => {
                let base = builder.text(*base);
                (base == "module" && builder.text(*name) == "exports", base == "exports")
            }
            Expr::Attribute { base, name } => (false, is_module(*base) && builder.text(*name) == "exports"),
            _ => (false, false),
        };
        match builder.get(value) {
            Expr::Name(local) if whole => found.push((*local, flags::EXPORTED | flags::DEFAULT_EXPORT)),
            Expr::Name(local) if part => found.push((*local, flags::EXPORTED)),
            Expr::Elements { items, .. } if whole => {
                for &item in items {
                    if let Expr::Name(local) = builder.get(item) {
                        found.push((*local, flags::EXPORTED));
                    }
                }
            }
            _ => {}
        }
    }
    walk.exported.extend(found);
}

/// Records `const x = require("m")`, `const {a, b: c} = await import("m")` or `const x = require("m").y`. Returns false
/// for any other declaration.
pub fn import_to_variable(walk: &mut Walk, node: NodeId) -> bool {
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
                if matches!(walk.kind_name(alias), "object_pattern" | "array_pattern") {
                    let name = walk.builder.owned_name(format!("require({}).{}", import.module, walk.text_of(key)));
                    let text = walk.builder.text(name).to_owned();
                    let member = walk.text_of(key).into_owned();
                    import.push_names(walk, part, ImportKind::Member, Some(member), Some(text));
                    let (value, line) = (Some(walk.builder.name_expr(name)), walk.tree.line(part));
                    walk.bind(alias, BindingDraft { kind: BindingKind::Assign, value, annotation: None, line });
                } else if walk.kind_name(part) != "rest_pattern" {
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

/// Matches `require("m")` and `import("m")`, also with `await` and a member access. Returns the call, the module and
/// the member.
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

/// Returns the module of a call of `require` or `import`.
fn called_module(walk: &Walk, call: NodeId) -> Option<String> {
    let callee = walk.child(call, "function")?;
    if !matches!(walk.bytes_of(callee), b"require" | b"import") {
        return None;
    }
    let list = walk.child(call, "arguments")?;
    let source = walk.contents(list).next()?;
    (walk.kind_name(source) == "string").then(|| unquoted(&walk.text_of(source)))
}

/// Records a `require` or `import` whose value is not bound to a name. Returns false for any other call.
pub fn import_call(walk: &mut Walk, node: NodeId) -> bool {
    let Some(module) = called_module(walk, node) else {
        return false;
    };
    if !walk.is_call_claimed(node) {
        let alias = required_name(walk, node);
        let import = Draught { module, type_only: false };
        import.push_names(walk, node, ImportKind::Module, None, alias);
    }
    true
}

/// Returns the name under which `require("m")` within an expression is imported: its own text.
pub fn required_name(walk: &Walk, call: NodeId) -> Option<String> {
    let callee = walk.child(call, "function")?;
    let module = called_module(walk, call).filter(|_| matches!(walk.bytes_of(callee), b"require" | b"import"))?;
    Some(format!("require({module})"))
}

/// Returns the text without its quotes.
pub fn unquoted(text: &str) -> String {
    text.trim_matches(['"', '\'', '`']).to_owned()
}
