//! The patterns of a `tags.scm`, compiled for matching against a flat tree.
//!
//! The syntax is a subset of tree-sitter's queries (every file is also a valid query): nodes with fields, `(_)`, quoted
//! tokens, `[alternatives]`, `?`, `*`, `+`, `!field`, `.` before the first or after the last child, and the predicates
//! `#eq? #not-eq? #any-of? #not-any-of?`. One difference in meaning: a child pattern captures *every* child that it
//! fits, in source order, so that one match collects all decorators, bases or elements of its node. Errors name line
//! and column.

use tree_sitter::Language;

use crate::query::sexpr::{Form, FormKind, read_forms};
use crate::query::vocabulary::{Capture, Role};

/// One compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    pub role: Role,
    pub root: NodePattern,
    pub predicates: Vec<Predicate>,
}

/// The kinds and children of the nodes that match.
#[derive(Debug, Clone)]
pub struct NodePattern {
    pub kinds: Kinds,
    /// Fields that must be empty.
    pub absent: Vec<u16>,
    pub children: Vec<ChildPattern>,
}

/// The node kinds that a pattern matches.
#[derive(Debug, Clone)]
pub enum Kinds {
    /// `(_)`: any named node except comments.
    Named,
    /// `_`: any node.
    Any,
    One(u16),
}

/// A requirement on a node's children.
#[derive(Debug, Clone)]
pub struct ChildPattern {
    pub field: Option<u16>,
    pub optional: bool,
    /// Only the first (or last, or only) named child may match.
    pub first: bool,
    pub last: bool,
    pub captures: Vec<Capture>,
    pub alternatives: Vec<NodePattern>,
}

/// A condition on the text of captured nodes.
#[derive(Debug, Clone)]
pub struct Predicate {
    pub capture: Capture,
    pub values: Vec<Box<str>>,
    /// Whether the text must be one of the values, or must not be.
    pub wanted: bool,
}

/// Compiles a file of patterns, in order.
///
/// # Errors
/// `line:column: message`
pub fn compile(grammar: &Language, source: &str) -> Result<Vec<Pattern>, String> {
    compile_with(grammar, source, Capture::of)
}

/// Compiles patterns with another vocabulary of captures.
///
/// # Errors
/// `line:column: message`
pub fn compile_with(
    grammar: &Language,
    source: &str,
    capture_of: fn(&str) -> Option<Capture>,
) -> Result<Vec<Pattern>, String> {
    let compiler = Compiler { grammar, capture_of };
    let mut patterns = Vec::new();
    let mut forms = read_forms(source)?.into_iter().peekable();
    while let Some(form) = forms.next() {
        let mut captures = Vec::new();
        while let Some(next) = forms.peek() {
            let FormKind::Capture(name) = &next.kind else {
                break;
            };
            captures.push((name.clone(), next.place.clone()));
            forms.next();
        }
        compiler.top_level(&form, &captures, &mut patterns)?;
    }
    Ok(patterns)
}

struct Compiler<'a> {
    grammar: &'a Language,
    capture_of: fn(&str) -> Option<Capture>,
}

