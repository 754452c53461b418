"""The contract of a project's version history: revisions, changed files, commits. Values and one Protocol.

Paths are relative to the project's root and separated by "/"; what lies outside of the root is left out. All verbs are
bounded in time and memory and say when a bound was reached. They raise NotFound without a repository or for an unknown
revision, and HistoryError for a repository that cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

WORK_TREE = ""
"""The files on disk, as the new side of a difference."""
STAGED = ":staged"
"""The index (staging area) of git, as the new side of a difference."""
BRANCH_BASE = ":base"
"""Where the current branch left the default branch or its upstream, as the old side of a difference."""


class ChangeKind(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; texts are decoded and on one line."""

    id: str
    """40 hex digits."""
    author: str
    time: int
    """Unix time of the commit in seconds."""
    subject: str
    paths: tuple[str, ...] = ()
    """Changed files against the first parent, where they were asked for."""
    more_paths: int = 0
    """Changed files beyond those in `paths`."""
    authored: str = ""
    """Day on which the author wrote it, in the author's time zone, as `git log` shows it; "" for one without a date."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file with both texts; a text is None on the side where there is no file, or none that can be read."""

    kind: ChangeKind
    path: str
    """The new path; for a deleted file, the old one."""
    old_path: str
    """"" for an added file."""
    old: bytes | None = None
    new: bytes | None = None
    compared: bool = True
    """False where a text is too large, or the limit of the difference was reached, so that only the path is known."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The changed files between two states, sorted by path."""

    old: Commit
    target: str
    """The new side for people: `working tree`, `staged`, or a revision."""
    changes: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Log:
    """Commits, newest first."""

    commits: tuple[Commit, ...]
    notes: tuple[str, ...] = ()
    more: bool = False
    """There are further commits in the range."""


@dataclass(frozen=True, slots=True)
class LineLog:
    """The commits that changed lines of a file, newest first."""

    commits: tuple[Commit, ...]
    """`paths` holds the name of the file at that commit, where it was another one."""
    is_whole: bool = False
    """Whether the last commit is the one that added the lines."""
    notes: tuple[str, ...] = ()


class CommitSpan(NamedTuple):
    """The commits among which others are looked for; see `History.log`."""

    since: str = ""
    last: str = ""
    after: int = 0
    until: int = 0


WHOLE = CommitSpan()
"""All commits of HEAD."""


class ToldCommit(NamedTuple):
    """A commit with those words of a question that its message has."""

    commit: Commit
    words: tuple[str, ...]
    weight: float
    """The sum of the weights of these words."""


@dataclass(frozen=True, slots=True)
class CommitsAbout:
    """Commits by the words of their messages, the one that says most first."""

    commits: tuple[ToldCommit, ...]
    weights: Mapping[str, float]
    """The fewer messages have a word, the more it weighs; words of no message are left out."""
    looked: int
    """Commits that were looked at."""
    notes: tuple[str, ...] = ()


class NameChange(NamedTuple):
    """A commit by which a name came into a file or left it."""

    commit: Commit
    path: str
    is_added: bool
    is_file: bool
    """The file itself is called so, and was added or deleted."""


@dataclass(frozen=True, slots=True)
class NameChanges:
    """Commits by which a name came or went, newest first."""

    changes: tuple[NameChange, ...]
    notes: tuple[str, ...] = ()


class Rewritten(NamedTuple):
    """A run of lines that a commit wrote in place of others, without the blanks around them."""

    commit: Commit
    path: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    below: str
    """The line behind the new ones: what a decorator stands above."""


class Author(NamedTuple):
    """A name in commits."""

    name: str
    commits: int


@dataclass(frozen=True, slots=True)
class LastChange:
    """The last commit that changed lines of a file."""

    commit: Commit | None
    """None where the lines are not committed or the search ended before a commit was found."""
    by_lines: bool
    """Whether the lines were followed; False: the commit changed the file."""
    notes: tuple[str, ...] = ()


class Together(NamedTuple):
    """A file that changed in the same commits as another one."""

    path: str
    times: int
    """Commits that changed both."""


@dataclass(frozen=True, slots=True)
class CoChanges:
    """Files that changed together with a file, most often first."""

    commits: int
    """Commits that changed the file, of those that were counted."""
    seen: int
    """Commits that were counted: no merges, no commits of very many files."""
    files: tuple[Together, ...]
    notes: tuple[str, ...] = ()


