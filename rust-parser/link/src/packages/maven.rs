//! Maven's inheritance: properties, versions and dependencies of the parents that are in the tree.

use super::declared::{Declared, declaration};
use super::files::{ManifestFile, ManifestFiles};
use crate::project::paths::normalised;
use atlas_facts::{Dependency, IncludeKind, Purpose};

/// Largest number of parents that are followed.
const MAX_PARENTS: usize = 16;
/// Largest number of properties that refer to one another.
const MAX_EXPANSIONS: usize = 16;
/// Longest expanded value in bytes.
const MAX_VALUE_BYTES: usize = 1_000;

/// Returns the dependencies of a `pom.xml` and of its parents, completed and with properties expanded.
pub fn dependencies(files: &ManifestFiles, file: ManifestFile) -> Vec<Declared> {
    let chain = with_parents(files, file);
    let property = |name: &str| {
        let bare = name.strip_prefix("pom.").map(|rest| format!("project.{rest}"));
        let name = bare.as_deref().unwrap_or(name);
        chain.iter().find_map(|one| {
            one.manifest.properties.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone())
        })
    };
    let expand = |text: &str| expanded(text, "${", "}", &property);
    let mut found: Vec<Declared> = Vec::new();
    for source in &chain {
        for one in &source.manifest.dependencies {
            let mut made = declaration(file, *source, one);
            let own = &mut made.dependency;
            own.name = expand(&own.name);
            if own.inherited {
                let mut all = chain.iter().flat_map(|one| &one.manifest.managed);
                let managed = all.find(|managed| expand(&managed.name) == own.name);
                if let Some(managed) = managed {
                    complete(own, managed);
                }
            }
            own.range = expand(&own.range);
            // What the project declares itself takes precedence.
            let is_known = |known: &Declared| known.path != made.path && known.dependency.name == made.dependency.name;
            if !found.iter().any(is_known) {
                found.push(made);
            }
        }
    }
    found
}

/// Returns the name of a project with properties expanded.
pub fn name_of(files: &ManifestFiles, file: ManifestFile) -> String {
    let chain = with_parents(files, file);
    let property = |name: &str| {
        let of = |one: &ManifestFile| {
            one.manifest.properties.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone())
        };
        chain.iter().find_map(of)
    };
    expanded(&file.manifest.name, "${", "}", &property)
}

fn complete(own: &mut Dependency, managed: &Dependency) {
    if own.range.is_empty() {
        own.range.clone_from(&managed.range);
    }
    if own.group.is_empty() && !managed.group.is_empty() {
        own.group.clone_from(&managed.group);
        if own.purpose == Purpose::Runtime {
            own.purpose = managed.purpose;
        }
    }
}

/// Returns a file and its parents in the tree.
fn with_parents<'i>(files: &ManifestFiles<'i>, file: ManifestFile<'i>) -> Vec<ManifestFile<'i>> {
    let mut chain = vec![file];
    while let Some(last) = chain.last().copied() {
        let include = last.manifest.includes.iter().find(|include| include.kind == IncludeKind::Parent);
        let parent = include.and_then(|include| files.at(&normalised(last.folder(), &include.path)?));
        // The file at that path is another project where the parent comes from a repository.
        let named = |key: &str| {
            last.manifest
                .properties
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value.as_str())
                .unwrap_or_default()
        };
        let is_meant =
            |parent: &ManifestFile| parent.manifest.name.rsplit(':').next() == Some(named("project.parent.artifactId"));
        match parent.filter(is_meant) {
            Some(parent) if chain.len() < MAX_PARENTS && chain.iter().all(|one| one.path != parent.path) => {
                chain.push(parent)
            }
            _ => break,
        }
    }
    chain
}

/// Replaces references such as `${name}`; those to unknown properties stay.
pub fn expanded(text: &str, open: &str, close: &str, property: &dyn Fn(&str) -> Option<String>) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_EXPANSIONS {
        let mut from = 0;
        let replaced = loop {
            let Some(start) = text[from..].find(open).map(|at| from + at) else { break None };
            let Some(end) = text[start..].find(close).map(|at| start + at) else { break None };
            match property(&text[start + open.len()..end]) {
                Some(value) => break Some(format!("{}{value}{}", &text[..start], &text[end + close.len()..])),
                None => from = end,
            }
        };
        match replaced {
            Some(next) if next.len() <= MAX_VALUE_BYTES => text = next,
            _ => break,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::expanded;

    #[test]
    fn references_are_expanded_within_bounds() {
        let property = |name: &str| match name {
            "a" => Some("1.${b}".to_owned()),
            "b" => Some("2".to_owned()),
            "loop" => Some("${loop}${loop}".to_owned()),
            _ => None,
        };
        assert_eq!(expanded("${x}-${a}", "${", "}", &property), "${x}-1.2");
        assert!(expanded("${loop}", "${", "}", &property).len() <= 1_000);
    }
}
