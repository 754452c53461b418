//! The walk: folders level by level, in parallel; each entry becomes a file to index, a skip with its reason, or a folder
//! of the next level. A folder that is skipped is reported once, as `path/`, and not entered. A scan of parts of a tree is
//! the same walk, which enters only the folders that lead there.

use std::fs::{self, DirEntry, File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use rayon::prelude::*;

use super::only::Only;
use super::rules::{Rules, Scope, Verdict};
use super::{manifests, names};

/// Enough of a program's first line to see its interpreter.
const FIRST_LINE_BYTES: u64 = 128;

/// A file to index.
#[pyclass(frozen, get_all, module = "atlas._parser")]
#[derive(Debug, Clone, PartialEq)]
pub struct ScannedFile {
    pub path: String,
    pub language: String,
    pub size: u64,
    pub mtime_ns: i64,
}

/// A folder with a manifest of its own.
#[pyclass(frozen, get_all, module = "atlas._parser")]
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubProject {
    pub folder: String,
    pub kind: String,
    pub name: String,
}

/// What a tree, or the part of it that was asked for, holds, sorted by path.
#[pyclass(frozen, get_all, module = "atlas._parser")]
#[derive(Debug, Clone, Default)]
pub struct ScanResult {
    pub files: Vec<ScannedFile>,
    pub skipped: Vec<(String, String)>,
    pub subprojects: Vec<SubProject>,
    /// Every folder that was entered, "" for the root: a change of what they hold is a change of the result.
    pub folders: Vec<String>,
}

/// What the scan must know of languages.
pub trait LanguageNames: Sync {
    /// Language by file name.
    fn of_path(&self, path: &str) -> Option<&str>;
    /// Language by the interpreter in a `#!` line.
    fn of_first_line(&self, data: &[u8]) -> Option<&str>;
}

pub struct Options {
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub max_bytes: u64,
    pub git_rules: bool,
    /// Index files whose name says that they are generated.
    pub generated: bool,
    /// When given, only what lies at or below one of these paths.
    pub only: Option<Vec<String>>,
}

/// Why a scan was not made.
#[derive(Debug)]
pub enum ScanError {
    /// The root is no readable folder.
    Root(io::Error),
    /// An include or exclude glob is none.
    Glob(String),
}

struct Walk<'a> {
    root: PathBuf,
    scope: Scope,
    options: &'a Options,
    languages: &'a dyn LanguageNames,
    only: Only,
}

/// A folder to read.
struct Folder {
    /// Below the root; "" for the root itself.
    path: String,
    rules: Arc<Rules>,
    /// git ignores it, but files in it are tracked.
    in_ignored: bool,
    /// All that it holds is asked for; else only what is, or leads to, a path that is.
    whole: bool,
}

/// What one folder holds.
#[derive(Default)]
struct Listing {
    found: ScanResult,
    folders: Vec<Folder>,
    /// Kind, rank among the manifests of that kind, and place.
    manifests: Vec<(&'static str, usize, PathBuf)>,
}

/// Walk a tree with git's rules.
pub fn scan(root: &Path, languages: &dyn LanguageNames, options: &Options) -> Result<ScanResult, ScanError> {
    let root = fs::canonicalize(root).map_err(ScanError::Root)?;
    fs::read_dir(&root).map_err(ScanError::Root)?;
    let scope = Scope::new(&options.include, &options.exclude).map_err(ScanError::Glob)?;
    let rules = Rules::above(&root, options.git_rules);
    let only = Only::new(options.only.as_deref().unwrap_or(&[String::new()]));
    let mut result = ScanResult::default();
    if only.is_empty() {
        return Ok(result);
    }
    let whole = only.has("");
    let walk = Walk { root, scope, options, languages, only };
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
            level.extend(listing.folders);
        }
    }
    result.files.par_sort_unstable_by(|left, right| left.path.cmp(&right.path));
    result.skipped.par_sort_unstable();
    result.subprojects.sort_unstable();
    result.folders.par_sort_unstable();
    Ok(result)
}

