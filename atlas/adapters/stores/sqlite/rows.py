"""Statements on a SQLite connection, rows typed as tuples, values kept between commits, lists of lines as text."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, TypeVar, cast

import apsw

Row = tuple[Any, ...]
Bindings = Sequence[Any] | Mapping[str, Any]

_Value = TypeVar("_Value")


class ReadConnection(apsw.Connection):
    """A connection that only reads. The values that it keeps are those of its last transaction, see `kept`."""

    version: int = -1
    """SQLite's counter of the commits of other connections that this one has seen."""
    values: Mapping[str, Any] = MappingProxyType({})


def begin(connection: apsw.Connection) -> None:
    """Begin a read transaction; what the connection keeps is forgotten if there has been a commit."""
    fetch(connection, "BEGIN")
    if isinstance(connection, ReadConnection):
        version: int = value(connection, "PRAGMA data_version")
        if version != connection.version:
            connection.version, connection.values = version, {}


def kept(connection: apsw.Connection, key: str, read: Callable[[], _Value]) -> _Value:
    """Return what `read` returns, from memory if it has been read since the last commit.

    For the few values that almost every read needs, such as the id of a project.
    """
    if not isinstance(connection, ReadConnection) or not connection.in_transaction:
        return read()
    if key not in connection.values:
        connection.values = {**connection.values, key: read()}
    return connection.values[key]


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
