//! Elements that assignments and calls store in a variable: `d["key"] = x`, `xs.append(x)`, `d.update(other)`.

use std::borrow::Cow;

use smallvec::smallvec;

use crate::entity::{Entity, Value, Values, merge};
use crate::project::names::{EMPTY, Sym};
use crate::project::query::Query;
use crate::resolve::reaching::Reached;
use crate::resolve::tables::{Content, MAX_ELEMENTS, read};
use atlas_facts::{Binding, DefId, Expr, ExprId, KEY_MARK, SLICE};

/// Largest number of places that store elements in one variable and are read.
const MAX_STORES: usize = 64;

/// The key of an element, and of one within it.
type Path<'t> = (Cow<'t, str>, Option<Cow<'t, str>>);

impl Query<'_> {
    /// Adds to the values of a variable what this file stores in it: `d["key"] = x`, `xs.append(x)`. At a place that is
    /// reached in order, an element is what was stored last under its key.
    pub(super) fn with_stores(&self, values: Values, scope: DefId, name: Sym, at: Option<Reached>) -> Values {
        let stores = self.file.stores(scope, name);
        if stores.is_empty() || stores.len() > MAX_STORES || !values.iter().any(|value| is_container(value.entity)) {
            return values;
        }
        let facts = self.file.facts();
        let mut content: Content = Vec::new();
        let mut replaced: Vec<Path> = Vec::new();
        let mut is_map = false;
        let mut is_open = false;
        for &(_, _, binding) in stores {
            let binding = &facts.bindings[binding as usize];
            let own = at.filter(|_| binding.scope == scope);
            if own.is_some_and(|at| binding.line < at.since) {
                continue;
            }
            let (elements, is_keyed) = self.stored_elements(binding);
            is_map |= is_keyed;
            is_open |= elements.iter().any(|(_, held)| held.is_empty()) && is_unknown(self, binding);
            for (path, stored) in elements {
                let is_certain = own.is_some_and(|at| at.is_certain(binding));
                let (key, inner) = path.clone();
                if is_certain && self.is_one_key(&key) && inner.as_ref().is_none_or(|inner| self.is_one_key(inner)) {
                    content = self.without(content, std::slice::from_ref(&path));
                    replaced.push(path);
                }
                content.push((key, stored));
            }
        }
        let mut combined = self.combined(values, is_map, content, &replaced);
        if is_open && combined.iter().any(|value| value.entity != Entity::Builtin(EMPTY)) {
            merge(&mut combined, smallvec![Value::unknown()]);
        }
        combined
    }

    /// Returns whether a key can only mean one element: in Python, `1` and `"1"` are two.
    pub(super) fn is_one_key(&self, key: &str) -> bool {
        let is_number = key.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        !key.is_empty()
            && !key.starts_with(KEY_MARK)
            && (!is_number || self.file.rules.prototypes && !key.starts_with('-'))
    }

    /// Leaves out the elements at some paths.
    fn without<'t>(&self, content: Content<'t>, paths: &[Path]) -> Content<'t> {
        let mut kept = content;
        kept.retain(|(key, _)| !paths.iter().any(|(path, inner)| path == key && inner.is_none()));
        for (key, values) in &mut kept {
            for (_, inner) in paths.iter().filter(|(path, _)| path == key) {
                *values = self.flat_map(std::mem::take(values), |value| match value.entity {
                    Entity::Table(table) => {
                        let content = read(self, self.text(table).get(1..).unwrap_or("")).into_iter();
                        let others = content.filter(|(known, _)| inner.as_deref() != Some(known));
                        self.table(self.is_map(table), others.map(|(key, values)| (key.into(), values)).collect())
                    }
                    _ => smallvec![value],
                });
            }
        }
        kept
    }

    /// Returns the elements that a binding stores, and whether it names them.
    fn stored_elements(&self, binding: &Binding) -> (Vec<(Path<'_>, Values)>, bool) {
        if let Some(source) = self.spread_source(binding) {
            let values = self.with_depth(|| self.eval(source, binding.scope, binding.line.saturating_sub(1)));
            let held = self.flat_map(values, |value| self.held(value));
            if let [Value { entity: Entity::Table(table), .. }] = held[..]
                && self.is_map(table)
            {
                let content = read(self, self.text(table).get(1..).unwrap_or("")).into_iter();
                return (content.map(|(key, values)| ((key.into(), None), values)).collect(), true);
            }
        }
        let (key, stored, is_keyed) = self.stored_element(binding);
        let outer = match *self.file.expr(binding.target) {
            Expr::Index { base, .. } | Expr::Attribute { base, .. } => self.file.expr(base),
            _ => &Expr::Unknown,
        };
        match *outer {
            Expr::Index { index, .. } => {
                let outer = self.key_of(index).unwrap_or_default();
                let held = match stored.is_empty() {
                    true => stored,
                    false => self.table(is_keyed, vec![(key.clone(), self.holdable(stored))]),
                };
                (vec![((outer.into(), Some(key)), held)], true)
            }
            _ => (vec![((key, None), stored)], is_keyed),
        }
    }

    /// Returns the container whose elements a call stores: `d.update(other)`.
    fn spread_source(&self, binding: &Binding) -> Option<ExprId> {
        let Expr::Index { base, index: 0 } = *self.file.expr(binding.value?) else { return None };
        let Expr::Call { callee, .. } = *self.file.expr(base) else { return None };
        match *self.file.expr(callee) {
            Expr::Attribute { base: source, name } if self.file.text(name) == SLICE => Some(source),
            _ => None,
        }
    }

    /// Returns key and values of an element that a binding stores, and whether it names the element.
    pub(super) fn stored_element(&self, binding: &Binding) -> (Cow<'_, str>, Values, bool) {
        let index = match *self.file.expr(binding.target) {
            Expr::Index { index, .. } => index,
            Expr::Attribute { name, .. } => {
                let value = binding.value.map(|value| self.eval(value, binding.scope, binding.line.saturating_sub(1)));
                return (self.file.text(name).into(), value.unwrap_or_default(), true);
            }
            _ => return ("".into(), Values::new(), false),
        };
        let values = match binding.value {
            Some(value) => self.with_depth(|| self.eval(value, binding.scope, binding.line.saturating_sub(1))),
            None => Values::new(),
        };
        let key = self.key_at(index, binding.scope, binding.line).unwrap_or_default();
        (key, values, index != 0)
    }

    /// Returns the table of one stored element, which another file publishes.
    pub(super) fn single(&self, key: &str, values: Values, is_map: bool) -> Values {
        self.container(is_map, vec![(key.into(), values)])
    }

    /// Combines the containers among the values, without the elements of some keys, and further elements to one.
    pub(super) fn combined(&self, values: Values, mut is_map: bool, more: Content, replaced: &[Path]) -> Values {
        let mut content: Content = Vec::new();
        let mut others = Values::new();
        for value in values {
            let class = match value.entity {
                Entity::Table(table) => {
                    is_map |= self.is_map(table);
                    let inner = read(self, self.text(table).get(1..).unwrap_or(""));
                    let inner = inner.into_iter().map(|(key, values)| (key.to_owned().into(), values)).collect();
                    content.extend(self.without(inner, replaced));
                    continue;
                }
                Entity::Elements(class) => class,
                Entity::Mapped(class) => {
                    is_map = true;
                    class
                }
                Entity::Builtin(EMPTY) => continue,
                _ => {
                    others.push(value);
                    continue;
                }
            };
            content.push(("".into(), smallvec![Value { entity: Entity::Instance(class), ..value }]));
        }
        content.extend(more);
        content.truncate(MAX_ELEMENTS);
        let mut combined = self.container(is_map, content);
        merge(&mut combined, others);
        combined
    }
}

/// Returns whether a binding stores something other than a literal.
fn is_unknown(query: &Query, binding: &Binding) -> bool {
    let value = binding.value.map(|value| query.file.expr(value));
    value.is_some_and(|value| !matches!(value, Expr::Literal(_) | Expr::Key(_)))
}

/// Returns whether a value may be a container that elements are stored in.
fn is_container(entity: Entity) -> bool {
    matches!(
        entity,
        Entity::Table(_)
            | Entity::Elements(_)
            | Entity::Mapped(_)
            | Entity::Builtin(EMPTY)
            | Entity::ExternalInstance(_)
    )
}
