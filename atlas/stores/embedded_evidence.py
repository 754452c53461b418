"""The read verbs on SQLite that the evidence of answers needs: project states, file records, degrees, few edges each.

Each takes a connection inside a read transaction and returns values of `atlas.model`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from atlas.model import Direction, Edge, EdgeRow, FileRecord, ProjectState
from atlas.stores.embedded_read import node_of, record_of
from atlas.stores.filters import project_id
from atlas.stores.rows import select
from atlas.stores.statements import statements


def records(connection: apsw.Connection, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
    """See `Store.records`."""
    bindings = {"project": project_id(connection, project), "paths": json.dumps(list(paths))}
    return {row[0]: record_of(row) for row in select(connection, statements("evidence")["records"], bindings)}


def projects(connection: apsw.Connection) -> list[ProjectState]:
    """See `Store.projects`."""
    return [ProjectState(*row) for row in select(connection, statements("evidence")["projects"])]


def degrees(
    connection: apsw.Connection, uids: Sequence[str], direction: Direction, types: Sequence[str]
) -> dict[str, int]:
    """See `Store.degrees`."""
    text, bindings = _restricted("degrees", uids, direction, types)
    return {row[0]: row[1] for row in select(connection, text, bindings)}


def edges_each(
    connection: apsw.Connection, uids: Sequence[str], direction: Direction, types: Sequence[str], limit: int, each: int
) -> list[Edge]:
    """See `Store.edges` with `each` > 0."""
    text, bindings = _restricted("edges", uids, direction, types)
    rows = select(connection, text, {**bindings, "limit": max(limit, 0), "each": each})
    return [Edge(EdgeRow._make(row[:6]), node_of(row[6:])) for row in rows]


def _restricted(
    verb: str, uids: Sequence[str], direction: Direction, types: Sequence[str]
) -> tuple[str, dict[str, str | int]]:
    condition = "AND e.type IN (SELECT value FROM json_each(:types))" if types else ""
    bindings: dict[str, str | int] = {"uids": json.dumps(list(dict.fromkeys(uids)))}
    if types:
        bindings["types"] = json.dumps(list(types))
    return statements("evidence")[f"{verb}_{direction.value}"].format(types=condition), bindings
