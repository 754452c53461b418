//! Hooks of Go: packages, import names, result lists, ranges, comma-ok, type switches.

use crate::facts_builder::UNKNOWN;
use crate::flat_tree::NodeId;
use crate::hooks::LanguageHooks;
use crate::walk::drafts::{BindingDraft, DefinitionDraft};
use crate::walk::state::Walk;
use atlas_facts::{Arg, BindingKind, Expr, ExprId, Import, ImportKind, Kind, LiteralType, flags};

pub struct Go;

/// Largest number of recorded elements of a literal.
const MAX_ELEMENTS: usize = 256;

/// Prefixes of functions that `go test` runs.
const TEST_PREFIXES: &[&str] = &["Test", "Benchmark", "Example", "Fuzz"];

impl LanguageHooks for Go {
    fn begin(&self, walk: &mut Walk) {
        let Some(clause) = walk.contents(0).find(|&node| walk.kind_name(node) == "package_clause") else {
            return;
        };
        let Some(package) = walk.contents(clause).next().map(|node| walk.text_of(node).into_owned()) else {
            return;
        };
        let module = &mut walk.builder.facts.module;
        if module.is_empty() {
            *module = package;
        } else if package.ends_with("_test") && walk.builder.facts.path.ends_with("_test.go") {
            module.push_str("_test");
        }
        let name = walk.builder.facts.module.rsplit('.').next().unwrap_or("").to_owned();
        walk.builder.facts.definitions[0].name = walk.builder.owned_name(name);
    }

    fn import(&self, walk: &mut Walk, node: NodeId) -> bool {
        import(walk, node);
        true
    }

    fn hook(&self, walk: &mut Walk, node: NodeId) {
        match walk.kind_name(node) {
            "package_clause" => walk.document_file(node),
            "var_spec" => variables(walk, node),
            "type_switch_statement" => type_switch(walk, node),
            _ => {
                receiver_arguments(walk, node);
                named_results(walk, node);
            }
        }
    }

    fn target(&self, walk: &mut Walk, node: NodeId, binding: BindingDraft) {
        let targets: Vec<NodeId> = walk.contents(node).collect();
        match (&targets[..], binding.kind) {
            (&[only], _) => walk.bind(only, binding),
            (&[key, value, ..], BindingKind::Iterate) => range(walk, key, value, binding),
            (&[value, found], _) if is_comma_ok(walk, binding.value) => {
                walk.bind(value, binding);
                let known = Some(walk.builder.literal(LiteralType::Bool));
                walk.bind(found, BindingDraft { value: known, ..binding });
            }
            _ => {
                if let Some(Expr::Elements { items, .. }) = binding.value.map(|value| walk.builder.get(value).clone())
                    && items.len() == targets.len()
                {
                    for (target, item) in targets.into_iter().zip(items) {
                        walk.bind(target, BindingDraft { value: Some(item), ..binding });
                    }
                    return;
                }
                for (position, target) in targets.into_iter().enumerate() {
                    let kind = BindingKind::Unpack(position.min(u16::MAX.into()) as u16);
                    walk.bind(target, BindingDraft { kind, annotation: None, ..binding });
                }
            }
        }
    }

    fn define(&self, walk: &mut Walk, draft: &mut DefinitionDraft) -> bool {
        if draft.name == "_" {
            return false;
        }
        if let Some(outer) = draft.wrapper.outer
            && walk.tree.children(outer).any(|part| walk.bytes_of(part) == b"(")
        {
            // The only specification in a group.
            (draft.wrapper.outer, draft.wrapper.signature) = (None, None);
        }
        match draft.kind {
            Kind::Field => is_field_of(walk, draft),
            Kind::Function => {
                let is_test = walk.builder.facts.is_test && TEST_PREFIXES.iter().any(|&p| draft.name.starts_with(p));
                if is_test && draft.parent == 0 {
                    draft.flags |= flags::TEST;
                }
                true
            }
            _ => true,
        }
    }

    fn type_text(&self, walk: &mut Walk, node: NodeId) -> ExprId {
        match walk.kind_name(node) {
            "composite_literal" => container(walk, node),
            "function_type" => function_type(walk, node),
            _ => results(walk, node),
        }
    }

    fn expression(&self, walk: &mut Walk, node: NodeId) -> Option<ExprId> {
        match walk.kind_name(node) {
            "call_expression" => made(walk, node),
            _ => None,
        }
    }
}

/// `func(A) R`: a call that returns `R`.
fn function_type(walk: &mut Walk, node: NodeId) -> ExprId {
    let list = walk.child(node, "parameters");
    let mut args = Vec::new();
    for parameter in list.into_iter().flat_map(|list| walk.contents(list)).collect::<Vec<_>>() {
        let names = walk.in_field(parameter, "name").count().max(1);
        let value = walk.child(parameter, "type").map_or(UNKNOWN, |declared| walk.type_expression(declared));
        args.extend((0..names).map(|_| Arg { keyword: None, value }));
    }
    let callee = walk.child(node, "result").map_or(UNKNOWN, |result| walk.type_expression(result));
    walk.builder.expr(Expr::Call { callee, args, new: false })
}

