"""A folder or single file as a tree. Links are not followed, special files are not opened."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError
from atlas.packs.documentation.sources.values import SourceFile
from atlas.runtime.process.files_below import open_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_FOLDER_DEPTH = 40
SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__", ".git", ".hg", ".svn", ".tox", ".venv", "venv"))


class FolderTree:
    """Files below a folder, or one file."""

    def __init__(self, path: Path, max_files: int) -> None:
        self.version = self.licence = ""
        self.package = False
        self.problems: list[tuple[str, str]] = []
        self._root = path if path.is_dir() else path.parent
        self._only = "" if path.is_dir() else path.name
        self._max_files = max_files

    def entries(self) -> Sequence[SourceFile]:
        """Return all files, sorted by path."""
        if self._only:
            return [SourceFile(self._only, (self._root / self._only).stat().st_size)]
        found: list[SourceFile] = []
        pending, folders = [("", 0)], 0
        while pending:
            folder, depth = pending.pop()
            folders += 1
            for entry in self._listed(folder):
                path = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if depth < MAX_FOLDER_DEPTH and entry.name not in SKIPPED_FOLDERS:
                        pending.append((f"{path}/", depth + 1))
                elif entry.is_file(follow_symlinks=False):
                    found.append(SourceFile(path, entry.stat(follow_symlinks=False).st_size))
                if len(found) + len(pending) + folders > self._max_files * 10:
                    raise ConfigError(
                        f"{self._root} has more than {self._max_files * 10:,} files.",
                        "Name the folder with the documentation.",
                    )
        return sorted(found, key=lambda one: one.path)

    def read(self, wanted: Sequence[str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        """Yield the wanted files in the given order."""
        for path in wanted:
            try:
                data = read_inside(self._root, path, max_bytes + 1)
            except OSError as error:
                self.problems.append((path, error.strerror or str(error)))
                continue
            yield path, data[:max_bytes], len(data) > max_bytes

    def _listed(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._root / folder) as entries:
                return sorted(entries, key=lambda one: one.name)
        except OSError as error:
            self.problems.append((folder, error.strerror or str(error)))
            return []


def read_inside(folder: Path, path: str, limit: int) -> bytes:
    """Read a regular file below a folder, which no link on the way may leave. Raises OSError."""
    with os.fdopen(open_below(folder, path), "rb") as file:
        return file.read(limit)


def read_regular(path: Path, limit: int) -> bytes:
    """Read a regular file; a link or pipe that replaced it since it was listed is refused."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "not a regular file")
        return file.read(limit)
