//! Walks a tree level by level, in parallel. Each entry becomes a file to index, a skipped entry with a reason, or a
//! folder of the next level. A skipped folder is reported once, as `path/`, and not entered. A scan of parts of a tree
//! enters only the folders that lead to them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::ignore_patterns::Budget;
use super::ignore_rules::{RuleFiles, Rules, Scope, Verdict};
use super::note_folder::NoteFolder;
use super::options::{LanguageNames, Options, ScanError};
use super::repository::is_second_work_tree;
use super::subset::Subset;
use super::{file_names, manifests};
use crate::files;
use crate::files::{EntryKind, Status};

/// Bytes of a script's first line that are read for its interpreter.
const FIRST_LINE_BYTES: u64 = 128;
/// Largest nesting depth of folders: opening one takes a step for each parent folder.
const MAX_DEPTH: usize = 512;

/// A file to index.
#[derive(Debug, Clone, PartialEq)]
pub struct ScannedFile {
    pub path: String,
    pub language: String,
    pub size: u64,
    pub mtime_ns: i64,
    /// Hash of the inode number and the inode's last change time: differs for another file at this path, even with
    /// equal size and modification time.
    pub identity: u64,
}

/// A folder with its own manifest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubProject {
    pub folder: String,
    pub kind: String,
    pub name: String,
}

/// The files of a tree, or of the requested part of it, sorted by path.
#[derive(Debug, Clone, Default)]
pub struct ScanResult {
    pub files: Vec<ScannedFile>,
    pub skipped: Vec<(String, String)>,
    pub subprojects: Vec<SubProject>,
    /// Every folder that was visited, "" for the root. The result can only change when the content of one of them does.
    pub folders: Vec<String>,
    /// Folders below the root that are roots of repositories: their git folders hold rules, too.
    pub repositories: Vec<String>,
}

struct Walk<'a> {
    root: PathBuf,
    /// The root folder, from which everything else is opened.
    handle: files::Folder,
    budget: Budget,
    scope: Scope,
    options: &'a Options,
    languages: &'a dyn LanguageNames,
    subset: Subset,
}

/// A folder to visit.
struct Folder {
    /// Path below the root; "" for the root itself.
    path: String,
    rules: Arc<Rules>,
    /// Whether git ignores the folder although it contains tracked files.
    in_ignored: bool,
    /// Whether everything in the folder is requested, rather than only some paths below it.
    whole: bool,
}

