"""Resource limits of a running query.

An authorizer makes the query read-only; a deadline applies in SQL and in Python; the bytes of values are bounded. The
connection's settings are restored afterwards.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import apsw

from atlas.adapters.stores.sqlite.rows import fetch, value
from atlas.core.errors import QueryError

MAX_HELD = 96_000_000
"""Maximum number of bytes of values that a query holds, intermediate results included.

Two queries run at a time (`stores.sqlite.store`); with page caches and results they stay below 512 MB.
"""
_TABLES = frozenset(("content", "node", "edge", "file", "project", "symbol_id", "json_each"))
_FUNCTIONS = frozenset(("count", "instr", "json_each", "json_extract", "json_valid", "nullif", "span_text", "substr"))
MAX_TEXT = 16 << 20
"""Bytes of a file whose text is read."""
_CACHE_KIB = 32_768
"""Page cache while a query runs: joins over all edges take half as long as with 4 MiB."""
_STEPS = 2_000
"""SQLite instructions between two deadline checks: about 0.1 ms."""


@dataclass(slots=True)
class Guard:
    """The limits of one run; `deadline` is a monotonic time."""

    timeout: float
    deadline: float
    held: int = 0
    ticks: int = 0
    depth_cut: bool = False

    def tick(self) -> None:
        """Count a unit of Python work and check the deadline periodically."""
        self.ticks += 1
        if not self.ticks & 0xFF and time.monotonic() > self.deadline:
            raise self.expired()

    def look(self) -> None:
        """Check the deadline, before or after a long step."""
        if time.monotonic() > self.deadline:
            raise self.expired()

    def charge(self, size: int) -> None:
        """Count bytes in use (negative: freed)."""
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
        """Record that the depth limit hid longer paths."""
        self.depth_cut = True

    def is_late(self) -> bool:
        """Return whether SQLite must stop."""
        return time.monotonic() > self.deadline

    def expired(self) -> QueryError:
        """Return the timeout error."""
        return QueryError(
            f"timeout: the query took longer than {self.timeout:g} s",
            "anchor it (name, uid or label), bound variable lengths, or add LIMIT",
        )


class _SpanText:
    """Cuts the text of a node out of the compressed text of its file, the last of which is kept during a query.

    One for each connection: SQLite replaces no function while a statement is active.
    """

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, guard: Guard | None) -> None:
        """Forget the last text; `guard` has the limits of the next query, None after one."""
        self._guard = guard
        self._file: object = None
        self._text = b""

    def __call__(self, *values: object) -> str | None:
        """Return a part of a text, None where there is none; `values`: file, its data, first byte, byte after it."""
        file, data, start, end = values
        if not isinstance(data, bytes) or not isinstance(start, int) or not isinstance(end, int):
            return None
        if file != self._file:
            if self._guard is not None:
                self._guard.look()
            try:
                self._text = zlib.decompressobj().decompress(data, MAX_TEXT)
            except zlib.error:
                self._text = b""
            self._file = file
        return self._text[start:end].decode("utf-8", "replace")


_SPANS: WeakKeyDictionary[apsw.Connection, _SpanText] = WeakKeyDictionary()


@contextmanager
def guarded(connection: apsw.Connection, timeout: float) -> Generator[Guard]:
    """Apply the limits to the connection while the block runs, inside one read transaction.

    Errors of SQLite become QueryError.
    """
    guard = Guard(timeout, time.monotonic() + timeout)
    owned = not connection.in_transaction
    previous = connection.authorizer
    pages = value(connection, "PRAGMA cache_size")
    fetch(connection, f"PRAGMA cache_size=-{_CACHE_KIB}")
    if owned:
        fetch(connection, "BEGIN")
    spans = _SPANS.get(connection)
    if spans is None:
        spans = _SPANS[connection] = _SpanText()
        connection.create_scalar_function("span_text", spans, 4)  # pyright: ignore[reportUnknownMemberType]
    spans.begin(guard)
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
        spans.begin(None)
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
