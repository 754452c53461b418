//! Composer: `composer.json` and `composer.lock`.

use super::json::Json;
use super::reader::{Lines, Reader};
use atlas_facts::{Dependency, Purpose};

/// Reads a `composer.json`. Names without a vendor are the platform (`php`, `ext-json`), which is no package.
pub fn read(reader: &mut Reader, text: &str) {
    let lines = Lines::of(text);
    let document = match Json::parse(text, &lines) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    reader.manifest.name = document.text_of("name").unwrap_or_default();
    reader.manifest.version = document.text_of("version").unwrap_or_default();
    for (table, purpose) in [("require", Purpose::Runtime), ("require-dev", Purpose::Development)] {
        for (name, range, line) in document.get(table).map(Json::members).unwrap_or_default() {
            match range.text() {
                Some(range) if name.contains('/') => reader.add(Dependency::new(&name, &range, purpose, line)),
                Some(_) => {}
                None => reader.problem(line, "the version is no text"),
            }
        }
    }
}

/// Reads a `composer.lock`.
pub fn read_lock(reader: &mut Reader, text: &str) {
    let lines = Lines::of(text);
    let document = match Json::parse(text, &lines) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    for table in ["packages", "packages-dev"] {
        for package in document.get(table).map(Json::items).unwrap_or_default() {
            let name = package.text_of("name").unwrap_or_default();
            reader.lock(&name, &package.text_of("version").unwrap_or_default(), package.line());
        }
    }
}