/// Returns whether a field belongs to the type itself, not to a struct inside one of its fields.
fn is_field_of(walk: &Walk, draft: &DefinitionDraft) -> bool {
    let tree = walk.tree;
    let list = tree.node(draft.node).parent;
    let body = tree.node(list).parent;
    matches!(walk.kind_name(tree.node(body).parent), "type_spec" | "type_alias")
}

fn import(walk: &mut Walk, node: NodeId) {
    let Some(path) = walk.child(node, "path") else {
        return;
    };
    let module = walk.text_of(path).trim_matches(['"', '`']).to_owned();
    let name = walk.child(node, "name").map(|name| walk.text_of(name).into_owned());
    let (kind, alias) = match name.as_deref() {
        Some(".") => (ImportKind::Star, None),
        Some("_") => (ImportKind::Module, None),
        Some(name) => (ImportKind::Module, Some(name.to_owned())),
        None => (ImportKind::Module, Some(package_name(&module))),
    };
    let module = walk.builder.owned_name(module);
    let alias = alias.map(|alias| walk.builder.owned_name(alias));
    let line = walk.tree.line(node);
    walk.push_import(Import { scope: 0, module, level: 0, member: None, alias, kind, line, type_only: false });
}

/// Returns the likely name of a package: the last component of its path without version and `go-`.
fn package_name(module: &str) -> String {
    let is_version = |part: &str| part.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
    let mut parts = module.rsplit('/');
    let mut last = parts.next().unwrap_or(module);
    if is_version(last) {
        last = parts.next().unwrap_or(last);
    }
    if let Some((name, version)) = last.rsplit_once('.')
        && is_version(version)
    {
        last = name;
    }
    let bare = last.strip_prefix("go-").unwrap_or(last);
    let bare = bare.strip_suffix("-go").or_else(|| bare.strip_suffix(".go")).unwrap_or(bare);
    bare.to_owned()
}

/// `var a, b T = x, y`: each name has its own value, or its position of a single one.
fn variables(walk: &mut Walk, node: NodeId) {
    let annotation = walk.child(node, "type").map(|node| walk.annotation(node));
    let value_list = walk.child(node, "value");
    let values: Vec<NodeId> = value_list.map_or_else(Vec::new, |list| walk.contents(list).collect());
    for &value in &values {
        walk.read(value);
    }
    let names: Vec<NodeId> = walk.contents(node).filter(|&name| walk.kind_name(name) == "identifier").collect();
    let line = walk.tree.line(node);
    for (position, &name) in names.iter().enumerate() {
        let (kind, value) = match values[..] {
            [only] if names.len() > 1 => (BindingKind::Unpack(position.min(u16::MAX.into()) as u16), Some(only)),
            _ => (BindingKind::Assign, values.get(position).copied()),
        };
        let value = value.map(|value| walk.expression(value));
        walk.bind(name, BindingDraft { kind, value, annotation, line });
    }
}

/// `for key, value := range x`: the value is the result of indexing, for lists and for maps.
fn range(walk: &mut Walk, key: NodeId, value: NodeId, binding: BindingDraft) {
    let element = binding.value.map(|base| {
        let index = walk.builder.literal(LiteralType::Int);
        walk.builder.expr(Expr::Index { base, index })
    });
    let draft = BindingDraft { kind: BindingKind::Assign, ..binding };
    walk.bind(key, BindingDraft { value: None, ..draft });
    walk.bind(value, BindingDraft { value: element, ..draft });
}

/// Returns whether an assignment has the comma-ok form: `v, ok := m[k]`, `x.(T)`, `<-c`.
fn is_comma_ok(walk: &Walk, value: Option<ExprId>) -> bool {
    value.is_some_and(|value| match *walk.builder.get(value) {
        Expr::Index { .. } => true,
        // A type assertion. A composite literal is a single value.
        Expr::Call { new, .. } => new,
        _ => false,
    })
}

/// `switch t := x.(type)`: in a case with a single type the name has that type, in others that of the value.
fn type_switch(walk: &mut Walk, node: NodeId) {
    let Some(name) = walk.child(node, "alias").and_then(|list| walk.contents(list).next()) else {
        return;
    };
    let plain = walk.name_of(name);
    let value = walk.child(node, "value").map(|value| walk.expression(value));
    for case in walk.contents(node).collect::<Vec<_>>() {
        if !matches!(walk.kind_name(case), "type_case" | "default_case") {
            continue;
        }
        let types: Vec<NodeId> = walk.in_field(case, "type").filter(|&node| walk.bytes_of(node) != b",").collect();
        let types: Vec<ExprId> = types.into_iter().map(|node| walk.annotation(node)).collect();
        let (annotation, value) = match types[..] {
            [only] => (Some(only), None),
            _ => (None, value),
        };
        let own = walk.local_name(plain, case);
        let target = walk.builder.name_expr(own);
        let line = walk.tree.line(case);
        walk.push_binding(target, BindingDraft { kind: BindingKind::Assign, value, annotation, line });
    }
}

