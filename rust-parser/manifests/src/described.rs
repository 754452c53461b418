//! A dependency that a table describes, as Poetry and Pipenv write it.

use super::toml_text::Value;
use atlas_facts::{Dependency, Purpose};

/// Returns a dependency that a table describes, as Poetry and Pipenv write it.
pub fn described(name: &str, value: Value, purpose: Purpose) -> Dependency {
    let text = |key: &str| value.text_of(key);
    let address = text("git").or_else(|| text("url"));
    let path = text("path").or_else(|| text("file")).unwrap_or_default();
    let range = value.text().or_else(|| text("version")).or(address).unwrap_or(path);
    let mut found = Dependency::new(name, range, purpose, value.line());
    found.path = path.to_owned();
    found.marker = text("markers").unwrap_or_default().to_owned();
    found
}
