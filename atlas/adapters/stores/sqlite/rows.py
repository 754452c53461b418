"""Statements on a SQLite connection, with rows typed as tuples, and lists of lines as text."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import apsw

Row = tuple[Any, ...]
Bindings = Sequence[Any] | Mapping[str, Any]


def lines_of(text: str) -> tuple[int, ...]:
    """Return line numbers from their stored form."""
    return tuple(map(int, text.split())) if text else ()


def lines_text(lines: Sequence[int]) -> str:
    """Inverse of `lines_of`."""
    return " ".join(map(str, lines)) if lines else ""


def select(connection: apsw.Connection, statement: str, bindings: Bindings = ()) -> Iterator[Row]:
    """Run a statement and read its rows lazily."""
    return cast(Any, connection).execute(statement, bindings)


def fetch(connection: apsw.Connection, statement: str, bindings: Bindings = ()) -> list[Row]:
    """Run a statement to its end and return all rows."""
    return cast(Any, connection).execute(statement, bindings).fetchall()


def value(connection: apsw.Connection, statement: str, bindings: Bindings = ()) -> Any:
    """Run a statement to its end and return the first column of its first row, which must exist."""
    return fetch(connection, statement, bindings)[0][0]


def run_many(connection: apsw.Connection, statement: str, bindings: Iterable[Sequence[Any]]) -> None:
    """Run a statement once for each sequence of bindings."""
    cast(Any, connection).executemany(statement, bindings)


@contextmanager
def transaction(connection: apsw.Connection) -> Generator[None]:
    """Commit everything that the block wrote, or nothing."""
    fetch(connection, "BEGIN IMMEDIATE")
    try:
        yield
        fetch(connection, "COMMIT")
    finally:
        if connection.in_transaction:
            fetch(connection, "ROLLBACK")
