"""Small SQLite files next to the index, with a schema of their own, shared by several processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import apsw

from atlas.adapters.stores.sqlite.file.hardened import connect
from atlas.adapters.stores.sqlite.file.own_files import SUFFIXES, check_files, make_private
from atlas.adapters.stores.sqlite.rows import fetch
from atlas.core.errors import StoreError, WriterBusy
from atlas.runtime.process.files import make_private_folder
from atlas.runtime.process.lock import WriterLock

_BUSY_MS = 2000
"""Milliseconds that a process waits for the write of another process before it fails."""
_OPENING_S = 10.0
"""Seconds that a process waits for another process to open the file before it fails; opening takes far less."""
_RETRY_S = 0.005
"""Seconds between two attempts to take the opening lock; opening takes some milliseconds."""

Setup = Callable[[Path], None]
"""Deals with the files of a database that cannot be read, so that a new one can be made."""


def open_side_file(
    path: Path, schema: Mapping[str, str], lock_name: str, synchronous: str, replace: Setup
) -> apsw.Connection:
    """Open or create a file with these tables. `replace` removes the files of a damaged or foreign database.

    Raises StoreError if another process holds the opening lock for too long, OSError and `apsw.Error` if the file
    cannot be used.
    """
    make_private_folder(path.parent)
    lock = _opening(path, lock_name)
    try:
        try:
            return _connect(path, schema, synchronous)
        except (apsw.NotADBError, apsw.CorruptError, _Foreign):
            replace(path)
            return _connect(path, schema, synchronous)
    finally:
        lock.release()


def delete_files(path: Path) -> None:
    """Delete a database with its journal files."""
    for suffix in SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def set_aside(path: Path) -> None:
    """Rename a database with its journal files, so that a person can look at it."""
    number = next(number for number in range(1, 1000) if not path.with_name(f"{path.name}.damaged-{number}").exists())
    for suffix in SUFFIXES:
        file = path.with_name(path.name + suffix)
        if file.exists():
            file.rename(path.with_name(f"{path.name}.damaged-{number}{suffix}"))


def _opening(path: Path, lock_name: str) -> WriterLock:
    """Wait until no other process is opening the file. Raises StoreError if that takes too long.

    Two processes that switch a file to WAL mode at the same time do not wait for each other, whatever the busy timeout:
    one of them fails. Two processes that replace a damaged file could delete each other's new file.
    """
    deadline = time.monotonic() + _OPENING_S
    while True:
        try:
            return WriterLock(path.parent, lock_name)
        except WriterBusy as error:
            if time.monotonic() > deadline:
                hint = "wait until that process has started or stop it"
                raise StoreError(f"another process has been opening {path} for too long", hint) from error
            time.sleep(_RETRY_S)


class _Foreign(Exception):
    """The file is a database of another application."""


def _connect(path: Path, schema: Mapping[str, str], synchronous: str) -> apsw.Connection:
    check_files(path)
    make_private(path)
    with ExitStack() as undone:
        connection = connect(path, apsw.SQLITE_OPEN_READWRITE, _BUSY_MS)
        undone.callback(connection.close, True)
        found = dict(fetch(connection, "SELECT name, sql FROM sqlite_schema"))
        if found and found != schema:
            raise _Foreign
        fetch(connection, "PRAGMA journal_mode=WAL")
        fetch(connection, f"PRAGMA synchronous={synchronous}")
        if not found:
            for statement in schema.values():
                fetch(connection, statement)
        undone.pop_all()
        return connection
