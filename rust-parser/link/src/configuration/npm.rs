//! What a `package.json` says about the names of its package.

use std::collections::BTreeMap;

use super::patterns::Pattern;
use crate::packages::files::ManifestFile;
use crate::project::paths::normalised;
use atlas_facts::SettingKind;

/// A package of the project. Places are relative to its folder, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NpmPackage {
    /// Names that begin with `#`, inside of the package.
    pub imports: Vec<Pattern>,
    /// Names that it offers; without places, they are excluded.
    pub exports: Vec<Pattern>,
    /// Files that the name of the package means.
    pub entries: Vec<String>,
    /// The names that it depends on, with the folders of those that are in the project.
    pub dependencies: BTreeMap<String, Option<String>>,
}

impl NpmPackage {
    pub fn of(file: ManifestFile) -> NpmPackage {
        let settings = |kind: SettingKind| file.manifest.settings.iter().filter(move |one| one.kind == kind);
        let table = |kind| settings(kind).map(|one| Pattern::as_written(&one.name, &one.values)).collect();
        let dependency = |one: &atlas_facts::Dependency| {
            let folder = normalised(file.folder(), &one.path).filter(|_| !one.path.is_empty());
            (one.name.clone(), folder)
        };
        NpmPackage {
            imports: table(SettingKind::Imports),
            exports: table(SettingKind::Exports),
            entries: settings(SettingKind::Entry).flat_map(|one| one.values.clone()).collect(),
            dependencies: file.manifest.dependencies.iter().map(dependency).collect(),
        }
    }
}

/// Splits `package/below` or `@scope/package/below`.
pub fn split_package(name: &str) -> (&str, &str) {
    let end = name.match_indices('/').nth(usize::from(name.starts_with('@'))).map_or(name.len(), |(at, _)| at);
    (&name[..end], name[end..].trim_start_matches('/'))
}

/// Returns whether a registry may have a package with this name: `@/lib`, `~/lib` and `$lib` are none.
pub fn may_be_package(name: &str) -> bool {
    let (package, _) = split_package(name);
    let bare = package.strip_prefix('@').unwrap_or(package);
    let is_plain = |part: &str| part.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_' || sign == '-');
    bare.split('/').all(is_plain) && package.starts_with('@') == bare.contains('/')
}
