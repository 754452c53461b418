//! TOML with positions: a thin view of the values of the `toml` crate with their lines.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::reader::Lines;

/// A TOML document.
pub struct Toml<'a> {
    lines: Lines,
    table: DeTable<'a>,
}

/// A value of a document.
#[derive(Clone, Copy)]
pub struct Value<'v> {
    lines: &'v Lines,
    value: &'v DeValue<'v>,
    at: usize,
}

impl<'a> Toml<'a> {
    /// Parses a document.
    ///
    /// # Errors
    /// The line and the reason.
    pub fn parse(text: &'a str) -> Result<Toml<'a>, (u32, String)> {
        let lines = Lines::of(text);
        match DeTable::parse(text) {
            Ok(table) => Ok(Toml { lines, table: table.into_inner() }),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                Err((lines.line(at), format!("no TOML: {}", error.message())))
            }
        }
    }

    /// Returns the value at a path of keys.
    pub fn get<'v>(&'v self, path: &[&str]) -> Option<Value<'v>> {
        let (first, rest) = path.split_first()?;
        let (key, value) = self.table.get_key_value(*first)?;
        // The lifetime of the values is shortened to that of the borrow.
        let found = Value { lines: &self.lines, value: value.get_ref(), at: key.span().start };
        rest.iter().try_fold(found, |value, key| value.get(key))
    }

    /// Returns keys and values of the document in source order.
    pub fn members(&self) -> Vec<(&str, Value<'_>)> {
        in_order(&self.table, &self.lines)
    }
}

impl<'v> Value<'v> {
    pub fn get(self, key: &str) -> Option<Value<'v>> {
        let (name, value) = self.value.as_table()?.get_key_value(key)?;
        Some(self.inner(name.span().start, value))
    }

    /// Returns keys and values of a table in source order.
    pub fn members(self) -> Vec<(&'v str, Value<'v>)> {
        self.value.as_table().map(|table| in_order(table, self.lines)).unwrap_or_default()
    }

    pub fn items(self) -> Vec<Value<'v>> {
        let Some(array) = self.value.as_array() else { return Vec::new() };
        array.iter().map(|value| self.inner(value.span().start, value)).collect()
    }

    pub fn text(self) -> Option<&'v str> {
        self.value.as_str()
    }

    /// Returns the text of a member.
    pub fn text_of(self, key: &str) -> Option<&'v str> {
        self.get(key)?.text()
    }

    pub fn is_true(self) -> bool {
        self.value.as_bool() == Some(true)
    }

    pub fn line(self) -> u32 {
        self.lines.line(self.at)
    }

    fn inner(self, at: usize, value: &'v Spanned<DeValue<'v>>) -> Value<'v> {
        Value { lines: self.lines, value: value.get_ref(), at }
    }
}

fn in_order<'v>(table: &'v DeTable<'v>, lines: &'v Lines) -> Vec<(&'v str, Value<'v>)> {
    let member = |(key, value): (&'v Spanned<std::borrow::Cow<'v, str>>, &'v Spanned<DeValue<'v>>)| {
        let value = Value { lines, value: value.get_ref(), at: key.span().start };
        (key.get_ref().as_ref(), value)
    };
    let mut members: Vec<(&str, Value)> = table.iter().map(member).collect();
    members.sort_by_key(|(_, value)| value.at);
    members
}