impl Compiler<'_> {
    fn top_level(&self, form: &Form, captures: &[(String, String)], patterns: &mut Vec<Pattern>) -> Result<(), String> {
        let mut role = Role::References;
        for (name, place) in captures {
            role = Role::of(name).ok_or_else(|| format!("{place}: @{name} is not a role of a pattern"))?;
        }
        let mut predicates = Vec::new();
        for root in self.alternatives(form, &mut predicates)? {
            patterns.push(Pattern { role, root, predicates: predicates.clone() });
        }
        Ok(())
    }

    fn alternatives(&self, form: &Form, predicates: &mut Vec<Predicate>) -> Result<Vec<NodePattern>, String> {
        match &form.kind {
            FormKind::Alternatives(items) => {
                let mut all = Vec::new();
                for item in items {
                    all.extend(self.alternatives(item, predicates)?);
                }
                Ok(all)
            }
            FormKind::Text(text) => Ok(vec![self.leaf(text, false, &form.place)?]),
            FormKind::Word(word) if word == "_" => {
                Ok(vec![NodePattern { kinds: Kinds::Any, absent: Vec::new(), children: Vec::new() }])
            }
            FormKind::List(items) => self.node(items, &form.place, predicates),
            _ => Err(format!("{}: expected a node", form.place)),
        }
    }

    fn leaf(&self, name: &str, named: bool, place: &str) -> Result<NodePattern, String> {
        let kind = self.grammar.id_for_node_kind(name, named);
        if kind == 0 {
            return Err(format!(
                "{place}: the grammar has no node {}",
                if named { format!("({name})") } else { format!("{name:?}") }
            ));
        }
        Ok(NodePattern { kinds: Kinds::One(kind), absent: Vec::new(), children: Vec::new() })
    }

    /// Compiles `(kind child...)`. A supertype gives one pattern for each of its subtypes.
    fn node(&self, items: &[Form], place: &str, predicates: &mut Vec<Predicate>) -> Result<Vec<NodePattern>, String> {
        let Some(Form { kind: FormKind::Word(name), .. }) = items.first() else {
            return Err(format!("{place}: expected the kind of a node"));
        };
        let mut pattern = if name == "_" {
            NodePattern { kinds: Kinds::Named, absent: Vec::new(), children: Vec::new() }
        } else {
            self.leaf(name, true, place)?
        };
        self.children(&items[1..], &mut pattern, predicates)?;
        match pattern.kinds {
            Kinds::One(kind) if self.grammar.node_kind_is_supertype(kind) => Ok(self
                .grammar
                .subtypes_for_supertype(kind)
                .iter()
                .map(|&subtype| NodePattern { kinds: Kinds::One(subtype), ..pattern.clone() })
                .collect()),
            _ => Ok(vec![pattern]),
        }
    }

    fn children(
        &self,
        items: &[Form],
        pattern: &mut NodePattern,
        predicates: &mut Vec<Predicate>,
    ) -> Result<(), String> {
        let mut field = None;
        let mut first = false;
        for item in items {
            match &item.kind {
                FormKind::Field(name) => field = Some(self.field(name, &item.place)?),
                FormKind::Absent(name) => pattern.absent.push(self.field(name, &item.place)?),
                FormKind::Anchor if pattern.children.is_empty() && !first => first = true,
                FormKind::Anchor => match pattern.children.last_mut() {
                    Some(child) => child.last = true,
                    None => return Err(format!("{}: misplaced `.`", item.place)),
                },
                FormKind::Capture(name) => {
                    let capture =
                        (self.capture_of)(name).ok_or_else(|| format!("{}: unknown capture @{name}", item.place))?;
                    match pattern.children.last_mut() {
                        Some(child) => child.captures.push(capture),
                        None => return Err(format!("{}: misplaced @{name}", item.place)),
                    }
                }
                FormKind::Quantifier(sign) => match pattern.children.last_mut() {
                    Some(child) => child.optional = *sign != '+',
                    None => return Err(format!("{}: misplaced `{sign}`", item.place)),
                },
                FormKind::List(parts) if is_predicate(parts) => {
                    predicates.push(predicate(parts, &item.place, self.capture_of)?);
                }
                _ => {
                    let alternatives = self.alternatives(item, predicates)?;
                    pattern.children.push(ChildPattern {
                        field: field.take(),
                        optional: false,
                        first: std::mem::take(&mut first),
                        last: false,
                        captures: Vec::new(),
                        alternatives,
                    });
                }
            }
        }
        Ok(())
    }

    fn field(&self, name: &str, place: &str) -> Result<u16, String> {
        self.grammar
            .field_id_for_name(name)
            .map(Into::into)
            .ok_or_else(|| format!("{place}: the grammar has no field {name}"))
    }
}

fn is_predicate(parts: &[Form]) -> bool {
    matches!(parts.first(), Some(Form { kind: FormKind::Word(word), .. }) if word.starts_with('#'))
}

fn predicate(parts: &[Form], place: &str, capture_of: fn(&str) -> Option<Capture>) -> Result<Predicate, String> {
    let wanted = match &parts[0].kind {
        FormKind::Word(word) => match word.as_str() {
            "#eq?" | "#any-of?" => true,
            "#not-eq?" | "#not-any-of?" => false,
            other => return Err(format!("{place}: unsupported predicate {other}")),
        },
        _ => return Err(format!("{place}: expected a predicate")),
    };
    let Some(Form { kind: FormKind::Capture(name), .. }) = parts.get(1) else {
        return Err(format!("{place}: expected a capture"));
    };
    let capture = capture_of(name).ok_or_else(|| format!("{place}: unknown capture @{name}"))?;
    let mut values = Vec::new();
    for part in &parts[2..] {
        match &part.kind {
            FormKind::Text(text) => values.push(text.as_str().into()),
            _ => return Err(format!("{}: expected a string", part.place)),
        }
    }
    Ok(Predicate { capture, values, wanted })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::registry::Registry;

    /// tree-sitter also rejects patterns that can never match, which `compile` does not check.
    #[test]
    fn every_file_of_patterns_is_a_query() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../atlas/languages");
        let registry = Registry::load(&[folder.display().to_string()], "", &[]).unwrap();
        assert!(registry.names().len() >= 4);
        for name in registry.names() {
            let language = registry.get(&name).unwrap();
            let Some(grammar) = &language.grammar else { continue };
            let mut parts = vec![name.as_str()];
            parts.extend(language.settings.include.iter().map(String::as_str));
            for part in parts {
                // An included folder may contain only word files.
                let path = folder.join(part).join("tags.scm");
                if part != name && !path.exists() {
                    continue;
                }
                let source = std::fs::read_to_string(path).unwrap();
                if let Err(error) = tree_sitter::Query::new(grammar, &source) {
                    panic!("{name}: {part}/tags.scm: {error}");
                }
            }
        }
    }
}
