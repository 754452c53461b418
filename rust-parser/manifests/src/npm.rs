//! `package.json` and `package-lock.json`.

use super::json::Json;
use super::reader::{Lines, Reader};
use atlas_facts::{Dependency, Purpose};

/// The tables of dependencies.
const TABLES: [(&str, Purpose); 4] = [
    ("dependencies", Purpose::Runtime),
    ("devDependencies", Purpose::Development),
    ("peerDependencies", Purpose::Peer),
    ("optionalDependencies", Purpose::Optional),
];
/// Folder of installed packages.
const INSTALLED: &str = "node_modules/";

/// Reads a `package.json`.
pub fn read(reader: &mut Reader, text: &str) {
    let lines = Lines::of(text);
    let document = match Json::parse(text, &lines) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    reader.manifest.name = document.text_of("name").unwrap_or_default();
    reader.manifest.version = document.text_of("version").unwrap_or_default();
    for (table, purpose) in TABLES {
        let Some(list) = document.get(table) else { continue };
        for (name, value, line) in list.members() {
            let Some(range) = value.text() else {
                reader.problem(line, "the version is no text");
                continue;
            };
            let mut found = Dependency::new(&name, &range, purpose, line);
            let local = ["file:", "link:", "portal:"].iter().find_map(|prefix| range.strip_prefix(prefix));
            found.path = local.unwrap_or_default().to_owned();
            found.inherited = range.starts_with("workspace:");
            reader.add(found);
        }
    }
    // npm takes an optional dependency out of `dependencies`.
    let is_optional = |one: &Dependency| one.purpose == Purpose::Optional;
    let optional: Vec<String> =
        reader.manifest.dependencies.iter().filter(|one| is_optional(one)).map(|one| one.name.clone()).collect();
    reader.manifest.dependencies.retain(|one| one.purpose != Purpose::Runtime || !optional.contains(&one.name));
}

/// Splits `package@range` and `@scope/package@range`.
pub fn split_version(text: &str) -> Option<(&str, &str)> {
    let at = text.get(1..)?.find('@').map(|at| at + 1);
    Some(at.map_or((text, ""), |at| (&text[..at], &text[at + 1..])))
}

/// Reads a `package-lock.json`: the packages installed directly for the project and for its workspaces.
pub fn read_lock(reader: &mut Reader, text: &str) {
    let lines = Lines::of(text);
    let document = match Json::parse(text, &lines) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    if let Some(packages) = document.get("packages") {
        for (place, package, line) in packages.members() {
            let Some((owner, name)) = place.split_once(INSTALLED) else { continue };
            if !name.contains(INSTALLED)
                && let Some(version) = package.text_of("version")
            {
                reader.lock_for(name, &version, owner.trim_end_matches('/'), line);
            }
        }
    } else if let Some(packages) = document.get("dependencies") {
        for (name, package, line) in packages.members() {
            reader.lock(&name, &package.text_of("version").unwrap_or_default(), line);
        }
    }
}
