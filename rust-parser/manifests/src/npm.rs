//! `package.json` and `package-lock.json`.

use super::json::Json;
use super::reader::{Lines, Reader};
use super::scripts::read_literals;
use atlas_facts::{Dependency, Purpose, SettingKind};

/// The tables of dependencies.
const TABLES: [(&str, Purpose); 4] = [
    ("dependencies", Purpose::Runtime),
    ("devDependencies", Purpose::Development),
    ("peerDependencies", Purpose::Peer),
    ("optionalDependencies", Purpose::Optional),
];
/// The fields with the files that a package's name means, those with sources first.
const ENTRIES: [&str; 7] = ["source", "types", "typings", "module", "main", "browser", "react-native"];
/// The conditions that mean sources.
const SOURCES: [&str; 3] = ["source", "development", "src"];
/// Largest number of nested conditions.
const MAX_CONDITIONS: usize = 16;
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
    let terms = document.get("peerDependenciesMeta").map(Json::members).unwrap_or_default();
    for (name, ..) in terms.into_iter().filter(|(_, term, _)| term.get("optional").is_some_and(Json::is_true)) {
        let peers = reader.manifest.dependencies.iter_mut().filter(|one| one.purpose == Purpose::Peer);
        peers.filter(|one| one.name == name).for_each(|one| one.group = "optional".to_owned());
    }
    read_modules(reader, document);
    if ["\"moduleNameMapper\"", "\"alias\"", "\"module-resolver\""].iter().any(|word| text.contains(word)) {
        read_literals(reader, &format!("x={text}"), "");
    }
    // npm takes an optional dependency out of `dependencies`.
    let is_optional = |one: &Dependency| one.purpose == Purpose::Optional;
    let optional: Vec<String> =
        reader.manifest.dependencies.iter().filter(|one| is_optional(one)).map(|one| one.name.clone()).collect();
    reader.manifest.dependencies.retain(|one| one.purpose != Purpose::Runtime || !optional.contains(&one.name));
}

/// Reads what the names of the package and those that begin with `#` mean.
fn read_modules(reader: &mut Reader, document: Json) {
    for (key, kind) in [("exports", SettingKind::Exports), ("imports", SettingKind::Imports)] {
        let Some(table) = document.get(key) else { continue };
        let members = table.members();
        let is_table = members.iter().any(|(name, ..)| name.starts_with(['.', '#']));
        // Conditions or a file alone are about the package itself.
        let entries = if is_table { members } else { vec![(".".into(), table, 0)] };
        for (name, target, _) in entries {
            let mut targets = Vec::new();
            add_targets(target, &mut targets, 0);
            reader.set(kind, &name, targets);
        }
    }
    let entries: Vec<String> = ENTRIES.iter().filter_map(|key| document.text_of(key)).collect();
    if !entries.is_empty() {
        reader.set(SettingKind::Entry, "", entries);
    }
    let has_vue = ["dependencies", "devDependencies"].iter().filter_map(|table| document.get(table));
    if has_vue.into_iter().any(|table| table.get("@vue/cli-service").is_some()) {
        reader.set(SettingKind::Alias, "@/*", vec!["./src/*".to_owned()]);
    }
}

/// Adds the targets of all conditions, those of sources first.
fn add_targets(target: Json, found: &mut Vec<String>, depth: usize) {
    if depth > MAX_CONDITIONS {
        return;
    }
    if let Some(text) = target.text() {
        found.push(text);
        return;
    }
    target.items().into_iter().for_each(|item| add_targets(item, found, depth + 1));
    let mut members = target.members();
    members.sort_by_key(|(name, ..)| !SOURCES.contains(&name.rsplit(['/', ':']).next().unwrap_or(name)));
    members.into_iter().for_each(|(_, value, _)| add_targets(value, found, depth + 1));
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
