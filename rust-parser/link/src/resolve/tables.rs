//! Containers whose elements are known one by one: displays, what is stored in them, and what calls take from them.
//!
//! The content of a table is one interned text, so that a value remains small and can be published: `m` for a mapping
//! or `l`, then for each element its key (empty if unknown), `=`, its values and `;`. A value is a letter and a number;
//! a nested table stands in parentheses.

use std::borrow::Cow;
use std::fmt::Write;

use smallvec::smallvec;

use crate::entity::{Entity, MAX_VALUES, Value, Values, merge};
use crate::project::file_entry::{is_callable, is_class};
use crate::project::names::{EMPTY, Sym, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::{Arg, DefId, ELEMENTS, Expr, ExprId, KEY_MARK, Kind, LiteralType};

/// Largest number of elements of a table; with more, they are unknown.
pub(super) const MAX_ELEMENTS: usize = 256;
/// Largest depth of tables within tables.
const MAX_NESTED: usize = 3;

/// The elements of a table, each with its key or "".
pub(super) type Content<'t> = Vec<(Cow<'t, str>, Values)>;

impl Query<'_> {
    /// Returns the value of a display.
    pub(super) fn display(
        &self,
        (kind, items, keys): (LiteralType, &[ExprId], &[u32]),
        scope: DefId,
        line: u32,
    ) -> Values {
        let is_map = kind == LiteralType::Dict;
        let mut is_ordered = matches!(kind, LiteralType::List | LiteralType::Tuple);
        let mut content: Content = Vec::new();
        for (at, &item) in items.iter().enumerate().take(MAX_ELEMENTS) {
            is_ordered &= !matches!(*self.file.expr(item), Expr::Index { index: 0, .. });
            let key = match keys.get(at) {
                Some(&key) => self.stated_key(self.file.text(key), scope, line),
                None if is_ordered => (at + usize::from(self.file.rules.counts_from_one)).to_string().into(),
                None => "".into(),
            };
            if is_map && self.is_one_key(&key) {
                content.retain(|(known, _)| *known != key);
            }
            content.push((key, self.with_depth(|| self.eval(item, scope, line))));
        }
        self.container(is_map, content)
    }

    /// Returns a container of values: of one class, a table, or one of unknown elements.
    pub(super) fn container(&self, is_map: bool, mut content: Content) -> Values {
        for (_, values) in &mut content {
            *values = self.holdable(std::mem::take(values));
        }
        content.retain(|(_, values)| !values.is_empty());
        let mut all = content.iter().flat_map(|(_, values)| values);
        let class = match all.next() {
            None => return smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)],
            Some(Value { entity: Entity::Instance(class), .. }) => Some(*class),
            Some(_) => None,
        };
        if let Some(class) = class
            && all.all(|value| value.entity == Entity::Instance(class))
        {
            let entity = if is_map { Entity::Mapped(class) } else { Entity::Elements(class) };
            return smallvec![Value::new(entity, Strategy::LocalType)];
        }
        self.table(is_map, content)
    }

    pub(super) fn table(&self, is_map: bool, mut content: Content) -> Values {
        content.retain(|(_, values)| !values.is_empty());
        if content.is_empty() {
            return smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)];
        }
        let mut text = String::from(if is_map { "m" } else { "l" });
        for (key, values) in &content {
            text.push_str(key);
            text.push('=');
            for value in values {
                match value.entity {
                    Entity::Table(inner) if depth_of(self.text(inner)) < MAX_NESTED => {
                        let _ = write!(text, "({})", self.text(inner));
                    }
                    entity => {
                        if let Some((letter, number)) = coded(entity) {
                            let _ = write!(text, "{letter}{number},");
                        }
                    }
                }
            }
            text.push(';');
        }
        smallvec![Value::new(Entity::Table(self.index.strings.intern(&text)), Strategy::LocalType)]
    }

    /// Returns what a container can hold of the values: variables stand for what they hold.
    pub(crate) fn holdable(&self, values: Values) -> Values {
        let mut kept = Values::new();
        for value in values {
            let held = match value.entity {
                Entity::Definition(symbol) => match self.kind(symbol) {
                    Kind::Constant | Kind::Field | Kind::Property => {
                        let held = self.held(value).into_iter();
                        held.filter(|held| held.entity != value.entity).collect::<Values>()
                    }
                    _ => smallvec![value],
                },
                _ => smallvec![value],
            };
            merge(&mut kept, held.into_iter().filter(|value| self.is_holdable(value.entity)).collect());
        }
        kept
    }

    fn is_holdable(&self, entity: Entity) -> bool {
        match entity {
            Entity::Definition(symbol) => {
                let kind = self.kind(symbol);
                is_class(kind) || is_callable(kind) && kind != Kind::Property
            }
            entity => matches!(entity, Entity::Table(_)) || coded(entity).is_some(),
        }
    }

    /// Returns the elements of a table with a key; all that may be meant if the key is unknown.
    pub(crate) fn selected(&self, table: Sym, key: Option<&str>) -> Values {
        let content = read(self, self.text(table).get(1..).unwrap_or(""));
        let count = content.len();
        let wanted = match key {
            Some(key) if key.starts_with('-') && !self.is_map(table) => {
                let back: usize = key[1..].parse().unwrap_or(0);
                Some(count.checked_sub(back).map_or(String::new(), |at| at.to_string()))
            }
            key => key.map(str::to_owned),
        };
        let mut values = Values::new();
        let is_named = |key: &str| key.starts_with(KEY_MARK);
        let is_exact = wanted.as_ref().is_some_and(|wanted| content.iter().any(|(known, _)| known == wanted));
        for (known, held) in content {
            // What a name stands for may be the other key.
            let fits = known.is_empty()
                || wanted
                    .as_ref()
                    .is_none_or(|wanted| *wanted == known || !is_exact && (is_named(known) || is_named(wanted)));
            if fits {
                merge(&mut values, held);
            }
        }
        if values.len() > MAX_VALUES { Values::new() } else { values }
    }

    /// Returns the elements of a value from a position on, as a container; other values are their own parts.
    pub(super) fn sliced(&self, value: Value, from: Option<&str>) -> Values {
        let from: Option<usize> = from.and_then(|from| from.parse().ok());
        self.flat_map(self.held(value), |held| {
            let Entity::Table(table) = held.entity else { return smallvec![held] };
            if self.is_map(table) {
                return smallvec![held];
            }
            let content = read(self, self.text(table).get(1..).unwrap_or("")).into_iter();
            let content = content.filter_map(|(key, values)| match (key.parse::<usize>(), from) {
                (Ok(at), Some(from)) => Some((at.checked_sub(from)?.to_string().into(), values)),
                _ => Some(("".into(), values)),
            });
            self.container(false, content.collect())
        })
    }

    pub(super) fn is_map(&self, table: Sym) -> bool {
        self.text(table).starts_with('m')
    }

    /// Returns the element of a value with a key, as [`Query::element`] does where the key says nothing.
    pub(crate) fn element_at(&self, value: Value, key: Option<&str>) -> Values {
        match value.entity {
            Entity::Table(table) => self.selected(table, key),
            Entity::Definition(symbol)
                if matches!(self.kind(symbol), Kind::Constant | Kind::Field | Kind::Property) =>
            {
                let held = self.stored_values(symbol).into_iter().filter(|held| held.entity != value.entity);
                let held: Values = held.collect();
                let found = self.with_depth(|| self.flat_map(held, |held| self.element_at(held, key)));
                if found.is_empty() && self.file.rules.prototypes { self.member_at(value, key) } else { found }
            }
            Entity::Instance(class) if key.is_some() && self.is_typed_mapping(class) => {
                let member = self.index.strings.intern(key.unwrap_or(""));
                let members = self.attribute(value, member);
                self.flat_map(members, |member| self.held(member))
            }
            Entity::Instance(_) if self.file.rules.prototypes && key.is_some_and(is_member_name) => {
                let members = self.member_at(value, key);
                if members.is_empty() { self.element(value, false) } else { members }
            }
            _ => self.element(value, false),
        }
    }

    /// Returns the member of an object that a literal key names.
    fn member_at(&self, value: Value, key: Option<&str>) -> Values {
        let Some(key) = key.filter(|key| is_member_name(key)) else { return Values::new() };
        let members = self.attribute(value, self.index.strings.intern(key)).into_iter();
        members.filter(|member| matches!(member.entity, Entity::Definition(_))).collect()
    }

    /// Returns whether the fields of a class are the elements of a mapping (`TypedDict`).
    fn is_typed_mapping(&self, class: SymbolId) -> bool {
        self.ancestors(class).iter().any(|ancestor| match *ancestor {
            Entity::External(external) => {
                let (package, name) = self.index.externals.name(external);
                let dotted = format!("{}.{}", self.text(package), self.text(name));
                self.file.rules.typed_mappings.contains(&dotted)
            }
            _ => false,
        })
    }

    /// Returns the value of `table.name` where objects are tables.
    pub(super) fn property(&self, table: Sym, name: Sym) -> Values {
        let mut found = Values::new();
        if self.is_map(table) {
            let content = read(self, self.text(table).get(1..).unwrap_or("")).into_iter();
            // What a map of unknown keys holds is none of its methods.
            let is_open = !is_map_method(self.text(name));
            let named = content.filter(|(key, _)| key.is_empty() && is_open || *key == self.text(name));
            named.for_each(|(_, values)| merge(&mut found, values));
        }
        if found.len() > MAX_VALUES {
            found.clear();
        }
        if found.is_empty() { smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)] } else { found }
    }

    /// Returns the literal key of an index or argument.
    pub(crate) fn key_of(&self, expr: ExprId) -> Option<&str> {
        match *self.file.expr(expr) {
            Expr::Key(key) => Some(self.file.text(key)),
            _ => None,
        }
    }

    /// Returns the elements that iterating over a table gives; `None` for the keys of a mapping.
    pub(super) fn table_elements(&self, table: Sym) -> Values {
        if self.is_map(table) { Values::new() } else { self.selected(table, None) }
    }

    /// Returns the result of a method of a table: `d.get("key")`, `d.values()`, `xs.pop()`.
    pub(super) fn table_call(
        &self,
        receiver: Value,
        name: Sym,
        args: &[Arg],
        (scope, line): (DefId, u32),
    ) -> Option<Values> {
        let rules = &self.file.rules;
        let table = match receiver.entity {
            Entity::Table(table) => table,
            Entity::Instance(class) if rules.element_getters.contains(&name) && self.is_typed_mapping(class) => {
                let key = args.first().and_then(|arg| self.key_at(arg.value, scope, line));
                return Some(self.element_at(receiver, key.as_deref()));
            }
            Entity::Definition(symbol) if matches!(self.kind(symbol), Kind::Constant | Kind::Field) => {
                let held = self.held(receiver);
                let is_table = |value: &Value| matches!(value.entity, Entity::Table(_));
                if !held.iter().any(is_table) {
                    return None;
                }
                let results = held.into_iter().filter_map(|held| self.table_call(held, name, args, (scope, line)));
                let mut values = Values::new();
                results.for_each(|found| merge(&mut values, found));
                return Some(values);
            }
            _ => return None,
        };
        if rules.same_methods.contains(&name) && !rules.element_getters.contains(&name)
            || rules.pair_views.contains(&name)
        {
            return Some(smallvec![receiver]);
        }
        if rules.prototypes && self.text(name) == "next" {
            return Some(self.step_of(self.selected(table, None)));
        }
        if rules.element_getters.contains(&name) {
            let key = args.first().and_then(|arg| self.key_at(arg.value, scope, line));
            let mut values = self.selected(table, key.as_deref());
            if let Some(default) = args.get(1) {
                merge(&mut values, self.holdable(self.eval(default.value, scope, line)));
            }
            return Some(values);
        }
        if rules.element_views.contains(&name) {
            if self.text(name) == "copy" {
                return Some(smallvec![receiver]);
            }
            return Some(self.container(false, vec![("".into(), self.selected(table, None))]));
        }
        Some(smallvec![Value::new(Entity::Builtin(EMPTY), Strategy::Local)])
    }

    /// Returns what `iterator.next()` gives in languages with prototypes: an object whose `value` is an element.
    pub(super) fn step_of(&self, elements: Values) -> Values {
        self.table(true, vec![("value".into(), self.holdable(elements))])
    }

    /// Returns the functions with which a container is made: `new List<Action> { F }`.
    pub(super) fn made_with_elements(
        &self,
        callee: ExprId,
        args: &[Arg],
        (scope, line): (DefId, u32),
    ) -> Option<Values> {
        let filling = args.last().filter(|arg| arg.keyword.is_some_and(|word| self.file.text(word) == ELEMENTS))?;
        let base = match *self.file.expr(callee) {
            Expr::Generic { base, .. } => base,
            _ => callee,
        };
        if self.eval(base, scope, line).iter().any(|value| matches!(value.entity, Entity::Definition(_))) {
            return None;
        }
        let values = self.eval(filling.value, scope, line);
        matches!(values[..], [Value { entity: Entity::Table(_), .. }]).then_some(values)
    }

    /// Returns the mapping or the set that `new Map([[key, value]])` and `new Set([value])` make.
    pub(super) fn filled_container(&self, callee: ExprId, args: &[Arg], (scope, line): (DefId, u32)) -> Option<Values> {
        if !self.file.rules.prototypes {
            return None;
        }
        let (Expr::Name(name), [filling]) = (self.file.expr(callee), args) else { return None };
        let is_map = match self.file.text(*name) {
            "Map" | "WeakMap" => true,
            "Set" | "WeakSet" => false,
            _ => return None,
        };
        let values = self.eval(callee, scope, line);
        if values.iter().any(|value| matches!(value.entity, Entity::Definition(_))) {
            return None;
        }
        if !is_map {
            let values = self.eval(filling.value, scope, line);
            let elements = self.flat_map(values, |value| self.element(value, true));
            return Some(self.container(false, vec![("".into(), elements)]));
        }
        let Expr::Elements { items, .. } = self.file.expr(filling.value) else {
            return Some(self.eval(filling.value, scope, line));
        };
        let pairs = items.iter().take(MAX_ELEMENTS).filter_map(|&item| match self.file.expr(item) {
            Expr::Elements { items, .. } if items.len() == 2 => {
                let key = self.key_at(items[0], scope, line).unwrap_or_default();
                Some((key, self.eval(items[1], scope, line)))
            }
            _ => None,
        });
        Some(self.container(true, pairs.collect()))
    }

    /// Returns pairs of position and element, as a mapping.
    pub(super) fn as_pairs(&self, value: Value) -> Values {
        self.flat_map(self.held(value), |held| {
            let elements = self.element(held, true);
            if elements.is_empty() { Values::new() } else { self.container(true, vec![("".into(), elements)]) }
        })
    }

    /// Returns a container of unnamed elements.
    pub(crate) fn container_with(&self, elements: Values) -> Values {
        self.container_of_kind(false, elements)
    }

    pub(super) fn container_of_kind(&self, is_map: bool, elements: Values) -> Values {
        self.container(is_map, vec![("".into(), elements)])
    }

    /// Returns a tuple with the values of each position.
    pub(super) fn tuple_of(&self, positions: Vec<Values>) -> Values {
        let first = positions.iter().find(|values| !values.is_empty()).cloned();
        let is_same = first.is_some_and(|first| positions.iter().all(|values| *values == first));
        let keyed = positions.into_iter().enumerate();
        let content: Content = keyed.map(|(at, values)| (at.to_string().into(), self.holdable(values))).collect();
        if is_same { self.container(false, content) } else { self.table(false, content) }
    }

    /// Returns the mapping that `dict(name=value)` makes.
    pub(super) fn keyword_table(&self, args: &[Arg], scope: DefId, line: u32) -> Values {
        let named = args.iter().take(MAX_ELEMENTS).filter_map(|arg| Some((arg.keyword?, arg.value)));
        let content = named.map(|(key, value)| {
            let key = match self.file.text(key) {
                "*" | "**" => "",
                key => key,
            };
            (key.into(), self.eval(value, scope, line))
        });
        self.container(true, content.collect())
    }
}

