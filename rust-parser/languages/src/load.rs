//! Reads the folder of a language: `language.toml`, merged with the folders that it includes. Errors name the file, the
//! key and the allowed values.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::plain::read_formats;
use super::{Settings, SharedSettings};

const SETTINGS_FILE: &str = "language.toml";
const SHARED_FILE: &str = "shared.toml";
const PATTERNS_FILE: &str = "tags.scm";

/// The content of one language's folder.
pub struct LanguageFolder {
    pub path: PathBuf,
    pub settings: Settings,
    /// Pattern files, in order of precedence.
    pub patterns: Vec<PathBuf>,
    /// Concatenated text of all files read.
    pub sources: String,
}

/// Reads the languages of the given roots, in the order of the roots: first their formats, then by folder name. An error
/// names the file.
pub fn read_all(roots: &[String]) -> Result<Vec<LanguageFolder>, String> {
    let mut found = Vec::new();
    for (number, root) in roots.iter().enumerate() {
        let entries = std::fs::read_dir(root).map_err(|error| format!("{root}: {error}"))?;
        let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
        paths.retain(|path| path.join(SETTINGS_FILE).is_file());
        paths.sort();
        found.extend(read_formats(Path::new(root))?);
        for path in paths {
            found.push(LanguageFolder::read(&path, &roots[..=number])?);
        }
    }
    Ok(found)
}

impl LanguageFolder {
    /// Reads a folder below the last of `roots`. Included folders are searched for there, then in earlier roots.
    pub fn read(path: &Path, roots: &[String]) -> Result<LanguageFolder, String> {
        let settings_path = path.join(SETTINGS_FILE);
        let mut sources = read(&settings_path)?;
        let own: Settings = parse(&settings_path, &sources)?;
        let mut table: Table = parse(&settings_path, &sources)?;
        let mut patterns = vec![path.join(PATTERNS_FILE)];
        let mut folders = vec![path.to_owned()];
        for name in &own.include {
            let folder = included(roots, name).ok_or_else(|| missing(&settings_path, roots, name))?;
            let shared_path = folder.join(SHARED_FILE);
            if shared_path.is_file() {
                let text = read(&shared_path)?;
                parse::<SharedSettings>(&shared_path, &text)?;
                merge(&mut table, parse(&shared_path, &text)?);
                add_source(&mut sources, &text);
            }
            patterns.extend(Some(folder.join(PATTERNS_FILE)).filter(|path| path.is_file()));
            folders.push(folder);
        }
        check_modules(&settings_path, &table)?;
        let mut settings: Settings =
            table.try_into().map_err(|error| format!("{}: {error}", settings_path.display()))?;
        settings.scope.rule.ok_or_else(|| {
            format!("{}: scope.rule is missing (file, directory, declared or document)", settings_path.display())
        })?;
        settings.builtins = words(&folders, "builtins.txt", &mut sources)?;
        settings.standard = words(&folders, "standard.txt", &mut sources)?;
        settings.common_methods = words(&folders, "common_methods.txt", &mut sources)?;
        Ok(LanguageFolder { path: path.to_owned(), settings, patterns, sources })
    }
}

/// Returns the folder of an included name, from the last root that has it.
fn included(roots: &[String], name: &str) -> Option<PathBuf> {
    let is_plain = !name.is_empty() && !name.contains(['/', '\\']) && name != "." && name != "..";
    let folders = roots.iter().rev().map(|root| Path::new(root).join(name));
    is_plain.then(|| folders.into_iter().find(|folder| folder.is_dir())).flatten()
}

fn missing(path: &Path, roots: &[String], name: &str) -> String {
    format!("{}: include: no folder {name:?} in {}", path.display(), roots.join(", "))
}

/// Checks that each key of `[modules]` applies to its rule.
fn check_modules(path: &Path, table: &Table) -> Result<(), String> {
    let Some(Value::Table(modules)) = table.get("modules") else { return Ok(()) };
    let rule = modules.get("rule").and_then(Value::as_str).unwrap_or("declared");
    let known: super::ModuleRule =
        Value::from(rule).try_into().map_err(|error| format!("{}: modules.rule: {error}", path.display()))?;
    match modules.keys().find(|key| !known.keys().contains(&key.as_str())) {
        Some(key) => Err(format!(
            "{}: modules.{key} says nothing for the rule {rule:?} (its keys: {})",
            path.display(),
            known.keys().join(", ")
        )),
        None => Ok(()),
    }
}

/// Merges shared settings into a language's own: tables merge, lists are concatenated, and the language's other values
/// take precedence.
fn merge(own: &mut Table, shared: Table) {
    for (key, value) in shared {
        match (own.get_mut(&key), value) {
            (Some(Value::Table(own)), Value::Table(shared)) => merge(own, shared),
            (Some(Value::Array(own)), Value::Array(shared)) => own.extend(shared),
            (Some(_), _) => {}
            (None, value) => drop(own.insert(key, value)),
        }
    }
}

/// Returns the words of the files with this name in the given folders, separated by white space. Lines that begin with
/// `#` are comments.
fn words(folders: &[PathBuf], name: &str, sources: &mut String) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for path in folders.iter().map(|folder| folder.join(name)).filter(|path| path.is_file()) {
        let text = read(&path)?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        words.extend(lines.flat_map(str::split_whitespace).map(str::to_owned));
        add_source(sources, &text);
    }
    Ok(words)
}

/// Reads a TOML text. The error names the file.
pub(super) fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the text of a file. The error names the file.
pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Appends the text of a file to the concatenated sources.
pub fn add_source(sources: &mut String, text: &str) {
    sources.push('\0');
    sources.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_settings_take_precedence_over_shared_ones() {
        let mut own: Table = toml::from_str("[link]\nwrappers = ['A']\nfamily = 'own'").unwrap();
        let shared = "[link]\nwrappers = ['B']\nfamily = 'shared'\noverloads = true\n[search]\nwords = ['w']";
        merge(&mut own, toml::from_str(shared).unwrap());
        let merged = "[link]\nwrappers = ['A', 'B']\nfamily = 'own'\noverloads = true\n[search]\nwords = ['w']";
        assert_eq!(own, toml::from_str(merged).unwrap());
    }

    #[test]
    fn a_key_of_another_rule_is_rejected() {
        let check = |text: &str| check_modules(Path::new("x"), &toml::from_str(text).unwrap());
        assert_eq!(check("[modules]\nrule = 'folders'\nmanifest = 'go'"), Ok(()));
        let refused = check("[modules]\nindex = 'mod'").unwrap_err();
        assert_eq!(
            refused,
            "x: modules.index says nothing for the rule \"declared\" \
             (its keys: rule, external, outer, kind, whole_names, manifest, global_imports)"
        );
    }
}
