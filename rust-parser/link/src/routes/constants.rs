//! Values of constants in paths: of the project's constants, the literal in their signature.

use crate::entity::{Entity, Value, Values};
use crate::project::names::{FILE_NODE, SymbolId};
use crate::project::query::Query;
use crate::strategy::Strategy;
use atlas_facts::route_path::{has_constant, join, template_of, with_constants};
use atlas_facts::{DefId, Detection, Kind};

impl Query<'_> {
    /// Returns the path of a detection with the values of its constants; `None` if nothing of it is known.
    pub(super) fn known_path(&self, detection: &Detection) -> Option<String> {
        let text = self.file.text(detection.path);
        if !has_constant(text) {
            return Some(text.to_owned());
        }
        let path = with_constants(text, |name| self.constant_text(name, detection.scope, detection.line))?;
        Some(join("", &path.replace("//", "/")))
    }

    /// Returns the string that a constant holds.
    pub(super) fn constant_text(&self, name: &str, scope: DefId, line: u32) -> Option<String> {
        let mut parts = name.split('.');
        let first = self.index.strings.find(parts.next()?)?;
        let mut values = self.resolve_name(scope, first, line)?;
        let certain = |values: &[Value]| {
            values.iter().find_map(|value| match value.entity {
                Entity::Definition(symbol) if value.via != Strategy::UniqueName => Some(symbol),
                _ => None,
            })
        };
        while let Some(part) = parts.next() {
            let found = match self.index.strings.find(part) {
                Some(name) => self.flat_map(values.clone(), |value| self.attribute(value, name)),
                None => Values::new(),
            };
            // the members of an object literal are in its text only
            if certain(&found).is_none() && parts.clone().next().is_none() {
                return member_of(self.value_text(certain(&values)?)?, part).map(str::to_owned);
            }
            values = found;
        }
        self.literal_of(certain(&values)?)
    }

    /// Returns what stands behind the `=` in the definition of a constant.
    fn value_text(&self, symbol: SymbolId) -> Option<&str> {
        let place = self.index.symbols.get(symbol);
        if place.def == FILE_NODE || !matches!(self.kind(symbol), Kind::Constant | Kind::Field) {
            return None;
        }
        let file = self.index.file(place.file);
        Some(file.text(file.def(place.def).signature).split_once('=')?.1.trim())
    }

    /// Returns the string in the definition of a constant.
    pub(crate) fn literal_of(&self, symbol: SymbolId) -> Option<String> {
        let value = self.value_text(symbol)?.trim_end_matches(';').trim_start_matches('r');
        let quote = value.chars().next().filter(|letter| "\"'`".contains(*letter))?;
        let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then(|| match inner.contains("(?") {
            true => template_of(inner),
            false => inner.to_owned(),
        })
    }
}

/// Returns the text that an object literal has under a key: `{ production: false, url: "/api" }`.
fn member_of<'t>(object: &'t str, key: &str) -> Option<&'t str> {
    let mut rest = object.strip_prefix('{')?;
    let mut depth = 0_u32;
    let mut last = "";
    while let Some(at) = rest.find(|letter: char| "{}[](),:\"'`".contains(letter)) {
        let before = rest[..at].trim();
        let sign = rest[at..].chars().next()?;
        rest = &rest[at + 1..];
        match sign {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth = depth.checked_sub(1)?,
            ',' => last = "",
            ':' if depth == 0 => last = if before.is_empty() { last } else { before },
            '"' | '\'' | '`' => {
                let end = rest.find(sign)?;
                let text = &rest[..end];
                rest = &rest[end + 1..];
                let follows = rest.trim_start();
                if depth == 0 && last == key && before.is_empty() && (follows.starts_with([',', '}'])) {
                    return (!text.contains(['\\', '$'])).then_some(text);
                }
                if depth == 0 && before.is_empty() && follows.starts_with(':') {
                    last = text;
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::member_of;

    #[test]
    fn members_of_objects_are_texts_under_their_key() {
        let text =
            "{ production: false, url: 'http://localhost/api', 'v-1': \"/v1\", in: { url: '/in' }, ts: a + '/b' }";
        assert_eq!(member_of(text, "url"), Some("http://localhost/api"));
        assert_eq!(member_of(text, "v-1"), Some("/v1"));
        assert_eq!(member_of(text, "production"), None);
        assert_eq!(member_of(text, "ts"), None);
        assert_eq!(member_of("{ in: { url: '/in' } }", "url"), None);
        assert_eq!(member_of("{ url: '/a' + b }", "url"), None);
        assert_eq!(member_of("['url', '/a']", "url"), None);
        assert_eq!(member_of("{ url: '/a", "url"), None);
    }
}
