"""The read verbs on SQLite for the evidence of answers: project states and file records.

Each takes a connection inside a read transaction and returns values of `atlas.core.model`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from atlas.adapters.stores.shared.filters import project_id
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.read import current_models, record_of
from atlas.adapters.stores.sqlite.rows import select
from atlas.core.model import FileRecord
from atlas.core.project_state import ProjectState


def records(connection: apsw.Connection, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
    """See `Store.records`."""
    bindings = {"project": project_id(connection, project), "paths": json.dumps(list(paths))}
    return {row[0]: record_of(row) for row in select(connection, statements("evidence")["records"], bindings)}


def projects(connection: apsw.Connection) -> list[ProjectState]:
    """See `Store.projects`."""
    models = current_models(connection)
    rows = select(connection, statements("evidence")["projects"])
    return [ProjectState(*row[:4], models=models, unread=bool(row[4])) for row in rows]
