"""When what was committed moves from the write-ahead log into the database file: between writes, never in one.

Readers are never held up. For readers that keep the log from starting anew it waits only when the log is long.
"""

from __future__ import annotations

from contextlib import suppress

import apsw

from atlas.stores.rows import fetch

BUSY_MS = 5000
"""How long a connection waits for another to finish a write, a checkpoint or a recovery."""

_STEP = 4000
"""Pages of 4 KB that the log grows by between two checkpoints: some 50 files, 10 to 40 ms of work."""

_LONG = 2 * _STEP
"""From here on a checkpoint waits for readers: under readers that overlap all the time no log would start anew."""

_PATIENCE_MS = 1000


_REFUSED = (apsw.FullError, apsw.IOError, apsw.BusyError)


def tidy(connection: apsw.Connection) -> None:
    """After a pass: planner statistics, an empty log if no reader is in the way, no cache while nothing happens."""
    with suppress(*_REFUSED):
        fetch(connection, "PRAGMA analysis_limit=400")
        fetch(connection, "PRAGMA optimize=0x10002")
        _checkpoint(connection, "truncate", 0)
    fetch(connection, "PRAGMA shrink_memory")


class Checkpoints:
    """Follows the log of the one writing connection. Used in the writer's thread, but for `due`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._pages = 0
        self._due = _STEP
        connection.set_wal_hook(self._committed)

    @property
    def due(self) -> bool:
        """Whether the log is long enough to be worth moving."""
        return self._pages >= self._due

    def run(self) -> None:
        """Move what can be moved. A disk that refuses it is no error of a write: the log keeps what was committed."""
        self._due = self._pages + _STEP
        with suppress(*_REFUSED):
            _checkpoint(self._connection, "restart" if self._pages >= _LONG else "passive", _PATIENCE_MS)

    def _committed(self, connection: apsw.Connection, database: str, pages: int) -> int:
        if pages < self._pages:
            self._due = _STEP
        self._pages = pages
        return apsw.SQLITE_OK


def _checkpoint(connection: apsw.Connection, mode: str, patience_ms: int) -> None:
    connection.set_busy_timeout(patience_ms)
    try:
        fetch(connection, f"PRAGMA wal_checkpoint({mode})")
    finally:
        connection.set_busy_timeout(BUSY_MS)
