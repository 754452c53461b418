//! `Cargo.toml`.

use super::reader::Reader;
use super::toml_text::{Toml, Value};
use atlas_facts::{Dependency, Purpose, SettingKind};

const TABLES: [(&str, Purpose); 5] = [
    ("dependencies", Purpose::Runtime),
    ("dev-dependencies", Purpose::Development),
    ("dev_dependencies", Purpose::Development),
    ("build-dependencies", Purpose::Build),
    ("build_dependencies", Purpose::Build),
];

/// Reads a `Cargo.toml`.
pub fn read(reader: &mut Reader, text: &str) {
    let document = match Toml::parse(text) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    let text_at = |path: &[&str]| document.get(path).and_then(Value::text).unwrap_or_default().to_owned();
    reader.manifest.name = text_at(&["package", "name"]);
    reader.manifest.version = text_at(&["package", "version"]);
    let library = [text_at(&["lib", "name"]), text_at(&["lib", "path"])];
    if library.iter().any(|text| !text.is_empty()) {
        let [name, path] = library;
        reader.set(SettingKind::Library, &name, if path.is_empty() { Vec::new() } else { vec![path] });
    }
    for (table, purpose) in TABLES {
        for (name, value) in document.get(&[table]).map(Value::members).unwrap_or_default() {
            reader.add(dependency(name, value, purpose));
        }
    }
    for (target, tables) in document.get(&["target"]).map(Value::members).unwrap_or_default() {
        for (table, purpose) in TABLES {
            for (name, value) in tables.get(table).map(Value::members).unwrap_or_default() {
                reader.add(dependency(name, value, purpose).of_group(target));
            }
        }
    }
    let shared = document.get(&["workspace", "dependencies"]).map(Value::members).unwrap_or_default();
    reader.manifest.managed.extend(shared.into_iter().map(|(name, value)| dependency(name, value, Purpose::Runtime)));
}

fn dependency(name: &str, value: Value, purpose: Purpose) -> Dependency {
    let text = |key: &str| value.text_of(key).unwrap_or_default();
    let range = match value.text() {
        Some(range) => range,
        None if text("version").is_empty() => text("git"),
        None => text("version"),
    };
    let mut found = Dependency::new(name, range, purpose, value.line());
    name.clone_into(&mut found.key);
    let package = text("package");
    if !package.is_empty() {
        (found.import, found.name) = (name.to_owned(), package.to_owned());
    }
    found.path = text("path").to_owned();
    found.inherited = value.get("workspace").is_some_and(Value::is_true);
    if value.get("optional").is_some_and(Value::is_true) && purpose == Purpose::Runtime {
        found.purpose = Purpose::Optional;
    }
    found
}
