//! Renders facts as JSON for tests and debugging: strings resolved, expressions in source notation.

use std::fmt::Write;

use serde_json::{Value, json};

use atlas_facts::{
    Binding, BindingKind, DefId, Definition, Detection, Digest, Expr, ExprId, FileFacts, Handler, Import, LOCAL_MARK,
    Name, Param, ParamKind, Problem, Reference, Relation, flags,
};

/// Largest depth of rendered expressions; deeper parts become `...`.
const MAX_DEPTH: u32 = 24;

/// Names of the bits of `Definition::flags`, in output order.
const FLAG_NAMES: &[(u32, &str)] = &[
    (flags::ASYNC, "async"),
    (flags::STATIC, "static"),
    (flags::CLASS_METHOD, "class_method"),
    (flags::ABSTRACT, "abstract"),
    (flags::DECLARATION, "declaration"),
    (flags::TEST, "test"),
    (flags::EXPORTED, "exported"),
    (flags::DEFAULT_EXPORT, "default"),
    (flags::GENERATOR, "generator"),
    (flags::OVERLOAD, "overload"),
    (flags::CONDITIONAL, "conditional"),
];

/// Returns all facts of a file as JSON.
pub fn render(facts: &FileFacts) -> String {
    let view = View { facts };
    json!({
        "path": facts.path,
        "language": facts.language,
        "module": facts.module,
        "scope_rule": format!("{:?}", facts.scope_rule),
        "size": facts.size,
        "lines": facts.lines,
        "is_test": facts.is_test,
        "is_generated": facts.is_generated,
        "definitions": facts.definitions.iter().map(|one| view.definition(one)).collect::<Vec<_>>(),
        "imports": facts.imports.iter().map(|one| view.import(one)).collect::<Vec<_>>(),
        "references": facts.references.iter().map(|one| view.reference(one)).collect::<Vec<_>>(),
        "bindings": facts.bindings.iter().map(|one| view.binding(one)).collect::<Vec<_>>(),
        "properties": facts.properties.iter().map(|&(id, text)| json!([view.path_of(id), view.string(text)])).collect::<Vec<_>>(),
        "relations": facts.relations.iter().map(|one| view.relation(one)).collect::<Vec<_>>(),
        "detections": facts.detections.iter().map(|one| view.detection(one)).collect::<Vec<_>>(),
        "problems": facts.problems.iter().map(problem).collect::<Vec<_>>(),
    })
    .to_string()
}

fn problem(problem: &Problem) -> Value {
    json!({"line": problem.line, "code": problem.code, "message": problem.message})
}

struct View<'a> {
    facts: &'a FileFacts,
}

