//! `tsconfig.json` and `jsconfig.json` with what they inherit.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::npm::split_package;
use super::patterns::{Pattern, fits};
use crate::packages::files::{ManifestFile, ManifestFiles};
use crate::project::paths::{file_name_of, folder_of, join, normalised};
use atlas_facts::SettingKind;

/// Largest number of files that extend one another.
const MAX_EXTENDED: usize = 32;
/// Stands for the folder of the file whose settings are asked for.
const LEAF: &str = "${configDir}/";

/// The settings of one file, with those that it inherits. Paths are below the project's root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TsConfig {
    pub path: String,
    files: Option<Vec<String>>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    /// Files of the projects that it refers to.
    pub references: Vec<String>,
    /// Folder that names of modules start from.
    pub base: Option<String>,
    pub paths: Vec<Pattern>,
    /// Folders that relative paths treat as one.
    pub roots: Vec<String>,
    /// The folder that a build writes, and those in which its sources may be.
    pub output: Option<(String, Vec<String>)>,
}

/// A folder, and names with the values that are relative to it.
type WrittenPaths = (String, Vec<(String, Vec<String>)>);

/// The settings as written, and the folder of `paths`.
#[derive(Default, Clone)]
struct Written {
    config: TsConfig,
    paths: Option<WrittenPaths>,
}

impl TsConfig {
    /// Returns whether the settings apply to a file.
    pub fn covers(&self, path: &str) -> bool {
        if self.files.iter().flatten().any(|file| file == path) {
            return true;
        }
        let has = |patterns: &Option<Vec<String>>| patterns.iter().flatten().any(|pattern| fits(pattern, path));
        let is_included = match (&self.include, &self.files) {
            (None, Some(_)) => false,
            (None, None) => fits(&join(folder_of(&self.path), "**/*"), path),
            (Some(_), _) => has(&self.include),
        };
        is_included && !has(&self.exclude)
    }

    /// Returns whether this is the file that tools look for.
    pub fn is_main(&self) -> bool {
        is_main(&self.path)
    }

    /// Returns whether the settings say where modules are.
    pub fn has_places(&self) -> bool {
        self.base.is_some() || !self.paths.is_empty()
    }
}

fn is_main(path: &str) -> bool {
    matches!(file_name_of(path), "tsconfig.json" | "jsconfig.json")
}

/// Returns whether a path is that of a `tsconfig.json` or one of its variants.
pub fn is_config(path: &str) -> bool {
    let name = file_name_of(path);
    name.ends_with(".json") && (name.starts_with("tsconfig") || name.starts_with("jsconfig"))
}

/// Returns the settings by folder, the main file first. `folder_of_package` has the folders of the project's packages by
/// name.
pub fn by_folder(
    files: &ManifestFiles,
    folder_of_package: &dyn Fn(&str) -> Option<String>,
) -> FxHashMap<String, Vec<TsConfig>> {
    let mut found: FxHashMap<String, Vec<TsConfig>> = FxHashMap::default();
    for file in files.iter().filter(|file| is_config(file.path)) {
        let inherited = Inherited { files, folder_of_package, leaf: file.folder(), left: Cell::new(MAX_EXTENDED) };
        let Written { mut config, paths } = inherited.written(file);
        config.path = file.path.to_owned();
        if let Some((folder, paths)) = paths {
            let folder = config.base.clone().unwrap_or(folder);
            config.paths = paths.iter().map(|(name, values)| Pattern::new(name, &folder, values)).collect();
        }
        found.entry(file.folder().to_owned()).or_default().push(config);
    }
    for list in found.values_mut() {
        // `tsconfig.json` before `jsconfig.json`.
        list.sort_by(|a, b| (!a.is_main(), &b.path).cmp(&(!b.is_main(), &a.path)));
    }
    found
}

/// What the settings of one file inherit.
struct Inherited<'f, 'i> {
    files: &'f ManifestFiles<'i>,
    folder_of_package: &'f dyn Fn(&str) -> Option<String>,
    /// The folder that `${configDir}` stands for.
    leaf: &'f str,
    /// Number of files that may still be read.
    left: Cell<usize>,
}

impl<'i> Inherited<'_, 'i> {
    /// Returns the settings of a file and of those that it extends.
    fn written(&self, file: ManifestFile) -> Written {
        let mut all = Written::default();
        let settings = &file.manifest.settings;
        let extended = settings.iter().filter(|one| one.kind == SettingKind::Extends).flat_map(|one| &one.values);
        for name in extended {
            let Some(base) = self.extended_file(file, name).filter(|_| self.left.get() > 0) else { continue };
            self.left.set(self.left.get() - 1);
            let base = self.written(base);
            let (own, other) = (&mut all.config, base.config);
            own.base = other.base.or(own.base.take());
            own.files = other.files.or(own.files.take());
            own.include = other.include.or(own.include.take());
            own.exclude = other.exclude.or(own.exclude.take());
            own.output = other.output.or(own.output.take());
            if !other.roots.is_empty() {
                own.roots = other.roots;
            }
            all.paths = base.paths.or(all.paths.take());
        }
        let below = |values: &[String]| values.iter().filter_map(|value| self.below(file, value)).collect::<Vec<_>>();
        let mut paths = Vec::new();
        for one in settings {
            let own = &mut all.config;
            match one.kind {
                SettingKind::Base => own.base = below(&one.values).pop(),
                SettingKind::Files => own.files = Some(below(&one.values)),
                SettingKind::Include => own.include = Some(below(&one.values)),
                SettingKind::Exclude => own.exclude = Some(below(&one.values)),
                SettingKind::Roots => own.roots = below(&one.values),
                SettingKind::Output => {
                    let written = one.values.first().and_then(|output| self.below(file, output));
                    let roots = match one.values.get(1).filter(|root| !root.is_empty()) {
                        Some(root) => self.below(file, root).into_iter().collect(),
                        None => ["src", "."].iter().filter_map(|root| self.below(file, root)).collect(),
                    };
                    own.output = written.map(|written| (written, roots));
                }
                SettingKind::References => {
                    let target =
                        |path: String| if path.ends_with(".json") { path } else { join(&path, "tsconfig.json") };
                    own.references = below(&one.values).into_iter().map(target).collect();
                }
                SettingKind::Paths => {
                    let relative = |value: &String| match value.strip_prefix(LEAF) {
                        Some(rest) => format!("/{}", join(self.leaf, rest)),
                        None if value.starts_with('.') => value.clone(),
                        None => format!("./{value}"),
                    };
                    paths.push((one.name.clone(), one.values.iter().map(relative).collect()));
                }
                _ => {}
            }
        }
        if !paths.is_empty() {
            all.paths = Some((file.folder().to_owned(), paths));
        }
        all
    }

    /// Returns a path below the project's root.
    fn below(&self, file: ManifestFile, value: &str) -> Option<String> {
        match value.strip_prefix(LEAF) {
            Some(rest) => normalised(self.leaf, rest),
            None => normalised(file.folder(), value),
        }
    }

    fn extended_file(&self, file: ManifestFile, name: &str) -> Option<ManifestFile<'i>> {
        let path = match name.starts_with('.') {
            true => normalised(file.folder(), name)?,
            false => {
                let (package, rest) = split_package(name);
                join(&(self.folder_of_package)(package)?, rest)
            }
        };
        let candidates = [path.clone(), format!("{path}.json"), join(&path, "tsconfig.json")];
        candidates.iter().filter(|path| path.ends_with(".json")).find_map(|path| self.files.at(path))
    }
}
