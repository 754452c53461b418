"""SQLite connections for which a database file is data only, whoever wrote it: it cannot run, load or open anything."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import apsw

from atlas.errors import StoreError
from atlas.stores.sqlite.own_files import resolved
from atlas.stores.sqlite.rows import fetch

PAGES_VFS = "atlas-pages"
"""The VFS of the Rust extension (`rust-parser/src/pages.rs`), which verifies every page that is read."""

RESERVED_BYTES = 16
"""Bytes a page that hold its checksum; the extension's `format::RESERVED`."""

_PAGES_ENTRY_POINT = "atlas_pages_init"

_ON = (apsw.SQLITE_DBCONFIG_DEFENSIVE, apsw.SQLITE_DBCONFIG_ENABLE_QPSG)
"""Shadow tables and the schema cannot be written by SQL. Statements keep their plans: else SQLite plans anew for every
row and call, because other bindings might favour another."""

_OFF = (
    "SQLITE_DBCONFIG_TRUSTED_SCHEMA",
    "SQLITE_DBCONFIG_ENABLE_TRIGGER",
    "SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION",
    "SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE",
    "SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE",
    "SQLITE_DBCONFIG_WRITABLE_SCHEMA",
    "SQLITE_DBCONFIG_DQS_DML",
    "SQLITE_DBCONFIG_DQS_DDL",
)
"""By name: some of them are younger than the oldest SQLite that is supported."""

_LIMITS = {"SQLITE_LIMIT_ATTACHED": 0, "SQLITE_LIMIT_TRIGGER_DEPTH": 0, "SQLITE_LIMIT_WORKER_THREADS": 0}


def connect(path: Path, flags: int, busy_ms: int) -> apsw.Connection:
    """Open a file whose folder may be reached by links, but that is none itself. `check_files` comes first."""
    vfs = PAGES_VFS if register_page_checks() else None
    connection = apsw.Connection(str(resolved(path)), flags=flags | apsw.SQLITE_OPEN_NOFOLLOW, vfs=vfs)
    try:
        connection.set_busy_timeout(busy_ms)
        for option in _ON:
            connection.config(option, 1)
        for name in _OFF:
            if hasattr(apsw, name):
                connection.config(getattr(apsw, name), 0)
        for name, limit in _LIMITS.items():
            connection.limit(getattr(apsw, name), limit)
        fetch(connection, "PRAGMA cell_size_check=1")
    except BaseException:
        connection.close(True)
        raise
    return connection


def load_extension(connection: apsw.Connection, library: str, entry_point: str) -> None:
    """Give the connection a part of the Rust extension, and close the door again: no SQL may load anything, ever."""
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
    try:
        connection.load_extension(library, entry_point)
    finally:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)


@cache
def loads(library: str, entry_point: str) -> bool:
    """Tell whether connections can be given a part of the extension: not where apsw or the system forbids loading."""
    connection = apsw.Connection(":memory:")
    try:
        load_extension(connection, library, entry_point)
    except (apsw.Error, AttributeError, ValueError):
        return False
    finally:
        connection.close(True)
    return True


@cache
def register_page_checks() -> bool:
    """Let every connection that is opened from now on verify pages; return whether it does."""
    extension = find_spec("atlas._parser")
    return extension is not None and extension.origin is not None and loads(extension.origin, _PAGES_ENTRY_POINT)


def is_sealed(connection: apsw.Connection) -> bool:
    """Tell whether the file has page checksums that are verified. Without page checks, no is no news."""
    return fetch(connection, "PRAGMA atlas_page_check('1:0')") == [("sealed",)]


def reserve_bytes(connection: apsw.Connection) -> None:
    """Let the pages of a file that is empty yet, or of a copy of the file, end in room for a checksum."""
    import ctypes  # 4 ms to import, and needed once per file

    wanted = ctypes.c_int(RESERVED_BYTES)
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(wanted))


def needs_page_checks(path: Path) -> StoreError:
    """Return the error for writing to a file whose checksums this process cannot make."""
    return StoreError(
        f"the index at {path} has page checksums, which this program cannot load here",
        "install apsw from its wheel (with extension loading), or run: atlas index --full",
    )
