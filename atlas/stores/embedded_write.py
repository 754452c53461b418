"""The writing verbs on SQLite besides `apply`: register a project, store vectors, end a pass. One transaction each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import apsw

from atlas.errors import StoreError
from atlas.model import ModelInfo, Skipped, VectorRow
from atlas.stores.connection import BUSY_MS
from atlas.stores.filters import project_id
from atlas.stores.statements import statements


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Commit what the block wrote, or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def open_project(connection: apsw.Connection, project: str, root: str) -> int:
    """See `Store.open_project`."""
    write = statements("write")
    with transaction(connection):
        connection.execute(write["open_project"], (project, root))
        return connection.execute(write["generation"], (project_id(connection, project),)).fetchall()[0][0]


def put_vectors(connection: apsw.Connection, project: str, model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
    """See `Store.put_vectors`. Raises `StoreError`, storing nothing, when a vector is not of the model's dimension."""
    wrong = next((row for row in vectors if len(row.data) != 2 * model.dimension), None)
    if wrong is not None:
        raise StoreError(
            f"the vector of {wrong.uid} has {len(wrong.data)} bytes, {model.model} makes {2 * model.dimension}"
        )
    write = statements("write")
    described = (model.provider, model.model, model.dimension, model.fingerprint)
    with transaction(connection):
        owner = project_id(connection, project)
        connection.execute(write["add_model"], described)
        made_by = connection.execute(write["model_id"], described).fetchall()[0][0]
        connection.execute(write["set_model"], (str(made_by),))
        generation = connection.execute(write["next_vector_generation"]).fetchall()[0][0]
        connection.executemany(
            write["put_vector"], ((row.uid, row.digest, made_by, generation, row.data, owner) for row in vectors)
        )


def finish(connection: apsw.Connection, project: str, skipped: Sequence[Skipped] | None) -> None:
    """See `Store.finish`. The checkpoint gives up at once when readers are in its way; the next one does its work."""
    write = statements("write")
    with transaction(connection):
        owner = project_id(connection, project)
        connection.execute(write["finish"], (datetime.now(UTC).isoformat(timespec="seconds"), owner))
        if skipped is not None:
            _put_skipped(connection, owner, {row.path: row.reason for row in skipped})
    connection.execute("PRAGMA analysis_limit=400").fetchall()
    connection.execute("PRAGMA optimize=0x10002").fetchall()
    connection.set_busy_timeout(0)
    try:
        connection.execute("PRAGMA wal_checkpoint(truncate)").fetchall()
    except apsw.BusyError:
        connection.execute("PRAGMA wal_checkpoint(passive)").fetchall()
    finally:
        connection.set_busy_timeout(BUSY_MS)


def _put_skipped(connection: apsw.Connection, project: int, skipped: dict[str, str]) -> None:
    write = statements("write")
    if dict(connection.execute(write["skipped"], (project,))) == skipped:
        return
    connection.execute(write["clear_skipped"], (project,))
    connection.executemany(write["add_skipped"], ((project, path, reason) for path, reason in skipped.items()))
