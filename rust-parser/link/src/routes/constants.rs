//! Values of constants in paths: of the project's constants, the literal in their signature.

use crate::entity::Entity;
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
        for part in parts {
            let part = self.index.strings.find(part)?;
            values = self.flat_map(values, |value| self.attribute(value, part));
        }
        let symbol = values.iter().find_map(|value| match value.entity {
            Entity::Definition(symbol) if value.via != Strategy::UniqueName => Some(symbol),
            _ => None,
        })?;
        self.literal_of(symbol)
    }

    /// Returns the string in the definition of a constant.
    pub(crate) fn literal_of(&self, symbol: SymbolId) -> Option<String> {
        let place = self.index.symbols.get(symbol);
        if place.def == FILE_NODE || !matches!(self.kind(symbol), Kind::Constant | Kind::Field) {
            return None;
        }
        let file = self.index.file(place.file);
        let signature = file.text(file.def(place.def).signature);
        let value = signature.split_once('=')?.1.trim().trim_end_matches(';').trim_start_matches('r');
        let quote = value.chars().next().filter(|letter| "\"'`".contains(*letter))?;
        let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then(|| match inner.contains("(?") {
            true => template_of(inner),
            false => inner.to_owned(),
        })
    }
}
