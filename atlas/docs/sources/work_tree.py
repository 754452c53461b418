"""A git work tree as a tree: its tracked files, without those that `.atlasignore` excludes or whose names mark secrets.

No program runs and no hook or filter of the repository is looked at: the extension reads git's index, and the commit is
read from `HEAD`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from atlas import _parser
from atlas.docs.sources.folder import FolderTree, read_regular
from atlas.docs.sources.tree import Entry
from atlas.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
MAX_REFERENCES = 16 << 20


class WorkTree:
    """Tracked files of a work tree."""

    def __init__(self, root: Path, max_file_bytes: int) -> None:
        self.version = head_commit(root)
        self.licence = ""
        self.package = True
        self.problems: list[tuple[str, str]] = []
        self._root, self._max_bytes = root, max_file_bytes
        self._folder = FolderTree(root, 0)

    def entries(self) -> Sequence[Entry]:
        """Return the tracked files that scan rules allow, sorted by path."""
        try:
            found = _parser.scan_tracked(str(self._root), self._max_bytes)
        except OSError as error:
            raise ConfigError(f"{self._root} cannot be read: {error}.", "Check its permissions.") from error
        return [Entry(file.path, file.size) for file in found.files]

    def read(self, wanted: Sequence[str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        """Yield the wanted files in the given order."""
        yield from self._folder.read(wanted, max_bytes)
        self.problems.extend(self._folder.problems)


def head_commit(root: Path) -> str:
    """Return the commit that is checked out, "" if it cannot be told."""
    try:
        folder = root / ".git"
        if folder.is_file():
            folder = root / _text(folder, 4096).removeprefix("gitdir:").strip()
        head = _text(folder / "HEAD", 4096).strip()
        if not head.startswith("ref: "):
            return head if COMMIT.fullmatch(head) else ""
        name = head.removeprefix("ref: ")
        if not re.fullmatch(r"refs/[\w./@+-]+", name) or ".." in name:
            return ""
        return _resolve(folder, name)
    except OSError:
        return ""


def _resolve(folder: Path, name: str) -> str:
    shared = folder
    if (folder / "commondir").is_file():
        shared = folder / _text(folder / "commondir", 4096).strip()
    if (shared / name).is_file():
        commit = _text(shared / name, 4096).strip()
        return commit if COMMIT.fullmatch(commit) else ""
    packed = shared / "packed-refs"
    lines = _text(packed, MAX_REFERENCES).splitlines() if packed.is_file() else []
    for line in lines:
        commit, _, reference = line.partition(" ")
        if reference == name and COMMIT.fullmatch(commit):
            return commit
    return ""


def _text(path: Path, limit: int) -> str:
    return read_regular(path, limit).decode("utf-8", "replace")
