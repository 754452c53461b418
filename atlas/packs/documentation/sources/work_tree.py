"""A git work tree as a tree: its tracked files, without those that `.atlasignore` excludes or whose names mark secrets.

No program runs and no hook or filter of the repository is looked at: the extension reads git's index, and the commit is
read from `HEAD`. A `.git` that leads to another repository is refused (ADR 0028).
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from atlas import _parser
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.sources.folder import FolderTree
from atlas.packs.documentation.sources.values import SourceFile
from atlas.runtime.process.files_below import open_below, read_below
from atlas.runtime.process.git_folder import git_folders, pointer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMIT = lazy_regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
MAX_REFERENCES = 16 << 20
MAX_CONFIG = 64 << 10


class DocumentationTree:
    """Tracked files of a work tree."""

    def __init__(self, root: Path, max_file_bytes: int) -> None:
        """Find the repository. Raises ConfigError for one that is laid out in a way that is not followed."""
        self.version = head_commit(*_repository(root))
        self.licence = ""
        self.package = True
        self.problems: list[tuple[str, str]] = []
        self._root, self._max_bytes = root, max_file_bytes
        self._folder = FolderTree(root, 0)

    def entries(self) -> Sequence[SourceFile]:
        """Return the tracked files that scan rules allow, sorted by path."""
        try:
            found = _parser.scan_tracked(str(self._root), self._max_bytes)
        except OSError as error:
            raise ConfigError(f"{self._root} cannot be read: {error}.", "Check its permissions.") from error
        return [SourceFile(file.path, file.size) for file in found.files]

    def read(self, wanted: Sequence[str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        """Yield the wanted files in the given order."""
        yield from self._folder.read(wanted, max_bytes)
        self.problems.extend(self._folder.problems)


def head_commit(git: Path, common: Path) -> str:
    """Return the commit that is checked out, "" if it cannot be told."""
    head = pointer_of(git, "HEAD")
    if not head.startswith("ref: "):
        return head if COMMIT.fullmatch(head) else ""
    name = head.removeprefix("ref: ")
    if not re.fullmatch(r"refs/[\w./@+-]+", name) or ".." in name:
        return ""
    commit = pointer_of(common, name)
    if COMMIT.fullmatch(commit):
        return commit
    try:
        packed = read_below(common, "packed-refs", MAX_REFERENCES).decode("utf-8", "replace")
    except OSError:
        return ""
    for line in packed.splitlines():
        commit, _, reference = line.partition(" ")
        if reference == name and COMMIT.fullmatch(commit):
            return commit
    return ""


def _repository(root: Path) -> tuple[Path, Path]:
    """Return the git folder of a work tree and the shared one. Raises ConfigError."""
    hint = "Name a folder below it, which is read without git."
    try:
        git, common = git_folders(root, _configured)
        shared = pointer_of(git, "commondir")
        if Path(os.path.realpath(git / shared)) != common:
            raise ValueError(f"{git / 'commondir'} leads to another repository")
        with suppress(FileNotFoundError):
            os.close(open_below(git, "index"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{root} is not read as a git work tree: {error}.", hint) from error
    return git, common


def _configured(git: Path) -> str:
    """Return `core.worktree` as git writes it for submodules, "" without it."""
    try:
        text = read_below(git, "config", MAX_CONFIG).decode("utf-8", "replace")
    except OSError:
        return ""
    found = re.search(r"^[ \t]*+worktree[ \t]*+=[ \t]*+([^\s][^\r\n]*+)$", text, re.M)
    return found[1].strip().strip('"') if found else ""