impl Walk<'_> {
    fn read(&self, folder: Folder) -> Listing {
        let mut listing = Listing::default();
        let place = self.root.join(&folder.path);
        let entries = match fs::read_dir(&place).and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>) {
            Ok(entries) => entries,
            Err(_) => {
                listing.skip_folder(folder.path, "unreadable");
                return listing;
            }
        };
        listing.found.folders.push(folder.path.clone());
        let mut files = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = match (entry.file_name().into_string(), entry.file_type()) {
                (Ok(name), Ok(kind)) => {
                    files.push((name, kind, entry));
                    continue;
                }
                (Ok(name), Err(_)) => name,
                (Err(name), _) => name.to_string_lossy().into_owned(),
            };
            let path = join(&folder.path, &name);
            if folder.whole || self.only.has(&path) {
                listing.skip(path, "unreadable");
            }
        }
        let holds = |wanted: &str| files.iter().any(|(name, kind, _)| name == wanted && kind.is_file());
        if !folder.path.is_empty() && names::DEPENDENCY_MARKERS.iter().any(|marker| holds(marker)) {
            listing.skip_folder(folder.path, "dependencies");
            return listing;
        }
        let git = self.options.git_rules;
        let nested = git && !folder.path.is_empty() && files.iter().any(|(name, _, _)| name == ".git");
        let inner = folder.rules.inside(&place, git && holds(".gitignore"), holds(".atlasignore"), nested);
        let folder = Folder { rules: inner, in_ignored: folder.in_ignored && !nested, ..folder };
        for (name, kind, entry) in &files {
            if name == ".git" || name == ".atlas" {
                continue;
            }
            if self.wants(&folder, name, *kind) {
                self.take(&mut listing, &folder, name, *kind, entry);
            } else if manifests::kind_of(name).is_some() {
                // Not asked for itself, but it makes this folder a sub-project.
                let mut beside = Listing::default();
                self.take(&mut beside, &folder, name, *kind, entry);
                listing.manifests.append(&mut beside.manifests);
            }
        }
        self.add_subprojects(&mut listing, &folder.path);
        listing
    }

    /// Is this entry of a folder asked for, or a folder on the way there?
    fn wants(&self, folder: &Folder, name: &str, kind: FileType) -> bool {
        folder.whole || {
            let path = join(&folder.path, name);
            self.only.has(&path) || (kind.is_dir() && self.only.has_below(&path))
        }
    }

    /// One sub-project a folder and kind; without a name in the manifest it has the folder's.
    fn add_subprojects(&self, listing: &mut Listing, folder: &str) {
        listing.manifests.sort_unstable();
        listing.manifests.dedup_by_key(|(kind, _, _)| *kind);
        for (kind, _, place) in &listing.manifests {
            let named = if folder.is_empty() { self.root.as_path() } else { Path::new(folder) };
            let name = manifests::name_of(place)
                .unwrap_or_else(|| named.file_name().unwrap_or_default().to_string_lossy().into_owned());
            listing.found.subprojects.push(SubProject { folder: folder.to_owned(), kind: (*kind).to_owned(), name });
        }
    }

    /// Sort one entry into a listing.
    fn take(&self, listing: &mut Listing, folder: &Folder, name: &str, kind: FileType, entry: &DirEntry) {
        let path = join(&folder.path, name);
        let verdict = folder.rules.judge(&self.root.join(&path), kind.is_dir(), folder.in_ignored);
        let reason = match verdict {
            Verdict::Gitignore => "gitignore",
            Verdict::Atlasignore => "atlasignore",
            Verdict::Keep | Verdict::HoldsTracked => "",
        };
        if kind.is_dir() {
            let reason = match reason {
                "" if !self.scope.takes_folder(&path) => "scope",
                "" => names::of_folder(name),
                _ => reason,
            };
            if reason.is_empty() {
                let in_ignored = verdict == Verdict::HoldsTracked;
                let whole = folder.whole || self.only.has(&path);
                listing.folders.push(Folder { path, rules: folder.rules.clone(), in_ignored, whole });
            } else {
                listing.skip_folder(path, reason);
            }
            return;
        }
        let reason = match reason {
            "" if !self.scope.takes_file(&path) => "scope",
            "" if kind.is_symlink() => "symlink",
            "" if !kind.is_file() => "special",
            "" => names::of_file(name, self.options.generated),
            _ => reason,
        };
        if !reason.is_empty() {
            listing.skip(path, reason);
            return;
        }
        if let Some((kind, rank)) = manifests::kind_of(name) {
            listing.manifests.push((kind, rank, entry.path()));
        }
        self.take_file(listing, path, name, entry);
    }

    /// A file that no rule keeps out: it needs a language and a size within the limit.
    fn take_file(&self, listing: &mut Listing, path: String, name: &str, entry: &DirEntry) {
        let by_name = self.languages.of_path(&path);
        if by_name.is_none() && name.contains('.') {
            listing.skip(path, "language");
            return;
        }
        let Ok(metadata) = entry.metadata() else {
            listing.skip(path, "unreadable");
            return;
        };
        let is_program = metadata.mode() & 0o111 != 0;
        let first_line = if by_name.is_none() && is_program { read_start(&entry.path()) } else { Vec::new() };
        let Some(language) = by_name.or_else(|| self.languages.of_first_line(&first_line)) else {
            listing.skip(path, "language");
            return;
        };
        if metadata.len() > self.options.max_bytes {
            listing.skip(path, "too-large");
            return;
        }
        let mtime_ns = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
        let language = language.to_owned();
        listing.found.files.push(ScannedFile { path, language, size: metadata.len(), mtime_ns });
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

fn read_start(path: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    // What cannot be read has no first line, and so no language.
    if let Ok(file) = File::open(path) {
        let _ = file.take(FIRST_LINE_BYTES).read_to_end(&mut start);
    }
    start
}