/// The content of one folder.
#[derive(Default)]
struct Listing {
    found: ScanResult,
    folders: Vec<Folder>,
    /// Manifest: kind, rank among the manifests of that kind, and file name.
    manifests: Vec<(&'static str, usize, String)>,
}

/// Walks a tree by git's ignore rules.
pub fn scan(root: &Path, languages: &dyn LanguageNames, options: &Options) -> Result<ScanResult, ScanError> {
    let root = fs::canonicalize(root).map_err(ScanError::Root)?;
    let handle = files::Folder::open(&root).map_err(ScanError::Root)?;
    let scope = Scope::new(&options.include, &options.exclude).map_err(ScanError::Glob)?;
    let budget = Budget::default();
    let rules = Rules::above(&root, options.git_rules, &budget);
    let subset = Subset::new(options.only.as_deref().unwrap_or(&[String::new()]));
    let mut result = ScanResult::default();
    if subset.is_empty() {
        return Ok(result);
    }
    let rules = match rules {
        Ok(rules) => rules,
        Err(file) => {
            result.folders.push(String::new());
            result.skipped.push(("/".to_owned(), file.reason().to_owned()));
            return Ok(result);
        }
    };
    let whole = subset.has("");
    let walk = Walk { root, handle, budget, scope, options, languages, subset };
    let mut level = vec![Folder { path: String::new(), rules, in_ignored: false, whole }];
    while !level.is_empty() {
        let listings: Vec<Listing> = if level.len() == 1 {
            level.into_iter().map(|folder| walk.read(folder)).collect()
        } else {
            level.into_par_iter().map(|folder| walk.read(folder)).collect()
        };
        level = Vec::new();
        for listing in listings {
            result.files.extend(listing.found.files);
            result.skipped.extend(listing.found.skipped);
            result.subprojects.extend(listing.found.subprojects);
            result.folders.extend(listing.found.folders);
            result.repositories.extend(listing.found.repositories);
            level.extend(listing.folders);
        }
    }
    result.files.par_sort_unstable_by(|left, right| left.path.cmp(&right.path));
    result.skipped.par_sort_unstable();
    result.subprojects.sort_unstable();
    result.folders.par_sort_unstable();
    result.repositories.sort_unstable();
    Ok(result)
}

impl Walk<'_> {
    fn read(&self, folder: Folder) -> Listing {
        let mut listing = Listing::default();
        let place = self.root.join(&folder.path);
        let read = self.handle.below(&folder.path).and_then(|handle| Ok((handle.entries()?, handle)));
        let Ok((entries, handle)) = read else {
            listing.skip_folder(folder.path, "unreadable");
            return listing;
        };
        listing.found.folders.push(folder.path.clone());
        let mut files = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Ok(name) | Err(name) = &entry.name
                && name.chars().any(file_names::breaks_lines)
            {
                // In an answer, such a name could imitate output of Code Atlas.
                let path = join(&folder.path, name);
                if folder.whole || self.subset.has(&path) {
                    listing.skip(path.replace(file_names::breaks_lines, "\u{fffd}"), "control-characters");
                }
                continue;
            }
            let name = match entry.name {
                Ok(name) if entry.kind != EntryKind::Unknown => {
                    files.push((name, entry.kind));
                    continue;
                }
                Ok(name) | Err(name) => name,
            };
            let path = join(&folder.path, &name);
            if folder.whole || self.subset.has(&path) {
                listing.skip(path, "unreadable");
            }
        }
        let holds = |wanted: &str| files.iter().any(|(name, kind)| name == wanted && *kind == EntryKind::File);
        if !folder.path.is_empty() && file_names::DEPENDENCY_MARKERS.iter().any(|marker| holds(marker)) {
            listing.skip_folder(folder.path, "dependencies");
            return listing;
        }
        let git = self.options.git_rules;
        if git && !folder.path.is_empty() && holds(".git") && is_second_work_tree(&place) {
            listing.skip_folder(folder.path, "worktree");
            return listing;
        }
        let nested = git && !folder.path.is_empty() && files.iter().any(|(name, _)| name == ".git");
        if nested {
            listing.found.repositories.push(folder.path.clone());
        }
        let present = RuleFiles { git: git && holds(".gitignore"), atlas: holds(".atlasignore"), repository: nested };
        let inner = match folder.rules.inside(&place, &handle, present, &self.budget) {
            Ok(inner) => inner,
            Err(file) => {
                listing.skip_folder(folder.path, file.reason());
                return listing;
            }
        };
        let folder = Folder { rules: inner, in_ignored: folder.in_ignored && !nested, ..folder };
        for (name, kind) in &files {
            if name == ".git" || name == ".atlas" {
                continue;
            }
            if self.wants(&folder, name, *kind) {
                self.take(&mut listing, &folder, &handle, name, *kind);
            } else if manifests::kind_of(name).is_some() {
                // Not requested itself, but makes this folder a sub-project.
                let mut beside = Listing::default();
                self.take(&mut beside, &folder, &handle, name, *kind);
                listing.manifests.append(&mut beside.manifests);
            }
        }
        self.add_subprojects(&mut listing, &folder.path, &handle);
        listing
    }

    /// Returns whether an entry is requested, or is a folder on the way to a requested path.
    fn wants(&self, folder: &Folder, name: &str, kind: EntryKind) -> bool {
        folder.whole || {
            let path = join(&folder.path, name);
            self.subset.has(&path) || (kind == EntryKind::Folder && self.subset.has_below(&path))
        }
    }

    /// Adds one sub-project per folder and kind. Without a name in its manifest, it has the name of its folder; the root
    /// then has none, since the graph does not depend on where the project lies.
    fn add_subprojects(&self, listing: &mut Listing, folder: &str, handle: &files::Folder) {
        listing.manifests.sort_unstable();
        listing.manifests.dedup_by_key(|(kind, _, _)| *kind);
        for (kind, _, file) in &listing.manifests {
            let content = handle.read_file(file, manifests::MAX_BYTES).ok();
            let name = content
                .and_then(|content| manifests::name_of(file, &content))
                .unwrap_or_else(|| Path::new(folder).file_name().unwrap_or_default().to_string_lossy().into_owned());
            listing.found.subprojects.push(SubProject { folder: folder.to_owned(), kind: (*kind).to_owned(), name });
        }
    }

    /// Classifies one entry and adds it to a listing.
    fn take(&self, listing: &mut Listing, folder: &Folder, handle: &files::Folder, name: &str, kind: EntryKind) {
        let path = join(&folder.path, name);
        let is_folder = kind == EntryKind::Folder;
        let verdict = folder.rules.judge(&self.root.join(&path), is_folder, folder.in_ignored);
        let reason = match verdict {
            Verdict::Gitignore => "gitignore",
            Verdict::Atlasignore => "atlasignore",
            Verdict::Keep | Verdict::HoldsTracked => "",
        };
        if is_folder {
            let reason = match reason {
                "" if !self.scope.may_include_below(&path, self.notes().is_related(&path)) => "scope",
                "" if path.matches('/').count() >= MAX_DEPTH => "too-deep",
                "" => file_names::of_folder(name),
                _ => reason,
            };
            let reason = if reason == "hidden" && self.notes().is(&path) { "" } else { reason };
            if reason.is_empty() {
                let in_ignored = verdict == Verdict::HoldsTracked;
                let whole = folder.whole || self.subset.has(&path);
                listing.folders.push(Folder { path, rules: folder.rules.clone(), in_ignored, whole });
            } else {
                listing.skip_folder(path, reason);
            }
            return;
        }
        let reason = match reason {
            "" if !self.scope.includes_file(&path, self.notes().has_note(&path)) => "scope",
            "" if kind == EntryKind::Link => "symlink",
            "" if kind != EntryKind::File => "special",
            "" => file_names::of_file(&path, self.options.generated),
            _ => reason,
        };
        // A manifest that git ignores is not indexed, but names its package.
        let names_package = matches!(reason, "" | "gitignore") && kind == EntryKind::File;
        let manifest = manifests::kind_of(name).filter(|_| names_package);
        listing.manifests.extend(manifest.map(|(kind, rank)| (kind, rank, name.to_owned())));
        if !reason.is_empty() {
            listing.skip(path, reason);
            return;
        }
        self.take_file(listing, path, name, handle);
    }

    fn notes(&self) -> NoteFolder<'_> {
        NoteFolder(self.languages.note_folder())
    }

    /// Adds a file that no rule excludes, if it has a language and is within the size limit.
    fn take_file(&self, listing: &mut Listing, path: String, name: &str, handle: &files::Folder) {
        let by_name = self.languages.of_path(&path);
        let Ok(status) = handle.status(name) else {
            listing.skip(path, "unreadable");
            return;
        };
        if by_name.is_none() && name.contains('.') && !status.is_program {
            listing.skip(path, "language");
            return;
        }
        let first_line = match by_name {
            // An unreadable file has no first line and therefore no language.
            None => handle.read_start(name, FIRST_LINE_BYTES).unwrap_or_default(),
            _ => Vec::new(),
        };
        let Some(language) = by_name.or_else(|| self.languages.of_first_line(&first_line)) else {
            listing.skip(path, "language");
            return;
        };
        let is_lock = atlas_manifests::is_lock(name);
        let limit = if is_lock { atlas_manifests::MAX_LOCK_BYTES } else { 0 };
        let own_limit = self.languages.max_bytes(language);
        if status.size > self.options.max_bytes.max(limit) {
            listing.skip(path, "too-large");
            return;
        }
        // Manifests are read for what they declare, whatever else they are.
        let is_plain = own_limit.is_some() && atlas_manifests::format_of(&path).is_none();
        if is_plain && !self.options.plain_text {
            listing.skip(path, "plain-text");
            return;
        }
        if is_plain && let Some(reason) = file_names::of_plain(&path, self.languages.may_be_data(language)) {
            listing.skip(path, reason);
            return;
        }
        if is_plain && own_limit.is_some_and(|limit| status.size > limit) {
            listing.skip(path, "data");
            return;
        }
        let language = language.to_owned();
        let Status { size, mtime_ns, identity, .. } = status;
        listing.found.files.push(ScannedFile { path, language, size, mtime_ns, identity });
    }
}

impl Listing {
    fn skip(&mut self, path: String, reason: &str) {
        self.found.skipped.push((path, reason.to_owned()));
    }

    fn skip_folder(&mut self, path: String, reason: &str) {
        self.skip(path + "/", reason);
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