/// `func (s *Set[T]) Add(x T)`: the receiver's type binds `T`.
fn receiver_arguments(walk: &mut Walk, node: NodeId) {
    let Some(list) = walk.child(node, "receiver") else {
        return;
    };
    let end = walk.tree.node(list).next;
    let inside = (list..end).filter(|&part| walk.kind_name(part) == "type_arguments");
    for arguments in inside.collect::<Vec<_>>() {
        let names: Vec<NodeId> = (arguments..walk.tree.node(arguments).next)
            .filter(|&part| walk.kind_name(part) == "type_identifier")
            .collect();
        for name in names {
            walk.claim_read(name);
            let (line, name) = (walk.tree.line(name), walk.name_of(name));
            walk.bind_name(name, None, line);
        }
    }
}

/// `(n int, err error)` as a result binds its names.
fn named_results(walk: &mut Walk, node: NodeId) {
    let Some(list) = walk.child(node, "result") else {
        return;
    };
    let declarations: Vec<NodeId> = walk.contents(list).collect();
    for declaration in declarations {
        let annotation = walk.child(declaration, "type").map(|node| walk.type_expression(node));
        let parts: Vec<NodeId> = walk.contents(declaration).collect();
        let line = walk.tree.line(declaration);
        for name in parts.into_iter().filter(|&part| walk.tree.is_leaf(part)) {
            if walk.kind_name(name) == "identifier" {
                let name = walk.name_of(name);
                walk.bind_name(name, annotation, line);
            }
        }
    }
}

/// Returns the type of a result list: the only type, or a tuple with one type per name.
fn results(walk: &mut Walk, list: NodeId) -> ExprId {
    let mut items = Vec::new();
    let declarations: Vec<NodeId> = walk.contents(list).collect();
    for declaration in declarations {
        let Some(declared) = walk.child(declaration, "type") else {
            continue;
        };
        let names = walk.contents(declaration).filter(|&part| walk.kind_name(part) == "identifier").count();
        let item = walk.type_expression(declared);
        items.extend(std::iter::repeat_n(item, names.clamp(1, 64)));
    }
    match items[..] {
        [] => walk.builder.literal(LiteralType::None),
        [only] => only,
        _ => walk.builder.expr(Expr::Elements { kind: LiteralType::Tuple, items, keys: Vec::new() }),
    }
}

/// Returns the expression of `make(T, n)`.
fn made(walk: &mut Walk, node: NodeId) -> Option<ExprId> {
    let function = walk.child(node, "function")?;
    if walk.bytes_of(function) != b"make" {
        return None;
    }
    let list = walk.child(node, "arguments")?;
    let made = walk.contents(list).next()?;
    let declared = walk.annotation(made);
    Some(value_of(walk, declared, Vec::new()))
}

/// Returns the expression of `[]T{a, b}`, `map[K]V{k: a}`.
fn container(walk: &mut Walk, node: NodeId) -> ExprId {
    let declared = walk.child(node, "type").map_or(UNKNOWN, |node| walk.annotation(node));
    let elements: Vec<NodeId> = walk.child(node, "body").map_or_else(Vec::new, |body| walk.contents(body).collect());
    let mut items = Vec::new();
    for element in elements.into_iter().take(MAX_ELEMENTS) {
        let value = walk.child(element, "value").unwrap_or(element);
        let item = walk.expression(value);
        if !matches!(walk.builder.get(item), Expr::Unknown | Expr::Literal(_)) {
            items.push(item);
        }
    }
    value_of(walk, declared, items)
}

/// Builds a value of a type. Containers hold the given items, or a new value of their element type if there are none.
fn value_of(walk: &mut Walk, declared: ExprId, mut items: Vec<ExprId>) -> ExprId {
    match walk.builder.get(declared).clone() {
        Expr::Unknown => UNKNOWN,
        Expr::Generic { base, args } if walk.builder.is_container(base) => {
            let kind = if args.len() > 1 { LiteralType::Dict } else { LiteralType::List };
            if items.is_empty()
                && let Some(&element) = args.last()
            {
                items.push(value_of(walk, element, Vec::new()));
            }
            walk.builder.expr(Expr::Elements { kind, items, keys: Vec::new() })
        }
        _ => walk.builder.expr(Expr::Call { callee: declared, args: Vec::new(), new: true }),
    }
}
