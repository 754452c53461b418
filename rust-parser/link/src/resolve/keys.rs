//! Keys of elements: literals, and names that stand for them.

use std::borrow::Cow;

use crate::entity::{Entity, Value};
use crate::project::file_entry::{Bound, FileEntry, NameEntry};
use crate::project::names::{Sym, SymbolId};
use crate::project::query::Query;
use atlas_facts::{BindingKind, DefId, Expr, ExprId, KEY_MARK, Kind};

/// Largest number of names in a path that is a key.
const MAX_SEGMENTS: usize = 4;

impl<'q> Query<'q> {
    /// Returns the key that an index or argument states: its text, or [`KEY_MARK`] and the constant that it names if the
    /// text of the constant is unknown.
    pub(crate) fn key_at(&self, expr: ExprId, scope: DefId, line: u32) -> Option<Cow<'q, str>> {
        match *self.file.expr(expr) {
            Expr::Key(key) => Some(self.file.text(key).into()),
            Expr::Name(name) => self.named_key(self.file.sym(name), scope, line),
            Expr::Attribute { .. } => {
                let mut names = Vec::new();
                let first = self.path_of(expr, &mut names)?;
                self.path_key(first, &names, scope, line)
            }
            _ => None,
        }
    }

    /// Returns the same for a key as displays write it.
    pub(super) fn stated_key(&self, key: &'q str, scope: DefId, line: u32) -> Cow<'q, str> {
        let Some(path) = key.strip_prefix(KEY_MARK) else { return key.into() };
        let mut names = path.split('.').map(|name| self.index.strings.find(name));
        let first = names.next().flatten();
        let rest: Option<Vec<Sym>> = names.collect();
        let found = first.zip(rest).and_then(|(first, rest)| match &rest[..] {
            [] => self.named_key(first, scope, line),
            rest => self.path_key(first, rest, scope, line),
        });
        found.unwrap_or_default()
    }

    /// Returns the first name of a path, and adds the others.
    fn path_of(&self, expr: ExprId, names: &mut Vec<Sym>) -> Option<Sym> {
        match *self.file.expr(expr) {
            Expr::Name(name) => Some(self.file.sym(name)),
            Expr::Attribute { base, name } if names.len() < MAX_SEGMENTS => {
                let first = self.path_of(base, names)?;
                names.push(self.file.sym(name));
                Some(first)
            }
            _ => None,
        }
    }

    /// Returns the key that a name stands for: a variable of one text, or a constant.
    fn named_key(&self, name: Sym, scope: DefId, line: u32) -> Option<Cow<'q, str>> {
        let mut here = scope;
        while here != 0 && self.file.entries(here, name).is_empty() {
            here = self.file.outline(here).parent;
        }
        let entries = self.file.entries(here, name);
        if let Some(key) = literal_of(self.file, entries) {
            return Some(key.into());
        }
        if entries.iter().any(|entry| matches!(entry.bound, Bound::Parameter(_))) {
            return None;
        }
        let values = self.resolve_name(scope, name, line)?;
        self.constant_of(&values).map(|constant| self.constant_key(constant))
    }

    /// Returns the key that a member stands for.
    fn path_key(&self, first: Sym, rest: &[Sym], scope: DefId, line: u32) -> Option<Cow<'q, str>> {
        let mut values = self.resolve_name(scope, first, line)?;
        for (at, &name) in rest.iter().enumerate() {
            let [value] = values[..] else { return None };
            let members = self.attribute(value, name);
            if self.constant_of(&members).is_none() && members.iter().all(|member| !is_owner(member)) {
                // A text that an object holds.
                let Entity::Definition(owner) = value.entity else { return None };
                let path: Vec<&str> = rest[at..].iter().map(|&name| self.text(name)).collect();
                return Some(self.symbolic(owner, &path.join(".")));
            }
            values = members;
        }
        self.constant_of(&values).map(|constant| self.constant_key(constant))
    }

    fn constant_of(&self, values: &[Value]) -> Option<SymbolId> {
        match values {
            [Value { entity: Entity::Definition(symbol), .. }]
                if matches!(self.kind(*symbol), Kind::Constant | Kind::Field) =>
            {
                Some(*symbol)
            }
            _ => None,
        }
    }

    fn constant_key(&self, constant: SymbolId) -> Cow<'q, str> {
        let (file, definition) = self.definition(constant);
        let (_, entries) = self.entries(file.symbols[definition.parent as usize], definition.name);
        match literal_of(file, entries) {
            Some(key) => key.into(),
            None => self.symbolic(constant, ""),
        }
    }

    fn symbolic(&self, owner: SymbolId, member: &str) -> Cow<'q, str> {
        let text = format!("{KEY_MARK}{} {member}", self.text(self.index.qualified_name(owner)));
        // What separates elements.
        if text.contains(['=', ';', '(', ')', ',']) { "".into() } else { text.into() }
    }
}

fn is_owner(value: &Value) -> bool {
    matches!(value.entity, Entity::Definition(_) | Entity::Package(_) | Entity::Folder(_))
}

/// Returns the text of a name that holds this text everywhere.
fn literal_of<'f>(file: &'f FileEntry, entries: &[NameEntry]) -> Option<&'f str> {
    let mut found = None;
    for entry in entries {
        match entry.bound {
            Bound::Definition(_) => {}
            Bound::Binding(binding) => {
                let binding = &file.facts().bindings[binding as usize];
                let key = binding.value.filter(|_| binding.kind == BindingKind::Assign).map(|value| file.expr(value));
                let Some(&Expr::Key(key)) = key else { return None };
                let text = file.text(key);
                if found.is_some_and(|known| known != text) {
                    return None;
                }
                found = Some(text);
            }
            _ => return None,
        }
    }
    found
}
