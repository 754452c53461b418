"""Units and vectors as copied to another store, read from SQLite. Each verb takes a read connection."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

import apsw

from atlas.adapters.stores.shared.filters import project_id
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.read import current_model, node_of, record_of, vector_sign
from atlas.adapters.stores.sqlite.rows import lines_of, select
from atlas.core.model import Decision, EdgeRow, GraphDelta, VectorRow


def units(connection: apsw.Connection, project: str, paths: Sequence[str]) -> list[GraphDelta]:
    """See `Store.units`."""
    listed = json.dumps(list(dict.fromkeys(paths)), ensure_ascii=False)
    wanted = {"project": project_id(connection, project), "paths": listed}
    return [_unit(connection, project, row) for row in select(connection, statements("units")["files"], wanted)]


def _unit(connection: apsw.Connection, project: str, row: Sequence[Any]) -> GraphDelta:
    file, data, read = row[0], row[-1], statements("units")
    nodes = [node_of(node).row for node in select(connection, read["nodes"], (file,))]
    edges = sorted(
        EdgeRow._make((*edge[:-2], lines_of(edge[-2]), edge[-1])) for edge in select(connection, read["edges"], (file,))
    )
    decided = select(connection, read["decisions"], (file,))
    decisions = [Decision(uid, bool(through), reason) for uid, through, reason in decided]
    content = zlib.decompress(data) if data is not None else None
    record = record_of(row[1:-1])
    return GraphDelta(project, record.path, record, nodes, edges, content=content, decisions=decisions)


def vectors(connection: apsw.Connection, project: str, limit: int, after: str, space: str) -> list[VectorRow]:
    """See `Store.vectors`."""
    owner, model = project_id(connection, project), current_model(connection, space)
    if model is None:
        return []
    asked = {"project": owner, "model": model[0], "after": after, "limit": max(limit, 0)}
    text = statements("units")["vectors"].format(sign=vector_sign(space))
    return [VectorRow(*row) for row in select(connection, text, asked)]
