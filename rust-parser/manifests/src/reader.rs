//! What reading a manifest collects, within limits, and the positions of lines.

use atlas_facts::{Dependency, Include, IncludeKind, Locked, Manifest, Problem, Setting, SettingKind};

/// Largest number of declarations of one manifest.
const MAX_DEPENDENCIES: usize = 5_000;
/// Largest number of packages of one lock file.
const MAX_LOCKED: usize = 50_000;
/// Largest number of places of one module.
const MAX_VALUES: usize = 100;
/// Longest name, range or marker in bytes.
const MAX_TEXT_BYTES: usize = 400;

/// The ends of a text's lines.
pub struct Lines(Vec<usize>);

impl Lines {
    pub fn of(text: &str) -> Lines {
        Lines(memchr::memchr_iter(b'\n', text.as_bytes()).collect())
    }

    /// Returns the 1-based line of a byte position.
    pub fn line(&self, at: usize) -> u32 {
        self.0.partition_point(|&end| end < at) as u32 + 1
    }
}

/// What reading a manifest collects.
#[derive(Default)]
pub struct Reader {
    pub manifest: Manifest,
    pub problems: Vec<Problem>,
}

impl Reader {
    /// Adds a dependency; without a name it is dropped.
    pub fn add(&mut self, dependency: Dependency) {
        if !dependency.name.is_empty() {
            self.manifest.dependencies.push(dependency);
        }
    }

    pub fn lock(&mut self, name: &str, version: &str, line: u32) {
        self.lock_for(name, version, "", line);
    }

    /// Adds a version that is installed for one owner, see [`Locked::owner`].
    pub fn lock_for(&mut self, name: &str, version: &str, owner: &str, line: u32) {
        if !name.is_empty() && !version.is_empty() {
            let (name, version, owner) = (name.to_owned(), public(version), owner.to_owned());
            self.manifest.locked.push(Locked { name, version, range: String::new(), owner, line });
        }
    }

    pub fn include(&mut self, path: &str, kind: IncludeKind, line: u32) {
        self.manifest.includes.push(Include { path: path.replace('\\', "/"), kind, line });
    }

    /// Adds a statement about the places of modules.
    pub fn set(&mut self, kind: SettingKind, name: &str, values: Vec<String>) {
        let values = values.into_iter().map(|value| value.replace('\\', "/")).collect();
        self.manifest.settings.push(Setting { kind, name: name.to_owned(), values });
    }

    /// Records that a part of the manifest cannot be read.
    pub fn problem(&mut self, line: u32, message: &str) {
        let message = shortened(message);
        self.problems.push(Problem { line: line.max(1), code: "manifest".to_owned(), message });
    }

    /// Returns what was collected, cut at the limits.
    pub fn bounded(mut self) -> (Manifest, Vec<Problem>) {
        let manifest = &mut self.manifest;
        let mut left = 0;
        for (list, limit) in [(&mut manifest.dependencies, MAX_DEPENDENCIES), (&mut manifest.managed, MAX_DEPENDENCIES)]
        {
            left += list.len().saturating_sub(limit);
            list.truncate(limit);
            for one in list {
                one.range = public(&one.range);
                for text in [&mut one.name, &mut one.import, &mut one.group, &mut one.range, &mut one.marker] {
                    *text = shortened(text);
                }
            }
        }
        left += manifest.locked.len().saturating_sub(MAX_LOCKED);
        manifest.locked.truncate(MAX_LOCKED);
        manifest.properties.truncate(MAX_DEPENDENCIES);
        manifest.includes.truncate(MAX_DEPENDENCIES);
        manifest.settings.truncate(MAX_DEPENDENCIES);
        for one in &mut manifest.settings {
            one.values.truncate(MAX_VALUES);
            one.values.iter_mut().chain([&mut one.name]).for_each(|text| *text = shortened(text));
        }
        (manifest.name, manifest.version) = (shortened(&manifest.name), shortened(&manifest.version));
        if left > 0 {
            self.problem(1, &format!("{left} entries beyond the limit were left out"));
        }
        self.problems.truncate(100);
        (self.manifest, self.problems)
    }
}

/// Returns text on one line without control characters, at most [`MAX_TEXT_BYTES`] long.
fn shortened(text: &str) -> String {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// Returns a version or address without the user and password of a URL.
fn public(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..host].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => text.to_owned(),
    }
}