impl View<'_> {
    fn string(&self, name: Name) -> &str {
        self.facts.strings.get(name as usize).unwrap_or_default()
    }

    fn path_of(&self, definition: DefId) -> &str {
        self.string(self.facts.definitions[definition as usize].path)
    }

    fn definition(&self, definition: &Definition) -> Value {
        let flags = FLAG_NAMES.iter().filter(|(bit, _)| definition.flags & bit != 0).map(|(_, name)| *name);
        json!({
            "kind": format!("{:?}", definition.kind),
            "name": self.string(definition.name),
            "path": self.string(definition.path),
            "parent": self.path_of(definition.parent),
            "flags": flags.collect::<Vec<_>>(),
            "start_byte": definition.start_byte,
            "end_byte": definition.end_byte,
            "start_line": definition.start_line,
            "end_line": definition.end_line,
            "name_line": definition.name_line,
            "signature": self.string(definition.signature),
            "docstring": self.string(definition.docstring),
            "signature_digest": hex(definition.signature_digest),
            "body_digest": hex(definition.body_digest),
            "docstring_digest": hex(definition.docstring_digest),
            "text_digest": hex(definition.text_digest),
            "decorators": self.expressions(&definition.decorators),
            "bases": self.expressions(&definition.bases),
            "params": definition.params.iter().map(|one| self.param(one)).collect::<Vec<_>>(),
            "declared_type": definition.declared_type.map(|id| self.expr(id)),
        })
    }

    fn relation(&self, relation: &Relation) -> Value {
        json!({
            "kind": format!("{:?}", relation.kind),
            "target": self.string(relation.target),
            "confidence": relation.confidence,
            "properties": self.string(relation.properties),
            "lines": relation.lines,
        })
    }

    fn detection(&self, one: &Detection) -> Value {
        json!({
            "kind": format!("{:?}", one.kind),
            "framework": self.string(one.framework),
            "scope": self.path_of(one.scope),
            "line": one.line,
            "receiver": one.receiver.map(|id| self.expr(id)),
            "holder": format!("{}:{}", self.path_of(one.holder.0), self.string(one.holder.1)),
            "methods": self.string(one.methods),
            "path": self.string(one.path),
            "handler": self.handler(one.handler),
            "child": self.handler(one.child),
        })
    }

    fn handler(&self, handler: Handler) -> String {
        match handler {
            Handler::None => String::new(),
            Handler::Expr(id) => self.expr(id),
            Handler::Definition(id) => format!("<{}>", self.path_of(id)),
            Handler::Text(name) => self.string(name).to_owned(),
        }
    }

    fn param(&self, param: &Param) -> Value {
        json!({
            "name": self.string(param.name),
            "kind": param_kind(param.kind),
            "annotation": param.annotation.map(|id| self.expr(id)),
            "default": param.default.map(|id| self.expr(id)),
        })
    }

    fn expressions(&self, ids: &[ExprId]) -> Vec<String> {
        ids.iter().map(|&id| self.expr(id)).collect()
    }

    fn import(&self, import: &Import) -> Value {
        json!({
            "scope": self.path_of(import.scope),
            "kind": format!("{:?}", import.kind),
            "module": self.string(import.module),
            "level": import.level,
            "member": import.member.map(|name| self.string(name)),
            "alias": import.alias.map(|name| self.string(name)),
            "line": import.line,
            "type_only": import.type_only,
        })
    }

    fn reference(&self, reference: &Reference) -> Value {
        json!({
            "scope": self.path_of(reference.scope),
            "kind": format!("{:?}", reference.kind),
            "expr": self.expr(reference.expr),
            "line": reference.line,
        })
    }

    fn binding(&self, binding: &Binding) -> Value {
        let kind = match binding.kind {
            BindingKind::Unpack(position) => format!("Unpack{position}"),
            other => format!("{other:?}"),
        };
        json!({
            "scope": self.path_of(binding.scope),
            "kind": kind,
            "target": self.expr(binding.target),
            "annotation": binding.annotation.map(|id| self.expr(id)),
            "value": binding.value.map(|id| self.expr(id)),
            "line": binding.line,
        })
    }

    fn expr(&self, id: ExprId) -> String {
        let mut text = String::new();
        self.write(id, &mut text, 0);
        text
    }

    fn write(&self, id: ExprId, out: &mut String, depth: u32) {
        if depth > MAX_DEPTH {
            out.push_str("...");
            return;
        }
        match &self.facts.exprs[id as usize] {
            Expr::Unknown => out.push('?'),
            // Without the number of a variable that is visible in a part of its function only.
            Expr::Name(name) | Expr::Scope(name) => {
                let text = self.string(*name);
                out.push_str(text.rfind(LOCAL_MARK).filter(|&at| at > 0).map_or(text, |at| &text[..at]));
            }
            Expr::This { class } => out.push_str(if *class { "<class>" } else { "<this>" }),
            Expr::Super => out.push_str("<super>"),
            Expr::Attribute { base, name } => {
                self.write(*base, out, depth + 1);
                out.push('.');
                out.push_str(self.string(*name));
            }
            Expr::Call { callee, args, new } => {
                out.push_str(if *new { "new " } else { "" });
                self.write(*callee, out, depth + 1);
                out.push('(');
                for (number, arg) in args.iter().enumerate() {
                    out.push_str(if number > 0 { ", " } else { "" });
                    if let Some(keyword) = arg.keyword {
                        let _ = write!(out, "{}=", self.string(keyword));
                    }
                    self.write(arg.value, out, depth + 1);
                }
                out.push(')');
            }
            Expr::Index { base, index } => {
                self.write(*base, out, depth + 1);
                out.push('[');
                self.write(*index, out, depth + 1);
                out.push(']');
            }
            Expr::Await(inner) => {
                out.push_str("await ");
                self.write(*inner, out, depth + 1);
            }
            Expr::Literal(kind) => {
                let _ = write!(out, "<{}>", format!("{kind:?}").to_lowercase());
            }
            Expr::Lambda(definition) => {
                let _ = write!(out, "<lambda {}>", self.path_of(*definition));
            }
            Expr::OneOf(options) => self.write_list(options, ("<one of ", " or ", ">"), out, depth),
            Expr::Key(name) => {
                let _ = write!(out, "{:?}", self.string(*name));
            }
            Expr::Elements { kind, items, .. } => {
                let _ = write!(out, "{}", format!("{kind:?}").to_lowercase());
                self.write_list(items, ("[", ", ", "]"), out, depth);
            }
            Expr::Generic { base, args } => {
                self.write(*base, out, depth + 1);
                self.write_list(args, ("<", ", ", ">"), out, depth);
            }
            Expr::TypeUnion(items) => self.write_list(items, ("", " | ", ""), out, depth),
            Expr::SuperOf(class) => {
                out.push_str("<super of ");
                self.write(*class, out, depth + 1);
                out.push('>');
            }
        }
    }

    fn write_list(&self, items: &[ExprId], (open, between, close): (&str, &str, &str), out: &mut String, depth: u32) {
        out.push_str(open);
        for (number, &item) in items.iter().enumerate() {
            out.push_str(if number > 0 { between } else { "" });
            self.write(item, out, depth + 1);
        }
        out.push_str(close);
    }
}

fn param_kind(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Normal => "normal",
        ParamKind::Receiver => "receiver",
        ParamKind::Variadic => "variadic",
        ParamKind::Keywords => "keywords",
    }
}

fn hex(digest: Digest) -> String {
    format!("{digest:016x}")
}
