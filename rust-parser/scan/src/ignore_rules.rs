//! Ignore rules along a path: `.gitignore` files up to the work tree's root, git's `info/exclude` and the user's
//! excludes, and `.atlasignore` files. The nearest file with a matching pattern decides; `.atlasignore` can only
//! exclude more.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::ignore_patterns::{self, Budget, Patterns, TooManyRules};
use super::repository::Repository;
use super::{file_names, manifests};
use crate::files::{Folder, read_linked};

/// Returns whether a change of the file at this path (below the root) can change which other files are indexed, or the
/// set and names of sub-projects. The named file itself may lie in a folder that is not indexed.
pub fn changes_rules(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    // A repository begins or ends here, a file becomes tracked, or `info/exclude` changes.
    let in_git = [".git", ".git/index", ".git/info/exclude"]
        .iter()
        .any(|file| path.strip_suffix(file).is_some_and(|before| before.is_empty() || before.ends_with('/')));
    in_git
        || matches!(name, ".gitignore" | ".atlasignore")
        || file_names::DEPENDENCY_MARKERS.contains(&name)
        || manifests::kind_of(name).is_some()
}

/// The rules that apply in a folder. Folders without ignore files share those of their parent.
#[derive(Default)]
pub struct Rules {
    parent: Option<Arc<Rules>>,
    git: Option<Patterns>,
    atlas: Option<Patterns>,
    /// Set at the root of a work tree: git's rules from parent folders do not apply below it.
    work_tree: Option<WorkTree>,
}

struct WorkTree {
    repository: Repository,
    /// `.git/info/exclude`.
    private: Option<Patterns>,
    /// The user's `core.excludesFile`. The repository's own configuration is not read.
    personal: Gitignore,
}

/// The files of a folder that affect ignore rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleFiles {
    pub git: bool,
    pub atlas: bool,
    /// Whether the folder is the root of a repository.
    pub repository: bool,
}

/// The decision of the rules for a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Keep,
    Gitignore,
    /// An ignored folder that contains tracked files.
    HoldsTracked,
    Atlasignore,
}

impl Rules {
    /// Returns the rules that apply at a root: those of its parent folders within the same work tree. If a repository
    /// ignores the root itself, that repository does not count: the user has named the root explicitly (a project below
    /// a home folder kept in git).
    pub fn above(root: &Path, git_rules: bool, budget: &Budget) -> Result<Arc<Self>, TooManyRules> {
        let Some(repository) = git_rules.then(|| Repository::around(root)).flatten() else {
            return Ok(Arc::default());
        };
        let work_tree = repository.work_tree.clone();
        let mut rules = Arc::new(Self::of_repository(repository, budget)?);
        let folders: Vec<&Path> = root.ancestors().take_while(|folder| folder.starts_with(&work_tree)).collect();
        for folder in folders.into_iter().rev() {
            if folder != work_tree && rules.judge(folder, true, false) == Verdict::Gitignore {
                return Ok(Arc::default());
            }
            if folder == root {
                // The walk reads the root's own file.
                continue;
            }
            let text =
                Folder::open(folder).and_then(|handle| handle.read_file(".gitignore", ignore_patterns::MAX_BYTES));
            let git = compiled(folder, text, budget, TooManyRules::Above)?;
            if git.is_some() {
                rules = Arc::new(Self { parent: Some(rules), git, ..Self::default() });
            }
        }
        Ok(rules)
    }

    /// Returns the rules of a folder, given its files.
    pub fn inside(
        self: Arc<Self>,
        place: &Path,
        folder: &Folder,
        files: RuleFiles,
        budget: &Budget,
    ) -> Result<Arc<Self>, TooManyRules> {
        let mut rules = self;
        if let Some(repository) = files.repository.then(|| Repository::at(place)).flatten() {
            rules = Arc::new(Self { parent: Some(rules), ..Self::of_repository(repository, budget)? });
        }
        let read = |wanted: bool, name: &str, file: TooManyRules| match wanted {
            true => compiled(place, folder.read_file(name, ignore_patterns::MAX_BYTES), budget, file),
            false => Ok(None),
        };
        let git = read(files.git, ".gitignore", TooManyRules::Gitignore)?;
        let atlas = read(files.atlas, ".atlasignore", TooManyRules::Atlasignore)?;
        if git.is_none() && atlas.is_none() {
            return Ok(rules);
        }
        Ok(Arc::new(Self { parent: Some(rules), git, atlas, work_tree: None }))
    }

    /// Decides about a path, all of whose folders were kept. `in_ignored` tells that one of them was
    /// [`Verdict::HoldsTracked`].
    pub fn judge(&self, path: &Path, is_folder: bool, in_ignored: bool) -> Verdict {
        if in_ignored || self.git_ignores(path, is_folder) {
            if !self.repository().is_some_and(|repository| repository.tracks(path, is_folder)) {
                return Verdict::Gitignore;
            }
            if is_folder && !self.atlas_ignores(path, is_folder) {
                return Verdict::HoldsTracked;
            }
        }
        if self.atlas_ignores(path, is_folder) { Verdict::Atlasignore } else { Verdict::Keep }
    }

