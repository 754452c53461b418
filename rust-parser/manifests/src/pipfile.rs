//! Pipenv's `Pipfile` and `Pipfile.lock`.

use super::described::described;
use super::json::Json;
use super::reader::{Lines, Reader};
use super::toml_text::{Toml, Value};
use atlas_facts::Purpose;

/// Tables that are not groups of packages.
const OTHER_TABLES: [&str; 4] = ["source", "requires", "scripts", "pipenv"];

/// Reads a `Pipfile`.
pub fn read(reader: &mut Reader, text: &str) {
    let document = match Toml::parse(text) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    for (group, packages) in document.members().into_iter().filter(|(name, _)| !OTHER_TABLES.contains(name)) {
        let (purpose, group) = match group {
            "packages" => (Purpose::Runtime, ""),
            "dev-packages" => (Purpose::Development, "dev"),
            other => (Purpose::Optional, other),
        };
        for (name, value) in Value::members(packages) {
            reader.add(described(name, value, purpose).of_group(group));
        }
    }
}

/// Reads a `Pipfile.lock`.
pub fn read_lock(reader: &mut Reader, text: &str) {
    let lines = Lines::of(text);
    let document = match Json::parse(text, &lines) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    for (group, packages, _) in document.members() {
        if group == "_meta" {
            continue;
        }
        for (name, package, line) in packages.members() {
            let version = package.text_of("version").unwrap_or_default();
            reader.lock(&name, version.trim_start_matches('='), line);
        }
    }
}
