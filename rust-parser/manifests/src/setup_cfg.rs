//! `setup.cfg` of setuptools: `[options]` and `[options.extras_require]`.

use super::reader::Reader;
use super::requirement;
use atlas_facts::{IncludeKind, Purpose, SettingKind};

/// Reads a `setup.cfg`.
pub fn read(reader: &mut Reader, text: &str) {
    let (mut section, mut key) = (String::new(), String::new());
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        let is_continued = line.starts_with([' ', '\t']);
        if is_continued {
            add_value(reader, &section, &key, bare, number);
        } else if let Some(name) = bare.strip_prefix('[') {
            let Some(name) = name.strip_suffix(']') else {
                reader.problem(number, "no section");
                continue;
            };
            (section, key) = (name.trim().to_owned(), String::new());
        } else if let Some((name, value)) = bare.split_once(['=', ':']) {
            key = name.trim().to_owned();
            add_value(reader, &section, &key, value.trim(), number);
        } else {
            reader.problem(number, "neither a key nor a section");
        }
    }
}

fn add_value(reader: &mut Reader, section: &str, key: &str, value: &str, line: u32) {
    let value = value.split(" #").next().unwrap_or(value).trim();
    if value.is_empty() {
        return;
    }
    let (purpose, group) = match (section, key) {
        ("metadata", "name") => return reader.manifest.name = value.to_owned(),
        ("metadata", "version") => return reader.manifest.version = value.to_owned(),
        ("options.packages.find" | "options.packages.find_namespace", "where") => {
            return reader.set(SettingKind::Base, "", vec![value.to_owned()]);
        }
        // `=src`
        ("options", "package_dir") => {
            if let Some(("", folder)) = value.split_once('=').map(|(name, folder)| (name.trim(), folder.trim())) {
                reader.set(SettingKind::Base, "", vec![folder.to_owned()]);
            }
            return;
        }
        ("options", "install_requires") => (Purpose::Runtime, ""),
        ("options", "setup_requires") => (Purpose::Build, ""),
        ("options", "tests_require") => (Purpose::Development, "tests"),
        ("options.extras_require", extra) => (Purpose::Optional, extra),
        _ => return,
    };
    if let Some(file) = value.strip_prefix("file:") {
        return reader.include(file.trim(), IncludeKind::Dependencies, line);
    }
    // A list on one line is separated by `;` only where no marker follows: each line is one requirement.
    match requirement::read(value, purpose, line) {
        Some(found) => reader.add(found.of_group(group)),
        None if value.contains("%(") => {}
        None => reader.problem(line, "no requirement"),
    }
}