class History(Protocol):
    """What a version control system knows about one project."""

    async def diff(self, old: str, new: str = WORK_TREE, candidates: Sequence[str] = ()) -> Diff:
        """Return what changed from a revision (or `BRANCH_BASE`, or a range `A..B`, `A...B`) to another state.

        `candidates` are files on disk that count as added if git does not know them yet.
        """
        ...

    async def log(
        self,
        limit: int,
        *,
        since: str = "",
        after: int = 0,
        until: int = 0,
        paths: int = 8,
        path: str = "",
        author: str = "",
        last: str = "",
        words: Sequence[str] = (),
        least: int = 0,
    ) -> Log:
        """Return the last commits of HEAD that change the project, with up to `paths` changed files each.

        `since`: a revision (or `BRANCH_BASE`) whose ancestors are left out. `after`, `until`: Unix times. `path`: a
        file or folder; other commits are left out. `author`: the same for commits of others. `last`: a revision to
        begin at instead of HEAD. `words`: beginnings of words in lower case that the subject of each commit has, all or
        `least` of them.
        """
        ...

    async def commits_about(self, words: Sequence[str], limit: int, span: CommitSpan = WHOLE) -> CommitsAbout:
        """Return the commits whose subject has most of some words by their weight, also as parts of identifiers.

        A word is the beginning of words in lower case, with a blank behind it a whole word; what begins with another
        sign has to stand in quotes.
        """
        ...

    async def last_commits(self, limit: int) -> tuple[Commit, ...]:
        """Return the last commits of HEAD with one parent, newest first, without their files; bounded in time."""
        ...

    async def added_lines(
        self, ids: Sequence[str], wanted: Callable[[str], bool]
    ) -> dict[str, dict[str, frozenset[str]]]:
        """Return by commit and path the lines that commits with one parent added, without the blanks around them.

        Left out: paths that are not wanted, binary and large files, commits of many files, and those beyond a limit of
        texts in bytes. `wanted` is called in another thread.
        """
        ...

    async def rewritten(self, paths: Sequence[str], limit: int) -> tuple[Rewritten, ...]:
        """Return what up to `limit` of the last commits of each of some files wrote there, by path, newest first.

        Follows renames of the files. Ends early after a limit of time or of texts in bytes; without runs that rewrite
        very many lines. Secrets are not masked: lines to compare, not to show.
        """
        ...

    async def first_tags(self, ids: Collection[str]) -> dict[str, str]:
        """Return the oldest tag that contains each commit; omits those that no tag contains."""
        ...

    async def messages(self, ids: Collection[str]) -> dict[str, str]:
        """Return the beginning of what the messages of commits say below their first lines.

        For one of one line, what the merge says that brought it; omits those of which neither says more.
        """
        ...

    async def line_log(self, path: str, start: int = 0, end: int = 0, *, name: str = "", limit: int = 100) -> LineLog:
        """Return the commits that changed the lines `start..end` of a file on disk (1-based, included; 0 = the file).

        Follows the lines back through commits that move them, and the file through renames. Merges are left out. With a
        name, the commit that brought it into the lines is the one that added them.
        Raises NotFound for a file that is not committed.
        """
        ...

    async def name_changes(self, name: str, path: str = "") -> NameChanges:
        """Return commits by which a name came into the file of a path or left it; without a path, into the project.

        Those whose message has the name are compared; without any, the newest ones, until the time is over. Without a
        path, a file called like the name counts, and lines only of commits whose message has it.
        """
        ...

    async def authors(self) -> tuple[Author, ...]:
        """Return who made commits, most commits first; bounded in time like a log."""
        ...

    async def last_change(self, path: str, start: int = 0, end: int = 0) -> LastChange:
        """Return the last commit that changed the lines `start..end` (1-based, included; 0 = the whole file)."""
        ...

    async def changed_with(self, path: str, commits: int = 1000) -> CoChanges:
        """Return the files that changed in the same of the last commits as a file."""
        ...

    async def content(self, revision: str, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the texts of files in a revision by path, secrets masked.

        Omits paths without a file there, and files that are binary, too large or beyond the limit of a difference.
        """
        ...

    async def last_tag(self) -> str:
        """Return the name of the newest tag that HEAD descends from, or is. Raises NotFound without any."""
        ...

    async def aclose(self) -> None:
        """Close open files; idempotent."""
        ...