    fn of_repository(repository: Repository, budget: &Budget) -> Result<Self, TooManyRules> {
        let root = repository.work_tree.clone();
        let text = read_linked(&repository.exclude_file(), ignore_patterns::MAX_BYTES);
        let private = compiled(&root, text, budget, TooManyRules::Exclude)?;
        let (personal, _) = GitignoreBuilder::new(&root).build_global();
        Ok(Self { work_tree: Some(WorkTree { repository, private, personal }), ..Self::default() })
    }

    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |rules| rules.parent.as_deref())
    }

    fn repository(&self) -> Option<&Repository> {
        self.chain().find_map(|rules| rules.work_tree.as_ref()).map(|tree| &tree.repository)
    }

    fn git_ignores(&self, path: &Path, is_folder: bool) -> bool {
        for rules in self.chain() {
            let tree = rules.work_tree.as_ref();
            let shared = rules.git.iter().chain(tree.and_then(|tree| tree.private.as_ref()));
            let verdict = shared
                .into_iter()
                .find_map(|file| file.decide(path, is_folder))
                .or_else(|| ignore_patterns::decide(&tree?.personal, path, is_folder));
            if let Some(verdict) = verdict {
                return verdict;
            }
            if tree.is_some() {
                return false;
            }
        }
        false
    }

    fn atlas_ignores(&self, path: &Path, is_folder: bool) -> bool {
        let mut files = self.chain().filter_map(|rules| rules.atlas.as_ref());
        files.find_map(|file| file.decide(path, is_folder)).unwrap_or(false)
    }
}

/// Returns the patterns of an ignore file, or `None` if it is unreadable or empty.
fn compiled(
    folder: &Path,
    text: io::Result<Vec<u8>>,
    budget: &Budget,
    file: TooManyRules,
) -> Result<Option<Patterns>, TooManyRules> {
    match text {
        Ok(text) => Ok(Some(Patterns::compile(folder, &text, budget, file)?).filter(|patterns| !patterns.is_empty())),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(file),
        Err(_) => Ok(None),
    }
}

/// The settings `include` and `exclude`: globs with the syntax of an ignore file at the project's root.
pub struct Scope {
    include: Option<Gitignore>,
    /// Literal prefixes of the include globs; `None` if one of them can match anywhere.
    include_folders: Option<Vec<String>>,
    exclude: Gitignore,
}

impl Scope {
    /// Compiles the globs.
    ///
    /// # Errors
    /// The text of the first invalid glob.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, String> {
        let folders: Option<Vec<String>> = include.iter().map(|glob| literal_folder(glob)).collect();
        Ok(Self {
            include: if include.is_empty() { None } else { Some(globs(include)?) },
            include_folders: folders.filter(|_| !include.is_empty()),
            exclude: globs(exclude)?,
        })
    }

    /// Returns whether a file is to be indexed, by its path below the root. Globs to include do not apply to notes.
    pub fn includes_file(&self, path: &str, is_note: bool) -> bool {
        let included = is_note
            || self.include.as_ref().is_none_or(|include| include.matched_path_or_any_parents(path, false).is_ignore());
        included && !self.exclude.matched(path, false).is_ignore()
    }

    /// Returns whether something below a folder can be included; `holds_notes` if it may contain notes.
    pub fn may_include_below(&self, path: &str, holds_notes: bool) -> bool {
        let reachable = |wanted: &String| {
            let (shorter, longer) =
                if wanted.len() < path.len() { (wanted.as_str(), path) } else { (path, wanted.as_str()) };
            longer
                .strip_prefix(shorter)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || shorter.is_empty())
        };
        (holds_notes || self.include_folders.as_ref().is_none_or(|folders| folders.iter().any(reachable)))
            && !self.exclude.matched(path, true).is_ignore()
    }
}

/// Compiles globs of the settings.
///
/// # Errors
/// The text of the first invalid glob, or that they are too many.
pub fn globs(lines: &[String]) -> Result<Gitignore, String> {
    if ignore_patterns::are_too_many(lines.concat().as_bytes()) {
        return Err("too many globs".to_owned());
    }
    let mut builder = GitignoreBuilder::new("");
    for line in lines {
        builder.add_line(None, line).map_err(|error| format!("{line:?} is not a glob: {error}"))?;
    }
    builder.build().map_err(|error| error.to_string())
}

/// Returns the folder that contains everything a glob matches, or `None` if it can match anywhere.
fn literal_folder(glob: &str) -> Option<String> {
    let inside = glob.trim_end_matches('/');
    if !inside.contains('/') || glob.starts_with('!') {
        return None;
    }
    let literal = |part: &&str| !part.contains(['*', '?', '[', '\\', '{']);
    let parts: Vec<&str> = inside.trim_start_matches('/').split('/').take_while(literal).collect();
    Some(parts.join("/"))
}
