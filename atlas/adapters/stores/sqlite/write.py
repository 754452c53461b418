"""The write verbs on SQLite other than `apply`: register a project, store vectors, end a pass. One transaction each."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from atlas.adapters.stores.shared.filters import project_id
from atlas.adapters.stores.shared.spaces import check_lengths
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.file.maintenance import tidy
from atlas.adapters.stores.sqlite.read import described, model_key, vector_sign
from atlas.adapters.stores.sqlite.rows import fetch, run_many, select, transaction, value
from atlas.core.model import ModelInfo, Skipped, VectorRow
from atlas.core.project_state import now


def open_project(connection: apsw.Connection, project: str, root: str) -> int:
    """See `Store.open_project`."""
    write = statements("write")
    with transaction(connection):
        fetch(connection, write["open_project"], (project, root))
        return value(connection, write["generation"], (project_id(connection, project),))


def forget_project(connection: apsw.Connection, project: str) -> None:
    """Delete a project without units. Caches of readers are invalid then: a new project may get the same id."""
    write = statements("write")
    with transaction(connection):
        owner = project_id(connection, project)
        for name in ("clear_skipped", "clear_decision_counts", "clear_edge_counts", "delete_project"):
            fetch(connection, write[name], (owner,))
        fetch(connection, write["new_identity"])


def put_vectors(connection: apsw.Connection, project: str, model: ModelInfo, vectors: Sequence[VectorRow]) -> None:
    """See `Store.put_vectors`. Raises `StoreError`, storing nothing, if a vector has the wrong dimension."""
    check_lengths(model, vectors)
    write = statements("write")
    with transaction(connection):
        owner = project_id(connection, project)
        fetch(connection, write["add_model"], described(model))
        made_by = value(connection, write["model_id"], described(model))
        fetch(connection, write["set_model"], (model_key(model.space), str(made_by)))
        generation = value(connection, write["next_vector_generation"])
        run_many(
            connection,
            write["put_vector"].format(sign=vector_sign(model.space)),
            ((row.uid, row.digest, made_by, generation, row.data, owner) for row in vectors),
        )


def finish(connection: apsw.Connection, project: str, skipped: Sequence[Skipped] | None) -> None:
    """See `Store.finish`. The checkpoint does not wait for readers; the next one completes it."""
    write = statements("write")
    with transaction(connection):
        owner = project_id(connection, project)
        fetch(connection, write["finish"], (now(), owner))
        if skipped is not None:
            _put_skipped(connection, owner, {row.path: row for row in skipped})
    tidy(connection)


def _put_skipped(connection: apsw.Connection, project: int, skipped: dict[str, Skipped]) -> None:
    write = statements("write")
    rows = {path: (path, row.reason, row.size, row.mtime_ns) for path, row in skipped.items()}
    if {row[0]: row for row in select(connection, write["skipped"], (project,))} == rows:
        return
    fetch(connection, write["clear_skipped"], (project,))
    run_many(connection, write["add_skipped"], ((project, *row) for row in rows.values()))
