"""The read verbs on SQLite that involve no search: manifest, contents, symbols, stale chunks.

Each takes a connection inside a read transaction and returns values of `atlas.core.model`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from atlas.adapters.stores.shared.filters import project_id
from atlas.adapters.stores.shared.spaces import FILE_LABELS, SPACES, chunk_text, own_end, sql_in_space
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.rows import fetch, kept, select, value
from atlas.core.model import CODE, DOCUMENTS, QUALITY, Chunk, FileRecord, ModelInfo, Node, NodeRow, Skipped
from atlas.core.project_state import ProjectState


def node_of(row: Sequence[Any]) -> Node:
    """Return the node of a `node_row` row; its columns 16 to 18, is_test, is_generated and exported, are integers."""
    return Node(row[1], NodeRow._make((*row[2:16], row[16] == 1, row[17] == 1, row[18] == 1, *row[19:])))


def record_of(row: Sequence[Any]) -> FileRecord:
    """Return the record of a row whose columns are in the order of `FileRecord`."""
    problems = tuple(row[11].split("\n")) if row[11] else ()
    return FileRecord(
        *row[:9], is_test=bool(row[9]), is_generated=bool(row[10]), problems=problems, stale=bool(row[12])
    )


def nodes_by_id(connection: apsw.Connection, ids: Sequence[int]) -> list[Node]:
    """Return the nodes of the ids, in the given order."""
    rows = {row[0]: row for row in select(connection, statements("read")["nodes"], {"ids": json.dumps(ids)})}
    return [node_of(rows[each]) for each in ids if each in rows]


def manifest(connection: apsw.Connection, project: str) -> dict[str, FileRecord]:
    """See `Store.manifest`."""
    listed = select(connection, statements("read")["manifest"], (project_id(connection, project),))
    return {row[0]: record_of(row) for row in listed}


def paths(connection: apsw.Connection, project: str) -> list[str]:
    """See `Store.paths`."""
    return [path for (path,) in select(connection, statements("read")["paths"], (project_id(connection, project),))]


def skipped(connection: apsw.Connection, project: str) -> list[Skipped]:
    """See `Store.skipped`."""
    listed = select(connection, statements("read")["skipped"], (project_id(connection, project),))
    return [Skipped(*row) for row in listed]


def content(connection: apsw.Connection, project: str, paths: Sequence[str]) -> dict[str, bytes]:
    """See `Store.content`."""
    wanted = {"project": project_id(connection, project), "paths": _json(paths)}
    return {path: zlib.decompress(data) for path, data in select(connection, statements("read")["content"], wanted)}


def symbols(connection: apsw.Connection, uids: Sequence[str], having: str) -> list[Node]:
    """See `Store.symbols`."""
    text = statements("read")["symbols_having" if having else "symbols"]
    bindings = {"uids": _json(uids), **({"having": having} if having else {})}
    rows = {row[2]: row for row in select(connection, text, bindings)}
    return [node_of(rows[uid]) for uid in uids if uid in rows]


def current_model(connection: apsw.Connection, space: str) -> tuple[int, ModelInfo] | None:
    """Return the id and description of the model of the vectors that were last written in a space."""
    return kept(connection, model_key(space), lambda: _read_model(connection, space))


def _read_model(connection: apsw.Connection, space: str) -> tuple[int, ModelInfo] | None:
    found = fetch(connection, statements("read")["current_model"], (model_key(space),))
    if not found:
        return None
    model, provider, name, dimension, fingerprint = found[0]
    return model, ModelInfo(provider, name, dimension, fingerprint.removeprefix(_prefix(space)), space)


def current_models(connection: apsw.Connection) -> tuple[ModelInfo, ...]:
    """Return the models of all spaces with vectors, by name of the space."""
    found = (current_model(connection, space) for space in SPACES)
    return tuple(model[1] for model in found if model is not None)


def model_key(space: str) -> str:
    """Return the key in `meta` of the current model of a space."""
    return "model" if space == CODE else f"model:{space}"


def described(model: ModelInfo) -> tuple[str, str, int, str]:
    """Return the columns of a model: provider, model, dimension, and fingerprint behind its space."""
    return (model.provider, model.model, model.dimension, _prefix(model.space) + model.fingerprint)


def vector_sign(space: str) -> str:
    """Return the sign of the ids of a space's vectors: in the space of quality, that of a node is its negative id."""
    return "-" if space == QUALITY else ""


def _prefix(space: str) -> str:
    return "" if space == CODE else f"{space}:"


def stale_chunks(
    connection: apsw.Connection, project: str, model: ModelInfo, limit: int, after: str, uids: Sequence[str] | None
) -> list[Chunk]:
    """See `Store.stale_chunks`: by file, then by node id, both in the order of first appearance."""
    read = statements("read")
    owner = project_id(connection, project)
    among = {"in_space": sql_in_space(model.space, "n"), "sign": vector_sign(model.space)}
    found = fetch(connection, read["model_id"], described(model))
    known: int = found[0][0] if found else -1
    # The labels of these spaces name few nodes: mostly none is stale, and this saves a scan of all.
    is_first = uids is None and not after and model.space not in (CODE, QUALITY)
    if is_first and not value(connection, read["has_stale"].format(**among), (known,)):
        return []
    start = fetch(connection, read["stale_start"], (after,)) if after else []
    file, node = start[0] if start else (0, 0)
    bindings: dict[str, str | int] = {
        **{"project": owner, "model": known},
        **{"file": file, "node": node, "limit": max(limit, 0)},
    }
    if uids is None:
        rows = select(connection, read["stale"].format(**among), bindings)
    else:
        rows = select(connection, read["stale_among"].format(**among), {**bindings, "uids": _json(uids)})
    return list(_chunks(connection, rows, has_sections=model.space in (DOCUMENTS, QUALITY)))


def _chunks(connection: apsw.Connection, rows: Iterable[tuple[Any, ...]], *, has_sections: bool) -> Iterable[Chunk]:
    opened, data, sections = -1, b"", list[int]()
    for file, uid, digest, name, start, end, label in rows:
        if file != opened:
            opened, data = file, _file_content(connection, file)
            listed = fetch(connection, statements("read")["sections"], (file,)) if has_sections else []
            sections = [row[0] for row in listed]
        text = chunk_text(data, start, own_end(label, start, end, sections))
        yield Chunk(uid, digest, name, text, label in FILE_LABELS)


def _file_content(connection: apsw.Connection, file: int) -> bytes:
    found = fetch(connection, statements("read")["file_content"], (file,))
    return zlib.decompress(found[0][0]) if found else b""


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def records(connection: apsw.Connection, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
    """See `Store.records`."""
    bindings = {"project": project_id(connection, project), "paths": json.dumps(list(paths))}
    return {row[0]: record_of(row) for row in select(connection, statements("evidence")["records"], bindings)}


def projects(connection: apsw.Connection) -> list[ProjectState]:
    """See `Store.projects`."""
    return [*kept(connection, "projects", lambda: _read_projects(connection))]


def _read_projects(connection: apsw.Connection) -> list[ProjectState]:
    models = current_models(connection)
    rows = select(connection, statements("evidence")["projects"])
    return [ProjectState(*row[:4], models=models, unread=bool(row[4])) for row in rows]