/// Returns whether a name is that of a method of maps in languages with prototypes.
pub(super) fn is_map_method(name: &str) -> bool {
    matches!(
        name,
        "get" | "set" | "has" | "delete" | "clear" | "keys" | "forEach" | "entries" | "values" | "add" | "size"
    )
}

/// Returns whether the key of an element may be the name of a member: `x["run"]`.
fn is_member_name(key: &str) -> bool {
    key.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn coded(entity: Entity) -> Option<(char, u32)> {
    match entity {
        Entity::Definition(symbol) => Some(('d', symbol)),
        Entity::Instance(symbol) => Some(('i', symbol)),
        Entity::Elements(symbol) => Some(('e', symbol)),
        Entity::Mapped(symbol) => Some(('m', symbol)),
        Entity::Returning(symbol) => Some(('r', symbol)),
        _ => None,
    }
}

fn depth_of(text: &str) -> usize {
    let (mut depth, mut most) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' => {
                depth += 1;
                most = most.max(depth);
            }
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most + 1
}

/// Reads the elements of a table's text without its first letter.
pub(super) fn read<'t>(query: &Query, text: &'t str) -> Vec<(&'t str, Values)> {
    let mut content = Vec::new();
    let mut rest = text;
    while let Some((key, after)) = rest.split_once('=') {
        let mut values = Values::new();
        rest = after;
        while let Some(first) = rest.chars().next() {
            match first {
                ';' => {
                    rest = &rest[1..];
                    break;
                }
                '(' => {
                    let end = closing(rest);
                    let inner = query.index.strings.intern(&rest[1..end]);
                    values.push(Value::new(Entity::Table(inner), Strategy::Element));
                    rest = &rest[(end + 1).min(rest.len())..];
                }
                letter => {
                    let Some((number, after)) = rest[1..].split_once(',') else { return content };
                    rest = after;
                    let Ok(symbol) = number.parse() else { continue };
                    let entity = match letter {
                        'd' => Entity::Definition(symbol),
                        'i' => Entity::Instance(symbol),
                        'e' => Entity::Elements(symbol),
                        'm' => Entity::Mapped(symbol),
                        _ => Entity::Returning(symbol),
                    };
                    values.push(Value::new(entity, Strategy::Element));
                }
            }
        }
        content.push((key, values));
    }
    content
}

/// Returns the place of the parenthesis that closes the first one.
fn closing(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}
