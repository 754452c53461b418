"""Read and write connections to the file of the embedded store, and a small pool of reader threads.

Readers use read-only connections that see the last committed state and never wait for the writer (WAL mode).
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import apsw

from atlas.adapters.stores.shared.statements import schema
from atlas.adapters.stores.sqlite.file.errors import translated
from atlas.adapters.stores.sqlite.file.hardened import (
    connect,
    is_sealed,
    needs_page_checks,
    register_page_checks,
    reserve_bytes,
)
from atlas.adapters.stores.sqlite.file.maintenance import BUSY_MS
from atlas.adapters.stores.sqlite.file.own_files import check_files, make_private
from atlas.adapters.stores.sqlite.file.schema_check import OLDER, SCHEMA_VERSION, UNSEALED_VERSION, check_schema
from atlas.adapters.stores.sqlite.file.shared_blocks import remove_layers
from atlas.adapters.stores.sqlite.file.upgrade import add_columns
from atlas.adapters.stores.sqlite.rows import begin, fetch, value
from atlas.core.errors import NotFound, StoreError, Unavailable

DATABASE = "atlas.db"

_Result = TypeVar("_Result")

_READER_SETTINGS = ("PRAGMA query_only=1", "PRAGMA cache_size=-2048", "PRAGMA temp_store=memory")
_WRITER_SETTINGS = (
    "PRAGMA synchronous=normal",
    "PRAGMA cache_size=-16384",
    "PRAGMA temp_store=memory",
    "PRAGMA wal_autocheckpoint=0",
    "PRAGMA journal_size_limit=33554432",
    "PRAGMA secure_delete=1",
)
"""`secure_delete=1` overwrites deleted content and free pages; `fast` does not overwrite free pages."""


_STEPS_PER_LOOK = 10_000


def open_reader(path: Path, *, owned: bool = True, most_steps: int = 0) -> apsw.Connection:
    """Open for reading only. Raises `NotFound`, `SchemaMismatch` or `StoreError`.

    `most_steps` limits all statements on a stranger's file together, the one that reads its schema included; the next
    one raises apsw.InterruptError. A step is an instruction of SQLite; 0 = no limit.
    """
    if not check_files(path, owned=owned):
        raise NotFound(f"there is no index in {path.parent}", "run: atlas index")
    if path.lstat().st_size == 0:
        # a connection to an empty file never learns whether its pages are sealed: the first ones may come from the log
        raise never_written(path)
    with ExitStack() as undone:
        connection = connect(path, apsw.SQLITE_OPEN_READONLY, BUSY_MS)
        undone.callback(connection.close, True)
        if most_steps:
            left = iter(range(most_steps // _STEPS_PER_LOOK))
            connection.set_progress_handler(lambda: next(left, None) is None, _STEPS_PER_LOOK)
        for setting in _READER_SETTINGS:
            fetch(connection, setting)
        if not _tables(connection):
            raise never_written(path)
        check_schema(connection, path)
        undone.pop_all()
        return connection


def never_written(path: Path) -> NotFound:
    """Return the error of a file that a writer has not filled yet."""
    return NotFound(f"the index in {path.parent} was never written", "run: atlas index")


def open_writer(path: Path, *, log: bool = True, page_bytes: int = 0) -> apsw.Connection:
    """Open for writing, create the schema in a new file and upgrade an older one. The caller holds the writer lock.

    Without `log`, a write that is cut off leaves a damaged file, and no process may read meanwhile. `page_bytes` is the
    page size of a new file, 0 = SQLite's own.

    A new file has page checksums if the page checks are registered. A file with page checksums cannot be written
    without the page checks.
    """
    if not check_files(path):
        remove_layers(path)
    make_private(path)
    with ExitStack() as undone:
        connection = connect(path, apsw.SQLITE_OPEN_READWRITE, BUSY_MS)
        undone.callback(connection.close, True)
        if page_bytes:
            fetch(connection, f"PRAGMA page_size = {page_bytes}")
        new = not _tables(connection)
        if new and path.stat().st_size == 0 and register_page_checks():
            reserve_bytes(connection)
        mode = value(connection, f"PRAGMA journal_mode={'wal' if log else 'memory'}")
        if log and mode != "wal":
            raise StoreError(
                f"the file system of {path.parent} does not support a shared index", "choose another --data-dir"
            )
        for setting in _WRITER_SETTINGS:
            fetch(connection, setting)
        if new:
            _create(connection, SCHEMA_VERSION if is_sealed(connection) else UNSEALED_VERSION)
        else:
            version = check_schema(connection, path, upgrades=True)
            target = OLDER.get(version, version)
            if target == SCHEMA_VERSION and not register_page_checks():
                raise needs_page_checks(path)
            if target != version:
                add_columns(connection, target)
        undone.pop_all()
        return connection


def _create(connection: apsw.Connection, version: str) -> None:
    fetch(connection, "BEGIN IMMEDIATE")
    fetch(connection, schema())
    fetch(
        connection,
        "INSERT INTO meta VALUES ('schema', ?), ('identity', hex(randomblob(16))), ('vector_generation', '0')",
        (version,),
    )
    fetch(connection, "COMMIT")


def _tables(connection: apsw.Connection) -> int:
    return value(connection, "SELECT count(*) FROM sqlite_schema")


def file_identity(path: Path) -> tuple[int, int]:
    """Return device and inode of the file, to detect a replacement at the same path; (0, 0) if there is no file."""
    try:
        status = os.lstat(path)  # a quarter of the time of `Path.lstat`
    except FileNotFoundError:
        return (0, 0)
    return (status.st_dev, status.st_ino)


class ReaderPool:
    """A few threads with one read-only connection each.

    Every read runs in one transaction and sees one consistent state; those of one turn of the event loop share theirs.
    """

    def __init__(self, path: Path, threads: int, *, owned: bool = True) -> None:
        self._path, self._owned = path, owned
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="atlas-reader")
        self._local = threading.local()
        self._open: set[apsw.Connection] = set()
        self._guard = threading.Lock()
        self._caller_lock = threading.Lock()
        self._closing = False

    async def run(self, read: Callable[..., _Result], *arguments: Any) -> _Result:
        """Run `read(connection, *arguments)` in a thread of the pool and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._call, read, arguments)

    def run_here(self, read: Callable[..., _Result], *arguments: Any) -> _Result:
        """Run `read(connection, *arguments)` in the calling thread on a separate connection and return its result.

        Meant for reads of a few rows by key: they take 0.01 to 0.2 ms, while the round trip to a thread takes 0.3 ms.
        To begin and end a transaction takes 0.05 ms, so that it lasts for the turn of the caller's event loop.
        """
        with self._caller_lock, translated(self._path):
            return read(self._connection_of_turn(), *arguments)

    def check(self) -> None:
        """Open one connection now, so that a missing or damaged store is reported immediately."""
        with translated(self._path):
            open_reader(self._path, owned=self._owned).close()

    def close(self) -> None:
        """Stop the running reads (they raise `Unavailable`) and close every connection; idempotent."""
        self._closing = True
        stopped = threading.Thread(target=self._executor.shutdown, name="atlas-reader-close")
        stopped.start()
        while stopped.is_alive():
            # Repeated: an interrupt ends only a running statement, not one that is about to start.
            with self._guard:
                for connection in self._open:
                    connection.interrupt()
            stopped.join(0.02)
        with self._caller_lock, self._guard:
            for connection in self._open:
                connection.close(True)
            self._open.clear()

    def _call(self, read: Callable[..., _Result], arguments: tuple[Any, ...]) -> _Result:
        with translated(self._path):
            connection = self._connection()
            begin(connection)
            try:
                return read(connection, *arguments)
            finally:
                _end(connection)

    def _connection_of_turn(self) -> apsw.Connection:
        """Return the calling thread's connection in the transaction of this turn of its event loop."""
        connection: apsw.Connection | None = getattr(self._local, "of_turn", None)
        if self._closing or connection is None or not connection.in_transaction:
            connection = self._connection()
            begin(connection)
            self._local.of_turn = connection
            asyncio.get_running_loop().call_soon(self._end_turn, connection)
        return connection

    def _end_turn(self, connection: apsw.Connection) -> None:
        with self._caller_lock:
            self._local.of_turn = None
            if connection in self._open:
                _end(connection)

    def _connection(self) -> apsw.Connection:
        """Return this thread's connection; it is reopened if the file was replaced (`index --full`)."""
        if self._closing:
            raise Unavailable("the index was closed", "open it again")
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        identity = file_identity(self._path)
        if connection is not None and identity == self._local.identity:
            return connection
        if connection is not None:
            with self._guard:
                self._open.discard(connection)
            self._local.connection = None
            connection.close(True)
        fresh = open_reader(self._path, owned=self._owned)
        with self._guard:
            self._open.add(fresh)
        self._local.connection, self._local.identity = fresh, identity
        return fresh


def _end(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        fetch(connection, "ROLLBACK")
