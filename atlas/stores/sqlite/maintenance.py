"""What the writing connection does between writes, so that no write has to: checkpoints, merging of words, erasure.

The log moves into the database file when it is long; segments of words are merged when nothing is written. Readers are
never held up. What the disk refuses here is no error of a write: the log keeps what was committed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import apsw

from atlas.stores.sqlite.erasure import ERASURE_BATCH, owe_more, owed, rewrite_words, settle
from atlas.stores.sqlite.rows import fetch

BUSY_MS = 5000
"""How long a connection waits for another to finish a write, a checkpoint or a recovery."""

QUIET_SECONDS = 2.0
"""Without writes for this long the writer is at rest."""

_STEP = 4000
"""Pages of 4 KB that the log grows by between two checkpoints: some 50 files, 10 to 40 ms of work."""

_LONG = 2 * _STEP
"""From here on a checkpoint waits for readers: under readers that overlap all the time no log would start anew."""

_PATIENCE_MS = 1000

_MERGED_PAGES = 250
"""Pages merged in one transaction: 5 to 15 ms that a write may have to wait."""

_REFUSED = (apsw.FullError, apsw.IOError, apsw.BusyError)


def tidy(connection: apsw.Connection) -> None:
    """After a pass: planner statistics, an empty log if no reader is in the way, no cache while nothing happens.

    What left the index leaves the files. A page that turns out to be damaged is an error of the pass.
    """
    with _unless_refused():
        fetch(connection, "PRAGMA analysis_limit=400")
        fetch(connection, "PRAGMA optimize=0x10002")
        debt = owed(connection)
        if debt >= ERASURE_BATCH:
            erase(connection)
        else:
            if debt:
                owe_more(connection)
            _checkpoint(connection, "truncate", 0)
    fetch(connection, "PRAGMA shrink_memory")


def erase(connection: apsw.Connection) -> None:
    """Let no byte of what was deleted remain; while a reader keeps the log from being emptied, it is owed."""
    rewrite_words(connection)
    if _checkpoint(connection, "truncate", _PATIENCE_MS):
        settle(connection)
        _checkpoint(connection, "truncate", 0)


@contextmanager
def _unless_refused() -> Generator[None]:
    """Let the disk refuse what may be done later; damage is no refusal."""
    try:
        yield
    except _REFUSED as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            raise


class Maintenance:
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

    def move_log(self) -> None:
        """Move what can be moved of the log."""
        self._due = self._pages + _STEP
        with _unless_refused():
            _checkpoint(self._connection, "restart" if self._pages >= _LONG else "passive", _PATIENCE_MS)

    def end(self) -> None:
        """Empty the log before the connection closes: only the last one does so by itself, and readers may remain."""
        with _unless_refused():
            _checkpoint(self._connection, "truncate", 0)

    def merge_words(self, undisturbed: Callable[[], bool]) -> None:
        """Merge segments of words, step by step, until there is nothing to merge or somebody wants to write.

        Then what is owed is erased. When nothing is left, no cache is kept: what was merged is hardly asked for again.
        """
        with _unless_refused():
            while undisturbed():
                before = self._connection.total_changes()
                fetch(self._connection, "INSERT INTO text(text, rank) VALUES ('merge', ?)", (_MERGED_PAGES,))
                if self._connection.total_changes() - before < 2:
                    if owed(self._connection):
                        erase(self._connection)
                    fetch(self._connection, "PRAGMA shrink_memory")
                    return
                if self.due:
                    self.move_log()

    def _committed(self, connection: apsw.Connection, database: str, pages: int) -> int:
        if pages < self._pages:
            self._due = _STEP
        self._pages = pages
        return apsw.SQLITE_OK


def _checkpoint(connection: apsw.Connection, mode: str, patience_ms: int) -> bool:
    """Copy the log into the database; return whether no reader was in the way."""
    connection.set_busy_timeout(patience_ms)
    try:
        return not fetch(connection, f"PRAGMA wal_checkpoint({mode})")[0][0]
    finally:
        connection.set_busy_timeout(BUSY_MS)
