"""Maintenance that the write connection does between writes: checkpoints, merging of words, erasure.

A long log is moved into the database file; segments of words are merged at the end of a pass. Readers are never
blocked. A failed checkpoint or merge is not an error of a write: the log keeps the committed data.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from atlas.adapters.stores.sqlite.file.erasure import (
    ERASURE_BATCH,
    clear_pending,
    increment_pending,
    pending_erasure,
)
from atlas.adapters.stores.sqlite.file.shared_blocks import release_blocks
from atlas.adapters.stores.sqlite.rows import fetch, transaction
from atlas.adapters.stores.sqlite.text_segments import merge_words

BUSY_MS = 5000
"""Milliseconds that a connection waits for a write, a checkpoint or a recovery of another connection."""

QUIET_SECONDS = 10.0
"""Seconds without writes after which the writer is idle: more than a pause within a pass on a busy machine, where an
erasure costs 0.35 CPU s for Django, and the rest of the pass makes it necessary again."""

_CHECKPOINT_STEP = 4000
"""Pages of 4 KB by which the log grows between two checkpoints: some 50 files, 10 to 40 ms of work."""

_LONG_LOG = 2 * _CHECKPOINT_STEP
"""Pages from which a checkpoint waits for readers: with constantly overlapping readers the log would never restart."""

_CHECKPOINT_TIMEOUT_MS = 1000

_DEFERRABLE_ERRORS = (apsw.FullError, apsw.IOError, apsw.BusyError)


def tidy(connection: apsw.Connection) -> None:
    """After a pass: update planner statistics, empty the log unless a reader blocks that, and release the page cache.

    Pending erasure runs. A damaged page found here is an error of the pass.
    """
    with _best_effort():
        fetch(connection, "PRAGMA analysis_limit=400")
        fetch(connection, "PRAGMA optimize=0x10002")
        pending = pending_erasure(connection)
        if pending < ERASURE_BATCH:
            with transaction(connection):
                merge_words(connection)
        if pending >= ERASURE_BATCH:
            erase(connection)
        else:
            if pending:
                increment_pending(connection)
            _checkpoint(connection, "truncate", 0)
    release_blocks(_path(connection))
    fetch(connection, "PRAGMA shrink_memory")


def erase(connection: apsw.Connection) -> None:
    """Erase the bytes of all deleted content; erasure stays pending while a reader prevents emptying the log."""
    with transaction(connection):
        merge_words(connection, everything=True)
    if _checkpoint(connection, "truncate", _CHECKPOINT_TIMEOUT_MS):
        clear_pending(connection)
        _checkpoint(connection, "truncate", 0)


@contextmanager
def _best_effort() -> Generator[None]:
    """Ignore failures of work that can be done later, but not damage."""
    try:
        yield
    except _DEFERRABLE_ERRORS as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            raise


class Maintenance:
    """Follows the log of the one write connection. All methods but `due` run in the writer's thread."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._pages = 0
        self._due = _CHECKPOINT_STEP
        connection.set_wal_hook(self._committed)

    @property
    def due(self) -> bool:
        """Whether the log is long enough to be moved."""
        return self._pages >= self._due

    def move_log(self) -> None:
        """Move as much of the log as possible into the database file."""
        self._due = self._pages + _CHECKPOINT_STEP
        with _best_effort():
            _checkpoint(self._connection, "restart" if self._pages >= _LONG_LOG else "passive", _CHECKPOINT_TIMEOUT_MS)

    def end(self) -> None:
        """Empty the log before the connection closes.

        SQLite does so only for the last connection, and readers may remain.
        """
        with _best_effort():
            _checkpoint(self._connection, "truncate", 0)

    def erase_when_idle(self, is_idle: Callable[[], bool]) -> None:
        """Run pending erasure unless a write is requested."""
        with _best_effort():
            if is_idle() and pending_erasure(self._connection):
                erase(self._connection)
                release_blocks(_path(self._connection))
                fetch(self._connection, "PRAGMA shrink_memory")

    def _committed(self, connection: apsw.Connection, database: str, pages: int) -> int:
        if pages < self._pages:
            self._due = _CHECKPOINT_STEP
        self._pages = pages
        return apsw.SQLITE_OK


def _path(connection: apsw.Connection) -> Path:
    return Path(connection.db_filename("main"))


def _checkpoint(connection: apsw.Connection, mode: str, timeout_ms: int) -> bool:
    """Copy the log into the database; return whether no reader blocked that."""
    connection.set_busy_timeout(timeout_ms)
    try:
        return not fetch(connection, f"PRAGMA wal_checkpoint({mode})")[0][0]
    finally:
        connection.set_busy_timeout(BUSY_MS)
