"""Reads on a Bolt server that need no search: records, contents, nodes, edges, stale chunks.

Each function takes an open transaction and returns values of `atlas.core.model`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from atlas.adapters.stores.bolt.connection import Transaction
from atlas.adapters.stores.bolt.rows import (
    RECORD,
    decision_of,
    digests_of,
    edge_of,
    is_literal,
    node_of,
    record_of,
    span_of,
    unit_key,
    units_of,
    unpacked,
    with_properties,
)
from atlas.adapters.stores.bolt.schema import vector_name
from atlas.adapters.stores.shared.filters import unknown_project
from atlas.adapters.stores.shared.spaces import FILE_LABELS, SPACE_LABELS, chunk_text, own_end
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.model import (
    CODE,
    DOCUMENTS,
    QUALITY,
    Chunk,
    Decision,
    Direction,
    Edge,
    FileRecord,
    ModelInfo,
    Node,
    Skipped,
    SymbolDigests,
)
from atlas.core.project_state import ProjectState

_CONTENTS = 64
"""Files per request for content."""


async def projects(transaction: Transaction) -> list[ProjectState]:
    """See `Store.projects`."""
    models = tuple(model for _, model in (await current_models(transaction)).values())
    return [ProjectState(*row[:4], models=models, host=row[5], unread=row[6]) for row in await _projects(transaction)]


async def _projects(transaction: Transaction) -> list[tuple[Any, ...]]:
    return await transaction.rows(cypher_statements("read")["projects"])


async def check_project(transaction: Transaction, project: str) -> None:
    """Raise `NotFound` for an unknown project."""
    known = [row[0] for row in await _projects(transaction)]
    if project not in known:
        raise unknown_project(project, known)


async def manifest(transaction: Transaction, project: str) -> dict[str, FileRecord]:
    """See `Store.manifest`."""
    await check_project(transaction, project)
    text = cypher_statements("read")["manifest"].replace("%record%", RECORD)
    return {row[0]: record_of(row) for row in await transaction.rows(text, project=project)}


async def paths(transaction: Transaction, project: str) -> list[str]:
    """See `Store.paths`."""
    await check_project(transaction, project)
    return [path for (path,) in await transaction.rows(cypher_statements("read")["paths"], project=project)]


async def records(transaction: Transaction, project: str, paths: Sequence[str]) -> dict[str, FileRecord]:
    """See `Store.records`."""
    await check_project(transaction, project)
    text = cypher_statements("read")["unit_records"].replace("%record%", RECORD)
    return {row[0]: record_of(row) for row in await transaction.rows(text, keys=_keys(project, paths))}


async def skipped(transaction: Transaction, project: str) -> list[Skipped]:
    """See `Store.skipped`."""
    await check_project(transaction, project)
    ((listed,),) = await transaction.rows(cypher_statements("read")["skipped"], project=project)
    return sorted((Skipped(*row) for row in json.loads(listed)), key=lambda row: row.path)


async def symbol_digests(
    transaction: Transaction, project: str, paths: Sequence[str]
) -> dict[str, dict[str, SymbolDigests]]:
    """See `Store.symbol_digests`."""
    await check_project(transaction, project)
    found: dict[str, dict[str, SymbolDigests]] = {}
    rows = await transaction.rows(cypher_statements("read")["symbol_digests"], keys=_keys(project, paths))
    for path, uid, digests, chunk in rows:
        of_path = found.setdefault(path, {})
        if uid is not None:
            of_path[uid] = SymbolDigests._make((*digests_of(digests), chunk))
    return found


async def decisions(transaction: Transaction, uids: Sequence[str]) -> list[Decision]:
    """See `Store.decisions`."""
    rows = await transaction.rows(cypher_statements("read")["decisions"], uids=list(dict.fromkeys(uids)))
    found = {uid: decision_of(uid, text) for uid, text in rows}
    return [found[uid] for uid in uids if uid in found]


async def content(transaction: Transaction, project: str, paths: Sequence[str]) -> dict[str, bytes]:
    """See `Store.content`."""
    await check_project(transaction, project)
    rows = await transaction.rows(cypher_statements("read")["content"], keys=_keys(project, paths))
    return {path: unpacked(data) for path, data, _ in rows}


async def symbols(transaction: Transaction, uids: Sequence[str], having: str = "") -> list[Node]:
    """See `Store.symbols`."""
    found = await _nodes(transaction, uids)
    return [found[uid] for uid in uids if uid in found and having in found[uid].row.properties]


async def edges(
    transaction: Transaction, uids: Sequence[str], direction: Direction, types: Sequence[str], limit: int, each: int
) -> list[Edge]:
    """See `Store.edges`. The server selects; nodes are read only for the returned edges."""
    kinds = _types(types)
    if limit <= 0 or not uids or (types and not kinds):
        return []
    read, wanted = cypher_statements("read"), list(dict.fromkeys(uids))
    each = min(each, limit) if each > 0 else limit
    if len(wanted) == len(kinds) == 1:
        text = read[f"best_{direction.value}"].replace("%type%", kinds[0])
        ((rows,),) = await transaction.rows(text, uid=wanted[0], limit=each)
    else:
        text = read[f"edges_{direction.value}"].replace("%types%", _of(kinds))
        ((rows,),) = await transaction.rows(text, uids=wanted, each=each, limit=limit)
    found = [edge_of(row) for row in rows]
    far = [edge.target if direction is Direction.OUT else edge.source for edge in found]
    nodes = await _nodes(transaction, far)
    return [Edge(edge, nodes[uid]) for edge, uid in zip(found, far, strict=True) if uid in nodes]


async def degrees(
    transaction: Transaction, uids: Sequence[str], direction: Direction, types: Sequence[str]
) -> dict[str, dict[str, int]]:
    """See `Store.degrees`."""
    kinds = _types(types)
    if not uids or (types and not kinds):
        return {}
    text = cypher_statements("read")[f"degrees_{direction.value}"].replace("%types%", _of(kinds))
    found: dict[str, dict[str, int]] = {}
    ((rows,),) = await transaction.rows(text, uids=list(dict.fromkeys(uids)))
    for uid, edge_type, count in rows:
        found.setdefault(uid, {})[edge_type] = count
    return found


def _types(types: Sequence[str]) -> list[str]:
    """Return the possible types, unique and sorted: the server keeps one plan for each set of types."""
    return sorted({str(each) for each in types if is_literal(each)})


def _of(kinds: Sequence[str]) -> str:
    """Return the types for the text of a pattern: servers find edges by literal type, not by a parameter."""
    return f":{'|'.join(kinds)}" if kinds else ""


async def current_models(transaction: Transaction) -> dict[str, tuple[str, ModelInfo]]:
    """Return key and description of the model of the vectors that were last written in each space, by its name."""
    found = await transaction.rows(cypher_statements("read")["current_models"])
    return {row[-1]: (row[0], ModelInfo(*row[1:])) for row in sorted(found, key=itemgetter(-1))}


async def stale_chunks(
    transaction: Transaction, project: str, model: ModelInfo, limit: int, after: str, uids: Sequence[str] | None
) -> list[Chunk]:
    """See `Store.stale_chunks`: ordered by path, then uid."""
    read = cypher_statements("read")
    await check_project(transaction, project)
    start = await transaction.rows(read["place_of"], uid=after) if after else []
    asked: dict[str, object] = {**units_of(project), "model": vector_name(model), "uid": ""}
    spaces = (CODE, DOCUMENTS) if model.space == QUALITY else (model.space,)
    asked |= {**SPACE_LABELS, "spaces": list(spaces)}
    if start:
        asked["unit"], asked["uid"] = start[0]
    if uids is None:
        (rows,) = (await transaction.rows(with_properties(read["stale"], model.space), **asked, limit=max(limit, 0)))[0]
    else:
        wanted = list(dict.fromkeys(uids))
        text = with_properties(read["stale_among"], model.space)
        (rows,) = (await transaction.rows(text, **asked, limit=max(limit, 0), uids=wanted))[0]
    sections = await _sections(transaction, rows) if DOCUMENTS in spaces else {}
    return await _chunks(transaction, rows, sections)


async def _sections(transaction: Transaction, rows: Sequence[tuple[Any, ...]]) -> dict[str, list[int]]:
    """Return where the sections of the units of these rows start, sorted, by unit."""
    keys = list(dict.fromkeys(row[3] for row in rows))
    found = await transaction.rows(cypher_statements("read")["sections"], keys=keys) if keys else []
    return {unit: sorted(span_of(span)[0] for span in spans) for unit, spans in found}


async def _chunks(
    transaction: Transaction, rows: Sequence[tuple[Any, ...]], sections: Mapping[str, Sequence[int]]
) -> list[Chunk]:
    chunks: list[Chunk] = []
    units = list(dict.fromkeys(row[3] for row in rows))
    statement = cypher_statements("read")["content"]
    packed: dict[str, str | None] = {}
    opened, data = "", b""
    for uid, digest, name, unit, span, label in rows:
        if unit != opened:
            if unit not in packed:
                keys = units[units.index(unit) :][:_CONTENTS]
                found = await transaction.rows(statement, keys=keys)
                packed = {**dict.fromkeys(keys), **{key: text for _, text, key in found}}
            text = packed[unit]
            opened, data = unit, unpacked(text) if text is not None else b""
        start, end = span_of(span)
        text = chunk_text(data, start, own_end(label, start, end, sections.get(unit, ())))
        chunks.append(Chunk(uid, digest, name or "", text, label in FILE_LABELS))
    return chunks


async def _nodes(transaction: Transaction, uids: Iterable[str]) -> dict[str, Node]:
    wanted = list(dict.fromkeys(uids))
    if not wanted:
        return {}
    ((rows,),) = await transaction.rows(cypher_statements("read")["nodes"], uids=wanted)
    return {row[0]: node_of(row) for row in rows}


def _keys(project: str, paths: Sequence[str]) -> list[str]:
    return [unit_key(project, path) for path in dict.fromkeys(paths)]
