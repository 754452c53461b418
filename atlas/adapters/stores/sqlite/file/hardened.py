"""SQLite connections that treat any database file as data only: it cannot run, load or open anything."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import apsw

from atlas.adapters.stores.sqlite.file.own_files import resolved
from atlas.adapters.stores.sqlite.file.shared_blocks import has_layers
from atlas.adapters.stores.sqlite.rows import ReadConnection, fetch
from atlas.core.errors import StoreError

PAGES_VFS = "atlas-pages"
"""The VFS of the Rust extension (`rust-parser/sys/src/sqlite/page_vfs.rs`), which verifies every page that is read."""

RESERVED_BYTES = 16
"""Bytes per page reserved for the checksum; equals `page_checksums::format::RESERVED` of the extension."""

_PAGES_ENTRY_POINT = "atlas_pages_init"

_ON = (apsw.SQLITE_DBCONFIG_DEFENSIVE, apsw.SQLITE_DBCONFIG_ENABLE_QPSG)
"""SQL cannot write shadow tables or the schema.

Statements keep their plans: otherwise SQLite replans for every row and call, because other bindings might favour
another plan.
"""

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
"""Options by name, because some are newer than the oldest supported SQLite."""

_LIMITS = {"SQLITE_LIMIT_ATTACHED": 0, "SQLITE_LIMIT_TRIGGER_DEPTH": 0, "SQLITE_LIMIT_WORKER_THREADS": 0}


def connect(path: Path, flags: int, busy_ms: int) -> apsw.Connection:
    """Open a file that is not a symbolic link; its folder may be reached through links. Call `check_files` first."""
    vfs = PAGES_VFS if register_page_checks() else None
    if vfs is None and has_layers(path):
        raise needs_page_checks(path)
    kind = ReadConnection if flags & apsw.SQLITE_OPEN_READONLY else apsw.Connection
    connection = kind(str(resolved(path)), flags=flags | apsw.SQLITE_OPEN_NOFOLLOW, vfs=vfs)
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
    except BaseException:  # any failure, an interrupt too, must not leave a half-hardened connection open
        connection.close(True)
        raise
    return connection


def load_extension(connection: apsw.Connection, library: str, entry_point: str) -> None:
    """Load an entry point of the Rust extension, then disable extension loading again: SQL can never load anything."""
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
    try:
        connection.load_extension(library, entry_point)
    finally:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)


@cache
def loads(library: str, entry_point: str) -> bool:
    """Return whether connections can load the entry point; apsw or the system may forbid extension loading."""
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
    """Make every connection that is opened afterwards verify pages; return whether it does."""
    extension = find_spec("atlas._parser")
    return extension is not None and extension.origin is not None and loads(extension.origin, _PAGES_ENTRY_POINT)


def is_sealed(connection: apsw.Connection) -> bool:
    """Return whether the file has verified page checksums; always False without the page checks."""
    return fetch(connection, "PRAGMA atlas_page_check('1:0')") == [("sealed",)]


def reserve_bytes(connection: apsw.Connection) -> None:
    """Reserve room for a checksum at the end of each page, in a file that is still empty or in a copy of the file."""
    import ctypes  # The import takes 4 ms and is needed once per file.

    wanted = ctypes.c_int(RESERVED_BYTES)
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(wanted))


def needs_page_checks(path: Path) -> StoreError:
    """Return the error for a file whose checksums this process cannot compute, or whose layers it cannot read."""
    return StoreError(
        f"the index at {path} needs page checks, but this installation cannot load the page checks",
        "install apsw from its wheel (with extension loading), or run: atlas index --full",
    )
