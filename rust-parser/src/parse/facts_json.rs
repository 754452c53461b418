//! Facts as JSON for tests and debugging: strings resolved, expressions written like source.

use std::fmt::Write;

use crate::facts::{BindingKind, DefId, Definition, Expr, ExprId, FileFacts, ParamKind, flags};

/// Nesting of an expression that is written; deeper parts are `...`.
const MAX_DEPTH: u32 = 24;

/// Bits of `Definition::flags` by name, in the order written.
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
];

/// All facts of a file.
pub fn render(facts: &FileFacts) -> String {
    let view = View { facts };
    let mut object = Object::new();
    object.text("path", &facts.path);
    object.text("language", &facts.language);
    object.text("module", &facts.module);
    object.text("scope_rule", &format!("{:?}", facts.scope_rule));
    object.raw("size", facts.size);
    object.raw("lines", facts.lines);
    object.raw("is_test", facts.is_test);
    object.raw("is_generated", facts.is_generated);
    object.list("definitions", facts.definitions.iter().map(|d| view.definition(d)));
    object.list("imports", (0..facts.imports.len()).map(|n| view.import(n)));
    object.list("references", (0..facts.references.len()).map(|n| view.reference(n)));
    object.list("bindings", (0..facts.bindings.len()).map(|n| view.binding(n)));
    object.list(
        "problems",
        facts.problems.iter().map(|problem| {
            let mut object = Object::new();
            object.raw("line", problem.line);
            object.text("code", &problem.code);
            object.text("message", &problem.message);
            object.end()
        }),
    );
    object.end()
}

struct View<'a> {
    facts: &'a FileFacts,
}

impl View<'_> {
    fn string(&self, name: u32) -> &str {
        self.facts.strings.get(name as usize).unwrap_or_default()
    }

    fn path_of(&self, definition: DefId) -> &str {
        self.string(self.facts.definitions[definition as usize].path)
    }

    fn definition(&self, definition: &Definition) -> String {
        let mut object = Object::new();
        object.text("kind", &format!("{:?}", definition.kind));
        object.text("name", self.string(definition.name));
        object.text("path", self.string(definition.path));
        object.text("parent", self.path_of(definition.parent));
        object.list(
            "flags",
            FLAG_NAMES.iter().filter(|(bit, _)| definition.flags & bit != 0).map(|(_, name)| quoted(name)),
        );
        object.raw("start_byte", definition.start_byte);
        object.raw("end_byte", definition.end_byte);
        object.raw("start_line", definition.start_line);
        object.raw("end_line", definition.end_line);
        object.raw("name_line", definition.name_line);
        object.text("signature", self.string(definition.signature));
        object.text("docstring", self.string(definition.docstring));
        for (key, digest) in [
            ("signature_digest", definition.signature_digest),
            ("body_digest", definition.body_digest),
            ("docstring_digest", definition.docstring_digest),
            ("text_digest", definition.text_digest),
        ] {
            object.text(key, &format!("{digest:016x}"));
        }
        object.list("decorators", self.expressions(&definition.decorators));
        object.list("bases", self.expressions(&definition.bases));
        object.list(
            "params",
            definition.params.iter().map(|param| {
                let mut object = Object::new();
                object.text("name", self.string(param.name));
                object.text("kind", param_kind(param.kind));
                object.optional("annotation", param.annotation.map(|id| self.expr(id)));
                object.optional("default", param.default.map(|id| self.expr(id)));
                object.end()
            }),
        );
        object.optional("declared_type", definition.declared_type.map(|id| self.expr(id)));
        object.end()
    }

    fn expressions<'a>(&'a self, ids: &'a [ExprId]) -> impl Iterator<Item = String> + 'a {
        ids.iter().map(|&id| quoted(&self.expr(id)))
    }

    fn import(&self, number: usize) -> String {
        let import = &self.facts.imports[number];
        let mut object = Object::new();
        object.text("scope", self.path_of(import.scope));
        object.text("kind", &format!("{:?}", import.kind));
        object.text("module", self.string(import.module));
        object.raw("level", import.level);
        object.optional("member", import.member.map(|name| self.string(name).into()));
        object.optional("alias", import.alias.map(|name| self.string(name).into()));
        object.raw("line", import.line);
        object.raw("type_only", import.type_only);
        object.end()
    }

    fn reference(&self, number: usize) -> String {
        let reference = &self.facts.references[number];
        let mut object = Object::new();
        object.text("scope", self.path_of(reference.scope));
        object.text("kind", &format!("{:?}", reference.kind));
        object.text("expr", &self.expr(reference.expr));
        object.raw("line", reference.line);
        object.end()
    }

    fn binding(&self, number: usize) -> String {
        let binding = &self.facts.bindings[number];
        let kind = match binding.kind {
            BindingKind::Unpack(position) => format!("Unpack{position}"),
            other => format!("{other:?}"),
        };
        let mut object = Object::new();
        object.text("scope", self.path_of(binding.scope));
        object.text("kind", &kind);
        object.text("target", &self.expr(binding.target));
        object.optional("annotation", binding.annotation.map(|id| self.expr(id)));
        object.optional("value", binding.value.map(|id| self.expr(id)));
        object.raw("line", binding.line);
        object.end()
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
            Expr::Name(name) => out.push_str(self.string(*name)),
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
            Expr::Elements { kind, items } => {
                let _ = write!(out, "{}", format!("{kind:?}").to_lowercase());
                self.write_list(items, ("[", ", ", "]"), out, depth);
            }
            Expr::Generic { base, args } => {
                self.write(*base, out, depth + 1);
                self.write_list(args, ("<", ", ", ">"), out, depth);
            }
            Expr::TypeUnion(items) => self.write_list(items, ("", " | ", ""), out, depth),
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

/// A JSON object being written.
struct Object {
    text: String,
}

impl Object {
    fn new() -> Self {
        Object { text: String::from("{") }
    }

    fn raw(&mut self, key: &str, value: impl std::fmt::Display) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        let _ = write!(self.text, "\"{key}\":{value}");
    }

    fn text(&mut self, key: &str, value: &str) {
        self.raw(key, quoted(value));
    }

    fn optional(&mut self, key: &str, value: Option<String>) {
        match value {
            Some(value) => self.text(key, &value),
            None => self.raw(key, "null"),
        }
    }

    fn list(&mut self, key: &str, items: impl Iterator<Item = String>) {
        let items: Vec<String> = items.collect();
        self.raw(key, format_args!("[{}]", items.join(",")));
    }

    fn end(mut self) -> String {
        self.text.push('}');
        self.text
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
