"""The index of a work tree (staging area) -> entries by path, with the file times that tell unchanged files."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from dulwich.index import SerializedIndexEntry, UnsupportedIndexFormat, read_cache_entry, read_index_header

from atlas.adapters.git.limits import MAX_ENTRIES, MAX_INDEX_BYTES
from atlas.adapters.git.objects import FOLDER_MODE, TreeEntry
from atlas.adapters.git.trees import Trees
from atlas.core.errors import HistoryError
from atlas.runtime.process.files_below import open_below

_SKIP_WORK_TREE, _INTENT_TO_ADD = 0x4000, 0x2000
_ASSUME_VALID, _STAGE = 0x8000, 0x3000
_CHECKSUM_BYTES = 20


class Staged(NamedTuple):
    """One entry of the index."""

    entry: TreeEntry
    size: int
    mtime_ns: int
    trusted: bool
    """The file counts as unchanged, whatever is on disk: `assume-unchanged`, or outside of a sparse checkout."""


@dataclass(frozen=True, slots=True)
class StagingArea:
    """The index at one moment. `conflicts` are paths with an unresolved merge; they have no entry."""

    entries: dict[bytes, Staged]
    conflicts: frozenset[bytes]
    written_ns: int
    """Modification time of the file: a file as new as that may have changed after it was recorded."""


class IndexReader:
    """Reads the index of one work tree; an unchanged file is read once."""

    def __init__(self, git: Path, prefix: str) -> None:
        self._git = git
        self._prefix = prefix.encode("utf-8", "surrogateescape") + b"/" if prefix else b""
        self._known: tuple[tuple[int, int, int], StagingArea] | None = None

    def read(self, trees: Trees) -> StagingArea:
        """Return the entries below the project's root. Raises HistoryError; without an index file there is none."""
        try:
            descriptor = open_below(self._git, "index")
        except FileNotFoundError:
            return StagingArea({}, frozenset(), 0)
        except OSError as error:
            raise HistoryError(f"no git history can be read: the index ({error.strerror})") from error
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
            if self._known is not None and self._known[0] == state:
                return self._known[1]
            if status.st_size > MAX_INDEX_BYTES:
                raise HistoryError(f"the index of git is too large ({status.st_size:,} bytes)")
            content = file.read(MAX_INDEX_BYTES)
        try:
            index = self._parsed(content, status.st_mtime_ns, trees)
        except (struct.error, ValueError, AssertionError, IndexError, UnsupportedIndexFormat, TypeError) as error:
            reason = f"{type(error).__name__}: {str(error)[:100]}"
            raise HistoryError(f"the index of git is damaged ({reason})", "`git reset` writes it again") from error
        self._known = (state, index)
        return index

    def _parsed(self, content: bytes, written_ns: int, trees: Trees) -> StagingArea:
        entries: dict[bytes, Staged] = {}
        conflicts: set[bytes] = set()
        raw, end = _raw_entries(content)
        for one in raw:
            if not one.name.startswith(self._prefix):
                continue
            path = one.name[len(self._prefix) :]
            if not _is_inside(path):
                raise ValueError(f"path {one.name[:80]!r}")
            if one.flags & _STAGE:
                conflicts.add(path)
            elif one.extended_flags & _INTENT_TO_ADD:
                continue
            elif one.mode == FOLDER_MODE:
                # a folder outside of a sparse checkout stands for all of its files
                for below, entry in trees.files(bytes.fromhex(one.sha.decode())).items():
                    entries[path + below] = Staged(entry, 0, 0, True)
            else:
                trusted = bool(one.flags & _ASSUME_VALID or one.extended_flags & _SKIP_WORK_TREE)
                entry = TreeEntry(one.mode, bytes.fromhex(one.sha.decode()))
                entries[path] = Staged(entry, one.size, _nanoseconds(one.mtime), trusted)
        if _has_extension(content, end, b"link"):
            raise HistoryError(
                "no git history can be read: the index is split", "`git update-index --no-split-index` joins it"
            )
        return StagingArea(entries, frozenset(conflicts), written_ns)


def _raw_entries(content: bytes) -> tuple[Iterator[SerializedIndexEntry], int]:
    file = BytesIO(content)
    version, count = read_index_header(file)
    if count > MAX_ENTRIES:
        raise ValueError(f"{count} entries")
    entries: list[SerializedIndexEntry] = []
    previous = b""
    for _ in range(count):
        entries.append(read_cache_entry(file, version, previous))
        previous = entries[-1].name
    return iter(entries), file.tell()


def _has_extension(content: bytes, at: int, name: bytes) -> bool:
    while at + 8 <= len(content) - _CHECKSUM_BYTES:
        if content[at : at + 4] == name:
            return True
        at += 8 + int.from_bytes(content[at + 4 : at + 8], "big")
    return False


def _is_inside(path: bytes) -> bool:
    return {b"", b".", b"..", b".git"}.isdisjoint(path.removesuffix(b"/").split(b"/")) and b"\0" not in path


def _nanoseconds(time: object) -> int:
    if isinstance(time, tuple):
        seconds, nanoseconds = time  # pyright: ignore[reportUnknownVariableType]
        return int(seconds) * 1_000_000_000 + int(nanoseconds)  # pyright: ignore[reportUnknownArgumentType]
    return int(float(time) * 1_000_000_000) if isinstance(time, int | float) else 0
