//! `pyproject.toml`: PEP 621, PEP 735 and the tables of Poetry, PDM, Hatch and uv.

use super::poetry;
use super::reader::Reader;
use super::requirement;
use super::toml_text::{Toml, Value};
use atlas_facts::{IncludeKind, Purpose, SettingKind};

/// Largest number of groups that include one another.
const MAX_INCLUDES: usize = 32;

/// Reads a `pyproject.toml`.
pub fn read(reader: &mut Reader, text: &str) {
    let document = match Toml::parse(text) {
        Ok(document) => document,
        Err((line, message)) => return reader.problem(line, &message),
    };
    let text_at = |path: &[&str]| document.get(path).and_then(Value::text).unwrap_or_default().to_owned();
    reader.manifest.name = text_at(&["project", "name"]);
    reader.manifest.version = text_at(&["project", "version"]);
    if let Some(list) = document.get(&["project", "dependencies"]) {
        add_list(reader, list, Purpose::Runtime, "");
    }
    for (extra, list) in members(&document, &["project", "optional-dependencies"]) {
        add_list(reader, list, Purpose::Optional, extra);
    }
    for (group, list) in members(&document, &["dependency-groups"]) {
        let mut around = vec![group];
        add_group(reader, &document, list, group, &mut around);
    }
    if let Some(list) = document.get(&["build-system", "requires"]) {
        add_list(reader, list, Purpose::Build, "");
    }
    if let Some(list) = document.get(&["tool", "uv", "dev-dependencies"]) {
        add_list(reader, list, Purpose::Development, "dev");
    }
    for (group, list) in members(&document, &["tool", "pdm", "dev-dependencies"]) {
        add_list(reader, list, Purpose::Development, group);
    }
    for (name, environment) in members(&document, &["tool", "hatch", "envs"]) {
        for key in ["dependencies", "extra-dependencies"] {
            if let Some(list) = environment.get(key) {
                add_list(reader, list, Purpose::Development, name);
            }
        }
    }
    if let Some(poetry) = document.get(&["tool", "poetry"]) {
        poetry::read(reader, poetry);
    }
    add_dynamic(reader, &document);
    add_sources(reader, &document);
    add_roots(reader, &document);
}

/// Where build back ends and type checkers look for packages: a folder, or a list of folders.
const ROOTS: [&[&str]; 10] = [
    &["setuptools", "package-dir", ""],
    &["setuptools", "packages", "find", "where"],
    &["pdm", "build", "package-dir"],
    &["hatch", "build", "sources"],
    &["hatch", "build", "targets", "wheel", "sources"],
    &["maturin", "python-source"],
    &["uv", "build-backend", "module-root"],
    &["pytest", "ini_options", "pythonpath"],
    &["pyright", "extraPaths"],
    &["mypy", "mypy_path"],
];

/// Adds the folders that names of modules start from.
fn add_roots(reader: &mut Reader, document: &Toml) {
    let texts = |value: Value| -> Vec<String> {
        let items = value.items().into_iter().filter_map(Value::text);
        value.text().into_iter().flat_map(|text| text.split(':')).chain(items).map(str::to_owned).collect()
    };
    let at = |path: &[&str]| document.get(&[&["tool"], path].concat());
    let mut roots: Vec<String> = ROOTS.iter().filter_map(|path| at(path)).flat_map(texts).collect();
    for package in at(&["poetry", "packages"]).map(Value::items).unwrap_or_default() {
        roots.extend(package.text_of("from").map(str::to_owned));
    }
    // `packages = ["src/demo"]`
    for path in [&["hatch", "build", "targets", "wheel", "packages"][..], &["hatch", "build", "packages"]] {
        for package in at(path).map(texts).unwrap_or_default() {
            roots.extend(package.trim_end_matches('/').rsplit_once('/').map(|(folder, _)| folder.to_owned()));
        }
    }
    roots.sort();
    roots.dedup();
    roots.retain(|root| !root.is_empty() && root != ".");
    for root in roots {
        reader.set(SettingKind::Base, "", vec![root]);
    }
}

fn members<'v>(document: &'v Toml, path: &[&str]) -> Vec<(&'v str, Value<'v>)> {
    document.get(path).map(Value::members).unwrap_or_default()
}

/// Adds the requirements of a list.
fn add_list(reader: &mut Reader, list: Value, purpose: Purpose, group: &str) {
    for item in list.items() {
        match item.text().map(|text| (text, requirement::read(text, purpose, item.line()))) {
            Some((_, Some(found))) => reader.add(found.of_group(group)),
            // Hatch refers to folders by variables: `{root:uri}`.
            Some((text, None)) if text.contains('{') => {}
            _ => reader.problem(item.line(), "no requirement"),
        }
    }
}

/// Adds a dependency group with the groups that it includes. `around` holds the groups that led here.
fn add_group<'v>(reader: &mut Reader, document: &'v Toml, list: Value<'v>, group: &str, around: &mut Vec<&'v str>) {
    for item in list.items() {
        let Some(included) = item.text_of("include-group") else {
            match item.text().and_then(|text| requirement::read(text, Purpose::Development, item.line())) {
                Some(found) => reader.add(found.of_group(group)),
                None => reader.problem(item.line(), "no requirement"),
            }
            continue;
        };
        let found = members(document, &["dependency-groups"]).into_iter().find(|(name, _)| is_same(name, included));
        match found {
            _ if around.iter().any(|name| is_same(name, included)) || around.len() > MAX_INCLUDES => {
                reader.problem(item.line(), "the group includes itself");
            }
            Some((name, list)) => {
                around.push(name);
                add_group(reader, document, list, group, around);
                around.pop();
            }
            None => reader.problem(item.line(), "the included group does not exist"),
        }
    }
}

fn is_same(one: &str, other: &str) -> bool {
    let normal = |name: &str| name.to_ascii_lowercase().replace(['_', '.'], "-");
    normal(one) == normal(other)
}

/// Adds the files that setuptools reads dependencies from.
fn add_dynamic(reader: &mut Reader, document: &Toml) {
    let Some(dynamic) = document.get(&["tool", "setuptools", "dynamic"]) else { return };
    let optional = dynamic.get("optional-dependencies").map(Value::members).unwrap_or_default();
    for list in dynamic.get("dependencies").into_iter().chain(optional.into_iter().map(|(_, list)| list)) {
        let Some(file) = list.get("file") else { continue };
        for name in file.text().into_iter().chain(file.items().into_iter().filter_map(Value::text)) {
            reader.include(name, IncludeKind::Dependencies, file.line());
        }
    }
}

/// Adds the folders of packages that uv takes from the repository.
fn add_sources(reader: &mut Reader, document: &Toml) {
    for (name, source) in members(document, &["tool", "uv", "sources"]) {
        let path = source.text_of("path").unwrap_or_default();
        let is_member = source.get("workspace").is_some_and(Value::is_true);
        for one in reader.manifest.dependencies.iter_mut().filter(|one| is_same(&one.name, name)) {
            path.clone_into(&mut one.path);
            one.inherited |= is_member;
        }
    }
}
