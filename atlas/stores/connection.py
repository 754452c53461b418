"""Connections to the embedded store's file: opening, settings, schema check, and a small pool of reading threads.

Readers are read-only connections that see the last committed state and never wait for the writer (WAL).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import apsw

from atlas.errors import NotFound, SchemaMismatch, StoreError, Unavailable
from atlas.stores.embedded_text import load_bm25
from atlas.stores.rows import fetch, value
from atlas.stores.sqlite_errors import REBUILD, translated
from atlas.stores.statements import schema
from atlas.stores.upkeep import BUSY_MS

SCHEMA_VERSION = "2"
"""Raised with every change of `schema.sql` that an older program could not read or would write wrongly."""

DATABASE = "atlas.db"

_Result = TypeVar("_Result")

_READER_SETTINGS = (
    "PRAGMA query_only=1",
    "PRAGMA cache_size=-4096",
    "PRAGMA temp_store=memory",
    "PRAGMA trusted_schema=0",
)
_WRITER_SETTINGS = (
    "PRAGMA synchronous=normal",
    "PRAGMA cache_size=-65536",
    "PRAGMA temp_store=memory",
    "PRAGMA wal_autocheckpoint=0",
    "PRAGMA journal_size_limit=33554432",
)


def open_reader(path: Path, library: str = "") -> apsw.Connection:
    """Open for reading only; `library` offers `bm25_best`. Raises `NotFound`, `SchemaMismatch` or `StoreError`."""
    if not path.exists():
        raise NotFound(f"there is no index in {path.parent}", "run: atlas index")
    with ExitStack() as undone:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        undone.callback(connection.close, True)
        connection.set_busy_timeout(BUSY_MS)
        _plan_once(connection)
        for setting in _READER_SETTINGS:
            fetch(connection, setting)
        if not _tables(connection):
            raise NotFound(f"the index in {path.parent} was never written", "run: atlas index")
        _check_version(connection, path)
        if library:
            load_bm25(connection, library)
        undone.pop_all()
        return connection


def open_writer(path: Path) -> apsw.Connection:
    """Open for writing, making the schema in a new file. The caller holds the writer lock."""
    with ExitStack() as undone:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        undone.callback(connection.close, True)
        connection.set_busy_timeout(BUSY_MS)
        _plan_once(connection)
        mode = value(connection, "PRAGMA journal_mode=wal")
        if mode != "wal":
            raise StoreError(f"the disk of {path.parent} does not support a shared index", "choose another --data-dir")
        for setting in _WRITER_SETTINGS:
            fetch(connection, setting)
        if not _tables(connection):
            _create(connection)
        _check_version(connection, path)
        undone.pop_all()
        return connection


def _plan_once(connection: apsw.Connection) -> None:
    """Keep a statement's plan. Else SQLite plans anew for every row and call: other bindings might favour another."""
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)


def _create(connection: apsw.Connection) -> None:
    fetch(connection, "BEGIN IMMEDIATE")
    fetch(connection, schema())
    fetch(
        connection,
        "INSERT INTO meta VALUES ('schema', ?), ('identity', hex(randomblob(16))), ('vector_generation', '0')",
        (SCHEMA_VERSION,),
    )
    # one segment per transaction instead of one per megabyte: half the CPU of a full index
    fetch(connection, "INSERT INTO text(text, rank) VALUES ('hashsize', 67108864)")
    # writes leave merging to the time between them (upkeep); if that never comes, from 16 segments on they do a little
    fetch(connection, "INSERT INTO text(text, rank) VALUES ('automerge', 16), ('crisismerge', 64)")
    fetch(connection, "COMMIT")


def _tables(connection: apsw.Connection) -> int:
    return value(connection, "SELECT count(*) FROM sqlite_schema")


def _check_version(connection: apsw.Connection, path: Path) -> None:
    try:
        stored = fetch(connection, "SELECT value FROM meta WHERE key = 'schema'")
    except apsw.SQLError:
        stored = []
    found = stored[0][0] if stored else "unknown"
    if found != SCHEMA_VERSION:
        raise SchemaMismatch(f"the index at {path} has schema {found}, this program needs {SCHEMA_VERSION}", REBUILD)


def file_identity(path: Path) -> tuple[int, int]:
    """Return what tells a file from another that was put in its place; (0, 0) when there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_dev, status.st_ino)


class ReaderPool:
    """A few threads with one read-only connection each. Every read runs in one transaction: one consistent state."""

    def __init__(self, path: Path, threads: int, library: str = "") -> None:
        self._path, self._library = path, library
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="atlas-reader")
        self._local = threading.local()
        self._open: set[apsw.Connection] = set()
        self._guard = threading.Lock()
        self._at_hand = threading.Lock()
        self._closing = False

    async def run(self, read: Callable[..., _Result], *arguments: Any) -> _Result:
        """Return `read(connection, *arguments)`, run in a thread of the pool."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._call, read, arguments)

    def run_here(self, read: Callable[..., _Result], *arguments: Any) -> _Result:
        """Return `read(connection, *arguments)`, run in the calling thread on its own connection.

        For reads of a few rows by key: they take 0.01 to 0.2 ms, to a thread and back takes 0.3 ms.
        """
        with self._at_hand:
            return self._call(read, arguments)

    def check(self) -> None:
        """Open one connection now, so that a missing or damaged store is reported at once."""
        with translated(self._path):
            open_reader(self._path, self._library).close()

    def close(self) -> None:
        """Stop running reads (they raise `Unavailable`) and close every connection; idempotent."""
        self._closing = True
        stopped = threading.Thread(target=self._executor.shutdown, name="atlas-reader-close")
        stopped.start()
        while stopped.is_alive():
            # again and again: an interrupt ends the statement that runs, not one that is about to
            with self._guard:
                for connection in self._open:
                    connection.interrupt()
            stopped.join(0.02)
        with self._at_hand, self._guard:
            for connection in self._open:
                connection.close(True)
            self._open.clear()

    def _call(self, read: Callable[..., _Result], arguments: tuple[Any, ...]) -> _Result:
        if self._closing:
            raise Unavailable("the index was closed", "open it again")
        with translated(self._path):
            connection = self._connection()
            fetch(connection, "BEGIN")
            try:
                return read(connection, *arguments)
            finally:
                if connection.in_transaction:
                    fetch(connection, "ROLLBACK")

    def _connection(self) -> apsw.Connection:
        """Return this thread's connection; a file that was replaced (`index --full`) is opened anew."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        identity = file_identity(self._path)
        if connection is not None and identity == self._local.identity:
            return connection
        if connection is not None:
            with self._guard:
                self._open.discard(connection)
            self._local.connection = None
            connection.close(True)
        fresh = open_reader(self._path, self._library)
        with self._guard:
            self._open.add(fresh)
        self._local.connection, self._local.identity = fresh, identity
        return fresh
