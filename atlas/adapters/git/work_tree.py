"""The files on disk compared with the index: which differ, and their content. Never leaves the project's folder.

A file whose size and time equal those in the index is unchanged; any other is read and compared by its object name. No
filter runs: a text with other line ends than the stored one counts as unchanged, other conversions count as changes.
"""

from __future__ import annotations

import os
import stat
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha1
from pathlib import Path

from atlas.adapters.git.limits import MAX_TEXT_BYTES, Deadline
from atlas.adapters.git.objects import LINK_MODE, MODULE_MODE, TreeEntry
from atlas.adapters.git.staging import Staged, StagingArea
from atlas.runtime.process.files_below import read_below

_HASHED_BYTES = 64 << 20
"""Files up to this size are compared by content; larger ones differ if their size or time does."""
_EVERY = 512
"""Files between two looks at the clock."""
_FILE_MODE, _PROGRAM_MODE = 0o100644, 0o100755
_KIND = 0o170000
"""Bits of a mode that tell files from links; equal in git and in the file system."""


_RACY_NS = 2_000_000_000
"""A file that changed this shortly before it was read may change again within the same time stamp."""
_NO_TIME = -(1 << 62)

Differing = Callable[[Path, bytes, bytes], Sequence[int]]
"""(root, paths, records) -> positions of what differs (`atlas.parsing.positions_that_differ`)."""


class WorkTree:
    """The files of one project on disk."""

    def __init__(self, root: Path, differing: Differing) -> None:
        self._root, self._differing = root, differing
        self._recorded: tuple[StagingArea, list[bytes], bytes, bytes] | None = None
        self._unchanged: dict[bytes, tuple[Staged, tuple[int, ...]]] = {}
        """Files with another time than in the index, but its content: they are not read again."""

    def changed(self, index: StagingArea, deadline: Deadline) -> Iterator[tuple[bytes, TreeEntry | None]]:
        """Yield (path, entry) for every file of the index that differs on disk; None for a missing file."""
        root, written_ns, lstat = os.fsencode(self._root) + b"/", index.written_ns, os.lstat
        paths, joined, recorded = self._records(index)
        began = time.time_ns()
        deadline.check()
        try:
            positions = self._differing(self._root, joined, recorded)
        except OSError:
            positions = range(len(paths))
        for number, position in enumerate(positions):
            if number % _EVERY == 0:
                deadline.check()
            path = paths[position]
            staged = index.entries[path]
            try:
                status = lstat(root + path)
            except OSError:
                yield path, None
                continue
            if not _looks_unchanged(staged, status, written_ns):
                identity = (status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns)
                if self._unchanged.get(path) == (staged, identity):
                    continue
                entry = self._entry(path, status)
                if entry != staged.entry and not self._same_lines(path, staged, entry):
                    yield path, entry
                elif status.st_ctime_ns < began - _RACY_NS:
                    self._unchanged[path] = staged, identity
        for path in index.conflicts:
            entry = self.entry(path)
            if entry is not None:
                yield path, entry

    def entry(self, path: bytes) -> TreeEntry | None:
        """Return what git would store for a file; None if there is none."""
        try:
            return self._entry(path, os.lstat(os.fsencode(self._root) + b"/" + path))
        except OSError:
            return None

    def has_content(self, path: bytes, oid: bytes) -> bool:
        """Return whether a regular file has the content of an object, or its lines with other line ends."""
        there = self.entry(path)
        return there is not None and bool(there.oid) and (there.oid == oid or self._has_lines(path, oid))

    def text(self, path: bytes) -> bytes | None:
        """Return the content of a regular file; None for links, also in folders, special and larger files."""
        return self._read(path, MAX_TEXT_BYTES)

    def _records(self, index: StagingArea) -> tuple[list[bytes], bytes, bytes]:
        """Return the paths to compare, the same joined, and their records; those of one index are made once."""
        if self._recorded is None or self._recorded[0] is not index:
            paths: list[bytes] = []
            numbers = array("q")
            for path, ((mode, _), size, mtime_ns, trusted) in index.entries.items():
                if not trusted and mode != MODULE_MODE:
                    paths.append(path)
                    # a file as new as the index may have changed after it was recorded: no time equals this one
                    numbers.extend((size, mtime_ns if mtime_ns < index.written_ns else _NO_TIME, mode & _KIND))
            self._recorded = index, paths, b"\0".join(paths), numbers.tobytes()
        return self._recorded[1:]

    def _entry(self, path: bytes, status: os.stat_result) -> TreeEntry | None:
        if stat.S_ISLNK(status.st_mode):
            return TreeEntry(LINK_MODE, b"")
        if not stat.S_ISREG(status.st_mode):
            return None
        mode = _PROGRAM_MODE if status.st_mode & 0o100 else _FILE_MODE
        content = self._read(path, _HASHED_BYTES)
        return TreeEntry(mode, _oid(content) if content is not None else b"")

    def _same_lines(self, path: bytes, staged: Staged, entry: TreeEntry | None) -> bool:
        if entry is None or entry.mode == LINK_MODE:
            # links are compared by time only: what they lead to is never read
            return entry is not None and staged.entry.mode == LINK_MODE
        if entry.oid == staged.entry.oid:
            # the mode alone is not a change of code
            return True
        return self._has_lines(path, staged.entry.oid)

    def _has_lines(self, path: bytes, oid: bytes) -> bool:
        content = self._read(path, MAX_TEXT_BYTES)
        return content is not None and b"\r\n" in content and _oid(content.replace(b"\r\n", b"\n")) == oid

    def _read(self, path: bytes, most: int) -> bytes | None:
        try:
            return read_below(self._root, os.fsdecode(path), most)
        except (OSError, ValueError):
            return None


def _looks_unchanged(staged: Staged, status: os.stat_result, written_ns: int) -> bool:
    return (
        status.st_size & 0xFFFFFFFF == staged.size
        and _same_time(status.st_mtime_ns, staged.mtime_ns)
        and (written_ns == 0 or staged.mtime_ns < written_ns)
        and stat.S_ISLNK(status.st_mode) == (staged.entry.mode == LINK_MODE)
        and not stat.S_ISDIR(status.st_mode)
    )


def _same_time(now: int, then: int) -> bool:
    """Return whether two times are equal, as precisely as the index records them: some programs write seconds only."""
    return now == then or (then % 1_000_000_000 == 0 and now // 1_000_000_000 == then // 1_000_000_000)


def _oid(content: bytes) -> bytes:
    digest = sha1(b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.digest()
