"""Keeps a running query inside its limits.

Read-only through an authorizer, a deadline in SQL and in Python, a bound on the bytes of values. Everything is put back
afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import apsw

from atlas.errors import QueryError
from atlas.stores.sqlite.rows import fetch, value

MAX_HELD = 96_000_000
"""Bytes of the values that a query holds at once, intermediate results included.

Two queries run at a time (`stores.embedded`); with the page caches and the results that stays below 512 MB.
"""
_TABLES = frozenset(("node", "edge", "file", "project", "symbol_id", "json_each"))
_FUNCTIONS = frozenset(("count", "instr", "json_each", "nullif", "substr"))
_CACHE_KIB = 32_768
"""Page cache while a query runs: joins over all edges take half the time they take with 4 MiB."""
_STEPS = 2_000
"""SQLite instructions between two looks at the clock: about 0.1 ms."""


@dataclass(slots=True)
class Guard:
    """The limits of one run; `deadline` is a monotonic time."""

    timeout: float
    deadline: float
    held: int = 0
    ticks: int = 0
    depth_cut: bool = False

    def tick(self) -> None:
        """Count a unit of work in Python and look at the clock now and then."""
        self.ticks += 1
        if not self.ticks & 0xFF and time.monotonic() > self.deadline:
            raise self.expired()

    def look(self) -> None:
        """Look at the clock, before or after a step that takes long."""
        if time.monotonic() > self.deadline:
            raise self.expired()

    def charge(self, size: int) -> None:
        """Count bytes that are held (negative: freed)."""
        self.held += size
        if self.held > MAX_HELD:
            raise QueryError(
                f"the query holds more than {MAX_HELD // 1_000_000} MB of values",
                "filter or aggregate earlier, or add LIMIT",
            )

    def release(self, size: int) -> None:
        """Count bytes as freed."""
        self.held -= size

    def note_cut(self) -> None:
        """Remember that the depth cap hid longer paths."""
        self.depth_cut = True

    def is_late(self) -> bool:
        """Tell SQLite to stop."""
        return time.monotonic() > self.deadline

    def expired(self) -> QueryError:
        """Return the error for a query that takes too long."""
        return QueryError(
            f"timeout: the query took longer than {self.timeout:g} s",
            "anchor it (name, uid or label), bound variable lengths, or add LIMIT",
        )


@contextmanager
def guarded(connection: apsw.Connection, timeout: float) -> Generator[Guard]:
    """Limit the connection while the block runs, inside one read transaction. SQLite's errors become QueryError."""
    guard = Guard(timeout, time.monotonic() + timeout)
    owned = not connection.in_transaction
    previous = connection.authorizer
    pages = value(connection, "PRAGMA cache_size")
    fetch(connection, f"PRAGMA cache_size=-{_CACHE_KIB}")
    if owned:
        fetch(connection, "BEGIN")
    connection.authorizer = _authorize
    connection.set_progress_handler(guard.is_late, _STEPS, id=guard)
    try:
        yield guard
    except apsw.InterruptError as error:
        raise guard.expired() from error
    except RecursionError as error:
        raise QueryError("the query is nested too deeply", "simplify it") from error
    except MemoryError as error:
        raise QueryError("the query needs too much memory", "filter or aggregate earlier, or add LIMIT") from error
    except (apsw.SQLError, apsw.TooBigError) as error:
        raise QueryError(f"the query is too large for the store: {error}", "split the MATCH in two") from error
    finally:
        connection.set_progress_handler(None, id=guard)
        connection.authorizer = previous
        if owned and connection.in_transaction:
            fetch(connection, "ROLLBACK")
        fetch(connection, f"PRAGMA cache_size={int(pages)}")


def _authorize(operation: int, first: str | None, second: str | None, database: str | None, trigger: str | None) -> int:
    allowed = (
        operation in (apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE)
        or (operation == apsw.SQLITE_READ and first in _TABLES)
        or (operation == apsw.SQLITE_FUNCTION and second in _FUNCTIONS)
    )
    return apsw.SQLITE_OK if allowed else apsw.SQLITE_DENY
