"""Detection of damage in the database file before the writer builds on it.

The VFS of the Rust extension verifies every page that is read. A pass over a tree reads a small part of the file, so
the writer also verifies the file on opening: the whole file if anything but a writer changed it since the last writer
closed it, otherwise a different sixteenth each time. A marker file next to the database records the state that a writer
left.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import apsw

from atlas.adapters.stores.sqlite.file.errors import damaged
from atlas.adapters.stores.sqlite.file.hardened import register_page_checks
from atlas.adapters.stores.sqlite.rows import fetch, value

NOTE_SUFFIX = "-closed"
"""Suffix of the marker file with the state in which the last writer left the database."""

PARTS = 16
"""Number of parts, of which one is verified per opening: all parts of 25,000 pages (Django) take some 25 ms."""

_ALL = 1 << 62
_NOTE_BYTES = 200


@dataclass(frozen=True, slots=True)
class _Note:
    """The state of a database file when a writer closed it, and the part to verify next."""

    file: tuple[int, ...]
    part: int


def verify(connection: apsw.Connection, path: Path) -> int:
    """Verify the file that a writer has just opened; return the part to verify next. Raises StoreError for damage."""
    note = _read(path)
    _note_path(path).unlink(missing_ok=True)
    if not register_page_checks():
        return 0
    unchanged = note is not None and note.file == _state(path)
    # The checkpoint verifies every frame that it copies.
    fetch(connection, "PRAGMA wal_checkpoint(truncate)")
    if note is None or not unchanged:
        _check(connection, path, 1, _ALL)
        return 0
    size = max(path.stat().st_size // 4096 // PARTS, 1)
    first = 1 + note.part * size
    _check(connection, path, first, _ALL if note.part == PARTS - 1 else size)
    return (note.part + 1) % PARTS


def note_close(path: Path, part: int) -> None:
    """Record the state of the file after a writer has closed it. Without this marker, the next writer verifies all."""
    log = path.with_name(path.name + "-wal")
    try:
        if log.exists() and log.stat().st_size:
            return
        text = " ".join(map(str, (*_state(path), part)))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(_note_path(path), flags, 0o600)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError:
        return


def _check(connection: apsw.Connection, path: Path, first: int, count: int) -> None:
    found = str(value(connection, f"PRAGMA atlas_page_check('{first}:{count}')"))
    if not found.startswith(("ok", "unsealed")):
        raise damaged(path, found)


def _read(path: Path) -> _Note | None:
    try:
        descriptor = os.open(
            _note_path(path), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        numbers = [int(number) for number in os.read(descriptor, _NOTE_BYTES).split()]
    except (OSError, ValueError):
        return None
    finally:
        os.close(descriptor)
    return _Note(tuple(numbers[:-1]), numbers[-1] % PARTS) if len(numbers) > 1 else None


def _state(path: Path) -> tuple[int, ...]:
    status = path.lstat()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _note_path(path: Path) -> Path:
    return path.with_name(path.name + NOTE_SUFFIX)
